// Fp2 = Fp[u] / (u^2 + 1) in words, with the layout of field/quadratic.h.
//
// A product is two sums of two products with one reduction each: 3 W^2 IMAD.WIDE, as many as
// Karatsuba's three products take, and fewer additions. Operators call products and squares out of
// line, as a point addition of inlined ones would not fit the instruction cache; kernels with few of
// them use times() and squared_here().
#pragma once

#include "base/host_device.h"
#include "cuda/device/code.h"

namespace cuzk::cuda::field {

template <class F>
struct WordQuadratic {
  using Base = F;
  F c0, c1;

  CUZK_HD static WordQuadratic zero() { return {}; }
  CUZK_HD static WordQuadratic one() { return {F::one(), F::zero()}; }
  CUZK_HD bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  CUZK_HD bool operator==(const WordQuadratic& b) const { return c0 == b.c0 && c1 == b.c1; }

  CUZK_HD friend CUZK_INLINE WordQuadratic operator+(const WordQuadratic& a,
                                                     const WordQuadratic& b) {
    return {a.c0 + b.c0, a.c1 + b.c1};
  }
  CUZK_HD friend CUZK_INLINE WordQuadratic operator-(const WordQuadratic& a,
                                                     const WordQuadratic& b) {
    return {a.c0 - b.c0, a.c1 - b.c1};
  }
  CUZK_HD CUZK_INLINE WordQuadratic operator-() const { return {-c0, -c1}; }
  CUZK_HD CUZK_INLINE WordQuadratic doubled() const { return *this + *this; }
  CUZK_HD friend CUZK_INLINE WordQuadratic operator*(const WordQuadratic& a,
                                                     const WordQuadratic& b) {
    WordQuadratic out;
    multiply(out, a, b);
    return out;
  }
  CUZK_HD CUZK_INLINE WordQuadratic squared() const {
    WordQuadratic out;
    square(out, *this);
    return out;
  }
  CUZK_HD CUZK_INLINE WordQuadratic times(const WordQuadratic& b) const {
    return {F::sum_of_products(c0, b.c0, -c1, b.c1), F::sum_of_products(c0, b.c1, c1, b.c0)};
  }
  CUZK_HD CUZK_INLINE WordQuadratic squared_here() const {
    return {(c0 + c1) * (c0 - c1), (c0 * c1).doubled()};
  }
  // a b - c d.
  CUZK_HD static CUZK_INLINE WordQuadratic difference_of_products(const WordQuadratic& a,
                                                                  const WordQuadratic& b,
                                                                  const WordQuadratic& c,
                                                                  const WordQuadratic& d) {
    return a * b - c * d;
  }
  CUZK_HD WordQuadratic inverse() const {
    const F scale = F::sum_of_products(c0, c0, c1, c1).inverse();
    return {c0 * scale, -(c1 * scale)};
  }

 private:
  CUZK_HD static CUZK_OUT_OF_LINE void multiply(WordQuadratic& out, const WordQuadratic& a,
                                                const WordQuadratic& b) {
    const WordQuadratic x = a, y = b;
    out = x.times(y);
  }
  CUZK_HD static CUZK_OUT_OF_LINE void square(WordQuadratic& out, const WordQuadratic& a) {
    const WordQuadratic x = a;
    out = x.squared_here();
  }
};

}  // namespace cuzk::cuda::field
