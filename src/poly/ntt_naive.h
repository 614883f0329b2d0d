// The transform by its definition, for tests: values[i] = sum_j coefficients[j] * x_i^j.
//
// The twin of the transforms of every kernel; at large sizes tests compare single values. It shares
// nothing with them but the field, so an error in twiddles, orders or factors cannot be in both.
#pragma once

#include <span>
#include <vector>

namespace cuzk::poly {

// Values at shift * omega^i, i < coefficients.size(), by Horner: n^2 products.
template <class F>
std::vector<F> ntt_naive(std::span<const F> coefficients, const F& omega, const F& shift) {
  std::vector<F> values;
  F x = shift;
  for (std::size_t i = 0; i < coefficients.size(); ++i, x *= omega) {
    F sum = F::zero();
    for (std::size_t j = coefficients.size(); j > 0; --j) sum = sum * x + coefficients[j - 1];
    values.push_back(sum);
  }
  return values;
}

}  // namespace cuzk::poly
