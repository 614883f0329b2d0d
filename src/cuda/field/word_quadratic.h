// Fp2 = Fp[u] / (u^2 + 1) in words, with the layout of field/quadratic.h.
//
// A product is two sums of two products with one reduction each: 3 W^2 IMAD.WIDE, as many as
// Karatsuba's three products take, and fewer additions. Products and squares are calls, operands
// and result in registers: inlined, a point addition would not fit the instruction cache.
#pragma once

#include "base/host_device.h"
#include "cuda/device/code.h"

namespace cuzk::cuda::field {

// c0 + c1 u. Coordinates are reduced, always: the lazy names below are there so that code over both
// kinds of fields is written once.
template <class F>
struct WordQuadratic {
  using Base = F;
  static_assert(F::Constants::kSumsTwoProducts, "products are sums of two with one reduction");
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
    return called_product(a, b);
  }
  CUZK_HD CUZK_INLINE WordQuadratic squared() const { return called_square(*this); }
  CUZK_HD CUZK_INLINE WordQuadratic times(const WordQuadratic& b) const { return *this * b; }
  CUZK_HD CUZK_INLINE WordQuadratic squared_there() const { return squared(); }
  // The names of lazy arithmetic (word_field.h); here everything is reduced.
  static constexpr bool kIsLazy = false;
  CUZK_HD CUZK_INLINE WordQuadratic lazy_times(const WordQuadratic& b) const { return *this * b; }
  CUZK_HD static CUZK_INLINE WordQuadratic lazy_product(const WordQuadratic& a,
                                                        const WordQuadratic& b) {
    return a * b;
  }
  CUZK_HD CUZK_INLINE WordQuadratic lazy_squared() const { return squared(); }
  CUZK_HD CUZK_INLINE WordQuadratic normalised() const { return *this; }
  CUZK_HD static CUZK_INLINE WordQuadratic lazy_difference(const WordQuadratic& a,
                                                           const WordQuadratic& b) {
    return a - b;
  }
  CUZK_HD static CUZK_INLINE WordQuadratic loose_sum(const WordQuadratic& a,
                                                     const WordQuadratic& b) {
    return a + b;
  }
  CUZK_HD static CUZK_INLINE WordQuadratic loose_difference(const WordQuadratic& a,
                                                            const WordQuadratic& b) {
    return a - b;
  }
  CUZK_HD CUZK_INLINE WordQuadratic loose_negated() const { return -*this; }
  CUZK_HD CUZK_INLINE bool may_be_zero() const { return is_zero(); }
  // a b - c d.
  CUZK_HD static CUZK_INLINE WordQuadratic difference_of_products(const WordQuadratic& a,
                                                                  const WordQuadratic& b,
                                                                  const WordQuadratic& c,
                                                                  const WordQuadratic& d) {
    return a * b - c * d;
  }
  // (c0 - c1 u) / (c0^2 + c1^2): one inversion in Fp. Zero for zero.
  CUZK_HD WordQuadratic inverse() const {
    const F scale = F::sum_of_products(c0, c0, c1, c1).inverse();
    return {c0 * scale, -(c1 * scale)};
  }

 private:
  // By value, not by reference: with operands loaded inside the carry chains results were wrong
  // (docs/math/cuda_field.md, Calls).
  CUZK_HD static CUZK_OUT_OF_LINE WordQuadratic called_product(WordQuadratic a, WordQuadratic b) {
    return {F::sum_of_products(a.c0, b.c0, -a.c1, b.c1),
            F::sum_of_products(a.c0, b.c1, a.c1, b.c0)};
  }
  // (c0 + c1) (c0 - c1) and 2 c0 c1: two products.
  CUZK_HD static CUZK_OUT_OF_LINE WordQuadratic called_square(WordQuadratic a) {
    return {(a.c0 + a.c1) * (a.c0 - a.c1), (a.c0 * a.c1).doubled()};
  }
};

}  // namespace cuzk::cuda::field
