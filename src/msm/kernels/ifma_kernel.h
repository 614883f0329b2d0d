// Batched affine additions, eight pairs side by side. For *_ifma.cpp only (field/vector_ifma.h).
//
// Forward pass over the vectors of a block: denominator d = x2 - x1, prefix product of norm(d).
// One inversion. Backward pass: slope = (y2 - y1) / d, x3 = slope^2 - x1 - x2,
// y3 = slope (x1 - x3) - y1. Over Fp that is 6 products a pair; over Fp2 14 to 15.
//
// A vector that may hold an exceptional pair (equal x, an infinite operand) is found by comparing
// lowest limbs and goes through `classify`, which decides exactly and leaves masks for the backward
// pass. Denominators of pairs that need none become one.
#pragma once

#include "field/vector_ifma.h"

namespace cuzk::msm::ifma {

using namespace cuzk::field::ifma;  // NOLINT: this header is only for the kernel files

inline constexpr std::size_t kBlockVectors = 256;

// ---- Coordinates: Vec over Fp, Vec2 over Fp2 = Fp[u] / (u^2 + 1), with the same operations.

template <class P>
struct Vec2 {
  using Params = P;
  Vec<P> c0, c1;
};

template <class P>
inline constexpr std::size_t kWordsOf = Radix52<P>::L == 8 ? 8 : 4;

// Where the eight rows of an operand begin.
struct RowPointers {
  const std::uint8_t* row[8];
};

template <class P>
CUZK_IFMA_INLINE void load(Vec<P>& out, const RowPointers& rows, std::size_t word) {
  if constexpr (Radix52<P>::L == 8) {
    __m512i r[8];
    CUZK_UNROLL for (int i = 0; i < 8; ++i) r[i] = _mm512_load_si512(rows.row[i] + 8 * word);
    transpose8(r);
    CUZK_UNROLL for (int j = 0; j < 8; ++j) out.limb[j] = r[j];
  } else {
    __m512i z[4];
    CUZK_UNROLL for (int i = 0; i < 4; ++i) {
      const int first = (i & 1) + (i & 2) * 2;
      const auto low =
          _mm256_load_si256(reinterpret_cast<const __m256i*>(rows.row[first] + 8 * word));
      const auto high =
          _mm256_load_si256(reinterpret_cast<const __m256i*>(rows.row[first + 2] + 8 * word));
      z[i] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }
    const __m512i even0 = _mm512_unpacklo_epi64(z[0], z[1]);
    const __m512i odd0 = _mm512_unpackhi_epi64(z[0], z[1]);
    const __m512i even1 = _mm512_unpacklo_epi64(z[2], z[3]);
    const __m512i odd1 = _mm512_unpackhi_epi64(z[2], z[3]);
    const __m512i w0 = _mm512_shuffle_i64x2(even0, even1, 0x88);
    const __m512i w1 = _mm512_shuffle_i64x2(odd0, odd1, 0x88);
    const __m512i w2 = _mm512_shuffle_i64x2(even0, even1, 0xdd);
    const __m512i w3 = _mm512_shuffle_i64x2(odd0, odd1, 0xdd);
    unpack_words(out, w0, w1, w2, w3);
  }
}

template <class P>
CUZK_IFMA_INLINE void store(const Vec<P>& a, std::uint8_t* const (&rows)[8], std::size_t word) {
  if constexpr (Radix52<P>::L == 8) {
    __m512i r[8];
    CUZK_UNROLL for (int j = 0; j < 8; ++j) r[j] = a.limb[j];
    transpose8(r);
    CUZK_UNROLL for (int i = 0; i < 8; ++i) _mm512_store_si512(rows[i] + 8 * word, r[i]);
  } else {
    __m512i w[4];
    pack_words(a, w);
    const __m512i low0 = _mm512_unpacklo_epi64(w[0], w[1]);   // rows 0 2 4 6, words 0 1
    const __m512i low1 = _mm512_unpackhi_epi64(w[0], w[1]);   // rows 1 3 5 7
    const __m512i high0 = _mm512_unpacklo_epi64(w[2], w[3]);  // words 2 3
    const __m512i high1 = _mm512_unpackhi_epi64(w[2], w[3]);
    store_quarters(low0, high0, rows, word, 0);
    store_quarters(low1, high1, rows, word, 1);
  }
}

}  // namespace cuzk::msm::ifma
