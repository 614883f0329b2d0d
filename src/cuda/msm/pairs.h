// The sum of two affine points with a given inverse, and what must be inverted: batched additions.
//
// Both calls see the same pair and must agree on its kind. For host tests and devices alike.
#pragma once

#include "base/host_device.h"
#include "cuda/curve/word_point.h"

namespace cuzk::cuda::msm {

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
