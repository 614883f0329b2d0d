// Devices and what the rest needs to know of one. Nothing here calls CUDA before it is asked to.
//
// So a program built with CUDA starts on a machine without a driver, and learns of it from
// devices(). The current device is a property of each thread; whoever starts a thread sets it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace cuzk::cuda::device {

// One visible device (CUDA_VISIBLE_DEVICES applies). `index` is of this process only; the UUID and
// the PCI address name the card itself.
struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string uuid;         // "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
  std::string pci_address;  // "0000:17:00.0"
  int capability = 0;       // 90 for compute capability 9.0
  int multiprocessor_count = 0;
  int clock_khz = 0;
  std::uint64_t memory_bytes = 0;
};

// All visible devices in index order; an error when there is no driver or no device.
base::Result<std::vector<DeviceInfo>> devices();

// The device named by index ("0"), UUID or PCI address (device_name.h). kNotFound lists what there
// is.
base::Result<DeviceInfo> find_device(const std::string& name);

// Makes the device the current one of the calling thread. kUnavailable when it was condemned. The
// first use of a device opens its context, which takes time and device memory (docs/cuda.md).
base::Status use_device(const DeviceInfo& info);

// Bytes that can still be allocated on the current device: a snapshot, since other processes use
// the card too.
base::Result<std::uint64_t> memory_free_bytes();

// Lets `kernel` take `bytes` of shared memory per block (more than 48 KiB needs this first). Of the
// current device; asking again costs little, so launches ask each time.
base::Status allow_shared_bytes(const void* kernel, int bytes);

}  // namespace cuzk::cuda::device
