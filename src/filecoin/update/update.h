// Empty sector update (SnapDeals): new data in an already sealed sector, without sealing again.
//
// Each new replica node is old node + new data * rho, where rho depends on the node's high index
// bits and on phi = H(comm_d_new, comm_r_old). Random values come from Poseidon of arity 2 under
// its own domain tag. comm_c stays. Source: rust-fil-proofs 19.1, storage-proofs-update/src.
#pragma once

#include <vector>

#include "filecoin/registered_proof.h"
#include "filecoin/vanilla/merkle.h"
#include "filecoin/vanilla/seal.h"

namespace cuzk::filecoin {

inline constexpr std::size_t kUpdatePublicInputCount = 4;

// What a verifier of an update is given.
struct UpdateClaim {
  const SectorShape* shape = nullptr;
  Node comm_r_old{}, comm_d_new{}, comm_r_new{};
};

// Poseidon of arity 2 under the tag of random values.
Fr update_randomness(const Fr& left, const Fr& right);

// phi, the seed of all rho.
Fr update_phi(const Fr& comm_d_new, const Fr& comm_r_old);

// Challenged leaves of partition `partition`: r = log2(N) - log2(partitions) random bits each,
// below the partition's bits. comm_r_new must be canonical (checked).
std::vector<std::uint64_t> update_challenges(const SectorShape& shape, const Node& comm_r_new,
                                             unsigned partition, std::size_t count);
// The circuit's number of them.
std::vector<std::uint64_t> update_challenges(const SectorShape& shape, const Node& comm_r_new,
                                             unsigned partition);

// Bits of a challenge taken from a digest, and challenges that one digest yields.
unsigned update_random_bit_count(const SectorShape& shape);
unsigned update_challenges_per_digest(const SectorShape& shape);

// Public inputs, without ONE: partition and selector of h in one number, comm_r_old, comm_d_new,
// comm_r_new. Errors: no such partition, a commitment that is not canonical.
base::Result<std::vector<Fr>> update_public_inputs(const UpdateClaim& claim, unsigned partition);

// An updated sector in memory. comm_c and comm_r_old are of the sector that was updated. Immutable
// once made.
struct UpdatedSector {
  const SectorShape* shape = nullptr;
  Node comm_c{}, root_r_old{}, comm_r_old{};
  Node comm_d_new{}, root_r_new{}, comm_r_new{};
  std::vector<Node> replica;
  MerkleTree tree_d, tree_r_old, tree_r;

  UpdateClaim claim() const { return {shape, comm_r_old, comm_d_new, comm_r_new}; }
};

// Puts `data` (as seal() takes it) into the sector.
base::Result<UpdatedSector> update_sector(const SealedSector& sector, base::ByteSpan data);

}  // namespace cuzk::filecoin
