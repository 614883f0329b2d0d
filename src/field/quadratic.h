// Fp2 = Fp[u] / (u^2 + 1), the quadratic extension of both curves (p = 3 mod 4, so -1 has no root).
//
// A product costs three products of Fp (Karatsuba), a square two (complex squaring), an inverse one
// inverse of Fp and two squares and two products. Square roots are in square_root.h.
#pragma once

#include "base/host_device.h"
#include "field/limbs.h"
#include "field/power.h"

namespace cuzk::field {

// c0 + c1 u with u^2 = -1. Product by Karatsuba: three base products. A plain value; parts are
// elements of F and hence always reduced.
template <class F>
struct Quadratic {
  using Base = F;
  F c0, c1;

  CUZK_HD static constexpr Quadratic zero() { return {}; }
  CUZK_HD static constexpr Quadratic one() { return {F::one(), F::zero()}; }
  CUZK_HD constexpr bool operator==(const Quadratic&) const = default;
  CUZK_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }

  CUZK_HD friend constexpr Quadratic operator+(const Quadratic& a, const Quadratic& b) {
    return {a.c0 + b.c0, a.c1 + b.c1};
  }
  CUZK_HD friend constexpr Quadratic operator-(const Quadratic& a, const Quadratic& b) {
    return {a.c0 - b.c0, a.c1 - b.c1};
  }
  CUZK_HD constexpr Quadratic operator-() const { return {-c0, -c1}; }
  // The middle terms come from one product of sums, less the two products at the ends.
  CUZK_HD friend constexpr Quadratic operator*(const Quadratic& a, const Quadratic& b) {
    const F low = a.c0 * b.c0, high = a.c1 * b.c1;
    return {low - high, (a.c0 + a.c1) * (b.c0 + b.c1) - low - high};
  }
  CUZK_HD constexpr Quadratic& operator+=(const Quadratic& b) { return *this = *this + b; }
  CUZK_HD constexpr Quadratic& operator-=(const Quadratic& b) { return *this = *this - b; }
  CUZK_HD constexpr Quadratic& operator*=(const Quadratic& b) { return *this = *this * b; }
  CUZK_HD constexpr Quadratic doubled() const { return {c0.doubled(), c1.doubled()}; }
  // (c0 + c1)(c0 - c1) + 2 c0 c1 u: two base products.
  CUZK_HD constexpr Quadratic squared() const {
    return {(c0 + c1) * (c0 - c1), (c0 * c1).doubled()};
  }
  // c0 - c1 u, which is also the p-th power.
  CUZK_HD constexpr Quadratic conjugate() const { return {c0, -c1}; }
  CUZK_HD constexpr Quadratic scaled(const F& k) const { return {c0 * k, c1 * k}; }
  // c0^2 + c1^2, in the base field.
  CUZK_HD constexpr F norm() const { return c0.squared() + c1.squared(); }
  // Zero for zero. By the norm, which is zero for zero only, since -1 is no square in the base.
  CUZK_HD constexpr Quadratic inverse() const {
    const F scale = norm().inverse();
    return {c0 * scale, -(c1 * scale)};
  }
  template <std::size_t M>
  CUZK_HD constexpr Quadratic pow(const Limbs<M>& e) const {
    return power(*this, e);
  }
};

}  // namespace cuzk::field
