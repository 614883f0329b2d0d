// When the daemon is ready.
#include "service/backend.h"

#include <algorithm>

#include <fmt/format.h>

namespace cuzk::service {

Readiness readiness(const engine::EngineReport& report) {
  if (report.draining) return {false, "draining: what is accepted goes on, nothing new is taken"};
  const auto& devices = report.executor.devices;
  const bool usable = std::any_of(devices.begin(), devices.end(),
                                  [](const engine::DeviceReport& device) { return device.usable; });
  if (!devices.empty() && usable) return {};
  return {false, devices.empty()
                     ? std::string("there is no device to prove on")
                     : fmt::format("none of the {} devices is usable any more", devices.size())};
}

}  // namespace cuzk::service
