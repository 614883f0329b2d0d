// The obvious sums, for tests: what every fast path of this room must equal.
//
// Double-and-add on curve/point.h, which has tests of its own against the textbook: no windows, no
// buckets, no batches, hence nothing in common with what it checks.
#pragma once

#include <span>

#include "base/check.h"
#include "curve/groups.h"

namespace cuzk::msm {

// sum of scalars[i] * bases[i], one double-and-add after the other.
template <class G>
curve::Jacobian<G> multiply_naive(
    std::span<const curve::Affine<G>> bases,
    std::span<const field::Canonical<typename G::Scalar::Params>> scalars) {
  CUZK_ASSERT(bases.size() == scalars.size());
  auto sum = curve::Jacobian<G>::infinity();
  for (std::size_t i = 0; i < bases.size(); ++i) {
    sum += curve::Jacobian<G>::from_affine(bases[i]).scaled(scalars[i].value);
  }
  return sum;
}

}  // namespace cuzk::msm
