// Running a load.
//
// One thread makes, submits and judges; the engine's threads prove. It keeps no more jobs than the
// plan allows, because inputs and proofs held here would be counted as the engine's memory. Memory
// is compared between two idle moments, keys dropped, in which nothing of a job is left.
#include "apps/bench/engine_load.h"

#include <algorithm>
#include <condition_variable>
#include <deque>

#include <fmt/format.h>
#include <sys/resource.h>

#include "apps/jobs/proof_stages.h"
#include "engine/pipeline.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFaultsMax = 10;

// User and system time of all threads so far.
double cpu_seconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Jobs that ended, in the order in which they did. Added to by threads of the engine, taken from by
// the one that judges; the lock is held for a moment.
class Endings {
 public:
  void add(std::uint64_t index) {
    const std::lock_guard lock(mutex_);
    ended_.push_back(index);
    changed_.notify_all();
  }
  // The next one, or nothing after some time.
  std::optional<std::uint64_t> next() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(200), [&] { return !ended_.empty(); });
    if (ended_.empty()) return std::nullopt;
    const std::uint64_t index = ended_.front();
    ended_.pop_front();
    return index;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint64_t> ended_;
};

struct Submission {
  std::string request_id;
  std::function<base::Status(const base::Bytes&)> check;
  std::shared_ptr<engine::Subscription> subscription;
};

// Jobs between submission and judgement. Used by one thread, but for the endings. Members stand in
// the order that makes leaving early safe: subscriptions (in open_) die before the list they add
// to.
class LoadRun {
 public:
  LoadRun(LoadEngine& load, const MakeJob& job_of) : load_(load), job_of_(job_of) {}

  base::Status submit(std::uint64_t index) {
    CUZK_TRY(LoadJob job, job_of_(index));
    engine::SubmitRequest request;
    request.request_id = job.name;
    request.kind = job.kind;
    request.input = job.input;
    Submission& submission = open_[index];
    submission.request_id = job.name;
    submission.check = std::move(job.check);
    CUZK_TRY_STATUS(load_.engine().submit(request));
    CUZK_TRY(submission.subscription,
             load_.engine().on_final(
                 job.name, [this, index](const engine::JobView&) { endings_.add(index); }));
    return base::ok_status();
  }

  // Judges jobs that ended until fewer than `open_max` are open.
  base::Status settle(std::size_t open_max, const groth16::Control& control, LoadResult& result) {
    while (open_.size() >= std::max<std::size_t>(open_max, 1)) {
      CUZK_TRY_STATUS(control.check("the load"));
      const auto index = endings_.next();
      if (!index) continue;
      const auto found = open_.find(*index);
      CUZK_ASSERT(found != open_.end());  // a job ends once
      last_end_ = Clock::now();
      control.advance(1);
      judge(found->second, result);
      open_.erase(found);
    }
    return base::ok_status();
  }
  Clock::time_point last_end() const { return last_end_; }

 private:
  void judge(const Submission& submission, LoadResult& result) {
    const auto proof = load_.engine().result(submission.request_id);
    const base::Status status = proof.ok() ? submission.check(*proof) : base::Status(proof.error());
    if (status.ok()) {
      ++result.valid_count;
    } else if (result.faults.size() < kFaultsMax) {
      result.faults.push_back(fmt::format("{}: {}", submission.request_id, status.error().message));
    }
  }

  LoadEngine& load_;
  const MakeJob& job_of_;
  Endings endings_;
  std::map<std::uint64_t, Submission> open_;
  Clock::time_point last_end_ = Clock::now();
};

}  // namespace

base::Result<std::unique_ptr<LoadEngine>> LoadEngine::open(const LoadMaterial& material,
                                                           const EngineSettings& settings) {
  std::unique_ptr<LoadEngine> out(new LoadEngine());
  if (!settings.keeps_journal) {
    std::error_code failed;
    std::filesystem::remove_all(settings.journal_folder, failed);
  }
  engine::EngineOptions options;
  options.journal_folder = settings.journal_folder;
  options.queue_max = 0;
  engine::PipelineOptions pipeline;
  pipeline.types = material.kinds().types;
  pipeline.devices = {make_cpu_device()};
  pipeline.witness_workers = settings.witness_workers;
  pipeline.device_workers = settings.device_workers;
  pipeline.finish_workers = settings.finish_workers;
  pipeline.jobs_in_flight_max = settings.jobs_in_flight;
  pipeline.budget_bytes = settings.budget_bytes;
  pipeline.observer = &out->trace_;
  base::Ledger::process().set_budget(settings.budget_bytes);
  const auto make =
      [&pipeline](
          engine::ExecutorEvents& events) -> base::Result<std::unique_ptr<engine::Executor>> {
    CUZK_TRY(auto made, engine::Pipeline::make(std::move(pipeline), events));
    return std::unique_ptr<engine::Executor>(std::move(made));
  };
  CUZK_TRY(out->engine_, engine::Engine::open(options, material.kinds().types, make));
  CUZK_ASSERT(out->engine_ != nullptr);
  out->trace_.start_sampling(settings.sample_interval,
                             [engine = out->engine_.get()] { return engine->report().executor; });
  return out;
}

