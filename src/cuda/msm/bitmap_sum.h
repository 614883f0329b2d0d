// The part of a sum by bitmap that runs on the device: the seam between host and device files.
//
// Declared apart from bitmap.h, which callers include, and defined in bitmap_impl.cuh.
#pragma once

#include "cuda/msm/bitmap.h"

namespace cuzk::cuda::msm {

// queue_bitmap for at least one base, its sizes checked by the caller; `sum` gets the XYZZ point.
template <class G>
base::Status sum_listed_bits(const device::Stream& stream,
                             device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
                             device::DeviceSpan<const std::uint64_t> bitmap,
                             device::DeviceSpan<std::byte> scratch,
                             device::DeviceSpan<std::byte> sum);

}  // namespace cuzk::cuda::msm
