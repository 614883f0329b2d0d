// Device enumeration and selection. UUIDs are spelled as nvidia-smi spells them.
//
// Properties are asked for anew on each call: devices are few and the calls are at start-up. The
// clock is an attribute of its own, as newer runtimes no longer have it among the properties.
#include "cuda/device/device.h"

#include <cstdio>

#include <cuda_runtime_api.h>

#include "base/check.h"
#include "cuda/device/device_name.h"
#include "cuda/device/error.h"
#include "cuda/device/fault.h"

namespace cuzk::cuda::device {
namespace {

static_assert(sizeof(cudaUUID_t) == 16, "uuid_text prints sixteen bytes");

// The sixteen bytes in groups of 4, 2, 2, 2 and 6, as tools print them.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string out = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    out += digits;
  }
  return out;
}

// All that DeviceInfo tells of the device at `index`.
base::Result<DeviceInfo> describe(int index) {
  cudaDeviceProp properties;
  CUZK_TRY_STATUS(
      to_status(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties"));
  DeviceInfo info;
  info.index = index;
  info.name = properties.name;
  info.uuid = uuid_text(properties.uuid);
  char address[32];
  std::snprintf(address, sizeof address, "%04x:%02x:%02x.0", properties.pciDomainID,
                properties.pciBusID, properties.pciDeviceID);
  info.pci_address = address;
  // Two digits, as compilers name architectures: 9.0 is 90, 12.0 is 120.
  info.capability = 10 * properties.major + properties.minor;
  info.multiprocessor_count = properties.multiProcessorCount;
  info.memory_bytes = properties.totalGlobalMem;
  CUZK_TRY_STATUS(to_status(cudaDeviceGetAttribute(&info.clock_khz, cudaDevAttrClockRate, index),
                            "cudaDeviceGetAttribute"));
  return info;
}

}  // namespace

base::Result<std::vector<DeviceInfo>> devices() {
  int count = 0;
  CUZK_TRY_STATUS(to_status(cudaGetDeviceCount(&count), "cudaGetDeviceCount"));
  std::vector<DeviceInfo> out;
  for (int i = 0; i < count; ++i) {
    CUZK_TRY(DeviceInfo info, describe(i));
    out.push_back(std::move(info));
  }
  return out;
}

base::Result<DeviceInfo> find_device(const std::string& name) {
  CUZK_TRY(const std::vector<DeviceInfo> all, devices());
  return find_by_name(all, name);
}

// By fault.h, which refuses a condemned device before the runtime is asked for anything.
base::Status use_device(const DeviceInfo& info) { return use_by(runtime(), info.index); }

base::Result<std::uint64_t> memory_free_bytes() {
  std::size_t free = 0, total = 0;
  CUZK_TRY_STATUS(to_status(cudaMemGetInfo(&free, &total), "cudaMemGetInfo"));
  return static_cast<std::uint64_t>(free);
}

base::Status allow_shared_bytes(const void* kernel, int bytes) {
  CUZK_ASSERT(kernel != nullptr && bytes > 0);
  return to_status(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                   "cudaFuncSetAttribute");
}

}  // namespace cuzk::cuda::device
