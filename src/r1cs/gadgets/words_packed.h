// 32-bit words in three machine words: the witness pass of SHA-256, 32 booleans at a time.
//
// A word is its value, the mask of constant bits and the mask of negated variables. Each operation
// emits the values of what the bitwise rules (bits.h) allocate, for all 32 bits at once, in the
// same order. What the masks cannot say in a few instructions (choice and majority with some
// constant operands: the first rounds of a message's first block) takes the bitwise rules
// themselves.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "base/check.h"
#include "r1cs/gadgets/bits.h"
#include "r1cs/gadgets/words_bitwise.h"
#include "r1cs/witness_bits.h"

namespace cuzk::r1cs::gadgets {

// Appends bits to an array of words. Small, so that it stays in registers; the array has room for
// one word more than the bits need. `held_` has the low `fill_` (below 64) bits of the word at
// `out_`.
class BitCursor {
 public:
  explicit BitCursor(std::uint64_t* words) : out_(words) {}

  // Appends `count` (at most 64) bits; those above are clear.
  void push(std::uint64_t bits, unsigned count) {
    held_ |= bits << fill_;
    *out_ = held_;
    const unsigned fill = fill_ + count;
    CUZK_DEBUG_ASSERT(count <= 64 && (count == 64 || bits >> count == 0));
    const std::uint64_t rest = bits >> (63 - fill_) >> 1;  // no shift by 64 where fill_ is 0
    out_ += fill / 64;
    held_ = fill / 64 != 0 ? rest : held_;
    fill_ = fill % 64;
  }
  // Writes the last, partial word and returns how many bits there are since `words`.
  std::size_t finish(const std::uint64_t* words) {
    *out_ = held_;
    return static_cast<std::size_t>(out_ - words) * 64 + fill_;
  }

 private:
  std::uint64_t* out_;
  std::uint64_t held_ = 0;
  unsigned fill_ = 0;
};

// The word operations of one SHA-256 compression in the witness pass. Call finish() once at the
// end: until then the bits are held here.
template <class Cs>
class PackedWords {
 public:
  using Word = PackedBits<std::uint32_t>;

  explicit PackedWords(Cs& cs) : cs_(cs) {}
  PackedWords(const PackedWords&) = delete;
  PackedWords& operator=(const PackedWords&) = delete;

  static Word constant(std::uint32_t value) { return {value, ~std::uint32_t{0}, 0}; }
  static Word load(const WitnessBits& bits, std::size_t first) {
    return bits.big_endian_word(first);
  }
  static void store(WitnessBits& bits, const Word& word) { bits.append_big_endian(word); }
  static Word rotated_right(const Word& x, unsigned n) {
    const int count = static_cast<int>(n);
    return {std::rotr(x.value, count), std::rotr(x.constant, count), std::rotr(x.negated, count)};
  }
  static Word shifted_right(const Word& x, unsigned n) {
    return {x.value >> n, x.constant >> n | ~(~std::uint32_t{0} >> n), x.negated >> n};
  }

