// How users name a device: by index, by UUID, by PCI address, as tools print them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cuda/device/device.h"

namespace cuzk::cuda::device {

// Whether `name` means the device: its index; its UUID with or without "GPU-", or the first eight
// or more digits of it; its PCI address, with any number of leading zeros in the domain or without
// a domain, with or without the function. Letters of either case.
bool is_name_of(const DeviceInfo& info, std::string_view name);

// The one device of `all` that `name` means. kNotFound lists what there is; kInvalidArgument when
// a part of a UUID means several.
base::Result<DeviceInfo> find_by_name(const std::vector<DeviceInfo>& all, const std::string& name);

}  // namespace cuzk::cuda::device
