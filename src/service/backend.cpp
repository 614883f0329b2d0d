// When the daemon is ready, and what its kinds are called. All doors ask here, so that health over
// gRPC, /readyz and GetStatus never disagree.
#include "service/backend.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace cuzk::service {

base::Result<std::string> engine_kind_named(const Backend& backend, std::string_view name) {
  CUZK_ASSERT(backend.engine != nullptr);
  if (name.empty()) return std::string();
  std::vector<std::string> names;
  // The names are few; a map would be no faster and one more thing to keep right.
  for (const engine::JobType* type : backend.engine->types().all()) {
    if (name == type->name || name == backend.public_kind_name(type->name)) return type->name;
    names.push_back(type->name);
  }
  return base::Error{
      base::ErrorKind::kInvalidArgument,
      fmt::format("kind '{}' is none of {}", name.substr(0, 64), fmt::join(names, ", "))};
}

void DoorFaults::note(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (first_.empty()) first_ = sentence;
}

std::string DoorFaults::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

Readiness readiness(const engine::EngineReport& report, const std::string& door_fault) {
  // First, for an operator asked for it: whoever looks should not search for a broken device.
  if (report.draining) return {false, "draining: what is accepted goes on, nothing new is taken"};
  // Before the devices: a job that is lost is worse than one that waits.
  if (!report.journal_failure.empty()) return {false, report.journal_failure};
  if (!door_fault.empty()) return {false, door_fault};
  const auto& devices = report.executor.devices;
  const bool usable = std::any_of(devices.begin(), devices.end(),
                                  [](const engine::DeviceReport& device) { return device.usable; });
  if (!devices.empty() && usable) return {};
  return {false, devices.empty()
                     ? std::string("there is no device to prove on")
                     : fmt::format("none of the {} devices is usable any more", devices.size())};
}

}  // namespace cuzk::service
