// What the pipeline is made of. Only pipeline*.cpp include this.
//
// Locks. stop_mutex_, then mutex_; the key store's own are inside (its threads take mutex_ with
// none of theirs held, when a load is over). Under mutex_ nothing waits for I/O, for a key or for a
// stage, and nothing large is freed: what is to go is collected as Debris and goes outside.
//
// Who owns what. A product belongs to its part while it waits and to the stage (StageRun) while one
// runs, always with the permit that pays for it. A job belongs to the table from run() to its end
// and to the stages that run for it, so a worker's pointer never dangles.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/checkpoint.h"
#include "base/ledger.h"
#include "base/mutex.h"
#include "engine/event_queue.h"
#include "engine/key_store.h"
#include "engine/pipeline.h"
#include "engine/scheduler.h"

namespace cuzk::engine {

// ProvingDevice::identifier of the CPU.
inline constexpr std::string_view kCpuIdentifier = "cpu";
inline bool is_cpu(const ProvingDevice& device) { return device.identifier == kCpuIdentifier; }

// The scheduler's view of options that were resolved. What the ledger holds at this moment counts
// as fixed.
SchedulerConfig scheduler_config(const PipelineOptions& options);

class PipelineCore;

// One thread. What is not said to be otherwise belongs to the pipeline's mutex.
//
// Idle, then `assignment` is set (by dispatch), then it moves to `running` (by the worker itself).
// Between the two the worker is taken and its part's product still in the part. `running` has a
// second entry while critical work runs inside the first.
struct PipelineWorker {
  WorkerId id;
  std::thread thread;
  std::condition_variable_any wake;      // of the pipeline's mutex
  std::optional<Assignment> assignment;  // given and not yet begun
  std::vector<Assignment> running;       // the last one is the one that runs
  bool is_idle() const { return !assignment && running.empty(); }
  // Read without the mutex at borders.
  std::atomic<bool> yield_wanted{false};
  std::atomic<bool> may_pause{false};  // computes on the CPU, and not for critical work
  std::int64_t aside_ms = 0;  // its thread's alone: time in inline work and pauses of this stage
};

// The borders of one partition's stages, whichever worker runs them.
// It outlives the stage that runs: it dies with its job. While no stage runs it has no worker, and
// then it is nothing but the job's wish to stop.
class PartCheckpoint final : public base::Checkpoint {
 public:
  PartCheckpoint(PipelineCore& core, std::stop_token stop) : core_(core), stop_(std::move(stop)) {}
  bool wanted() const noexcept override;
  bool pass() override;
  void set_worker(PipelineWorker* worker) { worker_.store(worker); }

 private:
  PipelineCore& core_;
  const std::stop_token stop_;
  std::atomic<PipelineWorker*> worker_{nullptr};
};

// One of so many that are alive; movable.
// Counts products for reports and for the check that none is left when no job is.
class AliveToken {
 public:
  AliveToken() = default;
  explicit AliveToken(std::atomic<std::uint64_t>& count) : count_(&count) { ++count; }
  AliveToken(AliveToken&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  AliveToken& operator=(AliveToken&& other) noexcept {
    std::swap(count_, other.count_);
    return *this;
  }
  ~AliveToken() {
    if (count_ != nullptr) --*count_;
  }

 private:
  std::atomic<std::uint64_t>* count_ = nullptr;
};

// What a stage left, with what pays for it.
// Order of members is order of life: the product dies first, then its bytes are given back, then it
// is counted as gone. So the ledger never says less than what there is.
struct Held {
  AliveToken alive;
  base::Permit permit;
  std::unique_ptr<Product> product;  // dies first

