// A kernel that breaks its device, to see what becomes of proofs then.
//
// The device is of no use to the process afterwards, so whoever calls it comes last.
#pragma once

#include "cuda/device/stream.h"

namespace cuzk::bench::cuda_prove {

// Runs it on the stream's device; what the stream says of it.
base::Status run_trap(const ::cuzk::cuda::device::Stream& stream);

}  // namespace cuzk::bench::cuda_prove
