// Radix-2 transforms in place: bit reversal, then log2 m passes of butterflies.
#include "poly/domain.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/threads.h"

namespace cuzk::poly {
namespace {

constexpr std::size_t kGrain = 1024;

std::size_t reverse_bits(std::size_t i, std::size_t count) {
  std::size_t out = 0;
  for (std::size_t b = 0; b < count; ++b) out |= ((i >> b) & 1) << (count - 1 - b);
  return out;
}

template <class F>
void permute(std::span<F> values, std::size_t log2) {
  base::parallel_for(0, values.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t j = reverse_bits(i, log2);
      if (i < j) std::swap(values[i], values[j]);
    }
  });
}

template <class F>
void transform(std::span<F> values, std::size_t log2, std::span<const F> twiddles) {
  permute(values, log2);
  for (std::size_t level = 0; level < log2; ++level) {
    const std::size_t half = std::size_t{1} << level, step = values.size() / 2 / half;
    base::parallel_for(0, values.size() / 2, kGrain, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) {
        const std::size_t j = k & (half - 1), low = ((k >> level) << (level + 1)) + j;
        const F t = values[low + half] * twiddles[j * step];
        values[low + half] = values[low] - t;
        values[low] += t;
      }
    });
  }
}

// values[i] *= scale * ratio^i.
template <class F>
void scale_by_powers(std::span<F> values, const F& scale, const F& ratio) {
  base::parallel_for(0, values.size(), kGrain, [&](std::size_t first, std::size_t last) {
    F factor = scale * ratio.pow(first);
    for (std::size_t i = first; i < last; ++i, factor *= ratio) values[i] *= factor;
  });
}

template <class F>
std::vector<F> powers(const F& ratio, std::size_t count) {
  std::vector<F> out(count, F::one());
  scale_by_powers<F>(out, F::one(), ratio);
  return out;
}

}  // namespace

template <class F>
base::Result<Domain<F>> Domain<F>::create(std::size_t size_log2) {
  if (size_log2 > F::kTwoAdicity) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "a domain of 2^" + std::to_string(size_log2) + " elements does not exist in " +
                           F::Params::kName + ", the largest is 2^" +
                           std::to_string(F::kTwoAdicity)};
  }
  F omega = F::two_adic_root();
  for (std::size_t i = size_log2; i < F::kTwoAdicity; ++i) omega = omega.squared();
  return create(size_log2, omega);
}

template <class F>
base::Result<Domain<F>> Domain<F>::create(std::size_t size_log2, const F& omega) {
  // Exact order: omega^(m / 2) is -1, or omega is 1 when m is 1.
  F half_power = omega;
  for (std::size_t i = 1; i < size_log2; ++i) half_power = half_power.squared();
  if (size_log2 > F::kTwoAdicity || half_power != (size_log2 == 0 ? F::one() : -F::one())) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "the generator given for a domain of 2^" + std::to_string(size_log2) +
                           " elements has another order"};
  }
  Domain domain;
  domain.size_log2_ = size_log2;
  domain.omega_ = omega;
  domain.omega_inverse_ = domain.omega_.inverse();
  domain.size_inverse_ = F::from_u64(domain.size()).inverse();
  domain.twiddles_ = powers(domain.omega_, domain.size() / 2);
  domain.inverse_twiddles_ = powers(domain.omega_inverse_, domain.size() / 2);
  return domain;
}

template <class F>
void Domain<F>::forward(std::span<F> values) const {
  CUZK_CHECK(values.size() == size());
  transform<F>(values, size_log2_, twiddles_);
}

template <class F>
void Domain<F>::inverse(std::span<F> values) const {
  CUZK_CHECK(values.size() == size());
  transform<F>(values, size_log2_, inverse_twiddles_);
  scale_by_powers(values, size_inverse_, F::one());
}

template <class F>
void Domain<F>::forward_coset(std::span<F> values, const F& shift) const {
  CUZK_CHECK(values.size() == size());
  scale_by_powers(values, F::one(), shift);
  transform<F>(values, size_log2_, twiddles_);
}

template <class F>
void Domain<F>::inverse_coset(std::span<F> values, const F& shift) const {
  CUZK_CHECK(values.size() == size());
  transform<F>(values, size_log2_, inverse_twiddles_);
  scale_by_powers(values, size_inverse_, shift.inverse());
}

template <class F>
F Domain<F>::vanishing_at(const F& x) const {
  F power = x;
  for (std::size_t i = 0; i < size_log2_; ++i) power = power.squared();
  return power - F::one();
}

std::size_t domain_size_log2(std::size_t count) {
  std::size_t log2 = 0;
  while ((std::size_t{1} << log2) < count) ++log2;
  return log2;
}

template class Domain<field::bls12_381::Fr>;
template class Domain<field::bn254::Fr>;

}  // namespace cuzk::poly