  void clear() {
    product.reset();
    permit = {};
    alive = AliveToken();
  }
};

static_assert(std::is_nothrow_move_constructible_v<Held> && std::is_nothrow_move_assignable_v<Held>,
              "it changes hands under the mutex, after the scheduler was told");

// One partition. Of the pipeline's mutex.
// `told` is the state that listeners heard of last, so that none is told twice.
struct PipelinePart {
  Held held;  // while it waits; a stage that runs has taken it
  base::Bytes proof;
  bool proved = false;
  PartitionState told = PartitionState::kQueued;
  std::unique_ptr<PartCheckpoint> checkpoint;
};

// One job from run() to its end. The first block does not change; `work` and `key` do not change
// once `ready` was seen; the rest is of the pipeline's mutex.
//
// run() -> in the scheduler's queue -> in flight, not ready (its first partition fetches input and
// key) -> ready -> outcome taken -> freed by settle() -> out of the table. With `again` set it goes
// from any state before ready through the outcome to a new PipelineJob under the same id, which has
// the same request and a plan that fits the files there are now.
struct PipelineJob {
  RunRequest request;
  JobPlan plan;
  SharedKey shared_key;
  std::stop_source stop;
  std::int64_t accepted_ms = 0;

  bool ready = false;
  std::unique_ptr<JobWork> work;
  std::shared_ptr<const LoadedKey> key;
  base::Permit input_permit;

  std::vector<PipelinePart> parts;
  std::size_t proved_count = 0;
  std::optional<base::Bytes> result;
  JobTimes times;
  bool started = false;
  // The key's files changed after run(): it is to be taken in anew, with the plan that fits them.
  bool again = false;
  std::uint32_t again_count = 0;
  bool cancelled = false;  // while it is taken in anew
};

// What has to be freed before anything that was granted since may begin.
// A ticket is open from dispatch() until settle() has freed everything; stages that were granted
// after it wait for that in wait_cleared().
struct Debris {
  std::uint64_t ticket = 0;  // 0: nothing
  std::vector<Held> held;
  std::vector<KeyId> keys;
  std::vector<std::pair<std::shared_ptr<PipelineJob>, JobOutcome>> jobs;
};

// How a stage ended.
// kWhole: a proof from an earlier run was found good in place of a witness.
struct StageEnd {
  enum class Kind : std::uint8_t { kDone, kWhole, kFailed } kind = Kind::kDone;
  base::Error error;
  Fault fault = Fault::kWork;

  // The fault follows from the error's kind and the stage; job_type.h has the table.
  static StageEnd failure(Stage stage, base::Error error);
};

// What a worker does with one assignment.
// Lives on the worker's stack, in execute().
struct StageRun {
  Assignment assignment;
  std::shared_ptr<PipelineJob> job;
  Held held;  // in: what the stage before left; out: what this one leaves
  std::int64_t prepare_ms = 0;
  bool is_critical_span = false;  // counted in critical_computing_
  std::size_t partition() const { return assignment.partition; }
};

class PipelineCore {
 public:
  PipelineCore(PipelineOptions options, ExecutorEvents& events);
  ~PipelineCore();

  // pipeline.cpp
  base::Status run(RunRequest request) CUZK_EXCLUDES(mutex_);
  base::Status cancel(JobId id) CUZK_EXCLUDES(mutex_);
  void stop() CUZK_EXCLUDES(mutex_, stop_mutex_);

  // pipeline_keys.cpp
  base::Result<bool> preload(const std::string& name) CUZK_EXCLUDES(mutex_);
  base::Result<std::uint64_t> evict(const std::string& name) CUZK_EXCLUDES(mutex_);

  // pipeline_report.cpp
  std::optional<JobProgress> progress(JobId id) const CUZK_EXCLUDES(mutex_);
  ExecutorReport report() const CUZK_EXCLUDES(mutex_);
  void check_invariants() const CUZK_EXCLUDES(mutex_);

  // pipeline_worker.cpp; of PartCheckpoint
  bool border_wanted(const PipelineWorker& worker) const noexcept {
    return worker.yield_wanted.load() || (worker.may_pause.load() && pause_ms() != 0);
  }
  void at_border(PipelineWorker& worker, const std::stop_token& stop) CUZK_EXCLUDES(mutex_);

 private:
  using JobPointer = std::shared_ptr<PipelineJob>;

