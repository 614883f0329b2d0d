// The sum of two affine points with a given inverse, and what must be inverted: batched additions.
//
// Both calls see the same pair and must agree on its kind. For host tests and devices alike. Costs
// 2 M + 1 S beside the inverse, and 3 M for its part of the shared inversion.
#pragma once

#include "base/host_device.h"
#include "cuda/curve/word_point.h"

namespace cuzk::cuda::msm {

// What a pair's sum needs.
// Found on the way forth and once more on the way back: it is not stored.
enum class PairKind {
  kNoSlope,  // an infinite operand, opposite points, or no pair
  kTangent,  // equal points
  kChord,
};

// The denominator of p + q: x_q - x_p, or 2 y when q = p. False, and nothing to invert, when the
// sum needs no slope: an infinite operand or q = -p.
template <class T>
CUZK_HD CUZK_INLINE bool pair_denominator(const curve::AffinePoint<T>& p,
                                          const curve::AffinePoint<T>& q, T& denominator) {
  denominator = q.x - p.x;
  if (p.is_infinity() || q.is_infinity()) return false;
  if (!denominator.is_zero()) return true;
  if (!(p.y == q.y)) return false;
  denominator = p.y.doubled();
  return !denominator.is_zero();
}

// p + q for finite points of unlike x, with the inverse of q.x - p.x: what almost every pair is.
// Coordinates are reduced, but y may be the modulus for zero, and `inverse` is lazy (word_field.h).
// Inlined with its products: without calls no operand is moved, and of what is left the compiler
// puts almost nothing but products on the multipliers' pipe.
template <class T>
CUZK_HD CUZK_INLINE curve::AffinePoint<T> chord_sum(const curve::AffinePoint<T>& p,
                                                    const curve::AffinePoint<T>& q,
                                                    const T& inverse) {
  const T slope = T::lazy_product(T::loose_difference(q.y, p.y), inverse);
  curve::AffinePoint<T> sum;
  sum.x = T::lazy_difference(slope.lazy_squared(), T::loose_sum(p.x, q.x)).normalised();
  const T fall = T::lazy_product(slope, T::loose_difference(p.x, sum.x));
  sum.y = T::lazy_difference(fall, p.y).normalised();
  return sum;
}

// p + q, with `inverse` that of the denominator where there is one.
template <class T>
CUZK_HD CUZK_INLINE curve::AffinePoint<T> pair_sum(const curve::AffinePoint<T>& p,
                                                   const curve::AffinePoint<T>& q, bool has_slope,
                                                   const T& inverse) {
  if (!has_slope) {
    if (p.is_infinity()) return q;
    if (q.is_infinity()) return p;
    return {};
  }
  T rise = q.y - p.y;
  if (p.x == q.x) {  // a tangent: (3 x^2) / (2 y)
    const T square = p.x.squared_there();
    rise = square.doubled() + square;
  }
  const T slope = rise.times(inverse);
  curve::AffinePoint<T> sum;
  sum.x = slope.squared_there() - p.x - q.x;
  sum.y = slope.times(p.x - sum.x) - p.y;
  return sum;
}

}  // namespace cuzk::cuda::msm
