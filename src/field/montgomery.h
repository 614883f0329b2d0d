// Arithmetic modulo p on limbs, the portable way: what every machine, a device and the compiler
// run.
//
// Operands are integers below p in any form; products are Montgomery products a b / 2^(64 N) mod p.
// Everything assumes p < 2^(64 N - 1). kernels/modular_x64.h has the same operations for x86-64,
// and tests compare the two. Source: Koc, Acar, Kaliski, IEEE Micro 1996 (CIOS).
#pragma once

#include <cstddef>

#include "base/host_device.h"
#include "field/limbs.h"

namespace cuzk::field {

// p and -p^-1 mod 2^64, side by side in memory.
template <std::size_t N>
struct Modulus {
  Limbs<N> p;
  Limb negated_inverse;
};

// a - p where that is not negative, else a; a < 2 p.
template <std::size_t N>
CUZK_HD constexpr Limbs<N> reduced_once(const Limbs<N>& a, const Modulus<N>& m) {
  Limbs<N> out;
  const Limb borrow = sub_borrow(out, a, m.p);
  return borrow != 0 ? a : out;
}

// a + b mod p.
template <std::size_t N>
CUZK_HD constexpr Limbs<N> add_portable(const Limbs<N>& a, const Limbs<N>& b, const Modulus<N>& m) {
  Limbs<N> sum;
  add_carry(sum, a, b);
  return reduced_once(sum, m);
}

// a - b mod p, without a branch: p is added under a mask.
template <std::size_t N>
CUZK_HD constexpr Limbs<N> sub_portable(const Limbs<N>& a, const Limbs<N>& b, const Modulus<N>& m) {
  Limbs<N> out, correction;
  const Limb mask = ~sub_borrow(out, a, b) + 1;
  for (std::size_t i = 0; i < N; ++i) correction[i] = m.p[i] & mask;
  add_carry(out, out, correction);
  return out;
}

// Row by row of b: add a b[i], add the multiple of p that makes the lowest limb zero, move down a
// limb. Bound: both below p and p < 2^(64 N - 1), so the running sum stays below 2 p and never
// needs a second extra limb. 2 N^2 + N products of limbs.
template <std::size_t N>
CUZK_HD constexpr Limbs<N> multiply_portable(const Limbs<N>& a, const Limbs<N>& b,
                                             const Modulus<N>& m) {
  Limbs<N> t;
  for (std::size_t i = 0; i < N; ++i) {
    WideLimb wide = WideLimb{t[0]} + WideLimb{a[0]} * b[i];
    const Limb factor = static_cast<Limb>(wide) * m.negated_inverse;
    WideLimb fold = WideLimb{static_cast<Limb>(wide)} + WideLimb{factor} * m.p[0];
    Limb carry = static_cast<Limb>(wide >> 64), fold_carry = static_cast<Limb>(fold >> 64);
    for (std::size_t j = 1; j < N; ++j) {
      wide = WideLimb{t[j]} + WideLimb{a[j]} * b[i] + carry;
      carry = static_cast<Limb>(wide >> 64);
      fold = WideLimb{static_cast<Limb>(wide)} + WideLimb{factor} * m.p[j] + fold_carry;
      t[j - 1] = static_cast<Limb>(fold);
      fold_carry = static_cast<Limb>(fold >> 64);
    }
    t[N - 1] = carry + fold_carry;
  }
  return reduced_once(t, m);
}

}  // namespace cuzk::field
