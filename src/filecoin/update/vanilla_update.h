// Vanilla proofs of sector updates: one partition each, in bincode; and their verification.
//
// The bytes are those of upstream's PartitionProof. Reading checks form, verification checks
// meaning: what was read may be about anything.
#pragma once

#include <string>
#include <vector>

#include "filecoin/update/update.h"

namespace cuzk::filecoin {

// One challenged leaf in the three trees.
struct UpdateChallengeProof {
  MerkleProof proof_r_old, proof_d_new, proof_r_new;
  bool operator==(const UpdateChallengeProof&) const = default;
};

// What one partition of an update proves, before it is made a circuit.
struct UpdatePartitionProof {
  Node comm_c{};
  std::vector<Node> apex_leaves;  // this partition's nodes of tree D at the apex height
  std::vector<UpdateChallengeProof> challenges;
  bool operator==(const UpdatePartitionProof&) const = default;
};

// `source` names the bytes in errors. Hashes must be canonical, lengths those of the size.
base::Result<UpdatePartitionProof> read_update_partition_proof(base::ByteSpan bytes,
                                                               const SectorShape& shape,
                                                               const std::string& source);
// The bytes that the reader takes; the proof must have the form of `shape`.
base::Bytes write_update_partition_proof(const UpdatePartitionProof& proof,
                                         const SectorShape& shape);

// Opens partition `partition` of an updated sector.
UpdatePartitionProof open_update_partition(const UpdatedSector& sector, unsigned partition);

// Whether the proof of partition `partition` holds for the claim: challenges, paths, roots,
// encoding, apex leaves. Errors are of kind kMismatch and name the challenge; kMalformed names a
// commitment or apex leaf that is not canonical.
base::Status verify_update_partition(const UpdateClaim& claim, const UpdatePartitionProof& proof,
                                     unsigned partition);

}  // namespace cuzk::filecoin
