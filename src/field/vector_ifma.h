// Eight elements of a prime field side by side, in radix 2^52, for AVX-512 IFMA.
//
// Empty but in files compiled with the instruction set (names ending in _ifma.cpp), and they are
// called only after base::cpu_level() said so. Everything lives in namespace ifma, so the linker
// cannot put a copy built with these instructions in the place of a portable function.
//
// A Vec holds x * R' mod p with R' = 2^(52 L): L = 8 limbs for 381 bits, 5 for 254 and 255. Values
// are lazily reduced; "bound k" means below k p. The slack R' / p is 2^35 for BLS12-381 Fp, 84 for
// BN254 Fp, 35 for BLS12-381 Fr, so with operands of bounds j, k a product has bound 1 + j k p /
// R'. Limbs of a "carried" Vec lie in [0, 2^52); only carried ones may be multiplied.
//
// Cost of a product: L (4 L + 1) fused multiplies and 6 L simple operations for eight results.
#pragma once

#if defined(__AVX512IFMA__)

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#include "field/prime_field.h"

#define CUZK_UNROLL _Pragma("GCC unroll 16")
#define CUZK_IFMA_INLINE inline __attribute__((always_inline))

namespace cuzk::field::ifma {

inline constexpr std::uint64_t kMask52 = (std::uint64_t{1} << 52) - 1;

// Numbers of the modulus in radix 2^52; computed at compile time only.
template <class P>
struct Radix52 {
  static constexpr std::size_t L = P::kModulus.bit_length() > 256 ? 8 : 5;
  static constexpr std::size_t kWordCount = P::kLimbCount;
  static_assert(52 * L >= P::kModulus.bit_length() + 5, "lazy reduction needs slack");
  static_assert(P::kLimbCount == (L == 8 ? 6 : 4), "load and store know these two shapes");

  std::uint64_t modulus[L] = {};
  std::uint64_t negated_inverse = 0;  // -p^-1 mod 2^52
  std::uint64_t one[L] = {};          // R' mod p
  std::uint64_t multiple[8][L] = {};  // carried limbs of k p
  std::uint64_t top_reciprocal = 0;   // floor(2^52 / (top limb of p + 1))

  static constexpr void split(const Limbs<P::kLimbCount + 1>& x, std::uint64_t (&out)[L]) {
    for (std::size_t j = 0; j < L; ++j) out[j] = x.bits(52 * j, 52);
  }
  static constexpr Radix52 make() {
    Radix52 out;
    Limbs<P::kLimbCount + 1> modulus, multiple, one;
    for (std::size_t i = 0; i < P::kLimbCount; ++i) modulus[i] = P::kModulus[i];
    split(modulus, out.modulus);
    const auto unit = PrimeFieldConstants<P>::power_of_two(52 * L);
    for (std::size_t i = 0; i < P::kLimbCount; ++i) one[i] = unit[i];
    split(one, out.one);
    out.negated_inverse = PrimeFieldConstants<P>::negated_inverse() & kMask52;
    for (std::size_t k = 0; k < 8; ++k) {
      split(multiple, out.multiple[k]);
      add_carry(multiple, multiple, modulus);
    }
    out.top_reciprocal = (std::uint64_t{1} << 52) / (out.modulus[L - 1] + 1);
    return out;
  }
};

template <class P>
inline constexpr Radix52<P> kRadix52 = Radix52<P>::make();

// Tables of reduced<Bias>(): multiples of p by estimated quotient.
// A value v = q' p + rest is brought down by looking up the multiple for its estimate: eight table
// entries, one for each quotient from -Bias to 7 - Bias, as many as a permutation can pick from.
template <class P, int Bias>
struct Correction {
  static_assert(Bias >= 0 && Bias < 8, "multiples of p are tabulated up to 7");
  static constexpr std::size_t L = Radix52<P>::L;
  alignas(64) std::int64_t limb[L][8] = {};  // [j][q]: limb j of (Bias - q) p, signed
  std::uint64_t top_offset = 0;              // added to the top limb before the estimate

