// The stacked graph: which nodes a label depends on.
//
// Each node has six base parents below it (a depth-robust graph, DRSample, driven by ChaCha8) and
// eight expansion parents anywhere in the layer below (a Chung bipartite expander, driven by a
// Feistel permutation). Both are seeded by the porep_id. Source: rust-fil-proofs 19.1,
// storage-proofs-core/src/drgraph.rs and storage-proofs-porep/src/stacked/vanilla/graph.rs.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "filecoin/node.h"
#include "filecoin/registered_proof.h"
#include "filecoin/vanilla/feistel.h"

namespace cuzk::filecoin {

// Base parents first, then expansion parents.
using Parents = std::array<std::uint32_t, kParentCount>;

// Immutable after construction and tabulate(); then safe to share between threads. Takes no memory
// a node: parents are computed when asked for, some microseconds each.
class Graph {
 public:
  // `node_count` is a power of two, at most 2^31.
  Graph(std::uint64_t node_count, const Node& porep_id, ApiVersion api_version);

  std::uint64_t node_count() const noexcept { return node_count_; }
  Parents parents(std::uint32_t node) const;
  const FeistelKeys& feistel_keys() const noexcept { return feistel_keys_; }

  // Prepares for asking every node's parents (Feistel::tabulate says when it pays off).
  void tabulate() { feistel_.tabulate(); }

  // The parent cache file: a record of 14 u32 little-endian per node. For small graphs.
  base::Bytes parent_cache() const;
  // "v28-sdr-parent-<hex>.cache".
  std::string parent_cache_name() const;

 private:
  void base_parents(std::uint32_t node, std::uint32_t* out) const;
  void expansion_parents(std::uint32_t node, std::uint32_t* out) const;

  std::uint64_t node_count_;
  ApiVersion api_version_;
  std::array<std::uint8_t, 28> base_seed_{};
  FeistelKeys feistel_keys_{};
  Feistel feistel_;
};

}  // namespace cuzk::filecoin
