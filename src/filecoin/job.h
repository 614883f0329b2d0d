// The room's face for whoever proves: the circuit of a kind and size, the assignment of one
// partition, the public inputs, the parameter set's name. How to prove them is not this room's
// affair.
//
//   auto file  = read_c1(bytes, name);                       // porep/c1_json.h
//   verify_c1(file->c1);                                     // porep/verify_vanilla.h
//   auto shape = circuit_shape(CircuitKind::kPorep, *file->c1.registered_proof.shape);
//   for k < porep_partition_count(file->c1):
//     porep_partition_assignment(file->c1, k)                // inputs equal
//     porep_public_inputs(...)
//   key files: parameter_set_name(kind, shape) + ".params", ".vk", ".meta"   // parameter_name.h
#pragma once

#include <vector>

#include "filecoin/parameter_name.h"
#include "filecoin/porep/c1_json.h"
#include "filecoin/porep/porep_circuit.h"
#include "filecoin/porep/public_inputs.h"
#include "filecoin/porep/verify_vanilla.h"
#include "filecoin/post/post_circuit.h"
#include "filecoin/update/update_circuit.h"

namespace cuzk::filecoin {

// Matrices of a circuit; above 1 GiB sectors rows that repeat are stored once, so the largest take
// 1.2 GiB. kUnsupported for a PoRep of sizes that have none. With `paths`, also where each row
// comes from.
base::Result<r1cs::Shape<Fr>> circuit_shape(CircuitKind kind, const SectorShape& shape,
                                            r1cs::Paths* paths = nullptr);

// Public inputs of one proof of the kind, without ONE.
std::size_t public_input_count(CircuitKind kind, const SectorShape& shape);

// Proofs that a C1 file asks for; the chain wants them all, one after the other in one string.
inline unsigned porep_partition_count(const PorepC1& c1) {
  return static_cast<unsigned>(c1.partitions.size());
}
// Values of all variables of partition `partition` (checked). Verify the C1 first: values that
// vanilla verification refuses give an assignment that breaks rows.
r1cs::Assignment<Fr> porep_partition_assignment(const PorepC1& c1, unsigned partition);

// Values for partition `partition` (checked) of a normalized claim, whose vanilla proofs are all
// given, in the claim's order, and verified.
r1cs::Assignment<Fr> post_partition_assignment(const PostClaim& claim,
                                               const std::vector<PostSectorProof>& proofs,
                                               unsigned partition);

// Values for one partition of a sector update, verified before.
r1cs::Assignment<Fr> update_partition_assignment(const UpdateClaim& claim,
                                                 const UpdatePartitionProof& proof,
                                                 unsigned partition);

}  // namespace cuzk::filecoin
