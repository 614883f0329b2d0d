// What a policy's numbers, which are those of G1 of BLS12-381, are for another group.
#pragma once

#include <cstddef>

#include "cuda/msm/msm_policy.h"
#include "curve/groups.h"

namespace cuzk::cuda::msm {

template <class G>
inline constexpr bool kIsExtension = sizeof(typename G::Field) > sizeof(typename G::Curve::Fp);

template <class G>
MsmPolicy priced(MsmPolicy policy) {
  // A reduction in Fp2 spills registers: measured, buckets weigh a quarter more.
  if (kIsExtension<G>) policy.bucket_cost *= 1.25;
  return policy;
}

// Entries of a set from which rounds are worth their latency. A product of Fp2 takes three times
// as long, so rounds pay early; one of eight words less than half, so that they wait for memory
// (measured at 2^22).
template <class G>
std::size_t affine_entry_min(const MsmPolicy& policy) {
  if (kIsExtension<G>) return policy.affine_count_min / 16;
  return sizeof(typename G::Field) > 32 ? policy.affine_count_min : 4 * policy.affine_count_min;
}

}  // namespace cuzk::cuda::msm
