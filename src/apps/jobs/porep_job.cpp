// PoRep: from commit-phase-1 output to one proof a partition.
//
// The C1 comes bare, as Curio sends it, or in a job input beside fields that say who sealed. With
// them replica_id is checked to follow from prover, sector and ticket; nothing else in a C1 depends
// on these. The bytes and the parsed form both live as long as the job, so held_bytes has both.
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "apps/jobs/filecoin_jobs.h"
#include "apps/jobs/filecoin_work.h"
#include "apps/jobs/job_input.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using filecoin::PorepC1;

// What an allocator keeps of each allocation: a C1 is many small vectors, so it counts.
constexpr std::uint64_t kBlockBytes = 16;

std::uint64_t heap_bytes_of(const filecoin::ColumnProof& proof) {
  return proof.rows.capacity() * sizeof(filecoin::Node) + kBlockBytes + heap_bytes(proof.inclusion);
}

std::uint64_t heap_bytes_of(const filecoin::LabelingProof& proof) {
  return proof.parents.capacity() * sizeof(filecoin::Node) + kBlockBytes;
}

std::uint64_t heap_bytes_of(const filecoin::PorepProof& proof) {
  std::uint64_t bytes = heap_bytes(proof.comm_d_proof) + heap_bytes(proof.comm_r_last_proof) +
                        heap_bytes_of(proof.c_x) + heap_bytes_of(proof.encoding_proof);
  for (const auto* parents : {&proof.drg_parents, &proof.exp_parents}) {
    bytes += parents->capacity() * sizeof(filecoin::ColumnProof) + kBlockBytes;
    for (const filecoin::ColumnProof& parent : *parents) bytes += heap_bytes_of(parent);
  }
  bytes += proof.labeling_proofs.capacity() * sizeof(filecoin::LabelingProof) + kBlockBytes;
  for (const auto& labeling : proof.labeling_proofs) bytes += heap_bytes_of(labeling);
  return bytes;
}

std::uint64_t heap_bytes_of(const PorepC1& c1) {
  std::uint64_t bytes = c1.partitions.capacity() * sizeof(filecoin::PorepPartition) + kBlockBytes;
  for (const filecoin::PorepPartition& partition : c1.partitions) {
    bytes += partition.capacity() * sizeof(filecoin::PorepProof) + kBlockBytes;
    for (const filecoin::PorepProof& proof : partition) bytes += heap_bytes_of(proof);
  }
  return bytes;
}

// Both members are read by all partitions at once and never written.
class PorepWork final : public FilecoinWork {
 public:
  PorepWork(std::shared_ptr<const FilecoinCircuit> circuit, PorepC1 c1, std::uint64_t held_bytes)
      : FilecoinWork(std::move(circuit), c1.partitions.size(), held_bytes),
        c1_(std::move(c1)),
        claim_(filecoin::porep_claim(c1_)) {}

 private:
  r1cs::Assignment<Fr> assignment(unsigned partition) const override {
    return filecoin::porep_partition_assignment(c1_, partition);
  }
  base::Result<std::vector<Fr>> public_inputs(unsigned partition) const override {
    return filecoin::porep_public_inputs(claim_, partition);
  }

  PorepC1 c1_;
  filecoin::PorepClaim claim_;
};

// A field that says what the C1 says too: it may be absent, it may not differ.
base::Status check_number(const JobInput& input, std::string_view field, std::uint64_t found_in_c1,
                          std::string_view member) {
  CUZK_TRY(const auto stated, input.number(field));
  if (!stated || *stated == found_in_c1) return base::ok_status();
  return Error{ErrorKind::kMismatch, fmt::format("job input: {} is {}, {} of the C1 is {}", field,
                                                 *stated, member, found_in_c1)};
}

