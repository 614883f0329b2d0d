// The parts of a daemon in the order in which they begin; they end in reverse.
//
//   kinds -> engine (journal, executor) -> metrics -> observer -> doors -> preloading -> signals
//
// Each part refers to those before it and to none after, so the order of the locals in run_daemon()
// is what makes it safe. Doors open when the jobs of the journal go on already.
#include "apps/cuzk/job_daemon.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "apps/cuzk/build_facts.h"
#include "apps/cuzk/daemon_executor.h"
#include "apps/cuzk/daemon_limits.h"
#include "apps/cuzk/daemon_requests.h"
#include "apps/cuzk/daemon_signals.h"
#include "apps/cuzk/output.h"
#include "base/log.h"
#include "base/threads.h"
#include "engine/engine.h"
#include "engine/worker_process.h"
#include "service/daemon.h"
#include "service/grpc_door.h"
#include "service/http_door.h"
#include "service/log_format.h"
#include "service/metrics.h"
#include "service/supervisor.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using base::log;
using base::LogLevel;
using service::Config;

// How often health is looked at while no signal comes.
constexpr std::chrono::milliseconds kLookAgain{1'000};
// A proving process that crashed is back by then.
constexpr std::chrono::seconds kUnhealthyPatience{5};
static_assert(kLookAgain < kUnhealthyPatience);  // else one bad look would end the daemon

// `process` belongs to the engine and lives as long as it.
struct OpenedEngine {
  std::unique_ptr<engine::Engine> engine;
  engine::WorkerProcess* process = nullptr;  // the engine's, where proving has one of its own
};

// The journal first and the executor by a call back of the engine's: what was left undone is known
// before anything can be proved.
base::Result<OpenedEngine> open_engine(const Config& config, const JobKinds& kinds) {
  OpenedEngine out;
  engine::EngineOptions options;
  options.journal_folder = config.journal_folder();
  CUZK_TRY_STATUS(make_folder(options.journal_folder));
  options.retention.age_ms_max = config.journal.retention_age.count();
  options.retention.bytes_max = config.journal.retention_bytes;
  options.queue_max = config.scheduler.queue_max;
  options.crashes_max = config.scheduler.crashes_max;
  // Called once, inside Engine::open(), when the journal has been read.
  const auto make =
      [&](engine::ExecutorEvents& events) -> base::Result<std::unique_ptr<engine::Executor>> {
    CUZK_TRY(DaemonExecutor made, make_daemon_executor(config, kinds, events));
    out.process = made.process;
    return std::move(made.executor);
  };
  CUZK_TRY(out.engine, engine::Engine::open(options, kinds.types, make));
  CUZK_ASSERT(out.engine != nullptr);
  return out;
}

// What was begun with and what opening found, for the log.
void tell_opened(const Config& config, const engine::EngineReport& report) {
  log(LogLevel::kInfo, fmt::format("cuzk {} ({}): journal in {}, parameters in {}", kVersion,
                                   kCommit, printable(config.journal_folder().string()),
                                   printable(config.param_cache().string())));
  for (const std::string& loss : report.opened.losses) log(LogLevel::kError, "journal: " + loss);
  if (report.live_jobs > 0) {
    log(LogLevel::kInfo, fmt::format("journal: {} jobs go on", report.live_jobs));
  }
}

// One line a job, at the level of its end. A job that is gone by then (retention) has none.
void log_end(engine::Engine& engine, const engine::EngineEvent& event) {
  if (event.kind != engine::EngineEvent::Kind::kEnded) return;
  const auto job = engine.find(event.request_id);
  if (!job.ok()) return;
  const engine::JobTimes& t = job->times;
  const auto& failure = job->record.failure;
  log(failure ? LogLevel::kWarning : LogLevel::kInfo,
      fmt::format("job {}: {} {} in {} ms (queue {}, key {}, witness {}, device {}, finish {}){}",
                  printable(event.request_id), event.job_kind, to_string(event.state), t.total_ms,
                  t.queue_wait_ms, t.key_load_ms, t.witness_ms, t.device_ms, t.finish_ms,
                  failure ? ": " + printable(failure->message) : std::string()));
}

// The kind of a failure is looked up, not sent with the event: events are many and failures few.
std::unique_ptr<service::Metrics> make_metrics(engine::Engine& engine) {
  service::Metrics::Names names;
  names.public_kind = public_kind_name;
  names.failure = [&engine](std::string_view id) -> std::optional<ErrorKind> {
    const auto job = engine.find(id);
    if (!job.ok() || !job->record.failure) return std::nullopt;
    return job->record.failure->kind;
  };
  return std::make_unique<service::Metrics>(service::BuildFacts{kVersion, kCommit, kCompiler},
                                            names);
}

// Loads keys one after the other while the daemon serves already.
std::jthread preload(engine::Engine& engine, const std::vector<std::string>& names) {
  return std::jthread([&engine, names](const std::stop_token& stop) {
    for (const std::string& name : names) {
      if (stop.stop_requested()) return;
      // Waits for the key; the engine's end ends the wait, so a stop does not have to.
      const auto loaded = engine.preload(name);
      if (loaded.ok()) {
        log(LogLevel::kInfo, "loaded " + name);
      } else {
        log(LogLevel::kError, fmt::format("srs.load_at_start: {}", loaded.error().message));
      }
    }
  });
}

// `process` may be null.
void reload(service::Daemon& daemon, engine::WorkerProcess* process, const DaemonRequest& request,
            const CommonOptions& common) {
  const auto loaded = daemon_config(request, common);
  if (!loaded.ok()) {
    log(LogLevel::kError, "SIGHUP: the configuration stays as it was: " + loaded.error().message);
    return;
  }
  // The daemon takes over what can change while it runs; the rest is named and stays.
  const service::ReloadPlan plan = daemon.reload(loaded->config);
  service::use_log_format(daemon.config().logging.format);
  if (process != nullptr) process->set_log_level(daemon.config().logging.level);
  log(LogLevel::kInfo,
      fmt::format("SIGHUP: changed: {}", plan.changed.empty()
                                             ? "nothing"
                                             : fmt::format("{}", fmt::join(plan.changed, ", "))));
  if (!plan.restart.empty()) {
    log(LogLevel::kWarning,
        fmt::format("SIGHUP: wait for a restart: {}", fmt::join(plan.restart, ", ")));
  }
}

// Until a signal says stop; an error when the configuration wants an end because nothing can be
// proved any more, or nobody can ask for it.
base::Status serve(service::Daemon& daemon, const OpenedEngine& opened,
                   const DaemonRequest& request, const CommonOptions& common,
                   const service::Supervisor& supervisor) {
  const auto interval = std::min(kLookAgain, supervisor.watchdog_interval().value_or(kLookAgain));
  CUZK_ASSERT(opened.engine != nullptr);
  auto healthy_at = std::chrono::steady_clock::now();
  while (true) {
    const DaemonSignal signal = wait_daemon_signal(interval);
    supervisor.alive();
    if (signal == DaemonSignal::kStop) return base::ok_status();
    if (signal == DaemonSignal::kReload) {
      supervisor.reloading();
      reload(daemon, opened.process, request, common);
      supervisor.ready("serving");
    }
    const service::Readiness state = daemon.readiness();
    const auto now = std::chrono::steady_clock::now();
    if (state.ready) healthy_at = now;
    // Asked each time, because a reload may change it. Patience begins anew with each healthy look.
    if (!daemon.config().daemon.exit_when_unhealthy) continue;
    if (now - healthy_at >= kUnhealthyPatience) return Error{ErrorKind::kUnavailable, state.reason};
  }
}

// What the doors may call. It refers to engine and metrics, which outlive the doors.
service::Backend backend_of(engine::Engine& engine, const JobKinds& kinds,
                            service::Metrics& metrics) {
  service::Backend backend;
  backend.engine = &engine;
  backend.proof_job = proof_job;
  backend.circuit_job = [circuits = kinds.circom](service::CircuitRequest asked) {
    return circuit_job(std::move(asked), *circuits);
  };
  backend.public_kind_name = public_kind_name;
  backend.metrics_text = [&, faults = backend.faults] {
    return metrics.text(engine.report(), faults->first());
  };
  backend.version = fmt::format("cuzk {} ({})", kVersion, kCommit);
  return backend;
}

Answer stopped_answer(bool idle, const engine::EngineReport& report) {
  Answer answer(idle ? "stopped, all jobs are done"
                     : "stopped; unfinished jobs go on at the next start");
  answer.add("unfinished_jobs", idle ? 0 : report.live_jobs, "unfinished jobs");
  return answer;
}

// Nothing but TOML, so that the output is a configuration.
Answer effective_answer(const Config& config) {
  std::string text = service::to_toml(config);
  if (text.ends_with('\n')) text.pop_back();
  Answer answer(text);
  answer.add("toml", text, "");
  return answer;
}

}  // namespace