  static constexpr Correction make() {
    Correction out;
    for (std::size_t j = 0; j < L; ++j) {
      for (int q = 0; q < 8; ++q) {
        const int k = Bias - q;
        const auto magnitude = static_cast<std::int64_t>(kRadix52<P>.multiple[k < 0 ? -k : k][j]);
        out.limb[j][q] = k < 0 ? -magnitude : magnitude;
      }
    }
    // The margin of 16 covers lower limbs that are not carried (at most 8 units of the top limb)
    // and the rounding of the reciprocal for negative values (at most 5 units). Without negative
    // values there is nothing to cover, as the estimate rounds down.
    out.top_offset = Bias == 0 ? 0 : Bias * (kRadix52<P>.modulus[L - 1] + 1) - 16;
    return out;
  }
};
template <class P, int Bias>
inline constexpr Correction<P, Bias> kCorrection = Correction<P, Bias>::make();

// Eight elements: lane i of every limb belongs to element i.
template <class P>
struct Vec {
  static constexpr std::size_t L = Radix52<P>::L;
  using Params = P;
  __m512i limb[L];
};

// One word in all lanes.
CUZK_IFMA_INLINE __m512i broadcast(std::uint64_t x) {
  return _mm512_set1_epi64(static_cast<long long>(x));
}

template <class P>
CUZK_IFMA_INLINE Vec<P> zero_vec() {
  Vec<P> out;
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) out.limb[j] = _mm512_setzero_si512();
  return out;
}
template <class P>
CUZK_IFMA_INLINE Vec<P> one_vec() {
  Vec<P> out;
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) {
    out.limb[j] = broadcast(kRadix52<P>.one[j]);
  }
  return out;
}

// Limb-wise; the results are not carried. "raw" in a name says so: limbs may be negative or above
// 2^52, and the bound of the value is the caller's to know.
template <class P>
CUZK_IFMA_INLINE Vec<P> raw_add(const Vec<P>& a, const Vec<P>& b) {
  Vec<P> out;
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) {
    out.limb[j] = _mm512_add_epi64(a.limb[j], b.limb[j]);
  }
  return out;
}
template <class P>
CUZK_IFMA_INLINE Vec<P> raw_sub(const Vec<P>& a, const Vec<P>& b) {
  Vec<P> out;
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) {
    out.limb[j] = _mm512_sub_epi64(a.limb[j], b.limb[j]);
  }
  return out;
}
// a + K p, |K| < 8.
template <int K, class P>
CUZK_IFMA_INLINE Vec<P> raw_add_multiple(const Vec<P>& a) {
  constexpr int kSize = K < 0 ? -K : K;
  static_assert(kSize < 8, "multiples of p are tabulated up to 7");
  Vec<P> out;
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) {
    const __m512i multiple = broadcast(kRadix52<P>.multiple[kSize][j]);
    out.limb[j] =
        K < 0 ? _mm512_sub_epi64(a.limb[j], multiple) : _mm512_add_epi64(a.limb[j], multiple);
  }
  return out;
}
// -a in the lanes of `mask`, a elsewhere; limbs become signed.
template <class P>
CUZK_IFMA_INLINE Vec<P> raw_negate_if(const Vec<P>& a, __mmask8 mask) {
  Vec<P> out;
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) {
    out.limb[j] = _mm512_mask_sub_epi64(a.limb[j], mask, _mm512_setzero_si512(), a.limb[j]);
  }
  return out;
}
// `b` in the lanes of `mask`, `a` elsewhere.
template <class P>
CUZK_IFMA_INLINE Vec<P> select(__mmask8 mask, const Vec<P>& a, const Vec<P>& b) {
  Vec<P> out;
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) {
    out.limb[j] = _mm512_mask_blend_epi64(mask, a.limb[j], b.limb[j]);
  }
  return out;
}

// Carries signed limbs into [0, 2^52); the value must be in [0, 2^(52 L)). A chain from limb to
// limb, the slowest of the simple operations: sums of a few terms are carried once, at the end.
template <class P>
CUZK_IFMA_INLINE Vec<P> carried(Vec<P> a) {
  constexpr std::size_t L = Vec<P>::L;
  const __m512i mask = broadcast(kMask52);
  CUZK_UNROLL for (std::size_t j = 0; j + 1 < L; ++j) {
    a.limb[j + 1] = _mm512_add_epi64(a.limb[j + 1], _mm512_srai_epi64(a.limb[j], 52));
    a.limb[j] = _mm512_and_si512(a.limb[j], mask);
  }
  return a;
}

