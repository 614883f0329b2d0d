// The runtime's side of fault.h: texts, the current device, and that the numbers are right.
//
// fault.cpp compares plain numbers, as it is compiled and tested without the toolkit; here each one
// is held against the header of the toolkit in use, so a renumbering would not compile.
#include "cuda/device/error.h"

#include <string>

#include <cuda_runtime_api.h>

#include "cuda/device/fault.h"
#include "cuda/device/fault_codes.h"

namespace cuzk::cuda::device {
namespace {

static_assert(sizeof(cudaError_t) == sizeof(int));  // statuses travel as int
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

}  // namespace

const RuntimeCalls& runtime() {
  static constexpr RuntimeCalls kCalls = {
      [](int code) {
        const auto status = static_cast<cudaError_t>(code);
        return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
      },
      [] {
        int device = -1;
        return cudaGetDevice(&device) == cudaSuccess ? device : -1;
      },
      [](int device) { return static_cast<int>(cudaSetDevice(device)); }};
  return kCalls;
}

base::Error cuda_error(int code, std::string_view call) { return error_by(runtime(), code, call); }

base::Error cuda_pinning_error(int code, std::string_view call) {
  return pinning_error(cuda_error(code, call));
}

base::Status to_status(int code, std::string_view call) {
  if (code != cudaSuccess) return cuda_error(code, call);
  return base::ok_status();
}

// Taken out of the runtime by asking, so a refused launch is not told again by the next one.
base::Status launched(std::string_view kernel) { return to_status(cudaGetLastError(), kernel); }

}  // namespace cuzk::cuda::device
