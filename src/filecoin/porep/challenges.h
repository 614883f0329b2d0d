// Which nodes a PoRep must open: interactive, synthetic and non-interactive challenges.
//
// Challenges never hit node 0. Source: rust-fil-proofs 19.1,
// storage-proofs-porep/src/stacked/vanilla/challenges.rs.
#pragma once

#include <cstdint>
#include <vector>

#include "filecoin/node.h"
#include "filecoin/sector_shape.h"

namespace cuzk::filecoin {

// What challenges follow from. Which members count depends on the kind: interactive takes
// replica_id and seed, non-interactive replica_id and comm_r, synthetic all three.
struct PorepChallengeSource {
  PorepKind kind = PorepKind::kInteractive;
  Node replica_id{}, comm_r{}, seed{};
};

// Challenges of partition `partition` with `count` challenges each, over a graph of `node_count`
// (at least 2) nodes.
std::vector<std::uint32_t> porep_challenges(const PorepChallengeSource& source,
                                            std::uint64_t node_count, unsigned count,
                                            unsigned partition);

// The first `count` synthetic challenges, from which the porep challenges are selected.
std::vector<std::uint32_t> synthetic_challenges(const Node& replica_id, const Node& comm_r,
                                                std::uint64_t node_count, std::size_t count);

// Places, among `pool` synthetic challenges, of the porep challenges number `first` to
// `first + count - 1`.
std::vector<std::uint64_t> synthetic_selection(const Node& replica_id, const Node& seed,
                                               std::uint64_t pool, std::uint64_t first,
                                               unsigned count);

// Synthetic challenges that are generated for a graph: min(node_count, 2^18).
std::uint64_t synthetic_challenge_count(std::uint64_t node_count);

}  // namespace cuzk::filecoin
