// Transforms of eight values with four products, where three levels of radix 2 take five.
//
// With w of order 8, i = w^2, c = (w + 1 / w) / 2 and s = (w - 1 / w) / 2, so that w = c + s and
// w^3 = s - c: the odd frequencies need w d_1 + w^3 d_3 and w^3 d_1 + w d_3, which are
// s (d_1 + d_3) + c (d_1 - d_3) and s (d_1 + d_3) - c (d_1 - d_3), two products instead of three
// (Winograd, "On computing the discrete Fourier transform", 1978, for complex numbers). Values are
// lazy, below 2 p. For host tests and devices alike.
#pragma once

#include "base/host_device.h"
#include "cuda/device/code.h"

namespace cuzk::cuda::poly {

// Values on their way through a pass are lazy, below 2 p; factors from tables are below p.
// Products are called, not inlined: a pass has dozens of them, several times the instruction cache.
template <class T>
CUZK_HD CUZK_INLINE T product(const T& lazy, const T& factor) {
  return T::called_lazy_product(factor, lazy);
}

// (a, b) to (a + b, a - b), both lazy again.
template <class T>
CUZK_HD CUZK_INLINE void butterfly(T& a, T& b) {
  const T sum = T::lazy_sum(a, b);
  b = T::lazy_difference(a, b);
  a = sum;
}

// i, c and s of the opening.
template <class T>
struct EighthRoots {
  T i, c, s;

  // w has the exact order eight, so that 1 / w = w^7 = -w^3.
  CUZK_HD static EighthRoots of(const T& w) {
    const T square = w.squared(), cube = square * w;
    const T half = (T::one() + T::one()).inverse();
    return {square, (w - cube) * half, (w + cube) * half};
  }
};

// v[t] = sum_j v[j] w^(j f) with f the three bits of t reversed.
template <class T>
CUZK_HD CUZK_INLINE void eight_to_reversed(T (&v)[8], const EighthRoots<T>& roots) {
  CUZK_UNROLL for (int k = 0; k < 4; ++k) butterfly(v[k], v[k + 4]);
  butterfly(v[0], v[2]);
  butterfly(v[1], v[3]);
  v[3] = product(v[3], roots.i);
  butterfly(v[0], v[1]);
  butterfly(v[2], v[3]);
  butterfly(v[5], v[7]);  // d_1 + d_3, d_1 - d_3
  v[6] = product(v[6], roots.i);
  v[5] = product(v[5], roots.s);
  v[7] = product(v[7], roots.c);
  butterfly(v[4], v[6]);
  butterfly(v[5], v[7]);  // what frequencies 1 and 3 add
  butterfly(v[4], v[5]);
  butterfly(v[6], v[7]);
}

// v[j] = sum_t v[t] w^(j f): the transpose, the same butterflies and products in opposite order.
template <class T>
CUZK_HD CUZK_INLINE void eight_from_reversed(T (&v)[8], const EighthRoots<T>& roots) {
  CUZK_UNROLL for (int k = 0; k < 8; k += 2) butterfly(v[k], v[k + 1]);
  v[3] = product(v[3], roots.i);
  butterfly(v[0], v[2]);
  butterfly(v[1], v[3]);
  butterfly(v[4], v[6]);
  v[6] = product(v[6], roots.i);
  butterfly(v[5], v[7]);
  v[5] = product(v[5], roots.s);
  v[7] = product(v[7], roots.c);
  butterfly(v[5], v[7]);
  CUZK_UNROLL for (int k = 0; k < 4; ++k) butterfly(v[k], v[k + 4]);
}

}  // namespace cuzk::cuda::poly
