// CUDA statuses as errors of ours, without naming a CUDA type outside this folder.
//
// Kernels report in two steps: launched() catches what a launch refuses, faults while running show
// at the next synchronisation of the stream.
#pragma once

#include <string_view>

#include "base/result.h"

namespace cuzk::cuda::device {

// The status of the last kernel launch of this thread. `kernel` names it in the message.
base::Status launched(std::string_view kernel);

// An error for the CUDA status `code` (a cudaError_t) of `call`. Out of memory is
// kResourceExhausted; a status that poisons the context (a fault, a lost device) is kUnavailable
// and says that results of this device must not be used; all else is kInternal.
base::Error cuda_error(int code, std::string_view call);

// ok for code 0.
base::Status to_status(int code, std::string_view call);

}  // namespace cuzk::cuda::device
