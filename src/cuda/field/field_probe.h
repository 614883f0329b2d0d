// Field operations over arrays on a device: for known-answer tests and for measuring rates.
//
// Not for product code, which never wants a kernel per operation. Host and device share the layout
// of an element, so results compare limb by limb with the host's arithmetic.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::cuda::field {

// The operations that can be measured.
enum class Probe { kProduct, kSquare, kSum, kDifference, kTwoProducts, kInverse };

// out[i] = op(a[i], b[i]); kTwoProducts is a a + b a where the field allows it, else a (a + b).
// Repeats the operation on its own result `repeats` times in all; with 0, out[i] = a[i]. F is a
// host field. Sizes are equal. Queued on the stream.
template <class F>
base::Status run_probe(const device::Stream& stream, Probe probe, device::DeviceSpan<F> out,
                       device::DeviceSpan<F> a, device::DeviceSpan<F> b, int repeats);

#define CUZK_CUDA_PROBE_EXTERN(F)                                                                \
  extern template base::Status run_probe<F>(const device::Stream&, Probe, device::DeviceSpan<F>, \
                                            device::DeviceSpan<F>, device::DeviceSpan<F>, int);
CUZK_CUDA_PROBE_EXTERN(cuzk::field::bls12_381::Fp)
CUZK_CUDA_PROBE_EXTERN(cuzk::field::bls12_381::Fr)
CUZK_CUDA_PROBE_EXTERN(cuzk::field::bn254::Fp)
CUZK_CUDA_PROBE_EXTERN(cuzk::field::bn254::Fr)
#undef CUZK_CUDA_PROBE_EXTERN

}  // namespace cuzk::cuda::field
