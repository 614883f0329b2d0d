// The obvious sums, for tests: what every fast path of this room must equal.
#pragma once

#include <span>

#include "curve/groups.h"

namespace cuzk::msm {

// sum of scalars[i] * bases[i], one double-and-add after the other.
template <class G>
curve::Jacobian<G> multiply_naive(
    std::span<const curve::Affine<G>> bases,
    std::span<const field::Canonical<typename G::Scalar::Params>> scalars) {
  auto sum = curve::Jacobian<G>::infinity();
  for (std::size_t i = 0; i < bases.size(); ++i) {
    sum += curve::Jacobian<G>::from_affine(bases[i]).scaled(scalars[i].value);
  }
  return sum;
}

}  // namespace cuzk::msm
