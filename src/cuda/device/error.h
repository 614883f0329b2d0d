// CUDA statuses as errors of ours, without naming a CUDA type outside this folder.
//
// Kernels report in two steps: launched() catches what a launch refuses, faults while running show
// at the next synchronisation of the stream. fault.h says what each status means.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cuda/device/fault.h"

namespace cuzk::cuda::device {

// The status of the last kernel launch of this thread. `kernel` names it in the message. Waits for
// nothing; called right after each launch, so that the sentence names the kernel that was refused.
base::Status launched(std::string_view kernel);

// The runtime itself, for what fault.h decides.
const RuntimeCalls& runtime();

// An error for the CUDA status `code` (a cudaError_t) of `call` on the current device. A status
// that poisons the context condemns the device (fault.h).
base::Error cuda_error(int code, std::string_view call);

// The same for a call that pins host memory (fault.h, pinning_error).
base::Error cuda_pinning_error(int code, std::string_view call);

// ok for code 0.
base::Status to_status(int code, std::string_view call);

}  // namespace cuzk::cuda::device
