// The part of a multiplication that runs on the device: one pair of sums a set of buckets.
//
// The seam between msm.cpp and the .cu files: a group's functions are defined in
// window_sums_impl.cuh and instantiated in one file a group.
#pragma once

#include "cuda/msm/digits.h"
#include "cuda/msm/msm.h"

namespace cuzk::cuda::msm {

// What returns a Status is queued on the stream and checks no size of memory: msm.cpp did.

// With V_b the sum of the points of bucket b (digits b + 1): sum_b V_b and sum_b b V_b, whose
// sum is the set's. `sums` of a plan are the first of all sets, then the second of all sets.
template <class G>
constexpr std::uint64_t window_sums_bytes(const WindowLayout& layout) {
  return 2 * static_cast<std::uint64_t>(layout.set_count) * sizeof(cuzk::curve::Xyzz<G>);
}

// Scratch bytes of the plan's sets_at_once sets, or in parts of all.
template <class G>
std::uint64_t window_scratch_bytes(const MsmPlan& plan);

// Empties the buckets of a sum in parts.
template <class G>
base::Status clear_buckets(const device::Stream& stream, const MsmPlan& plan,
                           device::DeviceSpan<std::byte> scratch);
// Bytes of the sorted entries of all sets for a part of `count` terms.
template <class G>
std::uint64_t kept_sort_bytes(const MsmPlan& plan, std::size_t count);
// Sorts terms into `kept`, for sum_terms. Reads no bases; the scratch is free again behind it, but
// for the buckets.
template <class G>
base::Status sort_terms(const device::Stream& stream, const MsmPlan& plan,
                        const ScalarParams& params, const Terms<G>& terms,
                        device::DeviceSpan<std::byte> scratch, device::DeviceSpan<std::byte> kept);
// Adds terms to the buckets of a sum in parts; otherwise sums them and reduces into `sums`. With
// `kept` not empty the terms were sorted there.
template <class G>
base::Status sum_terms(const device::Stream& stream, const MsmPlan& plan,
                       const ScalarParams& params, const Terms<G>& terms,
                       device::DeviceSpan<std::byte> scratch, device::DeviceSpan<std::byte> sums,
                       device::DeviceSpan<std::byte> kept = {});
// Reduces the buckets of a sum in parts.
template <class G>
base::Status reduce_parts(const device::Stream& stream, const MsmPlan& plan,
                          device::DeviceSpan<std::byte> scratch,
                          device::DeviceSpan<std::byte> sums);

}  // namespace cuzk::cuda::msm