// What the fields say of who sealed, where they say it.
base::Result<std::optional<filecoin::C1Identity>> identity_of(const JobInput& input,
                                                              const filecoin::C1File& file) {
  CUZK_TRY(const auto miner, input.number("miner_id"));
  CUZK_TRY(const auto prover, input.node("prover_id"));
  CUZK_TRY(const auto sector, input.number("sector_number"));
  if (sector && file.sector_number) {
    CUZK_TRY_STATUS(check_number(input, "sector_number", *file.sector_number, "SectorNum"));
  }
  if (!miner && !prover) return std::optional<filecoin::C1Identity>();
  // Both may be given where they agree: the prover id of a miner follows from its number.
  if (miner && prover && *prover != filecoin::prover_id_of_miner(*miner)) {
    return Error{ErrorKind::kMismatch, "job input: prover_id is not the one of miner_id"};
  }
  const auto number = sector ? sector : file.sector_number;
  if (!number) {
    return Error{ErrorKind::kInvalidArgument,
                 "job input: field sector_number (cuzk submit: --sector): found none, expected one "
                 "beside the miner, as the C1 is the inner form without SectorNum"};
  }
  filecoin::C1Identity identity;
  identity.prover_id = prover ? *prover : filecoin::prover_id_of_miner(*miner);
  identity.sector_number = *number;
  return std::optional(identity);
}

base::Result<std::unique_ptr<engine::JobWork>> read_with_fields(FilecoinKeys& keys,
                                                                base::ByteSpan bytes) {
  static constexpr std::string_view kFields[] = {"miner_id", "prover_id", "sector_number",
                                                 "registered_proof", "sector_size"};
  CUZK_TRY(const JobInput input, read_job_input(bytes));
  CUZK_TRY_STATUS(input.check_fields(kFields));
  if (input.parts.size() != 1) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("job input: found {} parts, expected 1: commit-phase-1 output",
                             input.parts.size())};
  }
  CUZK_TRY(filecoin::C1File file, filecoin::read_c1(input.parts[0], "C1"));
  const filecoin::RegisteredSeal& seal = file.c1.registered_proof;
  CUZK_TRY_STATUS(check_number(input, "registered_proof", seal.number, "registered_proof"));
  CUZK_TRY_STATUS(check_sector_size(input, *seal.shape));
  CUZK_TRY(const auto identity, identity_of(input, file));
  return porep_work(keys, std::move(file.c1), identity, bytes.size());
}

}  // namespace

base::Status check_sector_size(const JobInput& input, const filecoin::SectorShape& shape) {
  CUZK_TRY(const auto stated, input.number("sector_size"));
  if (!stated || *stated == shape.byte_count) return base::ok_status();
  return Error{ErrorKind::kMismatch,
               fmt::format("job input: sector_size is {}, the registered proof is for {}", *stated,
                           shape.byte_count)};
}

base::Result<std::unique_ptr<engine::JobWork>> porep_work(
    FilecoinKeys& keys, PorepC1 c1, const std::optional<filecoin::C1Identity>& identity,
    std::uint64_t input_bytes) {
  // Parameters that are missing are told before the proofs are verified, as for the other kinds.
  CUZK_TRY(const auto circuit,
           keys.circuit(filecoin::CircuitKind::kPorep, *c1.registered_proof.shape));
  CUZK_TRY_STATUS(filecoin::verify_c1(c1, identity));
  const std::uint64_t held_bytes = input_bytes + heap_bytes_of(c1);
  return std::unique_ptr<engine::JobWork>(
      std::make_unique<PorepWork>(circuit, std::move(c1), held_bytes));
}

base::Result<std::unique_ptr<engine::JobWork>> read_porep_job(FilecoinKeys& keys,
                                                              const engine::SharedBytes& input) {
  // Before anything is parsed. The limit is of the JSON, which is nearly all of an input.
  if (input->size() > filecoin::kC1ByteCountMax) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("porep job: found {} bytes, at most {} are read", input->size(),
                             filecoin::kC1ByteCountMax)};
  }
  if (is_job_input(*input)) return read_with_fields(keys, *input);
  CUZK_TRY(filecoin::C1File file, filecoin::read_c1(*input, "C1"));
  return porep_work(keys, std::move(file.c1), {}, input->size());
}

}  // namespace cuzk::apps
