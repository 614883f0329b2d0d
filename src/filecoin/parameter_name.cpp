// Identifier strings and the file names made of their hashes. The strings are upstream's debug
// output, spaces and all: one character off and no published key is found.
#include "filecoin/parameter_name.h"

#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

constexpr CircuitKind kKinds[] = {CircuitKind::kPorep, CircuitKind::kWinningPost,
                                  CircuitKind::kWindowPost, CircuitKind::kUpdate};

std::string tree_name(const TreeShape& tree) { return "merkletree-poseidon_hasher-" + tree.name(); }

// The debug output of the PoRep circuit's public parameters.
std::string porep_identifier(const SectorShape& shape) {
  return "layered_drgporep::PublicParams{ graph: " + graph_identifier(shape.node_count()) +
         ", challenges: LayerChallenges { layers: " + std::to_string(shape.layer_count) +
         ", max_count: " + std::to_string(shape.porep_challenges_per_partition) +
         " }, tree: " + tree_name(shape.tree) + " }";
}

// Winning and window PoSt differ only in these numbers.
std::string post_identifier(const SectorShape& shape, unsigned challenges, unsigned sectors) {
  return "FallbackPoSt::PublicParams{sector_size: " + std::to_string(shape.byte_count) +
         ", challenge_count: " + std::to_string(challenges) +
         ", sector_count: " + std::to_string(sectors) + "}";
}

// The readable part of a name: kind of proof, tree, hash of tree D where there is one.
std::string prefix(CircuitKind kind, const SectorShape& shape) {
  const std::string tree = tree_name(shape.tree);
  switch (kind) {
    case CircuitKind::kPorep: return "stacked-proof-of-replication-" + tree + "-sha256_hasher";
    case CircuitKind::kWinningPost:
    case CircuitKind::kWindowPost: return "proof-of-spacetime-fallback-" + tree;
    case CircuitKind::kUpdate: return "empty-sector-update-" + tree;
  }
  return tree;
}

}  // namespace

// On the command line and in circuit_kind_by_name; parameter names have words of their own.
std::string_view to_string(CircuitKind kind) noexcept {
  switch (kind) {
    case CircuitKind::kPorep: return "porep";
    case CircuitKind::kWinningPost: return "winning-post";
    case CircuitKind::kWindowPost: return "window-post";
    case CircuitKind::kUpdate: return "update";
  }
  return "porep";
}

base::Result<CircuitKind> circuit_kind_by_name(std::string_view text) {
  for (const CircuitKind kind : kKinds) {
    if (text == to_string(kind)) return kind;
  }
  return base::Error{base::ErrorKind::kInvalidArgument,
                     "\"" + std::string(text) +
                         "\" is not a kind of circuit; expected porep, "
                         "winning-post, window-post or update"};
}

std::string parameter_identifier(CircuitKind kind, const SectorShape& shape) {
  switch (kind) {
    case CircuitKind::kPorep: return porep_identifier(shape);
    // As upstream has it: 66 sectors of one challenge.
    case CircuitKind::kWinningPost: return post_identifier(shape, 1, kWinningChallengeCount);
    case CircuitKind::kWindowPost:
      return post_identifier(shape, kWindowChallengeCount, shape.window_sector_count);
    case CircuitKind::kUpdate:
      return "empty_sector_update::PublicParams{ sector_nodes: " +
             std::to_string(shape.node_count()) + " }";
  }
  return {};
}

std::string parameter_set_name(CircuitKind kind, const SectorShape& shape) {
  const std::string identifier = parameter_identifier(kind, shape);
  const auto bytes =
      base::ByteSpan(reinterpret_cast<const std::uint8_t*>(identifier.data()), identifier.size());
  return "v28-" + prefix(kind, shape) + "-" + base::to_hex(hash::sha256(bytes));
}

std::string graph_identifier(std::uint64_t node_count) {
  return "stacked_graph::StackedGraph{expansion_degree: 8 base_graph: drgraph::BucketGraph{size: " +
         std::to_string(node_count) + "; degree: 6; hasher: poseidon_hasher} }";
}

}  // namespace cuzk::filecoin