base::Result<service::LoadedConfig> daemon_config(const DaemonRequest& request,
                                                  const CommonOptions& common) {
  service::LoadedConfig loaded;
  if (!request.config.empty()) {
    CUZK_TRY(loaded, service::load_config(request.config));
  }
  Config& config = loaded.config;
  // Flags replace the file's addresses and do not add to them: who says where to listen means there
  // alone.
  if (!request.listen.empty()) config.daemon.listen.clear();
  for (const std::string& text : request.listen) {
    CUZK_TRY(const service::Address address, service::parse_address(text));
    config.daemon.listen.push_back(address);
  }
  if (request.status_listen) {
    CUZK_TRY(config.daemon.status_listen, service::parse_optional_address(*request.status_listen));
  }
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError, LogLevel::kOff}) {
    if (request.log_level == base::to_string(level)) config.logging.level = level;
  }
  if (request.log_level == "warn") config.logging.level = LogLevel::kWarning;
  if (common.threads != 0) config.synthesis.threads = common.threads;
  if (!common.memory.empty()) config.memory.total_budget = common.memory;
  // Once more, as a whole: a flag may contradict what the file says elsewhere.
  CUZK_TRY_STATUS(service::check_config(config));
  return loaded;
}

base::Result<Answer> run_daemon(const DaemonRequest& request, Session& session) {
  CUZK_TRY(const service::LoadedConfig loaded, daemon_config(request, session.options()));
  const Config& config = loaded.config;
  if (request.print_effective) return effective_answer(config);
  // The journal holds witnesses: what the daemon makes is its user's alone. (Sockets have
  // daemon.socket_mode.)
  ::umask(S_IRWXG | S_IRWXO);
  // Before anything starts that a signal should end in an orderly way.
  CUZK_TRY_STATUS(take_daemon_signals());
  session.end_progress();
  base::set_log_level(config.logging.level);
  service::use_log_format(config.logging.format);
  base::set_thread_count(config.synthesis.threads);
  raise_open_file_limit();
  for (const std::string& warning : loaded.warnings) log(LogLevel::kWarning, warning);

  // Kinds before the engine: opening it reads the journal's jobs, which need their kinds.
  CUZK_TRY(const JobKinds kinds, daemon_job_kinds(config));
  CUZK_TRY(const OpenedEngine opened, open_engine(config, kinds));
  CUZK_ASSERT(kinds.types != nullptr && kinds.circom != nullptr);
  const std::unique_ptr<engine::Engine>& engine = opened.engine;
  CUZK_ASSERT(opened.process == nullptr || config.pipeline.worker_process);
  tell_opened(config, engine->report());
  const auto metrics = make_metrics(*engine);
  // From here on every end is counted and logged, also of jobs that the journal brought.
  const auto watching = engine->observe([&](const engine::EngineEvent& event) {
    metrics->observe(event);
    log_end(*engine, event);
  });
  const service::Backend backend = backend_of(*engine, kinds, *metrics);
  // Answers are counted by each door as it gives them: codes differ, so do their meanings.
  std::vector<std::unique_ptr<service::Door>> doors;
  doors.push_back(service::make_grpc_door(
      config, backend, [&](std::string_view code) { metrics->count_answer("grpc", code); }));
  if (config.daemon.status_listen) {
    doors.push_back(service::make_http_door(config, backend, [&](int status) {
      metrics->count_answer("http", std::to_string(status));
    }));
  }
  service::Daemon daemon(config, backend, std::move(doors));
  // All doors or none. From here on jobs come in.
  CUZK_TRY_STATUS(daemon.start());
  for (const std::string& address : daemon.addresses()) {
    log(LogLevel::kInfo, "listening on " + address);
  }
  // After the doors: loading takes minutes, in which the daemon answers and proves.
  const std::jthread loading = preload(*engine, config.srs.load_at_start);
  const service::Supervisor supervisor;
  supervisor.ready("serving");
  const base::Status end = serve(daemon, opened, request, session.options(), supervisor);
  supervisor.stopping("draining");
  log(LogLevel::kInfo, "stopping: what runs may end, nothing new is taken");
  // The supervisor is told meanwhile that this is no hang.
  const bool idle = daemon.stop([&] {
    supervisor.alive();
    return true;
  });
  if (!end.ok()) return end.error();
  return stopped_answer(idle, engine->report());
}

}  // namespace cuzk::apps
