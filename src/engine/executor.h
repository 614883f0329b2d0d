// The door between who accepts jobs and who runs them: in this process (pipeline.h) or in one
// beside it that may crash (worker_process.h). Nothing durable is behind it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ledger.h"
#include "engine/job_type.h"
#include "engine/scheduler.h"

namespace cuzk::engine {

// One job for the executor. The id is its owner's and unique among the jobs that the executor has;
// an owner that gives a job again under a new id can tell the words of the two runs apart. The name
// is for sentences alone.
struct RunRequest {
  JobId id = 0;
  std::string name;  // for messages
  std::string kind;
  Priority priority = Priority::kNormal;
  std::optional<std::int64_t> deadline_ms;  // milliseconds since the epoch
  // Reads the input when the job enters, so that a job that waits in the queue holds none in
  // memory. Called from any thread, again where the key's files changed meanwhile.
  std::function<base::Result<SharedBytes>()> input;
  // Where the caller has just read the job; else it is read once more to know its plan.
  std::optional<JobPlan> plan;
  // Proofs of partitions from an earlier run, by partition; empty where there is none.
  std::vector<base::Bytes> finished;
  // How long run() may wait where another process has to answer; none: as long as that takes.
  std::optional<std::chrono::milliseconds> patience;
};

// Milliseconds that the job, or the sum of its partitions, spent.
struct JobTimes {
  std::uint64_t queue_wait_ms = 0;  // accepted to first grant
  std::uint64_t key_load_ms = 0;
  std::uint64_t witness_ms = 0;
  std::uint64_t device_ms = 0;
  std::uint64_t finish_ms = 0;
  std::uint64_t total_ms = 0;
};

// Where the partitions stand at a moment. Their sum is the number of partitions, or less where the
// executor is another process that has not told of all yet.
struct JobProgress {
  bool in_flight = false;
  std::array<std::uint32_t, kPartitionStateCount> partitions{};  // by state
};

// Calls that tell what happens, from any thread, one at a time for each job, in order. They return
// quickly; they may call the executor.
class ExecutorEvents {
 public:
  virtual ~ExecutorEvents() = default;
  // The first stage of the job was granted; told once a run, before anything else of the job.
  virtual void job_started(JobId id) = 0;
  // A partition changed its state.
  virtual void partition_moved(JobId id, std::size_t partition, PartitionState state,
                               std::uint32_t attempt, std::uint32_t device) = 0;
  // Proofs come in any order of partitions. Those handed in as finished are not told again.
  virtual void partition_proved(JobId id, std::size_t partition, const base::Bytes& proof) = 0;
  // The end, exactly once a job: its result or its failure (kCancelled when it was cancelled).
  virtual void job_ended(JobId id, base::Result<base::Bytes> outcome, const JobTimes& times) = 0;
  // All that ran is lost; jobs not ended are to be given again. `jobs` ran or were being read.
  virtual void crashed(const std::vector<JobId>& jobs, const std::string& sentence) = 0;
};

// Counts of a device since the executor began; what it has free is of this moment.
struct DeviceReport {
  std::string name, identifier;
  bool usable = true;
  bool fallback_only = false;
  std::uint64_t free_bytes = 0, total_bytes = 0;
  std::uint32_t worker_count = 0;
  std::vector<JobId> running;  // one a worker that works
  std::uint64_t started_count = 0, failure_count = 0, wrong_proof_count = 0;
  double busy_s = 0;
  // Bytes of keys that do not stay on the device, since the process began: copied to it, and taken
  // by further proofs of the same copies.
  std::uint64_t streamed_bytes = 0, shared_bytes = 0;
};

// A key that somebody uses or that is loaded; `bytes` is what it takes, or will take.
struct KeyReport {
  std::string name;
  KeyTier tier = KeyTier::kCold;
  std::uint64_t bytes = 0;
  std::uint32_t reference_count = 0;
};

// One reading of everything that status pages, metrics and traces show. Its parts are read one
// after the other, so sums over different members may differ by what happened in between.
struct ExecutorReport {
  SchedulerCounts counts;
  base::LedgerSnapshot ledger;
  std::uint64_t budget_bytes = 0;  // 0: none
  std::uint64_t rss_bytes = 0;
  std::vector<DeviceReport> devices;
  std::vector<KeyReport> keys;
  std::uint32_t witness_workers = 0, finish_workers = 0, jobs_in_flight_max = 0;
  std::uint64_t process_restarts = 0;
  // Products alive now, by stage: never negative, zero when nothing runs.
  std::uint64_t witnesses_alive = 0, pending_alive = 0;
};

// Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  // Takes a job that was read and checked before. Errors as Scheduler::submit, and those of
  // reading. Where the request's patience is over before there is an answer, the job counts as
  // taken, and a refusal that comes later is its end.
  virtual base::Status run(RunRequest request) = 0;
  // Asks; the end comes as an event. Error kNotFound: over, or unknown.
  virtual base::Status cancel(JobId id) = 0;
  virtual std::optional<JobProgress> progress(JobId id) const = 0;
  // Loads a key by name, single-flight. True where it was loaded already.
  virtual base::Result<bool> preload(const std::string& key_name) = 0;
  // Bytes freed; kUnavailable while it is in use, kNotFound for no such key. 0: was not loaded.
  virtual base::Result<std::uint64_t> evict(const std::string& key_name) = 0;
  virtual ExecutorReport report() const = 0;
  // Nothing new begins; what runs is asked to stop at its next chunk; returns when all threads are
  // idle. Jobs not ended end with kUnavailable, which means: give them again next time.
  virtual void stop() = 0;
};

}  // namespace cuzk::engine
