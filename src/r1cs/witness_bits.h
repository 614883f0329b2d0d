// Booleans of the witness pass: values with the tags that decide what a gadget allocates.
//
// WitnessBits packs a sequence 64 to a word in three bitmaps. Invariant: where `constant` is set,
// `negated` is clear; bits past the end are clear in all three.
//
// The tags do not depend on values: for one circuit they are the same in every proof, and the same
// as in the shape pass. That is what makes both passes allocate alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "r1cs/shape_bits.h"

namespace cuzk::r1cs {

// One boolean of the witness pass: the tag of its ShapeBit, and its value.
struct WitnessBit {
  BitKind kind = BitKind::kConstant;
  bool bit_value = false;  // of the boolean, not of the variable under a negation

  static WitnessBit constant(bool value) { return {BitKind::kConstant, value}; }
  static WitnessBit of(bool variable_value) { return {BitKind::kIs, variable_value}; }

  bool is_constant() const noexcept { return kind == BitKind::kConstant; }
  bool is_constant(bool value) const noexcept { return is_constant() && bit_value == value; }
  bool value() const noexcept { return bit_value; }
  WitnessBit negated() const {
    if (is_constant()) return constant(!bit_value);
    return {kind == BitKind::kIs ? BitKind::kNot : BitKind::kIs, !bit_value};
  }
};

// `size` booleans at once: their values, which are constants, which are negated variables.
template <class Word>
struct PackedBits {
  Word value = 0, constant = 0, negated = 0;

  bool operator==(const PackedBits&) const = default;
};

// A sequence of booleans. Indexes and ranges must lie inside it: this is the inner loop of the
// witness pass, so ranges are checked in builds with a sanitizer alone.
class WitnessBits {
 public:
  std::size_t size() const noexcept { return size_; }
  WitnessBit operator[](std::size_t i) const {
    const PackedBits<std::uint64_t>& word = words_[i / 64];
    const unsigned at = i % 64;
    const bool value = (word.value >> at) & 1;
    if ((word.constant >> at) & 1) return WitnessBit::constant(value);
    return {(word.negated >> at) & 1 ? BitKind::kNot : BitKind::kIs, value};
  }
  void push_back(const WitnessBit& bit) {
    append({bit.bit_value, bit.is_constant(), bit.kind == BitKind::kNot}, 1);
  }
  // Appends the low `count` (1 to 64) booleans of `bits`, whose higher bits are clear.
  void append(const PackedBits<std::uint64_t>& bits, unsigned count) {
    CUZK_DEBUG_ASSERT(count >= 1 && count <= 64 && (bits.constant & bits.negated) == 0);
    const unsigned shift = size_ % 64;
    if (shift == 0) {
      words_.push_back(bits);
    } else {
      PackedBits<std::uint64_t>& last = words_.back();
      last.value |= bits.value << shift;
      last.constant |= bits.constant << shift;
      last.negated |= bits.negated << shift;
      if (shift + count > 64) {
        const unsigned back = 64 - shift;
        words_.push_back({bits.value >> back, bits.constant >> back, bits.negated >> back});
      }
    }
    size_ += count;
  }
  void append(const WitnessBits& other) {
    if (size_ % 64 == 0) {
      words_.insert(words_.end(), other.words_.begin(), other.words_.end());
      size_ += other.size_;
      return;
    }
    for (std::size_t i = 0; i < other.words_.size(); ++i) {
      const std::size_t left = other.size_ - 64 * i;
      append(other.words_[i], static_cast<unsigned>(left < 64 ? left : 64));
    }
  }
  // `count` (at most 64) constant bits, least significant of `value` first.
  void append_constant(std::uint64_t value, unsigned count) {
    if (count == 0) return;
    const std::uint64_t mask = low_mask(count);
    append({value & mask, mask, 0}, count);
  }
  // `count` (at most 64) allocated variables with these values.
  void append_variables(std::uint64_t values, unsigned count) {
    if (count != 0) append({values & low_mask(count), 0, 0}, count);
  }
  WitnessBits slice(std::size_t first, std::size_t count) const {
    CUZK_DEBUG_ASSERT(first + count <= size_);
    WitnessBits out;
    out.words_.reserve((count + 63) / 64);
    for (std::size_t i = 0; i < count; i += 64) {
      const unsigned part = static_cast<unsigned>(count - i < 64 ? count - i : 64);
      out.append(load(first + i, part), part);
    }
    return out;
  }
  // Pads with false to whole bytes, then reverses the order inside each group of eight.
  WitnessBits byte_reversed() const {
    WitnessBits out = *this;
    if (size_ % 8 != 0) out.append_constant(0, 8 - size_ % 8);
    for (auto& word : out.words_) {
      word = {reversed_bytes(word.value), reversed_bytes(word.constant),
              reversed_bytes(word.negated)};
    }
    return out;
  }
  // The 32 booleans from `first` (a multiple of 32) on, the first one at the top: a big-endian
  // word.
  PackedBits<std::uint32_t> big_endian_word(std::size_t first) const {
    CUZK_DEBUG_ASSERT(first % 32 == 0 && first + 32 <= size_);
    const PackedBits<std::uint64_t>& word = words_[first / 64];
    const unsigned shift = first % 64;
    return {reversed(word.value >> shift), reversed(word.constant >> shift),
            reversed(word.negated >> shift)};
  }
  void append_big_endian(const PackedBits<std::uint32_t>& word) {
    append({reversed(word.value), reversed(word.constant), reversed(word.negated)}, 32);
  }
  const std::vector<PackedBits<std::uint64_t>>& words() const noexcept { return words_; }

 private:
  static std::uint64_t low_mask(unsigned count) {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
  // The bits of each byte in opposite order; the bytes stay where they are.
  static std::uint64_t reversed_bytes(std::uint64_t x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    return (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
  }
  static std::uint32_t reversed(std::uint64_t x) {
    return __builtin_bswap32(static_cast<std::uint32_t>(reversed_bytes(x & 0xffffffff)));
  }
  // `count` (1 to 64) booleans from `first` on, from one word or two.
  PackedBits<std::uint64_t> load(std::size_t first, unsigned count) const {
    CUZK_DEBUG_ASSERT(count >= 1 && count <= 64);
    const unsigned shift = first % 64;
    PackedBits<std::uint64_t> out = words_[first / 64];
    out = {out.value >> shift, out.constant >> shift, out.negated >> shift};
    if (shift + count > 64) {
      const PackedBits<std::uint64_t>& next = words_[first / 64 + 1];
      out.value |= next.value << (64 - shift);
      out.constant |= next.constant << (64 - shift);
      out.negated |= next.negated << (64 - shift);
    }
    const std::uint64_t mask = low_mask(count);
    return {out.value & mask, out.constant & mask, out.negated & mask};
  }

  std::vector<PackedBits<std::uint64_t>> words_;
  std::size_t size_ = 0;
};

}  // namespace cuzk::r1cs
