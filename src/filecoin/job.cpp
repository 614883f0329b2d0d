// Circuits and assignments by kind: which circuit a kind and size has, which vanilla proofs make up
// a partition, and what this version refuses to record because its matrices would be kept flat.
#include "filecoin/job.h"

#include <algorithm>

namespace cuzk::filecoin {
namespace {

// Largest sector whose big circuits are recorded flat. The next sizes are 32 and 64 GiB, whose
// circuits other than winning PoSt's have over 80 million rows.
constexpr std::uint64_t kFlatCircuitByteCountMax = std::uint64_t{1} << 30;

base::Status check_recordable(CircuitKind kind, const SectorShape& shape) {
  if (kind == CircuitKind::kPorep && !shape.has_porep) {
    return base::Error{base::ErrorKind::kUnsupported,
                       "sectors of " + std::string(shape.name) + " have no PoRep"};
  }
  if (kind != CircuitKind::kWinningPost && shape.byte_count > kFlatCircuitByteCountMax) {
    return base::Error{base::ErrorKind::kUnsupported,
                       "the " + std::string(to_string(kind)) + " circuit of a " +
                           std::string(shape.name) +
                           " sector has over 80 million rows, more than this version records; "
                           "sizes up to 1GiB work"};
  }
  return base::ok_status();
}

}  // namespace

base::Result<r1cs::Shape<Fr>> circuit_shape(CircuitKind kind, const SectorShape& shape,
                                            r1cs::Paths* paths) {
  CUZK_TRY_STATUS(check_recordable(kind, shape));
  switch (kind) {
    case CircuitKind::kPorep: return porep_circuit_shape(PorepCircuit::of(shape), paths);
    case CircuitKind::kWinningPost:
      return post_circuit_shape(PostCircuit::of(shape, PostKind::kWinning), paths);
    case CircuitKind::kWindowPost:
      return post_circuit_shape(PostCircuit::of(shape, PostKind::kWindow), paths);
    case CircuitKind::kUpdate: return update_circuit_shape(UpdateCircuit::of(shape), paths);
  }
  return base::Error{base::ErrorKind::kInternal, "unknown kind of circuit"};
}

std::size_t public_input_count(CircuitKind kind, const SectorShape& shape) {
  const auto post = [&](PostKind post_kind) {
    return std::size_t{post_sector_count(shape, post_kind)} * (1 + post_challenge_count(post_kind));
  };
  switch (kind) {
    case CircuitKind::kPorep: return shape.porep_public_input_count();
    case CircuitKind::kWinningPost: return post(PostKind::kWinning);
    case CircuitKind::kWindowPost: return post(PostKind::kWindow);
    case CircuitKind::kUpdate: return kUpdatePublicInputCount;
  }
  return 0;
}

r1cs::Assignment<Fr> porep_partition_assignment(const PorepC1& c1, unsigned partition) {
  CUZK_CHECK(partition < c1.partitions.size());
  const PorepPartition& proofs = c1.partitions[partition];
  return porep_circuit_assignment(PorepCircuit::of(*c1.registered_proof.shape),
                                  statement_of(c1, proofs), proofs);
}

r1cs::Assignment<Fr> post_partition_assignment(const PostClaim& claim,
                                               const std::vector<PostSectorProof>& proofs,
                                               unsigned partition) {
  CUZK_CHECK(partition < post_partition_count(claim) && proofs.size() == claim.sectors.size());
  const PostCircuit circuit = PostCircuit::of(*claim.shape, claim.kind);
  const std::size_t chunk = claim.kind == PostKind::kWinning ? 1 : circuit.sector_count;
  const std::size_t first = chunk * partition;
  const std::size_t count = std::min(chunk, proofs.size() - first);
  const auto sectors = circuit_sectors(circuit, std::span(proofs).subspan(first, count));
  return post_circuit_assignment(circuit, sectors);
}

r1cs::Assignment<Fr> update_partition_assignment(const UpdateClaim& claim,
                                                 const UpdatePartitionProof& proof,
                                                 unsigned partition) {
  return update_circuit_assignment(UpdateCircuit::of(*claim.shape), claim, proof, partition);
}

}  // namespace cuzk::filecoin
