// Names of parameter sets: the files under which keys are published and cached.
//
// A name is "v28-<prefix>-<hex>" where hex is the SHA-256 of an identifier string that spells out
// the circuit's public parameters; ".params", ".vk" or ".meta" follow. So a key is found by what it
// is for, and a circuit of other parameters finds none. Source:
// rust-fil-proofs 19.1, the CacheableParameters implementations of the porep, post and update
// crates.
#pragma once

#include <string>

#include "filecoin/registered_proof.h"
#include "filecoin/sector_shape.h"

namespace cuzk::filecoin {

// The circuits that have published parameter sets.
enum class CircuitKind { kPorep, kWinningPost, kWindowPost, kUpdate };
// "porep", "winning-post", "window-post", "update": as on the command line.
std::string_view to_string(CircuitKind kind) noexcept;
// kInvalidArgument, with the names that exist, for any other text.
base::Result<CircuitKind> circuit_kind_by_name(std::string_view text);

// The string whose hash is in the name.
std::string parameter_identifier(CircuitKind kind, const SectorShape& shape);
// "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d..." without
// suffix.
std::string parameter_set_name(CircuitKind kind, const SectorShape& shape);

// "stacked_graph::StackedGraph{...}" of a sector with `node_count` nodes.
std::string graph_identifier(std::uint64_t node_count);

}  // namespace cuzk::filecoin
