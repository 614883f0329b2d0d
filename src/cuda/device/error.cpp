// Which statuses poison a context: CUDA Runtime API, "Error handling" (sticky errors).
//
// After one of them every later call of the process fails as well, and only a new process helps.
// All other statuses leave the device usable.
#include "cuda/device/error.h"

#include <string>

#include <cuda_runtime_api.h>

namespace cuzk::cuda::device {
namespace {

// Whether the context is lost: each later call of the process would return the same status.
bool is_sticky(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorDevicesUnavailable: return true;
    default: return false;
  }
}

}  // namespace

base::Error cuda_error(int code, std::string_view call) {
  const auto status = static_cast<cudaError_t>(code);
  std::string message =
      std::string(call) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")";
  if (status == cudaErrorMemoryAllocation) {
    return {base::ErrorKind::kResourceExhausted, std::move(message)};
  }
  if (is_sticky(status)) {
    message += "; the device is lost to this process and none of its results may be used";
    return {base::ErrorKind::kUnavailable, std::move(message)};
  }
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
    return {base::ErrorKind::kUnavailable, std::move(message)};
  }
  return {base::ErrorKind::kInternal, std::move(message)};
}

base::Status to_status(int code, std::string_view call) {
  if (code != cudaSuccess) return cuda_error(code, call);
  return base::ok_status();
}

base::Status launched(std::string_view kernel) { return to_status(cudaGetLastError(), kernel); }

}  // namespace cuzk::cuda::device