LoadEngine::~LoadEngine() {
  // The sampler asks the engine, and the pipeline's threads tell the trace: each is stopped before
  // what it uses goes.
  trace_.stop_sampling();
  if (engine_ != nullptr) engine_->stop();
  base::Ledger::process().set_budget(0);
}

void LoadEngine::drop_keys() {
  for (const engine::KeyReport& key : engine_->report().executor.keys) {
    (void)engine_->evict(key.name);
  }
}

double LoadResult::worker_floor_s() const {
  double floor = 0;
  for (std::size_t i = 0; i < engine::kStageCount; ++i) {
    if (workers[i] != 0) floor = std::max(floor, stages[i].busy_s / workers[i]);
  }
  return floor;
}

double LoadResult::resident_growth_percent() const {
  if (before.total_bytes() == 0) return 0;
  return 100 *
         (static_cast<double>(after.total_bytes()) / static_cast<double>(before.total_bytes()) - 1);
}

bool LoadResult::counters_are_zero() const {
  const engine::SchedulerCounts& counts = report.counts;
  return report.witnesses_alive == 0 && report.pending_alive == 0 && counts.queued_jobs == 0 &&
         counts.in_flight_jobs == 0 && counts.slots_held == 0;
}

base::Result<LoadResult> run_load(LoadEngine& load, const LoadPlan& plan,
                                  const groth16::Control& control) {
  LoadResult result;
  result.job_count = plan.job_count;
  result.core_count = std::max(1u, std::thread::hardware_concurrency());
  load.trace().restart();
  load.drop_keys();
  CUZK_TRY(result.before, engine::read_resident());
  result.descriptors_before = engine::open_descriptor_count();
  const bool has_peak = engine::reset_peak_resident();
  base::Ledger::process().reset_peaks();
  control.begin_stage("jobs", plan.job_count);
  // What is measured begins here.
  const double cpu_before_s = cpu_seconds();
  const Clock::time_point begin = Clock::now();
  LoadRun run(load, plan.job_of);
  for (std::uint64_t i = 0; i < plan.job_count; ++i) {
    CUZK_TRY_STATUS(run.settle(plan.queued_max, control, result));
    CUZK_TRY_STATUS(run.submit(i));
  }
  // All are submitted; wait until none is open.
  CUZK_TRY_STATUS(run.settle(1, control, result));
  result.wall_s = std::chrono::duration<double>(run.last_end() - begin).count();
  result.cpu_s = cpu_seconds() - cpu_before_s;
  result.report = load.engine().report().executor;
  result.stages = load.trace().totals();
  static_assert(engine::kStageCount == 3);  // witness, device, finish
  result.workers = {result.report.witness_workers, result.report.devices.at(0).worker_count,
                    result.report.finish_workers};
  result.budget_bytes = result.report.budget_bytes;
  result.ledger_peak_bytes = result.report.ledger.total.peak_bytes;
  CUZK_TRY(const engine::Resident last, engine::read_resident());
  result.resident_peak_bytes = has_peak ? last.peak_bytes : 0;
  for (const engine::TraceSample& sample : load.trace().samples()) {
    result.resident_peak_bytes =
        std::max(result.resident_peak_bytes, sample.resident.total_bytes());
  }
  CUZK_ASSERT(result.valid_count <= result.job_count);
  if (!plan.keeps_trace) load.trace().restart();
  load.drop_keys();
  CUZK_TRY(result.after, engine::read_resident());
  result.descriptors_after = engine::open_descriptor_count();
  return result;
}

// Read as the engine would read it, and dropped: the figures are those of the plan.
base::Result<std::uint64_t> need_bytes(const LoadMaterial& material, const LoadJob& job) {
  CUZK_TRY(const auto* type, material.kinds().types->find(job.kind));
  CUZK_TRY(const auto work, type->read(job.input));
  std::uint64_t peak = 0;
  for (const engine::PartitionPlan& plan : work->partitions()) {
    peak = std::max(peak, plan.peak_bytes());
  }
  return work->key().bytes + work->held_bytes() + peak;
}

}  // namespace cuzk::apps
