// Points in words: affine and XYZZ forms with complete additions, for host tests and devices alike.
//
// Layout and meaning are those of curve/point.h. Formulas: Explicit-Formulas Database, short
// Weierstrass with a = 0, "madd-2008-s", "add-2008-s", "dbl-2008-s-1"; y is computed as one
// difference of products with a single reduction. Products are calls (word_field.h: times).
#pragma once

#include "base/host_device.h"
#include "cuda/device/code.h"
#include "cuda/field/word_field.h"
#include "cuda/field/word_quadratic.h"
#include "field/quadratic.h"

namespace cuzk::cuda::curve {

// The device twin of a host field: DeviceField<F>::Type.
template <class F>
struct DeviceField;
template <class P>
struct DeviceField<cuzk::field::PrimeField<P>> {
  using Type = field::WordField<P>;
};
template <class F>
struct DeviceField<cuzk::field::Quadratic<F>> {
  using Type = field::WordQuadratic<typename DeviceField<F>::Type>;
};
// The coordinates of a host group G, on a device.
template <class G>
using Coordinate = typename DeviceField<typename G::Field>::Type;

// The layout of curve::Affine; (0, 0) is infinity: it lies on no curve whose b is not 0.
template <class T>
struct AffinePoint {
  T x, y;
  CUZK_HD CUZK_INLINE bool is_infinity() const { return x.is_zero() && y.is_zero(); }
};

// (x / zz, y / zzz) with zz^3 = zzz^2; zz = 0 is infinity. Zero bytes are infinity too, so arrays
// of sums are cleared by memset.
template <class T>
struct XyzzPoint {
  T x, y, zz, zzz;

  CUZK_HD static XyzzPoint infinity() { return {}; }
  CUZK_HD CUZK_INLINE bool is_infinity() const { return zz.is_zero(); }
  CUZK_HD static CUZK_INLINE XyzzPoint from_affine(const AffinePoint<T>& p) {
    if (p.is_infinity()) return infinity();
    return {p.x, p.y, T::one(), T::one()};
  }
};

// p = 2 p. Points of order two (y = 0) come out as infinity: v = 0 makes zz zero.
template <class T>
CUZK_HD CUZK_OUT_OF_LINE void double_point(XyzzPoint<T>& p) {
  if (p.is_infinity()) return;
  const T u = p.y.doubled(), v = u.squared_there(), w = u.times(v), s = p.x.times(v);
  const T xx = p.x.squared_there(), m = xx.doubled() + xx;
  const T x = m.squared_there() - s.doubled();
  p.y = T::difference_of_products(m, s - x, w, p.y);
  p.x = x;
  p.zz = v.times(p.zz);
  p.zzz = w.times(p.zzz);
}

// p += q for finite p and q: the hot path of accumulation, 8 products and 2 squares. a and r are
// the differences of x and y at a common denominator, so a = 0 means q = p or q = -p.
template <class T>
CUZK_HD CUZK_INLINE void add_finite(XyzzPoint<T>& p, const AffinePoint<T>& q) {
  const T a = q.x.times(p.zz) - p.x, r = q.y.times(p.zzz) - p.y;
  if (a.is_zero()) {
    if (r.is_zero()) {
      // A copy, so that only this rare path takes an address and p stays in registers.
      XyzzPoint<T> twice = p;
      double_point(twice);
      p = twice;
    } else {
      p = XyzzPoint<T>::infinity();
    }
    return;
  }
  const T aa = a.squared_there(), aaa = a.times(aa), v = p.x.times(aa);
  p.zz = p.zz.times(aa);
  p.zzz = p.zzz.times(aaa);
  p.x = r.squared_there() - aaa - v.doubled();
  p.y = T::difference_of_products(r, v - p.x, p.y, aaa);
}

// p += q for any p and q.
template <class T>
CUZK_HD CUZK_INLINE void add_point(XyzzPoint<T>& p, const AffinePoint<T>& q) {
  if (q.is_infinity()) return;
  if (p.is_infinity()) {
    p = XyzzPoint<T>::from_affine(q);
    return;
  }
  add_finite(p, q);
}

// p += q for any p and q, out of line: 12 products and 2 squares. q may be p.
template <class T>
CUZK_HD CUZK_OUT_OF_LINE void add_point(XyzzPoint<T>& p, const XyzzPoint<T>& q) {
  if (q.is_infinity()) return;
  if (p.is_infinity()) {
    p = q;
    return;
  }
  const T u = p.x.times(q.zz), s = p.y.times(q.zzz);
  const T a = q.x.times(p.zz) - u, r = q.y.times(p.zzz) - s;
  if (a.is_zero()) {
    if (r.is_zero()) {
      double_point(p);
    } else {
      p = XyzzPoint<T>::infinity();
    }
    return;
  }
  const T aa = a.squared_there(), aaa = a.times(aa), v = u.times(aa);
  p.zz = p.zz.times(q.zz).times(aa);
  p.zzz = p.zzz.times(q.zzz).times(aaa);
  p.x = r.squared_there() - aaa - v.doubled();
  p.y = T::difference_of_products(r, v - p.x, s, aaa);
}

}  // namespace cuzk::cuda::curve
