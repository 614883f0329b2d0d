// x^e for any field type, variable time: the exponent may leak, so it must not be secret.
//
// Fields call it for exponents that follow from the modulus (inverses, square roots, Frobenius
// constants) and for roots of unity. F needs one(), squared(), * and *=.
#pragma once

#include <cstddef>

#include "base/host_device.h"
#include "field/limbs.h"

namespace cuzk::field {

// Left to right in windows of four bits: for an exponent of n bits n squares and n / 4 + 14
// products; short exponents go bit by bit, with n squares and as many products as bits are set.
// x^0 is one, also for x = 0.
template <class F, std::size_t M>
CUZK_HD constexpr F power(const F& x, const Limbs<M>& e) {
  constexpr std::size_t kWindow = 4, kWorthATableBits = 80;
  const std::size_t length = e.bit_length();
  F out = F::one();
  if (length < kWorthATableBits) {
    for (std::size_t i = length; i > 0; --i) {
      out = out.squared();
      if (e.bit(i - 1)) out *= x;
    }
    return out;
  }
  F table[1 << kWindow] = {F::one(), x};
  for (std::size_t i = 2; i < (1 << kWindow); ++i) table[i] = table[i - 1] * x;
  for (std::size_t i = (length + kWindow - 1) / kWindow; i > 0; --i) {
    for (std::size_t j = 0; j < kWindow; ++j) out = out.squared();
    const Limb digit = e.bits((i - 1) * kWindow, kWindow);
    if (digit != 0) out *= table[digit];
  }
  return out;
}

}  // namespace cuzk::field
