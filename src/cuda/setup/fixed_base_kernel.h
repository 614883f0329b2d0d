// The seam between fixed_base.cpp and the .cu files: one launch.
//
// Host arithmetic on points stays on that side, as nvcc would compile it for the device too.
#pragma once

#include "cuda/setup/fixed_base.h"

namespace cuzk::cuda::setup {

// out[i] = scalars[i] * base with the table of `layout`: entry [w][d] is (d + 1) 2^first_bit[w]
// base. Sizes are equal and not zero. Queued on the stream; complete for all points and scalars.
template <class G>
base::Status multiply_by_table(const device::Stream& stream,
                               device::DeviceSpan<const cuzk::curve::Affine<G>> table,
                               const msm::WindowLayout& layout, const msm::ScalarParams& params,
                               device::DeviceSpan<const msm::Scalar<G>> scalars,
                               msm::ScalarForm form,
                               device::DeviceSpan<cuzk::curve::Affine<G>> out);

}  // namespace cuzk::cuda::setup
