// The PoSt circuit (FallbackPoSt): sectors side by side, each opening leaves of its tree R.
//
// Per sector: comm_r is public and the hash of comm_c and comm_r_last; each challenged leaf, whose
// index is public, is under comm_r_last. Order of allocation is upstream's. Source: rust-fil-proofs
// 19.1, storage-proofs-post/src/fallback/circuit.rs.
#pragma once

#include <span>
#include <vector>

#include "filecoin/post/vanilla_post.h"
#include "r1cs/assignment.h"
#include "r1cs/paths.h"
#include "r1cs/shape.h"

namespace cuzk::filecoin {

// What the circuit's structure depends on.
struct PostCircuit {
  TreeShape tree;
  std::uint64_t node_count = 0;
  unsigned sector_count = 0;
  unsigned challenge_count = 0;  // per sector

  static PostCircuit of(const SectorShape& shape, PostKind kind) {
    return {shape.tree, shape.node_count(), post_sector_count(shape, kind),
            post_challenge_count(kind)};
  }
};

// Records the circuit. With `paths`, also where each row comes from.
r1cs::Shape<Fr> post_circuit_shape(const PostCircuit& circuit, r1cs::Paths* paths = nullptr);

// Sectors as the circuit takes them: a winning proof unrolled into sectors of one challenge, a
// window partition filled up with its last sector. `proofs` are those of the partition's own
// sectors, at least one and no more than fit (checked).
std::vector<PostSectorProof> circuit_sectors(const PostCircuit& circuit,
                                             std::span<const PostSectorProof> proofs);

// `sectors` has exactly the circuit's sectors and challenges, with canonical nodes (checked).
r1cs::Assignment<Fr> post_circuit_assignment(const PostCircuit& circuit,
                                             std::span<const PostSectorProof> sectors);

}  // namespace cuzk::filecoin
