// The PoRep circuit (StackedCompound): one partition of challenges over one replica.
//
// Proves, for public replica_id, comm_d, comm_r and per challenge its node number c and 14 parents:
// the data leaf is under comm_d at c; every parent's column is under comm_c; the labels of c follow
// from the parents' labels; their column is under comm_c at c; data plus the last label is under
// comm_r_last at c; comm_r = H(comm_c, comm_r_last). Order of allocation is upstream's. Source:
// rust-fil-proofs 19.1, storage-proofs-porep/src/stacked/circuit.
#pragma once

#include <span>

#include "filecoin/porep/vanilla_proof.h"
#include "filecoin/sector_shape.h"
#include "r1cs/assignment.h"
#include "r1cs/paths.h"
#include "r1cs/shape.h"

namespace cuzk::filecoin {

// What the circuit's structure depends on.
struct PorepCircuit {
  TreeShape tree;
  std::uint64_t node_count = 0;
  unsigned layer_count = 2;
  unsigned challenge_count = 0;

  static PorepCircuit of(const SectorShape& shape) {
    return {shape.tree, shape.node_count(), shape.layer_count,
            shape.porep_challenges_per_partition};
  }
};

// The commitments that all proofs of a partition share.
struct PorepStatement {
  Node replica_id{}, comm_d{}, comm_r{}, comm_r_last{}, comm_c{};
};

// The statement of one partition, comm_c and comm_r_last taken from its first proof.
PorepStatement statement_of(const PorepC1& c1, const PorepPartition& partition);

// Records the circuit, one challenge of it: the matrices store that block once
// (r1cs/sparse_matrix.h). With `paths`, also where each row comes from.
r1cs::Shape<Fr> porep_circuit_shape(const PorepCircuit& circuit, r1cs::Paths* paths = nullptr);

// Values of all variables, one challenge a thread. The proofs must have the form of the circuit and
// canonical nodes (checked): run verify_c1 before. Proofs that vanilla verification refuses give an
// assignment that breaks rows.
r1cs::Assignment<Fr> porep_circuit_assignment(const PorepCircuit& circuit,
                                              const PorepStatement& statement,
                                              std::span<const PorepProof> proofs);

}  // namespace cuzk::filecoin
