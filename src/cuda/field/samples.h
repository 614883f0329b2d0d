// Elements that try the carries: borders of the modulus, of words and of limbs, then random ones.
//
// For tests of device formulas, on a device or not: their 32-bit words have carries where the
// host's limbs have none. Equal seeds give equal elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "field/limbs.h"

namespace cuzk::cuda::field {

// At least `random_count` elements of the host field F. Their Montgomery forms are the borders, as
// those are what the formulas see.
template <class F>
std::vector<F> field_samples(std::size_t random_count, std::uint64_t seed) {
  constexpr std::size_t N = F::kLimbCount;
  std::vector<F> out;
  // Borders that this modulus is too small for are left out.
  const auto add = [&out](const cuzk::field::Limbs<N>& limbs) {
    if (cuzk::field::less(limbs, F::Params::kModulus)) out.push_back(F::from_montgomery(limbs));
  };
  for (std::uint64_t k = 0; k < 3; ++k) {
    cuzk::field::Limbs<N> small;
    small[0] = k;
    add(small);
    add(F::Constants::modulus_minus(k + 1));
  }
  // 2^(32 word) and the run of ones below it: where a word's carry is born or passes through.
  for (std::size_t word = 1; word < 2 * N; ++word) {
    cuzk::field::Limbs<N> power, ones;
    power[word / 2] = std::uint64_t{1} << (32 * (word % 2));
    add(power);
    cuzk::field::Limbs<N> one;
    one[0] = 1;
    cuzk::field::sub_borrow(ones, power, one);
    add(ones);
  }
  std::mt19937_64 random(seed);
  while (random_count > 0) {
    cuzk::field::Limbs<N> limbs;
    for (std::size_t i = 0; i < N; ++i) {
      // One limb in four is all ones or all zeros: long carries.
      limbs[i] = random() % 4 == 0 ? 0 - (random() & 1) : random();
    }
    // As many bits as the modulus has, so that draws above it are not the rule.
    static_assert(64 * N - F::kBitCount < 64);
    limbs[N - 1] >>= 64 * N - F::kBitCount;
    if (!cuzk::field::less(limbs, F::Params::kModulus)) continue;
    out.push_back(F::from_montgomery(limbs));
    --random_count;
  }
  return out;
}

}  // namespace cuzk::cuda::field
