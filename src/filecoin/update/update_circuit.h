// The circuit of an empty sector update: one partition of challenges.
//
// Proves, for public partition and selector of h, comm_r_old, comm_d_new, comm_r_new: challenges
// that follow from comm_r_new; at each, the old replica leaf, the new data leaf and the new replica
// leaf are under their roots and new = old + data * rho. Tree D is entered through the partition's
// apex leaves, which are hashed once. Order of allocation is upstream's. Source:
// rust-fil-proofs 19.1, storage-proofs-update/src/{circuit,gadgets}.rs.
#pragma once

#include "filecoin/update/vanilla_update.h"
#include "r1cs/assignment.h"
#include "r1cs/paths.h"
#include "r1cs/shape.h"

namespace cuzk::filecoin {

// What the circuit's structure depends on: all of it follows from the size.
struct UpdateCircuit {
  const SectorShape* shape = nullptr;

  static UpdateCircuit of(const SectorShape& shape) { return {&shape}; }
};

// Records the circuit. With `paths`, also where each row comes from.
r1cs::Shape<Fr> update_circuit_shape(const UpdateCircuit& circuit, r1cs::Paths* paths = nullptr);

// Values of all variables, challenges side by side on all threads. The proof must have the form of
// the circuit and canonical nodes (checked).
r1cs::Assignment<Fr> update_circuit_assignment(const UpdateCircuit& circuit,
                                               const UpdateClaim& claim,
                                               const UpdatePartitionProof& proof,
                                               unsigned partition);

}  // namespace cuzk::filecoin
