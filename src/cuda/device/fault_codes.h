// The numbers of the CUDA statuses that matter to us (CUDA Runtime API, enum cudaError), for code
// that is compiled without the toolkit.
//
// Those named here get a class of their own in fault_of; error.cpp checks each number against the
// toolkit's header.
#pragma once

namespace cuzk::cuda::device::codes {

inline constexpr int kSuccess = 0, kMemoryAllocation = 2, kInsufficientDriver = 35,
                     kDevicesUnavailable = 46, kNoDevice = 100, kEccUncorrectable = 214,
                     kNvlinkUncorrectable = 220, kIllegalAddress = 700, kLaunchTimeout = 702,
                     kAssert = 710, kHardwareStackError = 714, kIllegalInstruction = 715,
                     kMisalignedAddress = 716, kInvalidAddressSpace = 717, kInvalidPc = 718,
                     kLaunchFailure = 719, kUnknown = 999;

}  // namespace cuzk::cuda::device::codes
