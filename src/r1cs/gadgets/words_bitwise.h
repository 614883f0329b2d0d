// 32-bit words as 32 booleans: the shape pass of SHA-256, and the slow, obvious twin of its witness
// pass (words_packed.h).
//
// What a word operation allocates is what its 32 bit operations allocate, lowest bit first. Sums
// are the exception: they allocate the bits of the whole sum and leave its equality to a batch
// (multi_eq.h), which several sums share.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "base/check.h"
#include "r1cs/gadgets/bits.h"
#include "r1cs/gadgets/multi_eq.h"

namespace cuzk::r1cs::gadgets {

// Bits that hold the sum of `count` 32-bit operands: the length of count * (2^32 - 1).
constexpr unsigned sum_bit_count(std::size_t count) {
  return static_cast<unsigned>(std::bit_width(std::uint64_t{count} * 0xffffffff));
}

// The word operations of one SHA-256 compression over `Cs`. Call finish() once at the end.
template <class Cs>
class BitwiseWords {
 public:
  using F = typename Cs::Field;
  using Bit = typename Cs::Bit;
  using Word = std::array<Bit, 32>;  // least significant first

  explicit BitwiseWords(Cs& cs) : cs_(cs), equalities_(cs) {}

  static Word constant(std::uint32_t value) {
    Word out;
    for (std::size_t i = 0; i < 32; ++i) out[i] = Bit::constant((value >> i) & 1);
    return out;
  }
  // The word whose most significant bit is bits[first].
  static Word load(const typename Cs::BitString& bits, std::size_t first) {
    Word out;
    for (std::size_t i = 0; i < 32; ++i) out[31 - i] = bits[first + i];
    return out;
  }
  // Appends the word, most significant bit first.
  static void store(typename Cs::BitString& bits, const Word& word) {
    for (std::size_t i = 32; i > 0; --i) bits.push_back(word[i - 1]);
  }
  static Word rotated_right(const Word& x, unsigned count) {
    Word out;
    for (std::size_t i = 0; i < 32; ++i) out[i] = x[(i + count) % 32];
    return out;
  }
  static Word shifted_right(const Word& x, unsigned count) {
    Word out;
    for (std::size_t i = 0; i < 32; ++i) {
      out[i] = i + count < 32 ? x[i + count] : Bit::constant(false);
    }
    return out;
  }
  Word exclusive_or(const Word& a, const Word& b) {
    Word out;
    for (std::size_t i = 0; i < 32; ++i) out[i] = bit_xor(cs_, a[i], b[i]);
    return out;
  }
  Word choice(const Word& a, const Word& b, const Word& c) {
    Word out;
    for (std::size_t i = 0; i < 32; ++i) out[i] = bit_choice(cs_, a[i], b[i], c[i]);
    return out;
  }
  Word majority(const Word& a, const Word& b, const Word& c) {
    Word out;
    for (std::size_t i = 0; i < 32; ++i) out[i] = bit_majority(cs_, a[i], b[i], c[i]);
    return out;
  }

  // The sum mod 2^32 of two or more operands. Constants fold; else all bits of the full sum are
  // allocated, and the equality of both sides is batched.
  Word add(std::initializer_list<const Word*> operands) {
    std::uint64_t sum = 0;
    bool all_constant = true;
    for (const Word* word : operands) {
      for (std::size_t i = 0; i < 32; ++i) {
        sum += std::uint64_t{(*word)[i].value()} << i;
        all_constant = all_constant && (*word)[i].is_constant();
      }
    }
    if (all_constant) return constant(static_cast<std::uint32_t>(sum));
    const unsigned count = sum_bit_count(operands.size());
    std::array<Bit, 40> result;
    CUZK_ASSERT(count <= result.size());
    for (unsigned i = 0; i < count; ++i) result[i] = alloc_bit(cs_, (sum >> i) & 1);
    if constexpr (Cs::kRecordsRows) {
      const auto& powers = powers_of_two<F>();
      const std::size_t shift = equalities_.begin(count);
      for (const Word* word : operands) {
        for (std::size_t i = 0; i < 32; ++i) {
          (*word)[i].add_to(equalities_.lhs(), powers[shift + i]);
        }
      }
      for (unsigned i = 0; i < count; ++i) result[i].add_to(equalities_.rhs(), powers[shift + i]);
    }
    Word out;
    for (std::size_t i = 0; i < 32; ++i) out[i] = result[i];
    return out;
  }

  // The rows that sums still wait for.
  void finish() {
    if constexpr (Cs::kRecordsRows) equalities_.flush();
  }

 private:
  // The witness pass has no rows to batch.
  struct NoEqualities {
    explicit NoEqualities(Cs&) {}
  };
  template <bool records, class Unused = void>
  struct Equalities {
    using type = NoEqualities;
  };
  template <class Unused>
  struct Equalities<true, Unused> {
    using type = MultiEq<Cs>;
  };

  Cs& cs_;
  typename Equalities<Cs::kRecordsRows>::type equalities_;
};

}  // namespace cuzk::r1cs::gadgets
