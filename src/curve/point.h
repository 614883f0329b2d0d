// Points of y^2 = x^3 + b in three coordinate systems, for host and device alike.
//
// A group description G gives Field, Scalar (the field r of exponents) and b(). Infinity is (0, 0)
// in affine form (never on a curve with b != 0), Z = 0 in Jacobian and ZZ = 0 in XYZZ form. All
// formulas are complete: equal, opposite and infinite operands give the right answer. Formulas:
// Explicit-Formulas Database, short Weierstrass with a = 0 ("madd-2007-bl", "dbl-2009-l",
// "add-2007-bl", "madd-2008-s", "add-2008-s").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/host_device.h"
#include "field/limbs.h"

namespace cuzk::curve {

// (x, y), or (0, 0) for infinity. Nothing keeps the point on the curve: whoever takes coordinates
// from outside asks is_on_curve() and, where it matters, is_in_subgroup().
template <class G>
struct Affine {
  using Field = typename G::Field;
  Field x, y;

  CUZK_HD static constexpr Affine infinity() { return {}; }
  CUZK_HD constexpr bool is_infinity() const { return x.is_zero() && y.is_zero(); }
  CUZK_HD constexpr bool operator==(const Affine&) const = default;
  CUZK_HD constexpr Affine operator-() const { return {x, -y}; }
  // On the curve, or infinity. Says nothing of the subgroup.
  CUZK_HD constexpr bool is_on_curve() const {
    return is_infinity() || y.squared() == x.squared() * x + G::b();
  }
};

// (X / Z^2, Y / Z^3).
template <class G>
struct Jacobian {
  using Field = typename G::Field;
  Field x, y, z;

  CUZK_HD static constexpr Jacobian infinity() { return {Field::one(), Field::one(), {}}; }
  CUZK_HD static constexpr Jacobian from_affine(const Affine<G>& p) {
    if (p.is_infinity()) return infinity();
    return {p.x, p.y, Field::one()};
  }
  CUZK_HD constexpr bool is_infinity() const { return z.is_zero(); }
  CUZK_HD constexpr Jacobian operator-() const { return {x, -y, z}; }

  // 2 M + 5 S. y = 0 would be a point of order two: the curves here have none, and nothing else in
  // this file depends on that.
  CUZK_HD constexpr Jacobian doubled() const {
    if (is_infinity() || y.is_zero()) return infinity();
    const Field a = x.squared(), b = y.squared(), c = b.squared();
    const Field d = ((x + b).squared() - a - c).doubled();
    const Field e = a.doubled() + a;
    Jacobian out;
    out.x = e.squared() - d.doubled();
    out.z = (y * z).doubled();
    out.y = e * (d - out.x) - c.doubled().doubled().doubled();
    return out;
  }
  // 7 M + 4 S. h = 0 says that x is the same, and then the difference of y tells which of the two
  // cases it is in which the formula would divide by zero.
  CUZK_HD friend constexpr Jacobian operator+(const Jacobian& p, const Affine<G>& q) {
    if (q.is_infinity()) return p;
    if (p.is_infinity()) return from_affine(q);
    const Field zz = p.z.squared();
    const Field u2 = q.x * zz, s2 = q.y * p.z * zz;
    const Field h = u2 - p.x, difference = s2 - p.y;
    if (h.is_zero()) return difference.is_zero() ? p.doubled() : infinity();
    const Field hh = h.squared(), i = hh.doubled().doubled(), j = h * i;
    const Field r = difference.doubled(), v = p.x * i;
    Jacobian out;
    out.x = r.squared() - j - v.doubled();
    out.y = r * (v - out.x) - (p.y * j).doubled();
    out.z = (p.z + h).squared() - zz - hh;
    return out;
  }
  // 11 M + 5 S, with the same two cases.
  CUZK_HD friend constexpr Jacobian operator+(const Jacobian& p, const Jacobian& q) {
    if (q.is_infinity()) return p;
    if (p.is_infinity()) return q;
    const Field z1z1 = p.z.squared(), z2z2 = q.z.squared();
    const Field u1 = p.x * z2z2, u2 = q.x * z1z1;
    const Field s1 = p.y * q.z * z2z2, s2 = q.y * p.z * z1z1;
    const Field h = u2 - u1, difference = s2 - s1;
    if (h.is_zero()) return difference.is_zero() ? p.doubled() : infinity();
    const Field i = h.doubled().squared(), j = h * i;
    const Field r = difference.doubled(), v = u1 * i;
    Jacobian out;
    out.x = r.squared() - j - v.doubled();
    out.y = r * (v - out.x) - (s1 * j).doubled();
    out.z = ((p.z + q.z).squared() - z1z1 - z2z2) * h;
    return out;
  }
  CUZK_HD constexpr Jacobian& operator+=(const Affine<G>& q) { return *this = *this + q; }
  CUZK_HD constexpr Jacobian& operator+=(const Jacobian& q) { return *this = *this + q; }

