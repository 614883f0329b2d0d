// Sums of the bases that a bitmap chooses, on a device: scalars that are bits need no buckets.
//
// The chosen indices are listed, the list is halved by rounds of batched affine additions, and what
// is left is summed in runs: the machinery of one bucket (pair_kernels.cuh, bucket_kernels.cuh).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/msm/msm_policy.h"
#include "curve/groups.h"

namespace cuzk::cuda::msm {

// Scratch bytes of queue_bitmap for `count` bases, were all of them chosen: what the bitmap will
// say is not known when memory is planned. None for no bases.
template <class G>
std::uint64_t bitmap_scratch_bytes(std::size_t count);

// Bytes of a queued sum.
template <class G>
inline constexpr std::uint64_t kBitmapSumBytes = sizeof(cuzk::curve::Xyzz<G>);

// Queues the sum of the bases whose bit is set and returns: bit i of the bitmap (64 bits a word,
// least significant first) belongs to base i; bits past the end are ignored. Complete for all
// points. `scratch` holds bitmap_scratch_bytes and may be used again by later work of the same
// stream; `sum` holds kBitmapSumBytes and belongs to the sum until it is collected.
template <class G>
base::Status queue_bitmap(const device::Stream& stream,
                          device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
                          device::DeviceSpan<const std::uint64_t> bitmap,
                          device::DeviceSpan<std::byte> scratch, device::DeviceSpan<std::byte> sum);
// Waits for the stream and gives the sum that was left in `sum`.
template <class G>
base::Result<cuzk::curve::Jacobian<G>> collect_bitmap(const device::Stream& stream,
                                                      device::DeviceSpan<std::byte> sum);

// Both. `scratch` holds bitmap_scratch_bytes + kBitmapSumBytes.
template <class G>
base::Result<cuzk::curve::Jacobian<G>> sum_by_bitmap(
    const device::Stream& stream, device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
    device::DeviceSpan<const std::uint64_t> bitmap, device::DeviceSpan<std::byte> scratch);

}  // namespace cuzk::cuda::msm
