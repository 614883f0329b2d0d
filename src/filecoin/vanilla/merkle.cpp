// Building trees, cutting paths out of them, checking paths. Levels of all base trees lie in one
// array per level, block after block, so sub and top levels are just further levels with another
// arity.
#include "filecoin/vanilla/merkle.h"

#include <algorithm>

#include "base/check.h"
#include "base/threads.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

// The widest hash here: a column of eleven labels.
constexpr std::size_t kArityMax = 11;

// The hash of so many nodes under the Merkle tag of their number.
Node poseidon_nodes(std::span<const Node> nodes) {
  CUZK_ASSERT(nodes.size() <= kArityMax);
  std::array<Fr, kArityMax> elements;
  for (std::size_t i = 0; i < nodes.size(); ++i) elements[i] = checked_fr(nodes[i]);
  return to_node(hash::poseidon(std::span(elements).first(nodes.size())));
}

// A path that does not hold; `where` is its place in a file.
base::Error proof_error(std::string_view where, const std::string& sentence) {
  return {base::ErrorKind::kMismatch, std::string(where) + ": " + sentence};
}

}  // namespace

Node hash_children(NodeHash hash, std::span<const Node> children) {
  if (hash == NodeHash::kPoseidon) return poseidon_nodes(children);
  CUZK_ASSERT(children.size() == 2);
  return hash::sha256_tree_node(children[0], children[1]);
}

Node column_hash(std::span<const Node> rows) { return poseidon_nodes(rows); }

Node poseidon_pair(const Node& left, const Node& right) {
  return poseidon_nodes(std::array<Node, 2>{left, right});
}

MerkleTree MerkleTree::build(NodeHash hash, const TreeShape& shape, std::vector<Node> leaves) {
  MerkleTree tree;
  tree.hash_ = hash;
  tree.shape_ = shape;
  tree.arities_ = level_arities(shape, leaves.size());
  tree.levels_.push_back(std::move(leaves));
  for (const std::size_t arity : tree.arities_) {
    const std::vector<Node>& below = tree.levels_.back();
    std::vector<Node> level(below.size() / arity);
    base::parallel_for(0, level.size(), 64, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        level[i] = hash_children(hash, std::span(below).subspan(i * arity, arity));
      }
    });
    tree.levels_.push_back(std::move(level));
  }
  CUZK_ASSERT(tree.levels_.back().size() == 1);
  return tree;
}

MerkleProof MerkleTree::proof(std::uint64_t leaf_index) const {
  CUZK_ASSERT(leaf_index < leaf_count());
  MerkleProof out;
  out.root = root();
  out.leaf = levels_[0][leaf_index];
  std::uint64_t index = leaf_index;
  for (std::size_t l = 0; l < arities_.size(); ++l) {
    const std::size_t arity = arities_[l];
    PathElement element;
    element.index = index % arity;
    const std::uint64_t first = index - element.index;
    for (std::uint64_t i = 0; i < arity; ++i) {
      if (i != element.index) element.hashes.push_back(levels_[l][first + i]);
    }
    out.path.push_back(std::move(element));
    index /= arity;
  }
  CUZK_ASSERT(index == 0);  // the arities' product is the number of leaves
  return out;
}

base::Bytes MerkleTree::base_tree_bytes(std::uint64_t base_tree, std::size_t first_level) const {
  CUZK_ASSERT(base_tree < shape_.base_tree_count() && first_level < levels_.size());
  base::Bytes out;
  // All base trees are equally high: the level where each has one node is the last of theirs.
  for (std::size_t l = first_level; l < levels_.size(); ++l) {
    const std::size_t count = levels_[l].size() / shape_.base_tree_count();
    for (std::size_t i = 0; i < count; ++i) {
      const Node& node = levels_[l][base_tree * count + i];
      out.insert(out.end(), node.begin(), node.end());
    }
    if (count <= 1) break;
  }
  return out;
}

base::Status check_merkle_proof(const MerkleProof& proof, NodeHash hash,
                                std::span<const std::size_t> arities, std::uint64_t leaf_index,
                                std::string_view where) {
  if (proof.path.size() != arities.size()) {
    return proof_error(where, "the path has " + std::to_string(proof.path.size()) +
                                  " elements, expected " + std::to_string(arities.size()));
  }
  Node current = proof.leaf;
  std::uint64_t index = leaf_index;
  for (std::size_t l = 0; l < arities.size(); ++l) {
    const PathElement& element = proof.path[l];
    const std::size_t arity = arities[l];
    const std::string level = "path element " + std::to_string(l);
    if (element.hashes.size() + 1 != arity) {
      return proof_error(where, level + " has " + std::to_string(element.hashes.size()) +
                                    " hashes, expected " + std::to_string(arity - 1));
    }
    if (element.index != index % arity) {
      return proof_error(where, level + " has index " + std::to_string(element.index) +
                                    ", expected " + std::to_string(index % arity) + " for leaf " +
                                    std::to_string(leaf_index));
    }
    // A node that is not canonical would be another form of an element, hence another opening of
    // the same tree.
    std::vector<Node> children = element.hashes;
    children.insert(children.begin() + static_cast<std::ptrdiff_t>(element.index), current);
    for (const Node& child : children) {
      CUZK_TRY([[maybe_unused]] const Fr canonical,
               read_fr(child, std::string(where) + ": a hash of " + level));
    }
    current = hash_children(hash, children);
    index /= arity;
  }
  // The digits of the leaf's number are used up, unless it lies behind the last leaf.
  if (index != 0) {
    return proof_error(where, "leaf " + std::to_string(leaf_index) + " is outside the tree");
  }
  if (current != proof.root) {
    return proof_error(
        where, "the path leads to root " + to_hex(current) + ", not to " + to_hex(proof.root));
  }
  return base::ok_status();
}

std::uint64_t path_index(const MerkleProof& proof, std::span<const std::size_t> arities) {
  CUZK_ASSERT(proof.path.size() == arities.size());
  std::uint64_t index = 0, unit = 1;
  for (std::size_t l = 0; l < arities.size(); ++l) {
    index += proof.path[l].index * unit;
    unit *= arities[l];
  }
  return index;
}

}  // namespace cuzk::filecoin
