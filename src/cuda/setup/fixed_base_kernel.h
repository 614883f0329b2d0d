// The seam between fixed_base.cpp and the .cu files: one launch.
#pragma once

#include "cuda/setup/fixed_base.h"

namespace cuzk::cuda::setup {

// out[i] = scalars[i] * base with the table of `layout`: entry [w][d] is (d + 1) 2^first_bit[w]
// base.
template <class G>
base::Status multiply_by_table(const device::Stream& stream,
                               device::DeviceSpan<const cuzk::curve::Affine<G>> table,
                               const msm::WindowLayout& layout, const msm::ScalarParams& params,
                               device::DeviceSpan<const msm::Scalar<G>> scalars,
                               msm::ScalarForm form,
                               device::DeviceSpan<cuzk::curve::Affine<G>> out);

}  // namespace cuzk::cuda::setup
