// Jobs: how they come in and end, and what is freed in between. pipeline.h tells the whole.
//
// Every function that tells the scheduler something has the same shape: under the mutex the report,
// then dispatch(); outside it settle() of what dispatch() returned. That is what keeps the ledger
// below the scheduler's account: nothing granted begins before what was to be freed is free.
#include "engine/pipeline.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/heap.h"
#include "engine/guarded.h"
#include "engine/pipeline_core.h"

namespace cuzk::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::MutexLock;

// Files that change this often while one job waits are being written; a person has to look.
constexpr std::uint32_t kAgainMax = 3;
// The heap is trimmed when ended jobs have held so much since the last time; when none is left, so
// much.
constexpr std::uint64_t kTrimBytes = std::uint64_t{64} << 20,
                        kTrimIdleBytes = std::uint64_t{4} << 20;

static_assert(kTrimIdleBytes < kTrimBytes, "an idle moment is the cheaper one");

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Error stopping_error() { return {ErrorKind::kUnavailable, "the engine is stopping"}; }

}  // namespace

PipelineCore::PipelineCore(PipelineOptions options, ExecutorEvents& events)
    : options_(std::move(options)),
      ledger_(*options_.ledger),
      start_ms_(steady_ms()),
      foreign_bytes_(ledger_.snapshot().total.used_bytes),
      events_(events),
      scheduler_(scheduler_config(options_)),
      device_counts_(options_.devices.size()),
      store_(ledger_, [this] {
        const MutexLock lock(mutex_);
        wake_all();
      }) {
  CUZK_ASSERT(options_.types != nullptr && options_.budget_bytes.has_value());
  std::uint32_t device_workers = 0;
  for (const DeviceSetup& device : scheduler_config(options_).devices) {
    device_workers += device.all_workers();
  }
  // In this order idle workers are asked: what is nearest to its end first, for it frees most.
  const std::pair<Stage, std::uint32_t> kinds[] = {{Stage::kFinish, options_.finish_workers},
                                                   {Stage::kDevice, device_workers},
                                                   {Stage::kWitness, options_.witness_workers}};
  for (const auto& [kind, count] : kinds) {
    for (std::uint32_t i = 0; i < count; ++i) {
      workers_.push_back(std::make_unique<PipelineWorker>());
      workers_.back()->id = {kind, i};
    }
  }
  // Threads begin when all workers are there, since each one's report looks at all of them.
  CUZK_ASSERT(device_counts_.size() == options_.devices.size());
  for (const auto& worker : workers_) {
    worker->thread = std::thread([this, own = worker.get()] { work(*own); });
  }
}

PipelineCore::~PipelineCore() { stop(); }

std::int64_t PipelineCore::now_ms() const { return steady_ms() - start_ms_; }

base::Result<JobPlan> PipelineCore::read_plan(const RunRequest& request) const {
  if (request.plan) return *request.plan;
  CUZK_TRY(const JobType* type, options_.types->find(request.kind));
  CUZK_TRY(const SharedBytes input, request.input());
  CUZK_TRY(const auto work, guarded([&] { return type->read(input); }));
  return plan_of(*work);
}

base::Status PipelineCore::run(RunRequest request) {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return stopping_error();
    if (jobs_.count(request.id) != 0) {
      return Error{ErrorKind::kAlreadyExists, fmt::format("job {} is there already", request.id)};
    }
  }
  return take_in(std::move(request), 0);
}

base::Status PipelineCore::take_in(RunRequest request, std::uint32_t again_count) {
  const auto job = std::make_shared<PipelineJob>();
  CUZK_TRY(job->plan, read_plan(request));
  const std::size_t count = job->plan.partitions.size();
  if (!request.finished.empty() && request.finished.size() != count) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{}: {} finished partitions came with it, it has {}", request.name,
                             request.finished.size(), count)};
  }
  job->request = std::move(request);
  job->again_count = again_count;
  job->started = again_count > 0;
  job->parts.resize(count);
  for (PipelinePart& part : job->parts) {
    part.checkpoint = std::make_unique<PartCheckpoint>(*this, job->stop.get_token());
  }
  // From here on the key has a user more, who leaves when the job is over or was not taken.
  CUZK_TRY(job->shared_key, store_.enroll(job->plan.key));
  const KeyId key = job->shared_key.id;
  const std::vector<KeyId> same_name = store_.all_of(job->plan.key.name);
  Debris debris;
  base::Status status = base::ok_status();
  {
    const MutexLock lock(mutex_);
    for (const KeyId other : same_name) {  // of files that are no longer
      if (other != key) (void)scheduler_.drop_key(other, now_ms());
    }
    status = submit(job);
    debris = dispatch();
  }
  settle(std::move(debris));
  if (!status.ok()) store_.leave(key);
  return status;
}

