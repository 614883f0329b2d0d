// The part of a multiplication that runs on the device: one pair of sums a window.
//
// The seam between msm.cpp and the .cu files: a group's functions are defined in
// window_sums_impl.cuh and instantiated in one file a group.
#pragma once

#include <vector>

#include "cuda/msm/digits.h"
#include "cuda/msm/msm.h"

namespace cuzk::cuda::msm {

// With V_b the sum of the points of bucket b (digits b + 1): sum_b V_b and sum_b b V_b, whose
// sum is the window's.
template <class G>
struct WindowSum {
  cuzk::curve::Xyzz<G> sum, weighted;
};

// Scratch bytes for windows_at_once windows.
template <class G>
std::uint64_t window_scratch_bytes(const MsmPlan& plan);

// The sums of all windows; waits for the stream.
template <class G>
base::Result<std::vector<WindowSum<G>>> sum_windows(
    const device::Stream& stream, const MsmPlan& plan, const ScalarParams& params,
    device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
    device::DeviceSpan<const Scalar<G>> scalars, const device::Buffer& scratch);

}  // namespace cuzk::cuda::msm
