// Sums, differences and Montgomery products modulo p by the fastest means at hand.
//
// At compile time and on a device the portable way; at run time on x86-64 add-with-carry for sums,
// and mulx with two carry chains for products where base::has_adx(). All give the same limbs. `out`
// may be an operand. Only 4 and 6 limbs have a fast way; others are portable.
//
// `if (!std::is_constant_evaluated())` stands inside `if constexpr`, not the other way round, since
// the assembly must not even be looked at for other lengths.
#pragma once

#include <type_traits>

#include "base/cpu.h"
#include "field/kernels/modular_x64.h"
#include "field/montgomery.h"

namespace cuzk::field {

// out = a + b mod p for a, b < p.
template <std::size_t N>
CUZK_HD constexpr void add(Limbs<N>& out, const Limbs<N>& a, const Limbs<N>& b,
                           const Modulus<N>& m) {
#if defined(CUZK_FIELD_X64)
  if constexpr (N == 4 || N == 6) {
    if (!std::is_constant_evaluated()) return x64::add(out, a, b, m);
  }
#endif
  out = add_portable(a, b, m);
}

// out = a - b mod p for a, b < p.
template <std::size_t N>
CUZK_HD constexpr void sub(Limbs<N>& out, const Limbs<N>& a, const Limbs<N>& b,
                           const Modulus<N>& m) {
#if defined(CUZK_FIELD_X64)
  if constexpr (N == 4 || N == 6) {
    if (!std::is_constant_evaluated()) return x64::sub(out, a, b, m);
  }
#endif
  out = sub_portable(a, b, m);
}

#if defined(CUZK_FIELD_X64)
// Kept out of line, so that a product site is one test and one call.
template <std::size_t N>
[[gnu::noinline]] void multiply_out_of_line(Limbs<N>& out, const Limbs<N>& a, const Limbs<N>& b,
                                            const Modulus<N>& m) {
  out = multiply_portable(a, b, m);
}
#endif

// out = a b / 2^(64 N) mod p for a, b < p: the Montgomery product. Which way is taken is a test of
// one byte a call, never a difference in the result.
template <std::size_t N>
CUZK_HD constexpr void multiply(Limbs<N>& out, const Limbs<N>& a, const Limbs<N>& b,
                                const Modulus<N>& m) {
#if defined(CUZK_FIELD_X64)
  if constexpr (N == 4 || N == 6) {
    if (!std::is_constant_evaluated()) {
      if (base::has_adx()) return x64::multiply_adx(out, a, b, m);
      return multiply_out_of_line(out, a, b, m);
    }
  }
#endif
  out = multiply_portable(a, b, m);
}

}  // namespace cuzk::field