// The job's row is in the table when the scheduler has it: whoever looks up what the scheduler
// names finds it.
base::Status PipelineCore::submit(const JobPointer& job) {
  if (stopping_) return stopping_error();
  // Again under the lock: two calls with one id may have come here side by side.
  const auto found = jobs_.find(job->request.id);
  // Taken in anew it goes on where it was: times and arrival are those of the first time.
  if (found != jobs_.end()) {
    if (!found->second->again || job->again_count == 0) {
      return Error{ErrorKind::kAlreadyExists, job->request.name + " is there already"};
    }
    if (found->second->cancelled) {
      return Error{ErrorKind::kCancelled, job->request.name + " was cancelled"};
    }
  }
  JobSpec spec;
  spec.id = job->request.id;
  spec.name = job->request.name;
  spec.priority = job->request.priority;
  spec.deadline_ms = job->request.deadline_ms;
  spec.key = job->shared_key;
  spec.input_bytes = job->plan.held_bytes;
  spec.partitions = job->plan.partitions;
  spec.opens_later = true;
  job->accepted_ms = now_ms();
  CUZK_TRY_STATUS(scheduler_.submit(std::move(spec), job->accepted_ms));
  if (found != jobs_.end()) {
    job->times = found->second->times;
    job->accepted_ms = found->second->accepted_ms;
  }
  jobs_[job->request.id] = job;
  CUZK_ASSERT(job->parts.size() == job->plan.partitions.size());
  expect_critical(*job);
  return base::ok_status();
}

base::Status PipelineCore::cancel(JobId id) {
  Debris debris;
  {
    const MutexLock lock(mutex_);
    const auto found = jobs_.find(id);
    auto status = scheduler_.cancel(id, now_ms());
    if (!status.ok()) {
      // Between two lives of the job only its mark says that it is wanted no more.
      if (found == jobs_.end() || !found->second->again) return status;
      found->second->cancelled = true;
      return base::ok_status();
    }
    CUZK_ASSERT(found != jobs_.end());
    sweep(*found->second);
    debris = dispatch();
  }
  settle(std::move(debris));
  return base::ok_status();
}

void PipelineCore::stop() {
  const MutexLock stop_lock(stop_mutex_);
  Debris debris;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    // Withdrawn and not cancelled: the owner keeps them and gives them again next time.
    scheduler_.withdraw_all(stopping_error(), now_ms());
    for (const auto& [id, job] : jobs_) sweep(*job);
    debris = dispatch();
  }
  settle(std::move(debris));
  {
    const MutexLock lock(mutex_);
    while (!jobs_.empty() || guest_count_ > 0) changed_.wait(mutex_);
    // Workers end only now: until the last job is out, its stages need them.
    exiting_ = true;
    wake_all();
  }
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
  // After this no listener is called any more, so it may be destroyed.
  events_.flush();
}

Debris PipelineCore::dispatch() {
  // Round after round: one grant may make another possible (an idle key that goes, a slot).
  for (bool granted = !stopping_; granted;) {
    granted = false;
    for (const auto& worker : workers_) {
      if (!worker->is_idle()) continue;
      const auto assignment = scheduler_.next(worker->id, now_ms());
      if (!assignment) continue;
      CUZK_ASSERT(assignment->stage == worker->id.kind);
      worker->assignment = *assignment;
      note_grant(*assignment);
      worker->wake.notify_all();
      granted = true;
    }
  }
  // After the grants: whoever is asked to yield is asked for what no idle worker took.
  update_flags();
  Debris debris;
  debris.held = std::exchange(swept_, {});
  debris.keys = scheduler_.take_evictions();
  for (JobOutcome& outcome : scheduler_.take_outcomes()) {
    const JobPointer job = jobs_.at(outcome.job);
    debris.jobs.emplace_back(job, std::move(outcome));
  }
  if (debris.held.empty() && debris.keys.empty() && debris.jobs.empty()) return debris;
  CUZK_ASSERT(clearing_.empty() || *clearing_.rbegin() < next_ticket_);
  debris.ticket = next_ticket_++;
  clearing_.insert(debris.ticket);
  return debris;
}