// Adds the multiple of p that brings a value in (-Bias p, (8 - Bias) p) into [0, (1 + 2^-11) p),
// and carries it. Limbs may be signed and up to 8 * 2^52 in size; with Bias 0 they are not
// negative. The quotient comes from the top limb alone.
template <int Bias = 5, class P>
CUZK_IFMA_INLINE Vec<P> reduced(Vec<P> a) {
  constexpr std::size_t L = Vec<P>::L;
  const auto& k = kCorrection<P, Bias>;
  const __m512i top = _mm512_add_epi64(a.limb[L - 1], broadcast(k.top_offset));
  const __m512i quotient =
      _mm512_madd52hi_epu64(_mm512_setzero_si512(), top, broadcast(kRadix52<P>.top_reciprocal));
  CUZK_UNROLL for (std::size_t j = 0; j < L; ++j) {
    const __m512i table = _mm512_load_si512(k.limb[j]);
    a.limb[j] = _mm512_add_epi64(a.limb[j], _mm512_permutexvar_epi64(quotient, table));
  }
  return carried(a);
}

// The value below p, for a carried one below 2p.
template <class P>
CUZK_IFMA_INLINE Vec<P> canonical(const Vec<P>& a) {
  const Vec<P> less = carried(raw_add_multiple<-1>(a));
  return select(_mm512_movepi64_mask(less.limb[Vec<P>::L - 1]), less, a);
}

namespace internal {

// One row of Montgomery folding: adds the multiple of p that clears t[0], then moves t down a limb.
template <class P>
CUZK_IFMA_INLINE void fold_row(__m512i (&t)[Vec<P>::L + 1]) {
  constexpr std::size_t L = Vec<P>::L;
  const auto& k = kRadix52<P>;
  const __m512i zero = _mm512_setzero_si512();
  const __m512i m = _mm512_madd52lo_epu64(zero, t[0], broadcast(k.negated_inverse));
  CUZK_UNROLL for (std::size_t j = 0; j < L; ++j) {
    t[j] = _mm512_madd52lo_epu64(t[j], m, broadcast(k.modulus[j]));
  }
  CUZK_UNROLL for (std::size_t j = 0; j < L; ++j) {
    t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], m, broadcast(k.modulus[j]));
  }
  t[0] = _mm512_add_epi64(t[1], _mm512_srli_epi64(t[0], 52));
  CUZK_UNROLL for (std::size_t j = 1; j < L; ++j) t[j] = t[j + 1];
  t[L] = zero;
}
// t += a b for one limb a of the multiplier: low halves in place, high halves a limb up.
template <class P>
CUZK_IFMA_INLINE void add_row(__m512i (&t)[Vec<P>::L + 1], __m512i a, const Vec<P>& b) {
  constexpr std::size_t L = Vec<P>::L;
  CUZK_UNROLL for (std::size_t j = 0; j < L; ++j) {
    t[j] = _mm512_madd52lo_epu64(t[j], a, b.limb[j]);
  }
  CUZK_UNROLL for (std::size_t j = 0; j < L; ++j) {
    t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], a, b.limb[j]);
  }
}
// Carries the sum; its top word t[L] is zero after the last folding.
template <class P>
CUZK_IFMA_INLINE void finish(Vec<P>& out, const __m512i (&t)[Vec<P>::L + 1]) {
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) out.limb[j] = t[j];
  out = carried(out);
}

}  // namespace internal

// out = a b / R', carried. Not inlined: a call costs a few per cent, an inlined copy 2.5 KB of
// code. Limbs only grow from row to row: each takes fewer than 64 halves of 52 bits, here and in
// dot2, so it stays below 2^58 and nothing is carried before the end. `out` may be an operand: it
// is written when all rows are done.
template <class P>
[[gnu::noinline]] void mul(Vec<P>& out, const Vec<P>& a, const Vec<P>& b) {
  constexpr std::size_t L = Vec<P>::L;
  const Vec<P> multiplicand = b;
  __m512i t[L + 1];
  CUZK_UNROLL for (std::size_t j = 0; j <= L; ++j) t[j] = _mm512_setzero_si512();
  CUZK_UNROLL for (std::size_t i = 0; i < L; ++i) {
    internal::add_row<P>(t, a.limb[i], multiplicand);
    internal::fold_row<P>(t);
  }
  internal::finish(out, t);
}
// out = (a b + c d) / R', carried: two products for one folding. The sum of both counts as the
// product whose bound the opening gives.
template <class P>
[[gnu::noinline]] void dot2(Vec<P>& out, const Vec<P>& a, const Vec<P>& b, const Vec<P>& c,
                            const Vec<P>& d) {
  constexpr std::size_t L = Vec<P>::L;
  __m512i t[L + 1];
  CUZK_UNROLL for (std::size_t j = 0; j <= L; ++j) t[j] = _mm512_setzero_si512();
  CUZK_UNROLL for (std::size_t i = 0; i < L; ++i) {
    internal::add_row<P>(t, a.limb[i], b);
    internal::add_row<P>(t, c.limb[i], d);
    internal::fold_row<P>(t);
  }
  internal::finish(out, t);
}
// out = a w / R' for one w in all lanes, given by its carried limbs.
template <class P>
[[gnu::noinline]] void mul_constant(Vec<P>& out, const Vec<P>& a, const std::uint64_t* w) {
  constexpr std::size_t L = Vec<P>::L;
  const Vec<P> multiplicand = a;
  __m512i t[L + 1];
  CUZK_UNROLL for (std::size_t j = 0; j <= L; ++j) t[j] = _mm512_setzero_si512();
  CUZK_UNROLL for (std::size_t i = 0; i < L; ++i) {
    internal::add_row<P>(t, broadcast(w[i]), multiplicand);
    internal::fold_row<P>(t);
  }
  internal::finish(out, t);
}
template <class P>
CUZK_IFMA_INLINE Vec<P> operator*(const Vec<P>& a, const Vec<P>& b) {
  Vec<P> out;
  mul(out, a, b);
  return out;
}

