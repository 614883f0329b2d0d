// Inverses by division steps: Bernstein and Yang, "Fast constant-time gcd computation and modular
// inversion" (CHES 2019), with their variant that begins at delta = 1/2.
//
// Thirty steps on the low words of f and g make a matrix of small integers, which then acts on all
// of f and g and, modulo p, on d and e, where d x = f and e x = g hold throughout. A step takes a
// dozen additions of words; a power by Fermat takes some 570 products, eight times as long. Numbers
// are limbs of 30 bits, the top one signed. The loop ends when g is zero, at different times for
// different values: these are no secrets here.
#pragma once

#include <cstdint>

#include "cuda/field/word_field.h"

namespace cuzk::cuda::field {

// One inversion in progress.
template <class P>
struct DivisionSteps {
  using Constants = WordConstants<P>;
  static constexpr int W = Constants::kWordCount;
  static constexpr int kStepCount = 30;
  static constexpr std::int32_t kMask = (std::int32_t{1} << kStepCount) - 1;
  // d and e stay in (-2 p, p), f and g in [-p, p].
  static constexpr int kLimbCount = (Constants::kBitCount + 2 + kStepCount - 1) / kStepCount;
  // Entries of a matrix are at most 2^30 in amount, limbs below it: the sums of two such products
  // and a carry, and one more product modulo p, fit 64 bits.
  static_assert(kStepCount <= 30 && kLimbCount * kStepCount >= Constants::kBitCount + 2);
  static constexpr std::uint32_t kInverse = 0u - Constants::kNegatedInverse;  // of p, mod 2^32
  static_assert(kLimbCount >= 2, "low_word() takes 32 bits from two limbs");

  struct Number {
    std::int32_t limb[kLimbCount];
  };
  // Of kStepCount steps, times 2^kStepCount: f' = u f + v g, g' = q f + r g.
  struct Matrix {
    std::int32_t u, v, q, r;
  };

  // Between two advances: f is odd, gcd(f, g) = 1 unless x is zero, d x = f and e x = g modulo p.
  Number f, g, d, e;
  std::int32_t eta = -1;  // -(delta + 1/2)

  CUZK_HD static constexpr std::int32_t modulus(int i) { return limb_of(Constants::modulus, i); }
  // Bits [30 i, 30 i + 30) of a number given by words.
  template <class WordAt>
  CUZK_HD static constexpr std::int32_t limb_of(WordAt word, int i) {
    const int bit = kStepCount * i, at = bit / 32, shift = bit % 32;
    std::uint64_t pair = at < W ? word(at) : 0;
    if (at + 1 < W) pair |= std::uint64_t{word(at + 1)} << 32;
    return static_cast<std::int32_t>((pair >> shift) & static_cast<std::uint32_t>(kMask));
  }

  CUZK_HD explicit DivisionSteps(const WordField<P>& x) {
    CUZK_UNROLL for (int i = 0; i < kLimbCount; ++i) {
      f.limb[i] = modulus(i);
      g.limb[i] = limb_of([&x](int k) { return x.word[k]; }, i);
      d.limb[i] = 0;
      e.limb[i] = i == 0 ? 1 : 0;
    }
  }
  CUZK_HD bool is_done() const {
    std::int32_t any = 0;
    CUZK_UNROLL for (int i = 0; i < kLimbCount; ++i) any |= g.limb[i];
    return any == 0;
  }
  // kStepCount steps.
  CUZK_HD void advance() {
    const Matrix m = step_low_words();
    act_on_values(m);
    act_on_factors(m);
  }
  // When done f = 1 or -1, so that f d inverts x; zero for zero. The words of a plain integer below
  // p.
  CUZK_HD WordField<P> result() const {
    Number out = d;
    add_modulus_if_negative(out);
    if (f.limb[kLimbCount - 1] < 0) {
      CUZK_UNROLL for (int i = 0; i < kLimbCount; ++i) out.limb[i] = -out.limb[i];
      carry(out);
    }
    add_modulus_if_negative(out);
    WordField<P> words;
    CUZK_UNROLL for (int i = 0; i < W; ++i) {
      const int bit = 32 * i, at = bit / kStepCount, shift = bit % kStepCount;
      std::uint64_t value = static_cast<std::uint32_t>(out.limb[at]);
      if (at + 1 < kLimbCount) {
        value |= std::uint64_t{static_cast<std::uint32_t>(out.limb[at + 1])} << kStepCount;
      }
      value >>= shift;
      if (shift + 32 > 2 * kStepCount && at + 2 < kLimbCount) {
        value |= std::uint64_t{static_cast<std::uint32_t>(out.limb[at + 2])}
                 << (2 * kStepCount - shift);
      }
      words.word[i] = static_cast<Word>(value);
    }
    return words;
  }

