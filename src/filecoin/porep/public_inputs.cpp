// Deriving PoRep public inputs. Only the claim is used: the replica id, the challenges and the
// parents are recomputed, so a proof made for other nodes or another prover cannot fit these
// inputs.
#include "filecoin/porep/public_inputs.h"

#include "filecoin/porep/challenges.h"
#include "filecoin/vanilla/graph.h"

namespace cuzk::filecoin {

base::Result<PorepClaim> porep_claim(const SealClaim& seal) {
  CUZK_TRY([[maybe_unused]] const Fr prover, read_fr(seal.prover_id, "the prover id"));
  const ReplicaIdentity identity{seal.prover_id, seal.sector_number, seal.ticket,
                                 seal.config.porep_id};
  PorepClaim claim{seal.config, replica_id(identity, seal.comm_d), seal.comm_d, seal.comm_r,
                   seal.seed};
  CUZK_TRY_STATUS(check_porep_claim(claim));
  return claim;
}

PorepClaim porep_claim(const PorepC1& c1) {
  return {c1.config(), c1.replica_id, c1.comm_d, c1.comm_r, c1.seed};
}

base::Result<std::vector<Fr>> porep_public_inputs(const PorepClaim& claim, unsigned partition) {
  CUZK_TRY_STATUS(check_porep_claim(claim));
  const SectorShape& shape = *claim.config.shape;
  if (partition >= claim.config.partition_count()) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "a " + std::string(to_string(claim.config.kind)) + " PoRep of " +
                           std::string(shape.name) + " has " +
                           std::to_string(claim.config.partition_count()) +
                           " partitions: there is no partition " + std::to_string(partition)};
  }
  std::vector<Fr> out;
  out.reserve(shape.porep_public_input_count());
  for (const Node* node : {&claim.replica_id, &claim.comm_d, &claim.comm_r}) {
    out.push_back(to_fr(*node).value());
  }
  const Graph graph(shape.node_count(), claim.config.porep_id, claim.config.api_version);
  const PorepChallengeSource source{claim.config.kind, claim.replica_id, claim.comm_r, claim.seed};
  for (const std::uint32_t challenge : porep_challenges(
           source, shape.node_count(), shape.porep_challenges_per_partition, partition)) {
    // Tree D's index, the parents', the challenge itself, tree R's and tree C's: the order of the
    // circuit's allocations.
    out.push_back(Fr::from_u64(challenge));
    for (const std::uint32_t parent : graph.parents(challenge)) out.push_back(Fr::from_u64(parent));
    out.insert(out.end(), 3, Fr::from_u64(challenge));
  }
  CUZK_ASSERT(out.size() == shape.porep_public_input_count());
  return out;
}

}  // namespace cuzk::filecoin
