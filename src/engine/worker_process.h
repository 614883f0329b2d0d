// Proving in a process of its own: an Executor whose work may crash, hang or be killed without
// taking the accepted jobs with it.
//
//   this process                                        proving process (the same program again)
//   Engine -- run, cancel --> WorkerProcess ==socket==> serve_worker -- run, cancel --> Executor
//   Engine <----- events ---- WorkerProcess <=socket=== serve_worker <----- events ---- (Pipeline)
//
// When the process ends, does not answer or talks nonsense, it is ended for good, the engine hears
// crashed() with the jobs that ran, and another one is started: at once, then after pauses that
// double while processes keep dying young. What it writes to standard error goes to our log.
// Inputs travel when a job enters, so that jobs that wait cost it nothing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/log.h"
#include "engine/executor.h"

namespace cuzk::engine {

// Where the proving process finds its end of the socket.
inline constexpr int kWorkerDescriptor = 3;

struct WorkerProcessOptions {
  // The program and its arguments, which end in serve_worker(kWorkerDescriptor, ...).
  std::vector<std::string> command = {"/proc/self/exe", "engine-worker"};
  base::Bytes setup;  // handed to it as it is: the application's settings
  base::LogLevel log_level = base::LogLevel::kWarning;  // of its log, until set_log_level
  // Asked for a sign of life this often; ended when it gives none for so long.
  std::chrono::milliseconds heartbeat_interval = std::chrono::seconds(1);
  std::chrono::milliseconds heartbeat_timeout = std::chrono::seconds(30);
  // To be ready, its devices and settings looked at.
  std::chrono::milliseconds start_timeout = std::chrono::minutes(2);
  // To end in order when it is stopped; then it is ended by force.
  std::chrono::milliseconds stop_timeout = std::chrono::seconds(10);
  // Pauses before a restart: none, then from the first to the last, doubling, while processes end
  // less than `young` after they were ready.
  std::chrono::milliseconds pause_min = std::chrono::milliseconds(100);
  std::chrono::milliseconds pause_max = std::chrono::seconds(4);
  std::chrono::milliseconds young = std::chrono::seconds(1);
  // Down for longer than this, and three starts failed in a row: run() refuses instead of waiting.
  std::chrono::milliseconds down_patience = std::chrono::seconds(2);
};

// Thread-safe, as every Executor. What it holds of a job is its input's function and the states of
// its partitions; everything large is in the process, or in the journal.
class WorkerProcess final : public Executor {
 public:
  // Starts the process and waits until it is ready. `events` outlives this. Errors: what the
  // process says is wrong with its settings; kUnavailable when it cannot be started or ends.
  static base::Result<std::unique_ptr<WorkerProcess>> start(WorkerProcessOptions options,
                                                            ExecutorEvents& events);
  ~WorkerProcess() override;  // stops

  // While the process is being restarted, run() waits for it; kUnavailable when it cannot be
  // started (three times in a row, for `down_patience`), with the reason. A job whose answer a
  // crash took is taken: crashed() tells of it.
  base::Status run(RunRequest request) override;
  base::Status cancel(JobId id) override;
  std::optional<JobProgress> progress(JobId id) const override;
  base::Result<bool> preload(const std::string& key_name) override;
  base::Result<std::uint64_t> evict(const std::string& key_name) override;
  // Of a moment ago where the process does not answer at once.
  ExecutorReport report() const override;
  void stop() override;

  // Of the log of the process that runs, a moment later, and of those that follow it.
  void set_log_level(base::LogLevel level);
  // Of the process that runs; 0 while none does. For tests and for people.
  int process_id() const;

 private:
  class State;
  explicit WorkerProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What the application makes in the proving process out of the settings.
struct WorkerParts {
  std::shared_ptr<const JobTypes> types;  // to find keys by name; may be null
  std::unique_ptr<Executor> executor;
};
// The level of the log is set before.
using MakeWorker = std::function<base::Result<WorkerParts>(base::ByteSpan setup, ExecutorEvents&)>;

// The proving process: serves the socket until it is stopped or the other end is gone, whichever
// way that went. Returns the exit code. Ignores SIGINT, SIGTERM and SIGHUP, which the process that
// started it acts on.
int serve_worker(int descriptor, const MakeWorker& make);

}  // namespace cuzk::engine
