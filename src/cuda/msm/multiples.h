// Neighbouring multiples of a point in bulk: bases for development keys, tests and benchmarks.
//
// The discrete logarithms of such bases are known, so keys made of them must never prove anything
// that matters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "curve/groups.h"

namespace cuzk::cuda::msm {

// out[i] = (first + i) * base, affine. Queued on the stream. Complete: `base` may be infinity, and
// multiples of its order come out as infinity. About a mixed addition and some products each.
template <class G>
base::Status fill_multiples(const device::Stream& stream, const cuzk::curve::Affine<G>& base,
                            std::uint64_t first, device::DeviceSpan<cuzk::curve::Affine<G>> out);

}  // namespace cuzk::cuda::msm
