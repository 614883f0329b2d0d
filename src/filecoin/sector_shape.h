// Everything that follows from a sector's size: node count, tree shape, layers, challenges.
//
// Source: rust-fil-proofs 19.1, filecoin-proofs/src/constants.rs and parameters.rs. Sizes come in a
// fixed list; the ones without published parameters exist for tests of the compound tree shapes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cuzk::filecoin {

// Arities of the Poseidon trees C and R: equal blocks of leaves are hashed with the base arity,
// their roots by at most one level of the sub arity, then at most one of the top arity. 0: no such
// level.
struct TreeShape {
  unsigned base_arity = 8;
  unsigned sub_arity = 0;
  unsigned top_arity = 0;

  bool operator==(const TreeShape&) const = default;
  std::uint64_t base_tree_count() const noexcept {
    return std::uint64_t{sub_arity == 0 ? 1 : sub_arity} * (top_arity == 0 ? 1 : top_arity);
  }
  // "8-8-2", as in parameter file names.
  std::string name() const;
};

// The shape of tree D.
inline constexpr TreeShape kBinaryTree{2, 0, 0};

// Arity of each level from the leaves up. `leaf_count` must be a whole number of complete base
// trees (checked).
std::vector<std::size_t> level_arities(const TreeShape& shape, std::uint64_t leaf_count);

// log2 of a power of two (checked).
unsigned log2_exact(std::uint64_t power_of_two);

// Where the challenges of a PoRep come from: the chain, a pool fixed at sealing, or the commitment
// alone.
enum class PorepKind { kInteractive, kSynthetic, kNonInteractive };
std::string_view to_string(PorepKind kind) noexcept;

inline constexpr unsigned kBaseParentCount = 6;
inline constexpr unsigned kExpansionParentCount = 8;
inline constexpr unsigned kParentCount = kBaseParentCount + kExpansionParentCount;
// Parents that one label hashes, by cyclic repetition of the node's own.
inline constexpr unsigned kLabelParentCount = 37;
inline constexpr unsigned kPublicInputsPerPorepChallenge = 18;
inline constexpr unsigned kWinningChallengeCount = 66;
inline constexpr unsigned kWindowChallengeCount = 10;

// Constants of the empty-sector-update (SnapDeals) circuit of one size.
struct UpdateShape {
  unsigned partition_count;
  unsigned challenge_count;  // per partition
  unsigned apex_leaf_count;  // per partition
  // Candidate numbers of high index bits that select rho; the protocol uses the fourth.
  unsigned high_bit_counts[6];

  unsigned partition_log2() const { return log2_exact(partition_count); }
  unsigned apex_log2() const { return log2_exact(apex_leaf_count); }
  unsigned high_bit_count() const noexcept { return high_bit_counts[3]; }
  // One-hot selector of high_bit_count() among the candidates, as the circuit takes it: the first
  // candidate that is equal.
  unsigned high_bit_select() const noexcept;
};

// One size of sectors. Lives in the table for the life of the process, so pointers to it stay
// valid.
struct SectorShape {
  std::uint64_t byte_count;  // padded
  std::string_view name;     // "2KiB"
  TreeShape tree;
  // Whether the network publishes parameters for this size; only those have registered proofs.
  bool has_registered_proofs;
  // False for sizes that exist in tests of the update circuit only.
  bool has_porep;
  unsigned layer_count;
  unsigned porep_challenges_per_partition;
  unsigned window_sector_count;  // sectors in one window-PoSt circuit
  UpdateShape update;

  std::uint64_t node_count() const noexcept { return byte_count / 32; }
  unsigned node_count_log2() const { return log2_exact(node_count()); }
  // Data bytes before Fr32 padding.
  std::uint64_t unpadded_byte_count() const noexcept { return byte_count / 128 * 127; }
  unsigned porep_partition_count(PorepKind kind) const noexcept;
  unsigned porep_minimum_challenge_count(PorepKind kind) const noexcept;
  // Public inputs of one PoRep partition, without ONE.
  std::size_t porep_public_input_count() const noexcept {
    return 3 + std::size_t{kPublicInputsPerPorepChallenge} * porep_challenges_per_partition;
  }
};

// The table, smallest size first.
std::span<const SectorShape> all_sector_shapes();

// By size in bytes; the error lists the sizes that exist.
base::Result<const SectorShape*> sector_shape(std::uint64_t byte_count);

// "2KiB", "8mib" or however base/byte_size.h reads it, or a number of bytes.
base::Result<const SectorShape*> sector_shape_by_name(std::string_view text);

}  // namespace cuzk::filecoin
