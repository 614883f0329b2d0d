// The proving process gets the effective configuration and makes its own table of kinds.
//
// The same pipeline is made in either place: with pipeline.worker_process in a child, which is this
// program started anew with one word, so that a crash in a proof or a driver costs the child alone;
// without it in the daemon itself. The child reads no configuration file: what the daemon made of
// its own, flags included, is sent as TOML.
#include "apps/cuzk/daemon_executor.h"

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "apps/cuzk/daemon_devices.h"
#include "apps/jobs/critical_reserve.h"
#include "base/byte_size.h"
#include "base/log.h"
#include "base/memory_limits.h"
#include "base/threads.h"
#include "engine/pipeline.h"
#include "engine/worker_process.h"

namespace cuzk::apps {
namespace {

using service::Config;

// Proving leaves a busy machine's processors to whoever answers clients.
constexpr int kWorkerNiceness = 5;
constexpr int kDevicesLostExit = 3;

static_assert(kWorkerNiceness > 0 && kWorkerNiceness < 20);  // what Linux knows as nicer
static_assert(kDevicesLostExit != 0);                        // an end that counts as a failure

// `devices_lost` as PipelineOptions has it.
base::Result<std::unique_ptr<engine::Executor>> make_pipeline(
    const Config& config, const JobKinds& kinds, engine::ExecutorEvents& events,
    std::function<void(const std::string&)> devices_lost = {}) {
  engine::PipelineOptions options;
  options.devices_lost = std::move(devices_lost);
  options.types = kinds.types;
  CUZK_TRY(DaemonDevices found, find_devices(config.gpus));
  for (const std::string& remark : found.remarks) base::log(base::LogLevel::kInfo, remark);
  options.devices = std::move(found.devices);
  CUZK_ASSERT(kinds.types != nullptr && kinds.filecoin != nullptr);
  CUZK_ASSERT(!options.devices.empty());  // the CPU at least, or an error before
  options.witness_workers = config.pipeline.max_parallel_synthesis;
  options.device_workers = config.gpus.gpu_workers_per_device;
  options.finish_workers = config.gpus.gpu_threads;
  options.jobs_in_flight_max = config.scheduler.jobs_in_flight_max;
  // Of this process, which is the one that takes the memory.
  CUZK_TRY(const base::MemoryLimits limits, base::detect_memory_limits());
  CUZK_TRY(const std::uint64_t budget_bytes, service::memory_budget_bytes(config, limits));
  options.budget_bytes = budget_bytes;
  if (budget_bytes != 0) {
    options.critical_reserve_bytes = config.memory.critical_reserve_bytes.value_or(
        critical_reserve_bytes(*kinds.filecoin, budget_bytes));
  }
  if (options.critical_reserve_bytes != 0) {
    base::log(base::LogLevel::kInfo,
              fmt::format("{} of {} are kept for critical jobs",
                          base::format_byte_size(options.critical_reserve_bytes),
                          base::format_byte_size(budget_bytes)));
  }
  options.ageing_ms = config.scheduler.ageing.count();
  options.grouping_max = config.scheduler.grouping_max;
  options.quarantine_failures = config.scheduler.quarantine_failures;
  CUZK_TRY(auto made, engine::Pipeline::make(std::move(options), events));
  CUZK_ASSERT(made != nullptr);
  return std::unique_ptr<engine::Executor>(std::move(made));
}

// In the proving process: `setup` is what the daemon sent, TOML of our own making.
base::Result<engine::WorkerParts> make_worker(base::ByteSpan setup,
                                              engine::ExecutorEvents& events) {
  const std::string_view toml(reinterpret_cast<const char*>(setup.data()), setup.size());
  CUZK_TRY(const service::LoadedConfig loaded,
           service::parse_config(toml, "the daemon's settings"));
  const Config& config = loaded.config;
  base::set_thread_count(config.synthesis.threads);
  CUZK_TRY(const JobKinds kinds, daemon_job_kinds(config));
  engine::WorkerParts parts;
  parts.types = kinds.types;
  // The next process may find the cards again; until then the jobs stay in the journal.
  const auto end_process = [](const std::string& sentence) {
    base::log(base::LogLevel::kError, sentence);
    std::_Exit(kDevicesLostExit);
  };
  CUZK_TRY(parts.executor, make_pipeline(config, kinds, events, end_process));
  return parts;
}

}  // namespace

// Called in the daemon and in the proving process: the two tables have to be alike, as jobs are
// read in one and proved in the other.
base::Result<JobKinds> daemon_job_kinds(const Config& config) {
  JobKindsConfig kinds;
  kinds.params_folder = config.param_cache();
  for (const Config::Circuit& circuit : config.circuits) {
    kinds.circuits.push_back({circuit.name, circuit.zkey});
  }
  return make_job_kinds(kinds);
}

base::Result<DaemonExecutor> make_daemon_executor(const Config& config, const JobKinds& kinds,
                                                  engine::ExecutorEvents& events) {
  DaemonExecutor out;
  if (!config.pipeline.worker_process) {
    CUZK_TRY(out.executor, make_pipeline(config, kinds, events));
    return out;
  }
  engine::WorkerProcessOptions options;
  options.log_level = config.logging.level;
  options.command = {"/proc/self/exe", kEngineWorkerArgument};
  // Differences from the defaults alone: both ends are the same program with the same defaults.
  const std::string toml = service::to_toml(config, true);
  options.setup.assign(toml.begin(), toml.end());
  CUZK_ASSERT(options.command.size() == 2);  // as run_command_line() recognises it
  CUZK_TRY(auto started, engine::WorkerProcess::start(std::move(options), events));
  CUZK_ASSERT(started != nullptr);
  out.process = started.get();
  out.executor = std::move(started);
  return out;
}

int run_engine_worker() {
  // Failing to be nicer is no reason not to prove.
  ::setpriority(PRIO_PROCESS, 0, kWorkerNiceness);
  return engine::serve_worker(engine::kWorkerDescriptor, make_worker);
}

}  // namespace cuzk::apps