  // Allocates where neither operand is constant, lowest bit first, as bit_xor does bit by bit.
  Word exclusive_or(const Word& a, const Word& b) {
    const std::uint32_t value = a.value ^ b.value, negated = a.negated ^ b.negated;
    const std::uint32_t allocated = ~(a.constant | b.constant);
    push_selected(value ^ negated, allocated);
    // A constant true negates the other operand.
    const std::uint32_t flips = (a.constant & a.value) ^ (b.constant & b.value);
    const std::uint32_t constant = a.constant & b.constant;
    return {value, constant, (negated ^ flips) & ~constant};
  }
  // All variables, or all constants, in one go; a mixture goes bit by bit.
  Word choice(const Word& a, const Word& b, const Word& c) {
    const std::uint32_t value = (a.value & b.value) ^ (~a.value & c.value);
    const std::uint32_t constants = a.constant | b.constant | c.constant;
    if (constants == 0) {
      cursor_.push(value, 32);
      return {value, 0, 0};
    }
    if (~(a.constant & b.constant & c.constant) == 0) return PackedWords::constant(value);
    return by_bits(a, b, c, [](Emitter& emitter, auto x, auto y, auto z) {
      return bit_choice(emitter, x, y, z);
    });
  }
  // As choice; each bit allocates the result and then the product of b and c.
  Word majority(const Word& a, const Word& b, const Word& c) {
    const std::uint32_t both = b.value & c.value;
    const std::uint32_t value = both | (a.value & (b.value | c.value));
    if ((a.constant | b.constant | c.constant) == 0) {
      cursor_.push(spread(value) | spread(both) << 1, 64);
      return {value, 0, 0};
    }
    if (~(a.constant & b.constant & c.constant) == 0) return PackedWords::constant(value);
    return by_bits(a, b, c, [](Emitter& emitter, auto x, auto y, auto z) {
      return bit_majority(emitter, x, y, z);
    });
  }
  // The sum mod 2^32; allocates all bits of the full sum unless every operand is constant.
  Word add(std::initializer_list<const Word*> operands) {
    std::uint64_t sum = 0;
    std::uint32_t constant_everywhere = ~std::uint32_t{0};
    for (const Word* word : operands) {
      sum += word->value;
      constant_everywhere &= word->constant;
    }
    if (~constant_everywhere == 0) return constant(static_cast<std::uint32_t>(sum));
    cursor_.push(sum, sum_bit_count(operands.size()));
    return {static_cast<std::uint32_t>(sum), 0, 0};
  }
  // Hands the bits over to the constraint system.
  void finish() {
    const std::size_t size = cursor_.finish(words_);
    CUZK_ASSERT(size <= kBitsMax);
    cs_.aux().push_bit_words({words_, (size + 63) / 64}, size);
  }

 private:
  // Just enough of a constraint system for the bitwise rules.
  struct Emitter {
    using Field = void;
    using Bit = WitnessBit;
    static constexpr bool kRecordsRows = false;
    BitCursor cursor;
    Bit new_bit(bool value) {
      cursor.push(value, 1);
      return Bit::of(value);
    }
  };

  // The most that one compression allocates: 48 schedule words of four xors and a sum; 64 rounds of
  // four xors, choice, majority with its product, and two sums; eight final sums.
  static constexpr std::size_t kBitsMax =
      48 * (4 * 32 + 34) + 64 * (4 * 32 + 32 + 64 + 2 * 35) + 8 * 36;

  // Pushes the bits of `values` at the set positions of `mask`, lowest first.
  void push_selected(std::uint32_t values, std::uint32_t mask) {
    if ((mask & (mask + 1)) == 0) {
      cursor_.push(values & mask, static_cast<unsigned>(std::bit_width(mask)));
      return;
    }
    for (; mask != 0; mask &= mask - 1) cursor_.push(values >> std::countr_zero(mask) & 1, 1);
  }
  // Bit i to place 2i.
  static std::uint64_t spread(std::uint32_t x) {
    std::uint64_t y = x;
    y = (y | y << 16) & 0x0000ffff0000ffff;
    y = (y | y << 8) & 0x00ff00ff00ff00ff;
    y = (y | y << 4) & 0x0f0f0f0f0f0f0f0f;
    y = (y | y << 2) & 0x3333333333333333;
    return (y | y << 1) & 0x5555555555555555;
  }
  // Boolean i of a word with its tag.
  static WitnessBit bit(const Word& x, unsigned i) {
    const bool value = (x.value >> i) & 1;
    if ((x.constant >> i) & 1) return WitnessBit::constant(value);
    return {(x.negated >> i) & 1 ? BitKind::kNot : BitKind::kIs, value};
  }
  // Applies a bitwise rule to all 32 places, lowest first.
  template <class Rule>
  Word by_bits(const Word& a, const Word& b, const Word& c, const Rule& rule) {
    Word out;
    Emitter emitter{cursor_};  // a copy: the cursor itself can then stay in registers
    for (unsigned i = 0; i < 32; ++i) {
      const WitnessBit result = rule(emitter, bit(a, i), bit(b, i), bit(c, i));
      out.value |= std::uint32_t{result.value()} << i;
      out.constant |= std::uint32_t{result.is_constant()} << i;
      out.negated |= std::uint32_t{result.kind == BitKind::kNot} << i;
    }
    cursor_ = emitter.cursor;
    return out;
  }

  Cs& cs_;
  std::uint64_t words_[kBitsMax / 64 + 2];
  BitCursor cursor_{words_};
};

}  // namespace cuzk::r1cs::gadgets
