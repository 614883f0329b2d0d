// Public inputs of a PoRep as the chain derives them: nothing is taken from a proof.
//
// Per partition: replica_id, comm_d, comm_r; then per challenge c its tree D index, 14 parents, the
// challenge number, its tree R and tree C index, i.e. c, parents, c, c, c.
#pragma once

#include <vector>

#include "filecoin/identity.h"
#include "filecoin/porep/vanilla_proof.h"
#include "filecoin/porep/verify_vanilla.h"

namespace cuzk::filecoin {

// What a verifier of a seal is given: all of it is on the chain.
struct SealClaim {
  PorepConfig config;
  Node prover_id{};
  std::uint64_t sector_number = 0;
  Node ticket{}, seed{}, comm_r{}, comm_d{};
};

// The claim with replica_id derived. Errors: commitments that are not canonical or all zero, a kind
// that the API version does not know.
base::Result<PorepClaim> porep_claim(const SealClaim& seal);

// What commit-phase-1 output claims of itself.
PorepClaim porep_claim(const PorepC1& c1);

// Public inputs, without ONE, of partition `partition` of `partition_count`. kInvalidArgument when
// there is no such partition.
base::Result<std::vector<Fr>> porep_public_inputs(const PorepClaim& claim, unsigned partition);

}  // namespace cuzk::filecoin
