// What may be chosen, what is chosen where nothing was, and what is refused.
//
// Limits are on counts alone; whether a budget suffices is known only when a job comes. What is
// chosen keeps each kind of worker busy beside the others on a machine of any size, and never needs
// more than a few.
#include <algorithm>

#include <fmt/format.h>

#include "base/memory_limits.h"
#include "base/threads.h"
#include "engine/pipeline.h"
#include "engine/pipeline_core.h"

namespace cuzk::engine {
namespace {

using base::Error;
using base::ErrorKind;

// The scheduler's own limit; asked here too, for the sentence that names the option.
constexpr std::uint32_t kWorkersMax = 4096;

// `field` is the name under which people set it.
base::Status check_count(std::string_view field, std::uint32_t count) {
  if (count <= kWorkersMax) return base::ok_status();
  return Error{ErrorKind::kInvalidArgument,
               fmt::format("{}: found {}, expected at most {}, or 0 for automatic", field, count,
                           kWorkersMax)};
}

base::Status check_devices(const PipelineOptions& options) {
  if (options.devices.empty()) {
    return Error{ErrorKind::kInvalidArgument, "devices: expected at least one; the CPU is one"};
  }
  // Else nothing would ever begin: a fallback takes only what failed before.
  const auto takes_all = [](const ProvingDevice& device) { return !device.fallback_only; };
  if (std::none_of(options.devices.begin(), options.devices.end(), takes_all)) {
    return Error{ErrorKind::kInvalidArgument,
                 "devices: expected one that takes first attempts, all are fallback_only"};
  }
  for (const ProvingDevice& device : options.devices) {
    CUZK_TRY_STATUS(check_count("workers of device " + device.name, device.worker_count));
    CUZK_TRY_STATUS(check_count("workers for critical work of device " + device.name,
                                device.critical_worker_count));
  }
  return base::ok_status();
}

// A card computes while its other worker has the next data at hand; on the CPU one partition uses
// all threads, and a second one at a time only pays where there are many.
std::uint32_t workers_of(const ProvingDevice& device, std::size_t cpus) {
  if (!is_cpu(device)) return 2;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(cpus / 16, 1, 4));
}

}  // namespace

// In this order each answer follows from those before it: what must be there, limits, workers of
// devices, workers of the CPU, the budget, and the scheduler's own word on the whole.
base::Result<PipelineOptions> resolve_options(PipelineOptions options) {
  if (options.types == nullptr) {
    return Error{ErrorKind::kInvalidArgument, "types: expected a table of kinds"};
  }
  if (options.ledger == nullptr) {
    return Error{ErrorKind::kInvalidArgument, "ledger: expected one"};
  }
  CUZK_TRY_STATUS(check_count("witness workers (pw)", options.witness_workers));
  CUZK_TRY_STATUS(check_count("device workers (gw)", options.device_workers));
  CUZK_TRY_STATUS(check_count("finish workers (gt)", options.finish_workers));
  CUZK_TRY_STATUS(check_devices(options));
  // Devices before workers: how many finish workers there are follows from the former.
  const std::size_t cpus = base::thread_count();
  std::uint32_t device_workers = 0;
  bool has_card = false;
  for (ProvingDevice& device : options.devices) {
    if (device.worker_count == 0) device.worker_count = options.device_workers;
    if (device.worker_count == 0) device.worker_count = workers_of(device, cpus);
    CUZK_ASSERT(device.worker_count > 0);
    if (!device.fallback_only) device_workers += device.worker_count;
    has_card = has_card || !is_cpu(device);
  }
  // A witness uses a few threads, so a quarter of the CPUs; with cards the finish of each start in
  // flight has a worker; enough jobs in flight that each worker finds one.
  const auto automatic = [](std::uint32_t& count, std::size_t value) {
    if (count == 0) count = static_cast<std::uint32_t>(value);
  };
  automatic(options.witness_workers, std::clamp<std::size_t>(cpus / 4, 2, 16));
  automatic(options.finish_workers,
            std::max<std::size_t>(1, has_card ? device_workers : cpus / 32));
  automatic(options.jobs_in_flight_max,
            std::max<std::size_t>(4, options.witness_workers + device_workers));
  if (!options.budget_bytes) {
    CUZK_TRY(const auto limits, base::detect_memory_limits());
    CUZK_TRY(options.budget_bytes, base::resolve_budget("auto", limits));
  }
  CUZK_ASSERT(options.witness_workers > 0 && options.finish_workers > 0);
  CUZK_ASSERT(options.jobs_in_flight_max > 0 && options.budget_bytes.has_value());
  CUZK_TRY_STATUS(Scheduler::check(scheduler_config(options)));
  return options;
}

SchedulerConfig scheduler_config(const PipelineOptions& options) {
  SchedulerConfig config;
  config.witness_workers = options.witness_workers;
  config.finish_workers = options.finish_workers;
  config.jobs_in_flight_max = options.jobs_in_flight_max;
  config.devices.clear();
  for (const ProvingDevice& device : options.devices) {
    config.devices.push_back(
        {device.worker_count, device.fallback_only, device.critical_worker_count, is_cpu(device)});
  }
  config.memory.budget_bytes = options.budget_bytes.value_or(0);
  // What this process holds already, by whomever, is not there for jobs.
  if (config.memory.budget_bytes != 0) {
    config.memory.fixed_bytes = options.ledger->snapshot().total.used_bytes;
  }
  config.memory.critical_reserve_bytes = options.critical_reserve_bytes;
  config.ageing_ms = options.ageing_ms;
  config.grouping_max = options.grouping_max;
  config.quarantine_failures = options.quarantine_failures;
  CUZK_ASSERT(config.devices.size() == options.devices.size());
  return config;
}

}  // namespace cuzk::engine