// Lanes of a carried `a` that equal K p limb for limb. A value has one carried form, so no other
// representation of K p is missed.
template <int K, class P>
CUZK_IFMA_INLINE __mmask8 equals_multiple(const Vec<P>& a) {
  static_assert(K >= 0 && K < 8, "multiples of p are tabulated up to 7");
  __mmask8 mask = 0xff;
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) {
    mask &= _mm512_cmpeq_epi64_mask(a.limb[j], broadcast(kRadix52<P>.multiple[K][j]));
  }
  return mask;
}
// Lanes of a carried `a`, bound 6, that are zero mod p.
template <class P>
CUZK_IFMA_INLINE __mmask8 is_zero_mod_p(const Vec<P>& a) {
  return equals_multiple<0>(a) | equals_multiple<1>(a) | equals_multiple<2>(a) |
         equals_multiple<3>(a) | equals_multiple<4>(a) | equals_multiple<5>(a);
}

// Rows and columns of an 8 x 8 matrix of 64-bit words exchanged: pairs of words, then pairs of
// pairs, then halves; 24 shuffles.
CUZK_IFMA_INLINE void transpose8(__m512i (&r)[8]) {
  __m512i t[8], u[8];
  CUZK_UNROLL for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
  }
  CUZK_UNROLL for (int i = 0; i < 2; ++i) {
    CUZK_UNROLL for (int j = 0; j < 2; ++j) {
      u[4 * i + j] = _mm512_shuffle_i64x2(t[4 * i + j], t[4 * i + j + 2], 0x88);
      u[4 * i + j + 2] = _mm512_shuffle_i64x2(t[4 * i + j], t[4 * i + j + 2], 0xdd);
    }
  }
  CUZK_UNROLL for (int j = 0; j < 4; ++j) {
    r[j] = _mm512_shuffle_i64x2(u[j], u[j + 4], 0x88);
    r[j + 4] = _mm512_shuffle_i64x2(u[j], u[j + 4], 0xdd);
  }
}

// Five limbs from four 64-bit words and back; the value must be below 2^256.
template <class P>
CUZK_IFMA_INLINE void unpack_words(Vec<P>& out, const __m512i (&w)[4]) {
  static_assert(Vec<P>::L == 5);
  const __m512i mask = broadcast(kMask52);
  out.limb[0] = _mm512_and_si512(w[0], mask);
  CUZK_UNROLL for (int j = 1; j < 4; ++j) {
    const __m512i low = _mm512_srli_epi64(w[j - 1], 64 - 12 * j);
    out.limb[j] = _mm512_and_si512(_mm512_or_si512(low, _mm512_slli_epi64(w[j], 12 * j)), mask);
  }
  out.limb[4] = _mm512_srli_epi64(w[3], 16);
}
template <class P>
CUZK_IFMA_INLINE void pack_words(const Vec<P>& a, __m512i (&w)[4]) {
  static_assert(Vec<P>::L == 5);
  CUZK_UNROLL for (int j = 0; j < 4; ++j) {
    w[j] = _mm512_or_si512(_mm512_srli_epi64(a.limb[j], 12 * j),
                           _mm512_slli_epi64(a.limb[j + 1], 52 - 12 * j));
  }
}

