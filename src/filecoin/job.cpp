// Circuits and assignments by kind: which circuit a kind and size has, which vanilla proofs make up
// a partition, and from which size on repeated rows are stored once.
#include "filecoin/job.h"

#include <algorithm>

namespace cuzk::filecoin {
namespace {

// Up to this sector size matrices are kept flat, which is faster to evaluate and small enough. The
// next sizes are 32 and 64 GiB, whose flat matrices would take 7 to 11 GiB.
constexpr std::uint64_t kFlatCircuitByteCountMax = std::uint64_t{1} << 30;

// The circuit as its description records it: blocks that repeat are stored once.
r1cs::Shape<Fr> recorded(CircuitKind kind, const SectorShape& shape, r1cs::Paths* paths) {
  switch (kind) {
    case CircuitKind::kPorep: return porep_circuit_shape(PorepCircuit::of(shape), paths);
    case CircuitKind::kWinningPost:
      return post_circuit_shape(PostCircuit::of(shape, PostKind::kWinning), paths);
    case CircuitKind::kWindowPost:
      return post_circuit_shape(PostCircuit::of(shape, PostKind::kWindow), paths);
    case CircuitKind::kUpdate: return update_circuit_shape(UpdateCircuit::of(shape), paths);
  }
  CUZK_ASSERT(false);  // no other value exists
  return {};
}

}  // namespace

base::Result<r1cs::Shape<Fr>> circuit_shape(CircuitKind kind, const SectorShape& shape,
                                            r1cs::Paths* paths) {
  if (kind == CircuitKind::kPorep && !shape.has_porep) {
    return base::Error{base::ErrorKind::kUnsupported,
                       "sectors of " + std::string(shape.name) + " have no PoRep"};
  }
  r1cs::Shape<Fr> circuit = recorded(kind, shape, paths);
  CUZK_ASSERT(circuit.input_count == 1 + public_input_count(kind, shape));
  if (shape.byte_count <= kFlatCircuitByteCountMax) {
    for (r1cs::SparseMatrix* matrix : {&circuit.a, &circuit.b, &circuit.c}) {
      *matrix = r1cs::flattened(*matrix);
    }
  }
  return circuit;
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
  CUZK_ASSERT(partition < c1.partitions.size());
  CUZK_ASSERT(c1.registered_proof.shape != nullptr);
  const PorepPartition& proofs = c1.partitions[partition];
  return porep_circuit_assignment(PorepCircuit::of(*c1.registered_proof.shape),
                                  statement_of(c1, proofs), proofs);
}

r1cs::Assignment<Fr> post_partition_assignment(const PostClaim& claim,
                                               const std::vector<PostSectorProof>& proofs,
                                               unsigned partition) {
  CUZK_ASSERT(partition < post_partition_count(claim) && proofs.size() == claim.sectors.size());
  const PostCircuit circuit = PostCircuit::of(*claim.shape, claim.kind);
  // A winning proof's circuit sectors are all the one sector of the claim.
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