// In a loop, since each round of ends may grant, fail or evict something more. The debris is freed
// before its ticket goes, and ends are told after: who hears of an end finds the memory free.
void PipelineCore::settle(Debris debris) {
  while (debris.ticket != 0) {
    debris.held.clear();
    // Each drop waits for a load that is under way to stop.
    for (const KeyId key : debris.keys) (void)store_.drop(key);
    for (const auto& [job, outcome] : debris.jobs) {
      for (PipelinePart& part : job->parts) part.held.clear();
      // Nothing of it runs: its outcome came with the report of the last stage.
      job->work.reset();
      job->key.reset();
      job->input_permit = {};
    }
    trim_after(debris);
    std::vector<JobPointer> again;
    Debris next;
    {
      const MutexLock lock(mutex_);
      CUZK_ASSERT(clearing_.count(debris.ticket) == 1);
      clearing_.erase(debris.ticket);
      for (const auto& [job, outcome] : debris.jobs) {
        if (outcome.withdrawn && job->again && !stopping_) {
          again.push_back(job);
        } else {
          end_job(job, outcome);
        }
      }
      wake_all();
      next = dispatch();
    }
    // Outside the lock: forgetting a key's files is the store's own business.
    for (const auto& [job, outcome] : debris.jobs) store_.leave(job->shared_key.id);
    for (const JobPointer& job : again) take_in_again(job);
    debris = std::move(next);
  }
}

// Inputs and results are many small blocks, which the allocator keeps for the thread that made
// them.
void PipelineCore::trim_after(const Debris& debris) {
  if (debris.jobs.empty()) return;
  bool is_idle = false;
  {
    const MutexLock lock(mutex_);
    // The jobs of the debris are still in the table.
    is_idle = jobs_.size() <= debris.jobs.size();
    for (const auto& [job, outcome] : debris.jobs) {
      untrimmed_bytes_ += job->plan.held_bytes;
      for (const PartitionPlan& plan : job->plan.partitions) untrimmed_bytes_ += plan.peak_bytes();
    }
    if (untrimmed_bytes_ < (is_idle ? kTrimIdleBytes : kTrimBytes)) return;
    untrimmed_bytes_ = 0;
  }
  base::trim_heap();
}

void PipelineCore::wait_cleared() {
  // Tickets are ascending: those given out later are of no concern to who waits here.
  const std::uint64_t until = next_ticket_;
  while (!clearing_.empty() && *clearing_.begin() < until) changed_.wait(mutex_);
}

void PipelineCore::end_job(const JobPointer& job, const JobOutcome& outcome) {
  if (outcome.failure) {
    push_end(*job, *outcome.failure);
  } else {
    CUZK_ASSERT(job->result.has_value());
    push_end(*job, std::move(*job->result));
  }
  jobs_.erase(job->request.id);
}

void PipelineCore::push_end(const PipelineJob& job, base::Result<base::Bytes> outcome) {
  JobTimes times = job.times;
  times.total_ms = static_cast<std::uint64_t>(now_ms() - job.accepted_ms);
  if (!job.started) times.queue_wait_ms = times.total_ms;
  events_.push(
      [id = job.request.id, outcome = std::move(outcome), times](ExecutorEvents& events) mutable {
        events.job_ended(id, std::move(outcome), times);
      });
}

// The job stays in the table until it is in the scheduler again, so that it can be cancelled.
void PipelineCore::take_in_again(const JobPointer& job) {
  CUZK_ASSERT(job->again);
  base::Status status = base::ok_status();
  if (job->again_count >= kAgainMax) {
    status =
        Error{ErrorKind::kUnavailable,
              fmt::format("{}: its input or the files of its key {} changed {} times before it "
                          "could begin",
                          job->request.name, job->plan.key.name, kAgainMax + 1)};
  } else {
    RunRequest request = job->request;
    // The plan was made for files that are no longer.
    request.plan.reset();
    status = take_in(std::move(request), job->again_count + 1);
  }
  if (status.ok()) return;
  const MutexLock lock(mutex_);
  ++(status.error().kind == ErrorKind::kCancelled ? cancelled_again_count_ : failed_again_count_);
  push_end(*job, std::move(status).error());
  jobs_.erase(job->request.id);
  wake_all();
}

