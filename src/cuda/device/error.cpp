// The runtime's side of fault.h: texts, the current device, and that the numbers are right.
#include "cuda/device/error.h"

#include <string>

#include <cuda_runtime_api.h>

#include "cuda/device/fault.h"
#include "cuda/device/fault_codes.h"

namespace cuzk::cuda::device {
namespace {

static_assert(codes::kSuccess == cudaSuccess);
static_assert(codes::kMemoryAllocation == cudaErrorMemoryAllocation);
static_assert(codes::kInsufficientDriver == cudaErrorInsufficientDriver);
static_assert(codes::kDevicesUnavailable == cudaErrorDevicesUnavailable);
static_assert(codes::kNoDevice == cudaErrorNoDevice);
static_assert(codes::kEccUncorrectable == cudaErrorECCUncorrectable);
static_assert(codes::kNvlinkUncorrectable == cudaErrorNvlinkUncorrectable);
static_assert(codes::kIllegalAddress == cudaErrorIllegalAddress);
static_assert(codes::kLaunchTimeout == cudaErrorLaunchTimeout);
static_assert(codes::kAssert == cudaErrorAssert);
static_assert(codes::kHardwareStackError == cudaErrorHardwareStackError);
static_assert(codes::kIllegalInstruction == cudaErrorIllegalInstruction);
static_assert(codes::kMisalignedAddress == cudaErrorMisalignedAddress);
static_assert(codes::kInvalidAddressSpace == cudaErrorInvalidAddressSpace);
static_assert(codes::kInvalidPc == cudaErrorInvalidPc);
static_assert(codes::kLaunchFailure == cudaErrorLaunchFailure);
static_assert(codes::kUnknown == cudaErrorUnknown);

using MakeError = base::Error(int, std::string_view, std::string_view, int);

base::Error error_of(int code, std::string_view call, MakeError* make) {
  const auto status = static_cast<cudaError_t>(code);
  const std::string text =
      std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
  int device = -1;
  // Asked for only where it matters: without a driver this call fails as well.
  if (fault_of(code) == Fault::kLost) cudaGetDevice(&device);
  return make(code, text, call, device);
}

}  // namespace

base::Error cuda_error(int code, std::string_view call) {
  return error_of(code, call, fault_error);
}

base::Error cuda_pinning_error(int code, std::string_view call) {
  return error_of(code, call, pinning_error);
}

base::Status to_status(int code, std::string_view call) {
  if (code != cudaSuccess) return cuda_error(code, call);
  return base::ok_status();
}

base::Status launched(std::string_view kernel) { return to_status(cudaGetLastError(), kernel); }

}  // namespace cuzk::cuda::device