  // Jobs in and out (pipeline.cpp).
  // The request's plan, or that of the job read once for it; without the lock, for it may take
  // long.
  base::Result<JobPlan> read_plan(const RunRequest& request) const;
  // From a request to the scheduler's queue: plan, key's identity, submission.
  base::Status take_in(RunRequest request, std::uint32_t again_count) CUZK_EXCLUDES(mutex_);
  base::Status submit(const JobPointer& job) CUZK_REQUIRES(mutex_);
  // The last of a job: tells the end and takes it out of the table. Its memory is gone before.
  void end_job(const JobPointer& job, const JobOutcome& outcome) CUZK_REQUIRES(mutex_);
  // For a withdrawn job: as run(), but a failure is told as its end.
  void take_in_again(const JobPointer& job) CUZK_EXCLUDES(mutex_);
  void push_end(const PipelineJob& job, base::Result<base::Bytes> outcome) CUZK_REQUIRES(mutex_);

  // Every section that told the scheduler something ends with dispatch(), and what that returns is
  // settled after the mutex was given back.
  // Gives work to every idle worker until none gets any, and takes what is over from the scheduler.
  [[nodiscard]] Debris dispatch() CUZK_REQUIRES(mutex_);
  // Frees the debris, tells the ends, and goes on with what that made possible, until nothing
  // comes.
  void settle(Debris debris) CUZK_EXCLUDES(mutex_);
  void trim_after(const Debris& debris) CUZK_EXCLUDES(mutex_);
  // Waits for what was to be freed until now.
  void wait_cleared() CUZK_REQUIRES(mutex_);
  // Books of a grant: the job's start and the partition's move are told from here.
  void note_grant(const Assignment& assignment) CUZK_REQUIRES(mutex_);
  void tell(PipelineJob& job, std::size_t partition, std::uint32_t attempt, std::uint32_t device)
      CUZK_REQUIRES(mutex_);
  // Moves what ended partitions of the job held to the debris; asks what runs to stop.
  void sweep(PipelineJob& job) CUZK_REQUIRES(mutex_);
  // Tells busy workers whether they should yield at their next border; idle ones need no flag.
  void update_flags() CUZK_REQUIRES(mutex_);
  void wake_all() CUZK_REQUIRES(mutex_);

  // Stages (pipeline_worker.cpp).
  void work(PipelineWorker& worker) CUZK_EXCLUDES(mutex_);
  // One assignment from its beginning to its report; nests for inline work.
  void execute(PipelineWorker& worker, const Assignment& assignment) CUZK_EXCLUDES(mutex_);
  // The three layers of a stage: what is thrown becomes a failure; the common beginning and end;
  // the work itself.
  StageEnd run_stage(PipelineWorker& worker, StageRun& run) CUZK_EXCLUDES(mutex_);
  StageEnd run_stage_or_throw(PipelineWorker& worker, StageRun& run) CUZK_EXCLUDES(mutex_);
  StageEnd witness_stage(StageRun& run) CUZK_EXCLUDES(mutex_);
  StageEnd device_stage(StageRun& run) CUZK_EXCLUDES(mutex_);
  StageEnd finish_stage(StageRun& run) CUZK_EXCLUDES(mutex_);
  // Keeps a partition's proof; the last one assembles the result. `is_new`: made in this run.
  StageEnd keep_proof(StageRun& run, base::Bytes proof, bool is_new) CUZK_EXCLUDES(mutex_);
  void report_end(PipelineWorker& worker, StageRun& run, StageEnd end, std::int64_t own_ms)
      CUZK_EXCLUDES(mutex_);
  // Times of job and device. `own_ms` is without waiting for the key and without work of others.
  void count_end(PipelineJob& job, const Assignment& assignment, const StageEnd& end,
                 std::int64_t own_ms) CUZK_REQUIRES(mutex_);
  void tell_lost_devices(const std::string& reason) CUZK_REQUIRES(mutex_);
  // How long who may pause should, from now: 0 not, negative until it is woken.
  std::int64_t pause_ms() const noexcept;
  // Keeps the CPU free for the next stage of a critical job, from now on and not for long.
  void expect_critical(const PipelineJob& job) CUZK_REQUIRES(mutex_);
  void wake_paused() CUZK_REQUIRES(mutex_);
  void run_inline(PipelineWorker& worker) CUZK_EXCLUDES(mutex_);
  // Makes a stage's product what the run holds. Error kInternal where it is larger than planned.
  base::Status take_over(StageRun& run, std::unique_ptr<Product> product,
                         base::MemoryCategory category, std::atomic<std::uint64_t>& alive);
  StageContext context_of(const StageRun& run) const;
  FaultInjection::Point point_of(const StageRun& run) const;

