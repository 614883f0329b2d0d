// What runs the daemon's jobs: the pipeline, in a process of its own that may crash, or in this
// one.
#pragma once

#include <memory>

#include "apps/jobs/job_kinds.h"
#include "base/bytes.h"
#include "base/result.h"
#include "engine/executor.h"
#include "engine/worker_process.h"
#include "service/config.h"

namespace cuzk::apps {

// The argument with which this program is started as the proving process.
inline constexpr char kEngineWorkerArgument[] = "engine-worker";

// Filecoin's parameters and the circuits of the configuration. Errors as make_job_kinds.
base::Result<JobKinds> daemon_job_kinds(const service::Config& config);

// The executor as the engine owns it; `process` borrows from it, for what only a process can be
// told (its log level).
struct DaemonExecutor {
  std::unique_ptr<engine::Executor> executor;
  engine::WorkerProcess* process = nullptr;  // the same one, where it is a process of its own
};

// As pipeline.worker_process says; `kinds` as daemon_job_kinds gives them. Errors: what is wrong
// with devices or memory; as WorkerProcess::start and Pipeline::make.
base::Result<DaemonExecutor> make_daemon_executor(const service::Config& config,
                                                  const JobKinds& kinds,
                                                  engine::ExecutorEvents& events);

// The proving process, over the descriptor that its parent left open; its exit code. Its settings
// are the daemon's configuration as TOML. Returns when the parent lets go or asks for the end.
int run_engine_worker();

}  // namespace cuzk::apps
