// Multi-scalar multiplication on a device: sum of k_i P_i for points and scalars that lie there.
//
// Complete for every input: infinite, equal and opposite points, zero scalars, any count from 0.
// Pippenger's method with signed digits: windows sorted by bucket (sort.h), buckets summed in
// runs of equal length (bucket_kernels.cuh), buckets reduced by running sums on the device, windows
// joined on the host. docs/math/cuda_msm.md has the counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/msm/msm_policy.h"
#include "curve/groups.h"

namespace cuzk::cuda::msm {

// What a multiplication of `count` points will do and the bytes it needs. Windows are taken in
// groups so that scratch_bytes stays below the policy's limit where it can.
struct MsmPlan {
  std::size_t count = 0;
  MsmPolicy policy;
  WindowLayout layout;
  int windows_at_once = 1;
  int affine_rounds = 0;
  int run_length = 1;
  std::uint64_t scratch_bytes = 0;
};

// Scalars are plain integers below the group order, not Montgomery forms.
template <class G>
using Scalar = cuzk::field::Canonical<typename G::Scalar::Params>;

// kUnsupported above 2^30 points.
template <class G>
base::Result<MsmPlan> plan_msm(std::size_t count, const MsmPolicy& policy = {});

// sum of scalars[i] * bases[i]. Waits for the stream. `scratch` holds plan.scratch_bytes and is not
// used by others meanwhile; bases.size == scalars.size == plan.count.
template <class G>
base::Result<cuzk::curve::Jacobian<G>> multiply(
    const device::Stream& stream, const MsmPlan& plan,
    device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
    device::DeviceSpan<const Scalar<G>> scalars, const device::Buffer& scratch);

#define CUZK_CUDA_MSM_EXTERN(G)                                                                \
  extern template base::Result<MsmPlan> plan_msm<G>(std::size_t, const MsmPolicy&);            \
  extern template base::Result<cuzk::curve::Jacobian<G>> multiply<G>(                          \
      const device::Stream&, const MsmPlan&, device::DeviceSpan<const cuzk::curve::Affine<G>>, \
      device::DeviceSpan<const Scalar<G>>, const device::Buffer&);
CUZK_CUDA_MSM_EXTERN(cuzk::curve::Bls12_381::G1)
CUZK_CUDA_MSM_EXTERN(cuzk::curve::Bls12_381::G2)
CUZK_CUDA_MSM_EXTERN(cuzk::curve::Bn254::G1)
CUZK_CUDA_MSM_EXTERN(cuzk::curve::Bn254::G2)
#undef CUZK_CUDA_MSM_EXTERN

}  // namespace cuzk::cuda::msm
