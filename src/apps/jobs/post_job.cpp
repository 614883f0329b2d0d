// Window and winning PoSt: one vanilla proof a sector, one Groth16 proof a partition.
//
// The claim is made of the proofs themselves: each names its sector and comm_r. That is enough,
// because whoever verifies the result brings the sectors that the chain knows; a proof about others
// does not verify there. Sectors are sorted first, because places in the claim's list have a
// meaning to the chain, so the order of the parts has none.
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/jobs/filecoin_jobs.h"
#include "apps/jobs/filecoin_work.h"
#include "apps/jobs/job_input.h"
#include "filecoin/post/vanilla_post.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using filecoin::PostClaim;
using filecoin::PostKind;
using filecoin::PostSectorProof;

// Beside the proofs' own size: what their paths hold.
std::uint64_t heap_bytes_of(const std::vector<PostSectorProof>& proofs) {
  std::uint64_t bytes = proofs.capacity() * sizeof(PostSectorProof);
  for (const PostSectorProof& proof : proofs) {
    bytes += proof.inclusion_proofs.capacity() * sizeof(filecoin::MerkleProof);
    for (const filecoin::MerkleProof& inclusion : proof.inclusion_proofs) {
      bytes += heap_bytes(inclusion);
    }
  }
  return bytes;
}

// The last partition may have fewer sectors than the circuit has places; who fills them is
// post_partition_assignment's affair.
class PostWork final : public FilecoinWork {
 public:
  PostWork(std::shared_ptr<const FilecoinCircuit> circuit, PostClaim claim,
           std::vector<PostSectorProof> proofs, std::uint64_t held_bytes)
      : FilecoinWork(std::move(circuit), filecoin::post_partition_count(claim), held_bytes),
        claim_(std::move(claim)),
        proofs_(std::move(proofs)) {}

 private:
  r1cs::Assignment<Fr> assignment(unsigned partition) const override {
    return filecoin::post_partition_assignment(claim_, proofs_, partition);
  }
  base::Result<std::vector<Fr>> public_inputs(unsigned partition) const override {
    return filecoin::post_public_inputs(claim_, partition);
  }

  PostClaim claim_;
  std::vector<PostSectorProof> proofs_;
};

filecoin::CircuitKind circuit_kind(PostKind kind) {
  return kind == PostKind::kWindow ? filecoin::CircuitKind::kWindowPost
                                   : filecoin::CircuitKind::kWinningPost;
}

base::Result<PostClaim> read_claim(const JobInput& input, PostKind kind) {
  CUZK_TRY(const std::uint64_t number, input.required_number("registered_proof"));
  CUZK_TRY(const auto registered, filecoin::registered_post(number));
  // The number fixes kind, size and API version; the job's own kind says the first once more.
  if (registered.kind != kind) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("job input: registered_proof {} is {}, the job is of kind {}", number,
                             registered.name(), filecoin::to_string(circuit_kind(kind)))};
  }
  CUZK_TRY_STATUS(check_sector_size(input, *registered.shape));
  CUZK_TRY(const auto partition, input.number("partition_index"));
  // From V1_2_0 on challenges do not depend on a sector's place, so the index says nothing.
  if (partition.value_or(0) != 0 && registered.api_version != filecoin::ApiVersion::kV1_2_0) {
    return Error{ErrorKind::kUnsupported,
                 fmt::format("job input: partition_index is {}; with {} only partition 0 is proved",
                             *partition, registered.name())};
  }
  PostClaim claim;
  claim.shape = registered.shape;
  claim.kind = kind;
  claim.api_version = registered.api_version;
  CUZK_TRY(claim.randomness, input.required_node("randomness"));
  return claim;
}

base::Result<std::vector<PostSectorProof>> read_proofs(const JobInput& input,
                                                       const PostClaim& claim) {
  if (input.parts.empty()) {
    return Error{ErrorKind::kInvalidArgument,
                 "job input: found no parts, expected one vanilla proof a sector"};
  }
  std::vector<PostSectorProof> proofs;
  for (std::size_t i = 0; i < input.parts.size(); ++i) {
    CUZK_TRY(auto proof, filecoin::read_post_sector_proof(input.parts[i], *claim.shape, claim.kind,
                                                          fmt::format("vanilla proof {}", i)));
    proofs.push_back(std::move(proof));
  }
  // As normalized() sorts the claim: proof i is then of sector i, which verification relies on.
  std::stable_sort(proofs.begin(), proofs.end(),
                   [](const auto& a, const auto& b) { return a.sector_id < b.sector_id; });
  return proofs;
}

}  // namespace

base::Result<std::unique_ptr<engine::JobWork>> read_post_job(FilecoinKeys& keys, PostKind kind,
                                                             const engine::SharedBytes& bytes) {
  static constexpr std::string_view kFields[] = {"registered_proof", "sector_size", "miner_id",
                                                 "randomness", "partition_index"};
  CUZK_TRY(const JobInput input, read_job_input(*bytes));
  CUZK_TRY_STATUS(input.check_fields(kFields));
  CUZK_TRY(PostClaim claim, read_claim(input, kind));
  CUZK_TRY(auto proofs, read_proofs(input, claim));
  for (const PostSectorProof& proof : proofs) {
    claim.sectors.push_back({proof.sector_id, proof.comm_r});
  }
  CUZK_TRY(claim, filecoin::normalized(std::move(claim)));
  CUZK_ASSERT(claim.sectors.size() == proofs.size());
  CUZK_TRY(const auto circuit, keys.circuit(circuit_kind(kind), *claim.shape));
  CUZK_TRY_STATUS(filecoin::verify_post_proofs(claim, proofs));
  const std::uint64_t held_bytes = bytes->size() + heap_bytes_of(proofs);
  return std::unique_ptr<engine::JobWork>(
      std::make_unique<PostWork>(circuit, std::move(claim), std::move(proofs), held_bytes));
}

}  // namespace cuzk::apps