 private:
  // Limbs of any sign to limbs in [0, 2^30), but for the top one, which keeps the sign.
  CUZK_HD static void carry(Number& x) {
    CUZK_UNROLL for (int i = 0; i + 1 < kLimbCount; ++i) {
      x.limb[i + 1] += x.limb[i] >> kStepCount;
      x.limb[i] &= kMask;
    }
  }
  CUZK_HD static void add_modulus_if_negative(Number& x) {
    const std::int32_t is_negative = x.limb[kLimbCount - 1] >> 31;
    CUZK_UNROLL for (int i = 0; i < kLimbCount; ++i) x.limb[i] += modulus(i) & is_negative;
    carry(x);
  }
  // 32 bits, of which thirty steps look at thirty.
  CUZK_HD static std::uint32_t low_word(const Number& x) {
    return static_cast<std::uint32_t>(x.limb[0]) | static_cast<std::uint32_t>(x.limb[1])
                                                       << kStepCount;
  }
  // The steps only look at low bits: an odd g meets f, an even one is halved.
  CUZK_HD Matrix step_low_words() {
    std::uint32_t low_f = low_word(f), low_g = low_word(g);
    std::uint32_t u = 1, v = 0, q = 0, r = 1;
    CUZK_NO_UNROLL for (int i = 0; i < kStepCount; ++i) {
      const bool is_odd = (low_g & 1) != 0, swaps = is_odd && eta < 0;
      const std::uint32_t sign = eta < 0 ? 0xffffffffu : 0;  // g - f where they trade places
      const std::uint32_t taken = is_odd ? 0xffffffffu : 0;
      low_g += ((low_f ^ sign) - sign) & taken;
      q += ((u ^ sign) - sign) & taken;
      r += ((v ^ sign) - sign) & taken;
      const std::uint32_t trade = swaps ? 0xffffffffu : 0;
      eta = static_cast<std::int32_t>(static_cast<std::uint32_t>(eta) ^ trade) - 1;
      low_f += low_g & trade;  // f + (g - f) = g
      u += q & trade;
      v += r & trade;
      low_g >>= 1;
      u <<= 1;
      v <<= 1;
    }
    return {static_cast<std::int32_t>(u), static_cast<std::int32_t>(v),
            static_cast<std::int32_t>(q), static_cast<std::int32_t>(r)};
  }
  // f and g, divided by 2^kStepCount, which divides both sums.
  CUZK_HD void act_on_values(const Matrix& m) {
    std::int64_t to_f = 0, to_g = 0;
    CUZK_UNROLL for (int i = 0; i < kLimbCount; ++i) {
      const std::int64_t from_f = f.limb[i], from_g = g.limb[i];
      to_f += m.u * from_f + m.v * from_g;
      to_g += m.q * from_f + m.r * from_g;
      if (i > 0) {
        f.limb[i - 1] = static_cast<std::int32_t>(to_f) & kMask;
        g.limb[i - 1] = static_cast<std::int32_t>(to_g) & kMask;
      }
      to_f >>= kStepCount;
      to_g >>= kStepCount;
    }
    f.limb[kLimbCount - 1] = static_cast<std::int32_t>(to_f);
    g.limb[kLimbCount - 1] = static_cast<std::int32_t>(to_g);
  }
  // d and e modulo p: the multiple of p that clears the low limb, and one that keeps them above
  // -2 p and below p.
  CUZK_HD void act_on_factors(const Matrix& m) {
    const std::int32_t d_sign = d.limb[kLimbCount - 1] >> 31, e_sign = e.limb[kLimbCount - 1] >> 31;
    std::int32_t to_clear_d = (m.u & d_sign) + (m.v & e_sign);
    std::int32_t to_clear_e = (m.q & d_sign) + (m.r & e_sign);
    std::int64_t to_d = std::int64_t{m.u} * d.limb[0] + std::int64_t{m.v} * e.limb[0];
    std::int64_t to_e = std::int64_t{m.q} * d.limb[0] + std::int64_t{m.r} * e.limb[0];
    to_clear_d -= static_cast<std::int32_t>(
        (kInverse * static_cast<std::uint32_t>(to_d) + static_cast<std::uint32_t>(to_clear_d)) &
        static_cast<std::uint32_t>(kMask));
    to_clear_e -= static_cast<std::int32_t>(
        (kInverse * static_cast<std::uint32_t>(to_e) + static_cast<std::uint32_t>(to_clear_e)) &
        static_cast<std::uint32_t>(kMask));
    to_d = (to_d + std::int64_t{modulus(0)} * to_clear_d) >> kStepCount;
    to_e = (to_e + std::int64_t{modulus(0)} * to_clear_e) >> kStepCount;
    CUZK_UNROLL for (int i = 1; i < kLimbCount; ++i) {
      const std::int64_t from_d = d.limb[i], from_e = e.limb[i], p = modulus(i);
      to_d += m.u * from_d + m.v * from_e + p * to_clear_d;
      to_e += m.q * from_d + m.r * from_e + p * to_clear_e;
      d.limb[i - 1] = static_cast<std::int32_t>(to_d) & kMask;
      e.limb[i - 1] = static_cast<std::int32_t>(to_e) & kMask;
      to_d >>= kStepCount;
      to_e >>= kStepCount;
    }
    d.limb[kLimbCount - 1] = static_cast<std::int32_t>(to_d);
    e.limb[kLimbCount - 1] = static_cast<std::int32_t>(to_e);
  }
};

// With x = a R: the steps give 1 / (a R), and two products by R^2 give R / a.
template <class P>
CUZK_HD WordField<P> WordField<P>::inverse() const {
  DivisionSteps<P> steps(*this);
  while (!steps.is_done()) steps.advance();
  WordField square;
  CUZK_UNROLL for (int i = 0; i < W; ++i) square.word[i] = Constants::r_squared(i);
  return steps.result().times(square).times(square);
}

}  // namespace cuzk::cuda::field
