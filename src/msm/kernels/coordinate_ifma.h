// Coordinates of eight points side by side: Vec over Fp and Vec2 over Fp2, with one set of names.
// For *_ifma.cpp only.
//
// So the point formulas are written once (add_pairs_ifma.h). Operations on Vec2 are those on its
// parts; only products, squares and inverses mix them. Bounds are meant for each part.
#pragma once

#if defined(__AVX512IFMA__)

#include "field/vector_ifma.h"

namespace cuzk::msm::ifma {

using namespace cuzk::field::ifma;

// c0 + c1 u with u^2 = -1. Lane i of both parts belongs to point i.
template <class P>
struct Vec2 {
  using Params = P;
  Vec<P> c0, c1;
};

// Bytes of one stored coordinate: c0 first, then c1.
template <class E>
struct Coordinate;
template <class P>
struct Coordinate<Vec<P>> {
  static constexpr std::size_t kBytes = 8 * kStoredWords<P>;
};
template <class P>
struct Coordinate<Vec2<P>> {
  static constexpr std::size_t kBytes = 16 * kStoredWords<P>;
};

template <class P, class Rows>
CUZK_IFMA_INLINE void load(Vec2<P>& out, const Rows& rows, std::size_t offset) {
  load(out.c0, rows, offset);
  load(out.c1, rows, offset + 8 * kStoredWords<P>);
}
template <class P, class Rows>
CUZK_IFMA_INLINE void store(const Vec2<P>& a, const Rows& rows, std::size_t offset) {
  store(a.c0, rows, offset);
  store(a.c1, rows, offset + 8 * kStoredWords<P>);
}

template <class P>
CUZK_IFMA_INLINE Vec2<P> raw_add(const Vec2<P>& a, const Vec2<P>& b) {
  return {raw_add(a.c0, b.c0), raw_add(a.c1, b.c1)};
}
template <class P>
CUZK_IFMA_INLINE Vec2<P> raw_sub(const Vec2<P>& a, const Vec2<P>& b) {
  return {raw_sub(a.c0, b.c0), raw_sub(a.c1, b.c1)};
}
// Both parts + K p, which is zero mod p.
template <int K, class P>
CUZK_IFMA_INLINE Vec2<P> raw_add_multiple(const Vec2<P>& a) {
  return {raw_add_multiple<K>(a.c0), raw_add_multiple<K>(a.c1)};
}
template <class P>
CUZK_IFMA_INLINE Vec2<P> raw_negate_if(const Vec2<P>& a, __mmask8 mask) {
  return {raw_negate_if(a.c0, mask), raw_negate_if(a.c1, mask)};
}
template <class P>
CUZK_IFMA_INLINE Vec2<P> select(__mmask8 mask, const Vec2<P>& a, const Vec2<P>& b) {
  return {select(mask, a.c0, b.c0), select(mask, a.c1, b.c1)};
}
template <class P>
CUZK_IFMA_INLINE Vec2<P> carried(const Vec2<P>& a) {
  return {carried(a.c0), carried(a.c1)};
}
template <class P>
CUZK_IFMA_INLINE Vec2<P> reduced(const Vec2<P>& a) {
  return {reduced(a.c0), reduced(a.c1)};
}
template <int K, class P>
CUZK_IFMA_INLINE __mmask8 equals_multiple(const Vec2<P>& a) {
  return equals_multiple<K>(a.c0) & equals_multiple<K>(a.c1);
}
template <class P>
CUZK_IFMA_INLINE __mmask8 is_zero_mod_p(const Vec2<P>& a) {
  return is_zero_mod_p(a.c0) & is_zero_mod_p(a.c1);
}

// Lanes whose lowest limb alone allows a to be K p for a K in [1, 3]: certainly not zero elsewhere.
template <class P>
CUZK_IFMA_INLINE __mmask8 may_be_multiple(const Vec<P>& a) {
  const auto& k = kRadix52<P>;
  return _mm512_cmpeq_epi64_mask(a.limb[0], broadcast(k.multiple[1][0])) |
         _mm512_cmpeq_epi64_mask(a.limb[0], broadcast(k.multiple[2][0])) |
         _mm512_cmpeq_epi64_mask(a.limb[0], broadcast(k.multiple[3][0]));
}
template <class P>
CUZK_IFMA_INLINE __mmask8 may_be_multiple(const Vec2<P>& a) {
  return may_be_multiple(a.c0) & may_be_multiple(a.c1);
}
// Lanes whose lowest limb is zero: an infinite operand has x = 0, and few others look like it.
template <class P>
CUZK_IFMA_INLINE __mmask8 may_be_zero(const Vec<P>& a) {
  return _mm512_testn_epi64_mask(a.limb[0], a.limb[0]);
}
template <class P>
CUZK_IFMA_INLINE __mmask8 may_be_zero(const Vec2<P>& a) {
  return may_be_zero(a.c0) & may_be_zero(a.c1);
}

template <class P>
CUZK_IFMA_INLINE void set_one(Vec<P>& a) {
  a = one_vec<P>();
}
template <class P>
CUZK_IFMA_INLINE void set_one(Vec2<P>& a) {
  a = {one_vec<P>(), zero_vec<P>()};
}
template <class P>
CUZK_IFMA_INLINE void set_zero(Vec<P>& a) {
  a = zero_vec<P>();
}
template <class P>
CUZK_IFMA_INLINE void set_zero(Vec2<P>& a) {
  a = {zero_vec<P>(), zero_vec<P>()};
}

// Operands carried with bounds up to 6; results have bound 1.9 for BN254 and 1.001 for BLS12-381.
// (a0 + a1 u)(b0 + b1 u): both parts as one folding of two products.
template <class P>
CUZK_IFMA_INLINE Vec2<P> operator*(const Vec2<P>& a, const Vec2<P>& b) {
  Vec2<P> out;
  Vec<P> negated = carried(raw_add_multiple<7>(raw_negate_if(a.c1, 0xff)));
  dot2(out.c0, a.c0, b.c0, negated, b.c1);
  dot2(out.c1, a.c0, b.c1, a.c1, b.c0);
  return out;
}
template <class P>
CUZK_IFMA_INLINE Vec<P> squared(const Vec<P>& a) {
  return a * a;
}
// (a0 + a1)(a0 - a1) + 2 a0 a1 u, for bound 2.
template <class P>
CUZK_IFMA_INLINE Vec2<P> squared(const Vec2<P>& a) {
  const Vec<P> sum = carried(raw_add(a.c0, a.c1));
  const Vec<P> difference = carried(raw_add_multiple<2>(raw_sub(a.c0, a.c1)));
  const Vec<P> twice = carried(raw_add(a.c0, a.c0));
  return {sum * difference, twice * a.c1};
}

// x^-1 from the inverse of what a common inversion shares: x itself in Fp, its norm in Fp2.
template <class P>
CUZK_IFMA_INLINE Vec<P> inverse_from_norm(const Vec<P>&, const Vec<P>& inverse) {
  return inverse;
}
template <class P>
CUZK_IFMA_INLINE Vec2<P> inverse_from_norm(const Vec2<P>& a, const Vec<P>& inverse) {
  const Vec<P> negated = carried(raw_add_multiple<7>(raw_negate_if(a.c1, 0xff)));
  return {a.c0 * inverse, negated * inverse};
}

}  // namespace cuzk::msm::ifma

#endif
