// Vanilla PoRep proofs and the commit-phase-1 output that carries them.
//
// A vanilla proof opens one challenged node: its data, replica and column leaves with their paths,
// the columns of its fourteen parents, and, redundantly, the parent labels of every layer. Field
// names follow upstream's serialised form. Source: rust-fil-proofs 19.1,
// storage-proofs-porep/src/stacked/vanilla/params.rs; rust-filecoin-proofs-api, src/seal.rs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "filecoin/porep/config.h"
#include "filecoin/vanilla/merkle.h"

namespace cuzk::filecoin {

// All labels of one node, and that their hash is a leaf of tree C.
struct ColumnProof {
  std::uint32_t index = 0;  // the node
  std::vector<Node> rows;   // its labels, layer 1 first
  MerkleProof inclusion;    // in tree C
  bool operator==(const ColumnProof&) const = default;
};

// The parents from which one label is recomputed.
struct LabelingProof {
  std::vector<Node> parents;  // 37
  std::uint32_t layer_index = 0;
  std::uint64_t node = 0;
  bool operator==(const LabelingProof&) const = default;
};

// The opening of one challenge.
struct PorepProof {
  MerkleProof comm_d_proof;
  MerkleProof comm_r_last_proof;
  ColumnProof c_x;
  std::vector<ColumnProof> drg_parents;        // 6
  std::vector<ColumnProof> exp_parents;        // 8
  std::vector<LabelingProof> labeling_proofs;  // one a layer
  LabelingProof encoding_proof;

  // Parent number i of 14, base parents first.
  const ColumnProof& parent(unsigned i) const {
    return i < kBaseParentCount ? drg_parents[i] : exp_parents[i - kBaseParentCount];
  }
  bool operator==(const PorepProof&) const = default;
};

// One proof a challenge, in the order of the challenges.
using PorepPartition = std::vector<PorepProof>;

// The output of commit phase 1.
struct PorepC1 {
  RegisteredSeal registered_proof{};
  std::vector<PorepPartition> partitions;
  Node comm_r{}, comm_d{}, replica_id{}, seed{}, ticket{};

  PorepConfig config() const { return PorepConfig::of(registered_proof); }
};

}  // namespace cuzk::filecoin
