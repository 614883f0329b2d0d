// The engine: accepts jobs durably, has them run, keeps their results. What daemon, benchmark and
// library talk to.
//
// A job is accepted when submit() returned; from then on a kill at any moment loses nothing. Its
// name is the submitter's request id: the same id with the same input joins, with another input it
// is refused. The journal (journal.h) holds what must survive, the executor (executor.h) runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/executor.h"
#include "engine/journal_record.h"

namespace cuzk::engine {

// How the engine keeps and bounds its jobs. Everything about memory and workers is the executor's.
struct EngineOptions {
  std::filesystem::path journal_folder;
  Retention retention;
  // Queued and running jobs at most; more are refused with kResourceExhausted. 0: no bound.
  std::uint64_t queue_max = 10'000;
  // A job that ran during this many crashes of proving code without finishing a partition in
  // between is failed instead of run again. The last of them counts only when it ran alone, so that
  // none fails for what another one did.
  std::uint32_t crashes_max = 5;
  // How often final jobs beyond the retention are removed.
  std::chrono::milliseconds prune_interval = std::chrono::minutes(1);
  // A submission that is durable waits so long for the executor's word, which may refuse it. Then
  // it is accepted, and a refusal that comes later is the job's failure.
  std::chrono::milliseconds answer_patience = std::chrono::seconds(2);
  std::uint64_t journal_bytes_max = 0;                      // 0: whatever the disk has
  std::optional<std::uint64_t> journal_reserve_bytes = {};  // none: the journal's own
  const char* journal_file_layer = nullptr;                 // JournalOptions::file_layer
  std::function<std::int64_t()> now_ms = {};  // milliseconds since the epoch; empty: the system's
};

// What a client hands in. The input is shared, so that a large one is held once while the job is
// checked, written and, if it may begin at once, read by the executor.
struct SubmitRequest {
  std::string request_id;  // empty: one is made
  std::string kind;
  Priority priority = Priority::kNormal;
  std::optional<std::int64_t> deadline_ms;  // since the epoch
  SharedBytes input;
};

// What the client is told. `state` and `queue_position` are of the moment after the acceptance.
struct Submitted {
  std::string request_id;
  Acceptance acceptance = Acceptance::kNew;
  JobState state = JobState::kQueued;
  std::uint64_t queue_position = 0;  // jobs before it in the order of the scheduler, itself not
};

// A job as people see it.
struct JobView {
  // What the journal has, but for a start that it has not heard of yet.
  JobRecord record;
  std::optional<JobProgress> progress;  // while it is queued or runs in this process
  JobTimes times;                       // of the run that ended last, or so far
};

// What an observer hears, in order, on a thread of its own: a slow one delays nobody else. It may
// be `kObserverBacklogMax` events behind; after that the oldest are left out.
inline constexpr std::size_t kObserverBacklogMax = 16'384;
struct EngineEvent {
  enum class Kind : std::uint8_t { kAccepted, kStarted, kPartitionMoved, kEnded };
  // The members from `partition` to `device` mean something for kPartitionMoved, `state` for all.
  Kind kind = Kind::kAccepted;
  std::string request_id;
  std::string job_kind;
  std::size_t partition = 0;
  PartitionState partition_state = PartitionState::kQueued;
  std::uint32_t attempt = 1, device = 0;
  JobState state = JobState::kQueued;
  std::int64_t at_ms = 0;            // since the epoch
  std::uint64_t left_out_count = 0;  // events between the one before and this one
};

// Totals since the engine was made, apart from `journal`.
struct EngineReport {
  // As it says, but with `running` as the journal's sequences; 0 where the run is over, or
  // nobody's.
  ExecutorReport executor;
  JournalStatistics journal;
  struct Queue {  // a row for each kind of the table
    std::string kind;
    std::uint64_t pending = 0, in_progress = 0;
    std::uint64_t completed = 0, failed = 0, cancelled = 0;
  };
  std::vector<Queue> queues;
  std::int64_t started_ms = 0;  // since the epoch
  bool draining = false;
  OpenReport opened;                // what opening the journal found
  std::uint64_t live_jobs = 0;      // queued or running
  std::uint64_t waiting_calls = 0;  // awaits and on_final
  // Jobs that ended and whose end the journal could not yet take (disk full): tried again.
  std::uint64_t unrecorded_ends = 0;
  std::uint64_t crash_count = 0;    // crashes of proving code
  std::string executor_failure;     // why it takes no jobs now; empty: it does
  std::string journal_failure;      // why the journal takes none; empty: it does
  std::int64_t retry_after_ms = 0;  // about when a full queue has a place again
};

// Stops when destroyed: then its function is not called any more, and does not run, unless it is
// itself what destroys it.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

// Thread-safe.
// Waiting calls block their own thread alone. Functions given to on_final() and observe() may call
// the engine, but must not destroy it.
class Engine {
 public:
  using MakeExecutor = std::function<base::Result<std::unique_ptr<Executor>>(ExecutorEvents&)>;