// Eight values of `kWordCount` 64-bit words each, aligned to their size, at rows[0..7] + offset.
// Values of 8 limbs are stored as limbs, values of 5 limbs as integers in radix 2^64.
template <class P>
inline constexpr std::size_t kStoredWords = Radix52<P>::L == 8 ? 8 : 4;

// Two rows of 32 bytes in the halves of a register, and back.
CUZK_IFMA_INLINE __m512i load_halves(const std::uint8_t* low, const std::uint8_t* high) {
  return _mm512_inserti64x4(
      _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low))),
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high)), 1);
}
CUZK_IFMA_INLINE void store_halves(__m512i z, std::uint8_t* low, std::uint8_t* high) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(low), _mm512_castsi512_si256(z));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(high), _mm512_extracti64x4_epi64(z, 1));
}

// Rows come as eight addresses anywhere in memory; a transposition makes lanes of them. For five
// limbs the order of the halves is chosen so that the last shuffles leave the words in place.
template <class P, class Rows>
CUZK_IFMA_INLINE void load(Vec<P>& out, const Rows& rows, std::size_t offset) {
  if constexpr (Vec<P>::L == 8) {
    __m512i r[8];
    CUZK_UNROLL for (int i = 0; i < 8; ++i) r[i] = _mm512_loadu_si512(rows[i] + offset);
    transpose8(r);
    CUZK_UNROLL for (int j = 0; j < 8; ++j) out.limb[j] = r[j];
  } else {
    __m512i z[4], w[4];
    CUZK_UNROLL for (int i = 0; i < 4; ++i) {  // rows 0|2, 1|3, 4|6, 5|7
      const int first = (i & 1) + (i & 2) * 2;
      z[i] = load_halves(rows[first] + offset, rows[first + 2] + offset);
    }
    const __m512i even0 = _mm512_unpacklo_epi64(z[0], z[1]);
    const __m512i odd0 = _mm512_unpackhi_epi64(z[0], z[1]);
    const __m512i even1 = _mm512_unpacklo_epi64(z[2], z[3]);
    const __m512i odd1 = _mm512_unpackhi_epi64(z[2], z[3]);
    w[0] = _mm512_shuffle_i64x2(even0, even1, 0x88);
    w[1] = _mm512_shuffle_i64x2(odd0, odd1, 0x88);
    w[2] = _mm512_shuffle_i64x2(even0, even1, 0xdd);
    w[3] = _mm512_shuffle_i64x2(odd0, odd1, 0xdd);
    unpack_words(out, w);
  }
}

// The value must be carried, and below 2^256 where it is stored in words of 64 bits.
template <class P, class Rows>
CUZK_IFMA_INLINE void store(const Vec<P>& a, const Rows& rows, std::size_t offset) {
  if constexpr (Vec<P>::L == 8) {
    __m512i r[8];
    CUZK_UNROLL for (int j = 0; j < 8; ++j) r[j] = a.limb[j];
    transpose8(r);
    CUZK_UNROLL for (int i = 0; i < 8; ++i) _mm512_storeu_si512(rows[i] + offset, r[i]);
  } else {
    __m512i w[4], z[4];
    pack_words(a, w);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512i even0 = _mm512_permutex2var_epi64(w[0], first, w[2]);
    const __m512i odd0 = _mm512_permutex2var_epi64(w[1], first, w[3]);
    const __m512i even1 = _mm512_permutex2var_epi64(w[0], second, w[2]);
    const __m512i odd1 = _mm512_permutex2var_epi64(w[1], second, w[3]);
    z[0] = _mm512_unpacklo_epi64(even0, odd0);
    z[1] = _mm512_unpackhi_epi64(even0, odd0);
    z[2] = _mm512_unpacklo_epi64(even1, odd1);
    z[3] = _mm512_unpackhi_epi64(even1, odd1);
    CUZK_UNROLL for (int i = 0; i < 4; ++i) {
      const int low = (i & 1) + (i & 2) * 2;
      store_halves(z[i], rows[low] + offset, rows[low + 2] + offset);
    }
  }
}

// Lanes moved down by `Count`, cyclically.
template <int Count, class P>
CUZK_IFMA_INLINE Vec<P> rotated(const Vec<P>& a) {
  static_assert(Count > 0 && Count < 8);
  Vec<P> out;
  CUZK_UNROLL for (std::size_t j = 0; j < Vec<P>::L; ++j) {
    out.limb[j] = _mm512_alignr_epi64(a.limb[j], a.limb[j], Count);
  }
  return out;
}

}  // namespace cuzk::field::ifma

#endif
