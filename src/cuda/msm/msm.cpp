// Plans and the host's end of a multiplication: windows joined by doublings.
//
// The device returns one pair of sums a window; joining them is some 255 doublings, too few and too
// serial to be worth a kernel. A plan picks windows by cost, then shortens runs until the device is
// full, then takes fewer windows at once until the scratch fits.
#include "cuda/msm/msm.h"

#include <algorithm>
#include <string>

#include "cuda/msm/sort.h"
#include "cuda/msm/window_sums.h"

namespace cuzk::cuda::msm {

template <class G>
base::Result<MsmPlan> plan_msm(std::size_t count, const MsmPolicy& policy) {
  if (count > kCountMax) {
    return base::Error{base::ErrorKind::kUnsupported,
                       "a multiplication of " + std::to_string(count) +
                           " points; the most at once is " + std::to_string(kCountMax)};
  }
  MsmPlan plan;
  plan.count = count;
  plan.policy = policy;
  if (count == 0) return plan;
  constexpr bool kIsExtension = sizeof(typename G::Field) > sizeof(typename G::Curve::Fp);
  MsmPolicy priced = policy;
  // A reduction in Fp2 spills registers: measured, buckets weigh a quarter more.
  if (kIsExtension) priced.bucket_cost *= 1.25;
  plan.layout = choose_windows(static_cast<int>(G::Scalar::kBitCount), count, priced);
  const double entries = static_cast<double>(count) * static_cast<double>(plan.layout.window_count);
  const std::size_t affine_count_min = policy.affine_count_min / (kIsExtension ? 16 : 1);
  double entries_per_bucket =
      static_cast<double>(count) / static_cast<double>(plan.layout.bucket_count_max());
  while (count >= affine_count_min && plan.affine_rounds < policy.affine_rounds_max &&
         entries_per_bucket >= policy.affine_entries_min) {
    ++plan.affine_rounds;
    entries_per_bucket /= 2;
  }
  plan.run_length = policy.run_length_max;
  while (plan.run_length > policy.run_length_min &&
         entries / (plan.run_length << plan.affine_rounds) < policy.threads_wanted) {
    plan.run_length /= 2;
  }
  plan.windows_at_once = std::min(plan.layout.window_count, kSortWindowsMax);
  plan.scratch_bytes = window_scratch_bytes<G>(plan);
  while (plan.windows_at_once > 1 && plan.scratch_bytes > policy.scratch_bytes_max) {
    --plan.windows_at_once;
    plan.scratch_bytes = window_scratch_bytes<G>(plan);
  }
  return plan;
}

template <class G>
base::Result<cuzk::curve::Jacobian<G>> multiply(
    const device::Stream& stream, const MsmPlan& plan,
    device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
    device::DeviceSpan<const Scalar<G>> scalars, const device::Buffer& scratch) {
  CUZK_CHECK(bases.size == plan.count && scalars.size == plan.count);
  CUZK_CHECK(scratch.size_bytes() >= plan.scratch_bytes);
  auto total = cuzk::curve::Jacobian<G>::infinity();
  if (plan.count == 0) return total;
  const ScalarParams params = scalar_params(G::Scalar::Params::kModulus.limb, plan.layout);
  CUZK_TRY(const std::vector<WindowSum<G>> windows,
           sum_windows<G>(stream, plan, params, bases, scalars, scratch));
  for (int w = plan.layout.window_count - 1; w >= 0; --w) {
    for (int i = 0; i < plan.layout.bit_count[w]; ++i) total = total.doubled();
    cuzk::curve::Xyzz<G> window = windows[w].sum;
    window += windows[w].weighted;
    total += window.to_jacobian();
  }
  return total;
}

#define CUZK_CUDA_MSM_INSTANTIATE(G)                                                           \
  template base::Result<MsmPlan> plan_msm<G>(std::size_t, const MsmPolicy&);                   \
  template base::Result<cuzk::curve::Jacobian<G>> multiply<G>(                                 \
      const device::Stream&, const MsmPlan&, device::DeviceSpan<const cuzk::curve::Affine<G>>, \
      device::DeviceSpan<const Scalar<G>>, const device::Buffer&);
CUZK_CUDA_MSM_INSTANTIATE(cuzk::curve::Bls12_381::G1)
CUZK_CUDA_MSM_INSTANTIATE(cuzk::curve::Bls12_381::G2)
CUZK_CUDA_MSM_INSTANTIATE(cuzk::curve::Bn254::G1)
CUZK_CUDA_MSM_INSTANTIATE(cuzk::curve::Bn254::G2)
#undef CUZK_CUDA_MSM_INSTANTIATE

}  // namespace cuzk::cuda::msm