void PipelineCore::note_grant(const Assignment& assignment) {
  PipelineJob& job = *jobs_.at(assignment.job);
  CUZK_ASSERT(assignment.device < device_counts_.size());
  if (!job.started) {
    job.started = true;
    job.times.queue_wait_ms = static_cast<std::uint64_t>(now_ms() - job.accepted_ms);
    events_.push([id = assignment.job](ExecutorEvents& events) { events.job_started(id); });
  }
  if (assignment.stage == Stage::kDevice) ++device_counts_[assignment.device].started_count;
  tell(job, assignment.partition, assignment.attempt, assignment.device);
}

void PipelineCore::tell(PipelineJob& job, std::size_t partition, std::uint32_t attempt,
                        std::uint32_t device) {
  CUZK_ASSERT(partition < job.parts.size());
  const auto state = scheduler_.partition_state(job.request.id, partition);
  PipelinePart& part = job.parts[partition];
  if (!state || *state == part.told) return;
  part.told = *state;
  events_.push(
      [id = job.request.id, partition, state = *state, attempt, device](ExecutorEvents& events) {
        events.partition_moved(id, partition, state, attempt, device);
      });
}

void PipelineCore::sweep(PipelineJob& job) {
  for (std::size_t p = 0; p < job.parts.size(); ++p) {
    Held& held = job.parts[p].held;
    if (held.product == nullptr) continue;
    const auto state = scheduler_.partition_state(job.request.id, p);
    // A stage that was granted and has not begun will take it.
    const bool is_needed =
        state && *state >= PartitionState::kDeviceQueued && *state <= PartitionState::kFinish;
    if (!is_needed) swept_.push_back(std::move(held));
  }
  // Whoever runs for a job that ends looks at its stop at the next border.
  if (!scheduler_.ending(job.request.id)) return;
  job.stop.request_stop();
  wake_all();
}

void PipelineCore::update_flags() {
  // One cheap question for the usual case that nothing critical waits.
  const bool waits = scheduler_.critical_waits();
  for (const auto& worker : workers_) {
    if (worker->running.empty() || worker->assignment) continue;
    const bool wanted = waits && scheduler_.should_yield(worker->id);
    if (worker->yield_wanted.exchange(wanted) != wanted && wanted) worker->wake.notify_all();
  }
}

void PipelineCore::wake_all() {
  for (const auto& worker : workers_) worker->wake.notify_all();
  changed_.notify_all();
}

// The public face; everything is in the core.
Pipeline::Pipeline(std::unique_ptr<PipelineCore> core) : core_(std::move(core)) {
  CUZK_ASSERT(core_ != nullptr);
}
Pipeline::~Pipeline() = default;

base::Result<std::unique_ptr<Pipeline>> Pipeline::make(PipelineOptions options,
                                                       ExecutorEvents& events) {
  CUZK_TRY(PipelineOptions resolved, resolve_options(std::move(options)));
  // Both are settings of the process's allocator: large blocks go back to the kernel when freed,
  // and threads share few arenas (base/heap.h).
  base::map_large_blocks();
  base::limit_arenas();
  CUZK_ASSERT(resolved.ledger != nullptr && resolved.budget_bytes.has_value());
  if (*resolved.budget_bytes != 0) resolved.ledger->set_budget(*resolved.budget_bytes);
  return std::unique_ptr<Pipeline>(
      new Pipeline(std::make_unique<PipelineCore>(std::move(resolved), events)));
}

base::Status Pipeline::run(RunRequest request) { return core_->run(std::move(request)); }
base::Status Pipeline::cancel(JobId id) { return core_->cancel(id); }
std::optional<JobProgress> Pipeline::progress(JobId id) const { return core_->progress(id); }
base::Result<bool> Pipeline::preload(const std::string& name) { return core_->preload(name); }
base::Result<std::uint64_t> Pipeline::evict(const std::string& name) { return core_->evict(name); }
ExecutorReport Pipeline::report() const { return core_->report(); }
void Pipeline::stop() { core_->stop(); }
void Pipeline::check_invariants() const { core_->check_invariants(); }

}  // namespace cuzk::engine
