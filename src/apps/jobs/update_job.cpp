// Sector updates: one vanilla proof and one Groth16 proof a partition.
//
// The claim is all in fields: a vanilla proof of an update does not carry the commitments. Parts
// come in the order of their partitions, and each is verified in its place.
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/jobs/filecoin_jobs.h"
#include "apps/jobs/filecoin_work.h"
#include "apps/jobs/job_input.h"
#include "filecoin/update/vanilla_update.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using filecoin::UpdateClaim;
using filecoin::UpdatePartitionProof;

// Beside the proofs' own size: apex leaves and the three paths of each challenge.
std::uint64_t heap_bytes_of(const std::vector<UpdatePartitionProof>& proofs) {
  std::uint64_t bytes = proofs.capacity() * sizeof(UpdatePartitionProof);
  for (const UpdatePartitionProof& proof : proofs) {
    bytes += proof.apex_leaves.capacity() * sizeof(filecoin::Node) +
             proof.challenges.capacity() * sizeof(filecoin::UpdateChallengeProof);
    for (const filecoin::UpdateChallengeProof& challenge : proof.challenges) {
      bytes += heap_bytes(challenge.proof_r_old) + heap_bytes(challenge.proof_d_new) +
               heap_bytes(challenge.proof_r_new);
    }
  }
  return bytes;
}

// `proofs` has one entry a partition of the claim's size.
class UpdateWork final : public FilecoinWork {
 public:
  UpdateWork(std::shared_ptr<const FilecoinCircuit> circuit, const UpdateClaim& claim,
             std::vector<UpdatePartitionProof> proofs, std::uint64_t held_bytes)
      : FilecoinWork(std::move(circuit), proofs.size(), held_bytes),
        claim_(claim),
        proofs_(std::move(proofs)) {}

 private:
  r1cs::Assignment<Fr> assignment(unsigned partition) const override {
    return filecoin::update_partition_assignment(claim_, proofs_[partition], partition);
  }
  base::Result<std::vector<Fr>> public_inputs(unsigned partition) const override {
    return filecoin::update_public_inputs(claim_, partition);
  }

  UpdateClaim claim_;
  std::vector<UpdatePartitionProof> proofs_;
};

base::Result<UpdateClaim> read_claim(const JobInput& input) {
  CUZK_TRY(const std::uint64_t number, input.required_number("registered_proof"));
  CUZK_TRY(const auto registered, filecoin::registered_update(number));
  CUZK_TRY_STATUS(check_sector_size(input, *registered.shape));
  UpdateClaim claim;
  claim.shape = registered.shape;
  CUZK_TRY(claim.comm_r_old, input.required_node("comm_r_old"));
  CUZK_TRY(claim.comm_r_new, input.required_node("comm_r_new"));
  CUZK_TRY(claim.comm_d_new, input.required_node("comm_d_new"));
  return claim;
}

}  // namespace

base::Result<std::unique_ptr<engine::JobWork>> read_update_job(FilecoinKeys& keys,
                                                               const engine::SharedBytes& bytes) {
  static constexpr std::string_view kFields[] = {"registered_proof", "sector_size", "comm_r_old",
                                                 "comm_r_new",       "comm_d_new",  "miner_id",
                                                 "sector_number"};
  CUZK_TRY(const JobInput input, read_job_input(*bytes));
  CUZK_TRY_STATUS(input.check_fields(kFields));
  CUZK_TRY(const UpdateClaim claim, read_claim(input));
  // Fixed by the size, so a wrong number of parts is told before the parameters are looked for.
  const std::size_t expected = claim.shape->update.partition_count;
  if (input.parts.size() != expected) {
    return Error{
        ErrorKind::kInvalidArgument,
        fmt::format("job input: found {} parts, expected {}: one vanilla proof a partition",
                    input.parts.size(), expected)};
  }
  CUZK_TRY(const auto circuit, keys.circuit(filecoin::CircuitKind::kUpdate, *claim.shape));
  std::vector<UpdatePartitionProof> proofs;
  for (std::size_t i = 0; i < expected; ++i) {
    const std::string source = fmt::format("vanilla proof {}", i);
    CUZK_TRY(auto proof,
             filecoin::read_update_partition_proof(input.parts[i], *claim.shape, source));
    const auto valid = filecoin::verify_update_partition(claim, proof, static_cast<unsigned>(i));
    if (!valid.ok()) return base::Error(valid.error()).within(source);
    proofs.push_back(std::move(proof));
  }
  CUZK_ASSERT(proofs.size() == expected);
  const std::uint64_t held_bytes = bytes->size() + heap_bytes_of(proofs);
  return std::unique_ptr<engine::JobWork>(
      std::make_unique<UpdateWork>(circuit, claim, std::move(proofs), held_bytes));
}

}  // namespace cuzk::apps
