// Square roots in Fp with p = 3 mod 4 and in its quadratic extension Fp2 = Fp[u] / (u^2 + 1).
//
// Decompression of points wants them. Variable time. A root costs one power with an exponent as
// long as p; in Fp2 two or three of them and an inverse. Which of the two roots comes out is not
// said: callers choose by sign.
#pragma once

#include <optional>

#include "base/check.h"
#include "field/prime_field.h"
#include "field/quadratic.h"

namespace cuzk::field {

// A y with y^2 = x, or nullopt when x is no square: y = x^((p+1)/4).
template <class P>
std::optional<PrimeField<P>> square_root(const PrimeField<P>& x) {
  static_assert(P::kModulus[0] % 4 == 3, "another method is needed for p = 1 mod 4");
  // (p + 1) / 4 = (p - 3) / 4 + 1, and x^((p-3)/4) x is one product more.
  const PrimeField<P> root = x * x.pow(half(half(PrimeFieldConstants<P>::modulus_minus(3))));
  if (root.squared() != x) return std::nullopt;
  return root;
}

// The complex method: with n^2 = c0^2 + c1^2, one of (c0 + n)/2, (c0 - n)/2 is a square a0^2 in Fp,
// and the root is a0 + c1 / (2 a0) u. For c1 = 0 the root is real or purely imaginary.
template <class P>
std::optional<Quadratic<PrimeField<P>>> square_root(const Quadratic<PrimeField<P>>& x) {
  using F = PrimeField<P>;
  using Fp2 = Quadratic<F>;
  if (x.c1.is_zero()) {
    if (const auto real = square_root(x.c0)) return Fp2{*real, F::zero()};
    const auto imaginary = square_root(-x.c0);
    CUZK_ASSERT(imaginary.has_value());  // -1 is no square, so of c0 and -c0 one is
    return Fp2{F::zero(), *imaginary};
  }
  const auto norm_root = square_root(x.norm());
  if (!norm_root) return std::nullopt;
  static const F kHalf = F::from_u64(2).inverse();
  auto a0 = square_root((x.c0 + *norm_root) * kHalf);
  if (!a0) a0 = square_root((x.c0 - *norm_root) * kHalf);
  if (!a0) return std::nullopt;
  // a0 is not zero: that would make n = -+c0, hence c1 = 0, which was dealt with.
  const Fp2 root = {*a0, x.c1 * kHalf * a0->inverse()};
  if (root.squared() != x) return std::nullopt;
  return root;
}

}  // namespace cuzk::field