  // Input and key (pipeline_prepare.cpp).
  // Once per job, by its first partition in the witness stage; ok at once where that was done.
  base::Status prepare(PipelineWorker& worker, StageRun& run) CUZK_EXCLUDES(mutex_);
  base::Result<std::unique_ptr<JobWork>> read_work(const PipelineJob& job) const;
  base::Result<std::shared_ptr<const LoadedKey>> await_key(PipelineWorker& worker,
                                                           const KeyStore::Wish& wish,
                                                           const std::stop_token& stop)
      CUZK_EXCLUDES(mutex_);
  // Whether the key's files are still those that the scheduler accounted for; else takes the job
  // back.
  base::Status check_key(PipelineJob& job, const KeySource& source) CUZK_EXCLUDES(mutex_);
  base::Status take_back(PipelineJob& job, const std::string& reason) CUZK_EXCLUDES(mutex_);

  // Milliseconds since the pipeline began, of a clock that does not go back.
  std::int64_t now_ms() const;

  const PipelineOptions options_;
  base::Ledger& ledger_;
  const std::int64_t start_ms_;
  const std::uint64_t foreign_bytes_;  // what the ledger held before
  EventQueue events_;

  base::Mutex stop_mutex_;  // one stop() at a time; before mutex_
  mutable base::Mutex mutex_;
  mutable std::condition_variable_any changed_;  // jobs end, loads settle, debris is gone
  Scheduler scheduler_ CUZK_GUARDED_BY(mutex_);
  std::map<JobId, JobPointer> jobs_ CUZK_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<PipelineWorker>> workers_;  // finish, device, witness; fixed
  std::vector<Held> swept_ CUZK_GUARDED_BY(mutex_);
  std::uint64_t next_ticket_ CUZK_GUARDED_BY(mutex_) = 1;
  std::set<std::uint64_t> clearing_ CUZK_GUARDED_BY(mutex_);
  // Jobs that ended while they were taken in anew, unseen by the scheduler.
  std::uint64_t failed_again_count_ CUZK_GUARDED_BY(mutex_) = 0;
  std::uint64_t cancelled_again_count_ CUZK_GUARDED_BY(mutex_) = 0;
  std::uint64_t untrimmed_bytes_ CUZK_GUARDED_BY(mutex_) = 0;
  std::uint32_t guest_count_ CUZK_GUARDED_BY(mutex_) = 0;  // callers that wait for keys
  bool stopping_ CUZK_GUARDED_BY(mutex_) = false;
  bool exiting_ CUZK_GUARDED_BY(mutex_) = false;
  bool devices_lost_ CUZK_GUARDED_BY(mutex_) = false;  // and told
  struct DeviceCounts {
    std::uint64_t started_count = 0, failure_count = 0, wrong_proof_count = 0;
    std::int64_t busy_ms = 0;
  };
  std::vector<DeviceCounts> device_counts_ CUZK_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> witnesses_alive_{0}, pending_alive_{0};
  std::atomic<std::uint32_t> critical_computing_{0};
  std::atomic<std::int64_t> critical_expected_until_ms_{0};  // of now_ms(); 0: none is
  KeyStore store_;                                           // its threads use what stands above
};

}  // namespace cuzk::engine
