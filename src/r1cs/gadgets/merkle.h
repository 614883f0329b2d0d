// Inclusion of a leaf in a Merkle tree whose levels may have different arities (2, 4 or 8 each).
//
// A path is the leaf's index, whose low bits choose the place in the lowest level, and per level
// the siblings in order. The index is public: all its bits are packed into inputs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "r1cs/gadgets/numbers.h"
#include "r1cs/gadgets/poseidon.h"
#include "r1cs/gadgets/selection.h"
#include "r1cs/gadgets/sha256.h"

namespace cuzk::r1cs::gadgets {

// How the children of a node are hashed.
struct PoseidonNode {
  template <class Cs>
  typename Cs::Number operator()(Cs& cs, std::span<const typename Cs::Number> children) const {
    return poseidon(cs, children);
  }
};
// Two children as 32-byte strings, the digest cut to the field: a node of tree D.
struct Sha256Node {
  template <class Cs>
  typename Cs::Number operator()(Cs& cs, std::span<const typename Cs::Number> children) const {
    return sha256_numbers(cs, children);
  }
};

// One path's values: `siblings` level by level from the leaf, arity - 1 each.
template <class F>
struct MerkleOpening {
  std::uint64_t index = 0;
  std::vector<F> siblings;
};

// The siblings that a path through levels of these arities has.
inline std::size_t sibling_count(std::span<const std::size_t> arities) {
  std::size_t count = 0;
  for (const std::size_t arity : arities) count += arity - 1;
  return count;
}

// A leaf's root and the bits of its index, lowest level first.
template <class Cs>
struct ComputedRoot {
  typename Cs::Number root;
  typename Cs::BitString index_bits;
};

// Walks from leaf to root. Per level of `arities`: new index bits, new siblings, insertion, hash.
// In the shape pass the opening's values do not matter, but its length does.
template <class Cs, class NodeHash>
ComputedRoot<Cs> compute_root(Cs& cs, const NodeHash& node_hash,
                              std::span<const std::size_t> arities, const typename Cs::Number& leaf,
                              const MerkleOpening<typename Cs::Field>& opening) {
  CUZK_ASSERT(opening.siblings.size() == sibling_count(arities));
  ComputedRoot<Cs> out{leaf, {}};
  std::uint64_t index = opening.index;
  const typename Cs::Field* next = opening.siblings.data();
  for (std::size_t level = 0; level < arities.size(); ++level) {
    const auto scope = cs.scope("level", level);
    const std::size_t arity = arities[level];
    CUZK_ASSERT(std::has_single_bit(arity) && arity > 1);  // so that bits spell a place
    const auto bits =
        alloc_integer_bits(cs, index % arity, static_cast<unsigned>(std::countr_zero(arity)));
    // The siblings are new variables: that they are the tree's follows from the root alone.
    index /= arity;
    std::vector<typename Cs::Number> siblings;
    for (std::size_t i = 1; i < arity; ++i) siblings.push_back(cs.new_number(*next++));
    out.root =
        node_hash(cs, std::span<const typename Cs::Number>(insert(
                          cs, out.root, bits, std::span<const typename Cs::Number>(siblings))));
    out.index_bits.append(bits);
  }
  CUZK_ASSERT(index == 0);
  return out;
}

// Proves that `leaf` is at opening.index under `root`. One public input (the index) and, beyond the
// walk, two rows: packing and  computed | 1 | root.
template <class Cs, class NodeHash>
void prove_inclusion(Cs& cs, const NodeHash& node_hash, std::span<const std::size_t> arities,
                     const typename Cs::Number& leaf, const typename Cs::Number& root,
                     const MerkleOpening<typename Cs::Field>& opening) {
  const auto scope = cs.scope("inclusion");
  const ComputedRoot<Cs> computed = compute_root(cs, node_hash, arities, leaf, opening);
  pack_into_inputs(cs, computed.index_bits);
  enforce_equal(cs, computed.root, root);
}

// The same for index bits and siblings that exist already. Nothing becomes public. `index_bits` has
// exactly the bits of all levels.
template <class Cs, class NodeHash>
void prove_inclusion_at(Cs& cs, const NodeHash& node_hash, std::span<const std::size_t> arities,
                        const typename Cs::BitString& index_bits, const typename Cs::Number& leaf,
                        std::span<const typename Cs::Number> siblings,
                        const typename Cs::Number& root) {
  const auto scope = cs.scope("inclusion");
  CUZK_ASSERT(siblings.size() == sibling_count(arities));
  typename Cs::Number current = leaf;
  std::size_t bits_used = 0;
  for (std::size_t level = 0; level < arities.size(); ++level) {
    const auto level_scope = cs.scope("level", level);
    const auto bit_count = static_cast<std::size_t>(std::countr_zero(arities[level]));
    const auto bits = index_bits.slice(bits_used, bit_count);
    bits_used += bit_count;
    const auto children = insert(cs, current, bits, siblings.first(arities[level] - 1));
    siblings = siblings.subspan(arities[level] - 1);
    current = node_hash(cs, std::span<const typename Cs::Number>(children));
  }
  CUZK_ASSERT(bits_used == index_bits.size());
  enforce_equal(cs, current, root);
}

}  // namespace cuzk::r1cs::gadgets
