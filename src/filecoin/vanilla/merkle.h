// Merkle trees and inclusion proofs of every shape that Filecoin uses.
//
// Tree D is binary over masked SHA-256; trees C and R are arity 8 over Poseidon, with at most one
// sub and one top level (TreeShape). A path's index digits, leaf level first, are the leaf's index
// in mixed radix, least significant digit first. Source: rust-fil-proofs 19.1,
// storage-proofs-core/src/merkle.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "filecoin/node.h"
#include "filecoin/sector_shape.h"

namespace cuzk::filecoin {

// How siblings become a parent: tree D by SHA-256, trees C and R by Poseidon.
enum class NodeHash { kSha256, kPoseidon };

// One level of a path: the siblings in order, without the path's own node, which is at `index`.
struct PathElement {
  std::vector<Node> hashes;
  std::uint64_t index = 0;
  bool operator==(const PathElement&) const = default;
};

// A leaf, a root, and the siblings between them. Says nothing until check_merkle_proof() did.
struct MerkleProof {
  Node root{};
  Node leaf{};
  std::vector<PathElement> path;  // base levels, then sub, then top
  bool operator==(const MerkleProof&) const = default;
};

// The parent of sibling nodes: 2 for SHA-256; 2, 4 or 8 for Poseidon. Poseidon wants canonical
// children (checked): bytes from outside are tested where they are read.
Node hash_children(NodeHash hash, std::span<const Node> children);

// Poseidon over a column of labels (2 or 11) with the tag of that arity; they must be canonical.
Node column_hash(std::span<const Node> rows);
// Poseidon of arity 2: comm_r from comm_c and comm_r_last.
Node poseidon_pair(const Node& left, const Node& right);

// A whole tree in memory: leaves and all levels. Building runs on all threads. Immutable once
// built; a default one holds nothing and may only be assigned to. Level l + 1 has levels_[l].size()
// / arities_[l] nodes.
class MerkleTree {
 public:
  // leaves.size() is a whole number of complete base trees (checked).
  static MerkleTree build(NodeHash hash, const TreeShape& shape, std::vector<Node> leaves);

  const Node& root() const { return levels_.back().front(); }
  std::uint64_t leaf_count() const noexcept { return levels_.front().size(); }
  // The opening of the leaf, which must exist.
  MerkleProof proof(std::uint64_t leaf_index) const;

  // Level 0 is the leaves; the last is the root.
  std::size_t level_count() const noexcept { return levels_.size(); }
  std::span<const Node> level(std::size_t index) const { return levels_[index]; }

  // One base tree as cache files hold it: its levels from `first_level` to its root, leaf side
  // first.
  base::Bytes base_tree_bytes(std::uint64_t base_tree, std::size_t first_level) const;

 private:
  NodeHash hash_ = NodeHash::kPoseidon;
  TreeShape shape_;
  std::vector<std::size_t> arities_;
  std::vector<std::vector<Node>> levels_;
};

// Whether the path has the lengths of `arities`, indexes inside them and leads from proof.leaf at
// `leaf_index` to proof.root. The error begins with `where`, the place of the proof in its file.
// Every hash must be canonical (checked).
base::Status check_merkle_proof(const MerkleProof& proof, NodeHash hash,
                                std::span<const std::size_t> arities, std::uint64_t leaf_index,
                                std::string_view where);

// The leaf index that the path's digits spell, for a path of the right lengths.
std::uint64_t path_index(const MerkleProof& proof, std::span<const std::size_t> arities);

}  // namespace cuzk::filecoin
