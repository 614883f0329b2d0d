// Bits stay bits: the values of a circuit's variables, one bit for a boolean, 32 bytes for the
// rest.
//
// CompactWitness is an append-only list of variables in allocation order. Variable i is a bit (its
// value in `bits`) or a scalar (marked in `scalar_mask`; its value is the next of `scalars`, its
// bit is zero). Which variables are bits is a property of the circuit, not of the witness, except
// for foreign witnesses, where values 0 and 1 are classified on arrival. Not thread-safe while
// growing.
//
// A variable's scalar is found by rank: the count of scalars before its word of 64, plus a
// popcount. A circuit of 130 million variables, nearly all bits, takes a small part of the 4 GB
// that as many field elements would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bit_vector.h"
#include "base/check.h"

namespace cuzk::r1cs {

// The values of variables in order of allocation; grown by one thread, then read by any number.
// Always: bits_ and scalar_mask_ have one bit a variable, no variable is set in both, scalars_ has
// one value a set bit of the mask, and rank_before_word_ has one count a word.
template <class F>
class CompactWitness {
 public:
  void reserve(std::size_t variables, std::size_t scalars) {
    bits_.reserve(variables);
    scalar_mask_.reserve(variables);
    rank_before_word_.reserve((variables + 63) / 64);
    scalars_.reserve(scalars);
  }
  void push_bit(bool value) { push_bits(value ? 1 : 0, 1); }
  // Appends `count` (at most 64) boolean variables, least significant bit first.
  void push_bits(std::uint64_t values, unsigned count) {
    bits_.push(values, count);
    push_mask(0, count);
  }
  // Appends `count` boolean variables, 64 a word; bits past them in the last word are clear. No
  // scalar among them, so all new words have the same rank.
  void push_bit_words(std::span<const std::uint64_t> words, std::size_t count) {
    bits_.append(words, count);
    scalar_mask_.resize(scalar_mask_.size() + count);
    rank_before_word_.resize(scalar_mask_.words().size(),
                             static_cast<std::uint32_t>(scalars_.size()));
  }
  void push_scalar(const F& value) {
    bits_.push(0, 1);
    push_mask(1, 1);
    scalars_.push_back(value);
  }
  // Appends a foreign value: a bit when it is 0 or 1, else a scalar.
  void push_classified(const F& value) {
    if (value.is_zero() || value.is_one()) return push_bit(value.is_one());
    push_scalar(value);
  }

  // Appends all variables of `other`, which may have been made on another thread. The ranks of the
  // words from the last one on are counted anew: they are shifted against those of `other`.
  void append(const CompactWitness& other) {
    CUZK_ASSERT(this != &other);
    bits_.append(other.bits_.words(), other.size());
    std::size_t word = rank_before_word_.size();
    std::size_t rank = scalars_.size();
    if (word > 0) rank -= scalar_count_in_last_word();
    scalar_mask_.append(other.scalar_mask_.words(), other.size());
    scalars_.insert(scalars_.end(), other.scalars_.begin(), other.scalars_.end());
    const auto words = scalar_mask_.words();
    rank_before_word_.resize(words.size());
    for (word = word > 0 ? word - 1 : 0; word < words.size(); ++word) {
      rank_before_word_[word] = static_cast<std::uint32_t>(rank);
      rank += std::size_t(__builtin_popcountll(words[word]));
    }
    CUZK_ASSERT(rank == scalars_.size() && bits_.size() == scalar_mask_.size());
  }

  std::size_t size() const noexcept { return bits_.size(); }
  std::size_t scalar_count() const noexcept { return scalars_.size(); }
  bool is_scalar(std::size_t i) const { return scalar_mask_.get(i); }
  bool bit(std::size_t i) const { return bits_.get(i); }
  // How many scalars precede variable i: the place of variable i in scalars() when it is one.
  std::size_t scalar_rank(std::size_t i) const {
    CUZK_DEBUG_ASSERT(i < size());
    const std::uint64_t word = scalar_mask_.words()[i / 64];
    const std::uint64_t below = word & ((std::uint64_t{1} << (i % 64)) - 1);
    return rank_before_word_[i / 64] + std::size_t(__builtin_popcountll(below));
  }
  // Of either kind, as a field element; where many are read, ask for bits and scalars apart.
  F value(std::size_t i) const {
    CUZK_DEBUG_ASSERT(i < size());
    if (is_scalar(i)) return scalars_[scalar_rank(i)];
    return bit(i) ? F::one() : F::zero();
  }
  const base::BitVector& bits() const noexcept { return bits_; }
  const base::BitVector& scalar_mask() const noexcept { return scalar_mask_; }
  std::span<const F> scalars() const noexcept { return scalars_; }
  std::size_t byte_count() const noexcept {
    return 2 * bits_.words().size_bytes() + rank_before_word_.size() * sizeof(std::uint32_t) +
           scalars_.size() * sizeof(F);
  }

 private:
  // After the bits, before the scalar: a new word's rank counts what was there before this push.
  void push_mask(std::uint64_t mask, unsigned count) {
    const std::size_t words_before = scalar_mask_.words().size();
    scalar_mask_.push(mask, count);
    if (scalar_mask_.words().size() > words_before) {
      // A mask of more than one variable is all bits, so no scalar of this push precedes the word.
      rank_before_word_.push_back(static_cast<std::uint32_t>(scalars_.size()));
    }
  }

  std::size_t scalar_count_in_last_word() const {
    return std::size_t(__builtin_popcountll(scalar_mask_.words().back()));
  }

  base::BitVector bits_, scalar_mask_;
  std::vector<std::uint32_t> rank_before_word_;
  std::vector<F> scalars_;
};

// A full assignment. inputs[0] is ONE, then the public inputs; aux are the private variables.
// Shapes number their columns in this order.
template <class F>
struct Assignment {
  std::vector<F> inputs;
  CompactWitness<F> aux;
};

// The inputs, ONE among them, in the form of aux, so that who walks an assignment treats both runs
// alike. A copy.
template <class F>
CompactWitness<F> compact_inputs(const Assignment<F>& assignment) {
  CompactWitness<F> out;
  for (const F& value : assignment.inputs) out.push_classified(value);
  return out;
}

}  // namespace cuzk::r1cs