  // Equality of the points, not of the coordinates.
  CUZK_HD constexpr bool operator==(const Jacobian& q) const {
    if (is_infinity() || q.is_infinity()) return is_infinity() == q.is_infinity();
    const Field z1z1 = z.squared(), z2z2 = q.z.squared();
    return x * z2z2 == q.x * z1z1 && y * z2z2 * q.z == q.y * z1z1 * z;
  }
  // One inversion; for many points use to_affine(span).
  CUZK_HD constexpr Affine<G> to_affine() const {
    if (is_infinity()) return Affine<G>::infinity();
    const Field inverse = z.inverse(), square = inverse.squared();
    return {x * square, y * square * inverse};
  }
  // k * this by double-and-add, variable time, any k.
  template <std::size_t N>
  CUZK_HD constexpr Jacobian scaled(const field::Limbs<N>& k) const {
    Jacobian out = infinity();
    for (std::size_t i = k.bit_length(); i > 0; --i) {
      out = out.doubled();
      if (k.bit(i - 1)) out += *this;
    }
    return out;
  }
};

// (X / ZZ, Y / ZZZ) with ZZ^3 = ZZZ^2: the cheapest accumulator for affine additions (8M + 2S).
template <class G>
struct Xyzz {
  using Field = typename G::Field;
  Field x, y, zz, zzz;

  CUZK_HD static constexpr Xyzz infinity() { return {}; }
  CUZK_HD constexpr bool is_infinity() const { return zz.is_zero(); }
  CUZK_HD static constexpr Xyzz from_affine(const Affine<G>& p) {
    if (p.is_infinity()) return infinity();
    return {p.x, p.y, Field::one(), Field::one()};
  }
  CUZK_HD constexpr Xyzz doubled() const {
    if (is_infinity() || y.is_zero()) return infinity();
    const Field u = y.doubled(), v = u.squared(), w = u * v, s = x * v;
    const Field xx = x.squared(), m = xx.doubled() + xx;
    Xyzz out;
    out.x = m.squared() - s.doubled();
    out.y = m * (s - out.x) - w * y;
    out.zz = v * zz;
    out.zzz = w * zzz;
    return out;
  }
  CUZK_HD constexpr Xyzz& operator+=(const Affine<G>& q) {
    if (q.is_infinity()) return *this;
    if (is_infinity()) return *this = from_affine(q);
    const Field p = q.x * zz - x, r = q.y * zzz - y;
    if (p.is_zero()) return *this = r.is_zero() ? doubled() : infinity();
    const Field pp = p.squared(), ppp = p * pp, v = x * pp;
    x = r.squared() - ppp - v.doubled();
    y = r * (v - x) - y * ppp;
    zz *= pp;
    zzz *= ppp;
    return *this;
  }
  CUZK_HD constexpr Xyzz& operator+=(const Xyzz& q) {
    if (q.is_infinity()) return *this;
    if (is_infinity()) return *this = q;
    const Field u1 = x * q.zz, s1 = y * q.zzz;
    const Field p = q.x * zz - u1, r = q.y * zzz - s1;
    if (p.is_zero()) return *this = r.is_zero() ? doubled() : infinity();
    const Field pp = p.squared(), ppp = p * pp, v = u1 * pp;
    x = r.squared() - ppp - v.doubled();
    y = r * (v - x) - s1 * ppp;
    zz = zz * q.zz * pp;
    zzz = zzz * q.zzz * ppp;
    return *this;
  }
  // Same point: Z = ZZZ / ZZ gives X' = X ZZ, Y' = Y ZZZ over Z' = ZZ.
  CUZK_HD constexpr Jacobian<G> to_jacobian() const {
    if (is_infinity()) return Jacobian<G>::infinity();
    return {x * zz, y * zzz, zz};
  }
};

}  // namespace cuzk::curve
