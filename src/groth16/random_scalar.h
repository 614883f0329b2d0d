// Field elements that nobody can predict, uniform below the modulus.
//
// For blinding and for the secrets of a development set-up. With a biased r or s each proof
// would say a little about the witness, so no residue is favoured. The bytes drawn are wiped.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "base/result.h"
#include "base/wipe.h"
#include "field/prime_field.h"

namespace cuzk::groth16 {

// A uniform element: bytes of the operating system cut to the modulus's bit length, drawn again
// while they are not below it (so no residue is favoured, as it would be by a reduction). At most
// two draws are expected: the modulus is above half of its power of two.
template <class F>
base::Result<F> random_scalar() {
  using Canonical = field::Canonical<typename F::Params>;
  std::uint8_t bytes[F::kByteCount];
  static_assert(F::kBitCount <= 8 * F::kByteCount);
  constexpr unsigned kSpareBits = 8 * F::kByteCount - F::kBitCount;
  static_assert(kSpareBits < 8);
  while (true) {
    CUZK_TRY_STATUS(base::fill_random(bytes));
    bytes[F::kByteCount - 1] &= static_cast<std::uint8_t>(0xff >> kSpareBits);
    const auto canonical = Canonical::from_bytes_le(bytes);
    base::wipe(bytes, sizeof bytes);
    if (canonical) {
      return F::from_canonical(*canonical);
    }
  }
}

// As random_scalar, and not zero.
template <class F>
base::Result<F> random_nonzero_scalar() {
  while (true) {
    CUZK_TRY(const F value, random_scalar<F>());
    if (!value.is_zero()) return value;
  }
}

}  // namespace cuzk::groth16