  // Opens the journal, makes the executor and gives it what is unfinished.
  static base::Result<std::unique_ptr<Engine>> open(EngineOptions options,
                                                    std::shared_ptr<const JobTypes> types,
                                                    const MakeExecutor& make_executor);
  ~Engine();

  // Reads and checks the input, then accepts durably. Errors: those of the kind's reader,
  // kAlreadyExists (id of another job), kUnavailable (draining; or the journal's files were removed
  // or replaced, see EngineReport::journal_failure), kResourceExhausted (queue, disk, or memory
  // that can never fit, with the arithmetic). Returns soon after the job is durable even where the
  // executor does not answer (EngineOptions::answer_patience).
  base::Result<Submitted> submit(const SubmitRequest& request);

  // Waits until the job is final or `timeout` is over; nullopt then. Errors: kNotFound,
  // kUnavailable when the engine stops, or for a job whose submission failed so far that nobody has
  // it and it could not be taken back: submitting it again runs it. A job that is refused after it
  // was durable ends, for those who waited already, as failed with the refusal.
  base::Result<std::optional<JobView>> await(std::string_view request_id,
                                             std::chrono::milliseconds timeout);
  // Calls `done` once, as soon as the job is final (at once where it is), from an engine thread, or
  // never when the returned handle dies before. Any number may wait at no cost of threads.
  base::Result<std::shared_ptr<Subscription>> on_final(std::string_view request_id,
                                                       std::function<void(const JobView&)> done);
  // All events from now on, until the handle dies.
  std::shared_ptr<Subscription> observe(std::function<void(const EngineEvent&)> observer);

  // The state after the call, and whether it was running before.
  struct Cancelled {
    JobState state = JobState::kCancelled;
    bool was_running = false;
  };
  // Durable, and final for all who wait, when it returns; what runs is asked to stop at its next
  // chunk. Error kNotFound.
  base::Result<Cancelled> cancel(std::string_view request_id);
  base::Result<JobView> find(std::string_view request_id);
  base::Result<std::vector<JobView>> list(const JobQuery& query);
  // Bytes of a completed job. Errors: the job's own failure, kCancelled, kUnavailable while it is
  // not final, kNotFound.
  base::Result<base::Bytes> result(std::string_view request_id);

  // As the executor's.
  base::Result<bool> preload(const std::string& key_name);
  base::Result<std::uint64_t> evict(const std::string& key_name);
  EngineReport report();
  // EngineReport::retry_after_ms alone, which costs nothing.
  std::int64_t retry_after_ms();
  const JobTypes& types() const;

  // No more submissions; what is accepted goes on. wait_idle: until all is final or the time is
  // over (false).
  void drain();
  bool wait_idle(std::chrono::milliseconds timeout);
  // Stops within a chunk; unfinished jobs stay in the journal for the next start. Waiting calls end
  // with kUnavailable.
  void stop();

 private:
  class State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cuzk::engine
