// Labels: the slow, sequential function that makes a replica expensive to recompute.
//
// label(l, v) = sha256(replica_id || l || v || zeros to 64 bytes || 37 parents), masked, where the
// parents of layer 1 are the base parents' labels of the same layer, and of a higher layer also the
// expansion parents' labels of the layer below, repeated cyclically to 37. Node 0 hashes the header
// alone. Source: rust-fil-proofs 19.1, storage-proofs-porep/src/stacked/vanilla/create_label.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "filecoin/node.h"
#include "filecoin/vanilla/graph.h"

namespace cuzk::filecoin {

using LabelParents = std::array<Node, kLabelParentCount>;

// The cyclic repetition of 6 (layer 1) or 14 parent labels; other numbers are a defect.
LabelParents repeat_parents(std::span<const Node> labels);

// Layers count from 1. `node` is not 0.
Node label_of_parents(const Node& replica_id, std::uint32_t layer, std::uint64_t node,
                      const LabelParents& parents);

// Labels of one layer, all nodes in order, on the calling thread. `below` is the layer under it,
// empty for layer 1.
std::vector<Node> label_layer(const Graph& graph, const Node& replica_id, std::uint32_t layer,
                              std::span<const Node> below);

}  // namespace cuzk::filecoin
