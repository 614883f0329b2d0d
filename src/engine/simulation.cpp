// The clock, the stand-in stages and the books of a simulated run.
//
// Time jumps from one end of a stage to the next, or by a sample's interval where that is shorter,
// so rates are constant in between. After each event the ledger is made to hold what the scheduler
// says; a refusal would mean that the scheduler granted what the budget does not have. Cost: events
// times stages that run, a fraction of a second for hours of the machine.
#include "engine/simulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/ledger.h"

namespace cuzk::engine {
namespace {

// Work left that is rounding and not work.
constexpr double kEpsilonS = 1e-9;

// A stage that runs. Work is in seconds on a machine that does nothing else.
struct StageRun {
  WorkerId worker;
  Assignment assignment;
  double work_s = 0, left_s = 0;
  std::uint64_t turn = 0;  // device stage: order of arrival at its device
};

// Permits for a number of bytes that goes up and down.
class Holding {
 public:
  base::Status resize(base::Ledger& ledger, std::uint64_t bytes, base::MemoryCategory category,
                      const char* owner) {
    if (bytes > bytes_) {
      CUZK_TRY(base::Permit more, ledger.try_admit({bytes - bytes_, category, owner}));
      permits_.push_back(std::move(more));
    }
    for (std::uint64_t less = bytes_ > bytes ? bytes_ - bytes : 0; less > 0;) {
      CUZK_ASSERT(!permits_.empty());
      const std::uint64_t part = std::min(less, permits_.back().bytes());
      { const base::Permit dropped = permits_.back().split(part); }
      if (permits_.back().bytes() == 0) permits_.pop_back();
      less -= part;
    }
    bytes_ = bytes;
    return base::ok_status();
  }

 private:
  std::vector<base::Permit> permits_;
  std::uint64_t bytes_ = 0;
};

// One simulated run; used once. runs_ holds one stage for each worker that is busy.
class Run {
 public:
  explicit Run(const SimulationConfig& config)
      : config_(config),
        scheduler_(config.scheduler),
        ledger_(config.scheduler.memory.budget_bytes),
        random_(config.seed),
        arena_share_(config.scheduler.witness_workers, 0.0) {
    for (std::uint32_t i = 0; i < config.scheduler.witness_workers; ++i) {
      workers_.push_back({Stage::kWitness, i});
    }
    std::uint32_t device_workers = 0;
    for (const DeviceSetup& device : config.scheduler.devices) {
      device_workers += device.all_workers();
    }
    for (std::uint32_t i = 0; i < device_workers; ++i) workers_.push_back({Stage::kDevice, i});
    for (std::uint32_t i = 0; i < config.scheduler.finish_workers; ++i) {
      workers_.push_back({Stage::kFinish, i});
    }
  }

  base::Result<SimulationResult> run() {
    CUZK_TRY_STATUS(fixed_.resize(ledger_, config_.scheduler.memory.fixed_bytes,
                                  base::MemoryCategory::kSrs, "baseline"));
    for (std::uint32_t j = 0; j < config_.job_count; ++j) {
      JobSpec spec = config_.job;
      spec.id = j + 1;
      spec.name = fmt::format("proof {}", spec.id);
      CUZK_TRY_STATUS(scheduler_.submit(std::move(spec), 0));
    }
    while (!scheduler_.idle()) {
      CUZK_TRY_STATUS(begin_what_can());
      CUZK_ASSERT(!runs_.empty());  // the scheduler's argument: something can always go on
      sample();
      advance(std::min(time_to_next_end(), config_.sample_s));
      CUZK_TRY_STATUS(end_what_is_done());
    }
    CUZK_TRY_STATUS(keep_books());
    sample();
    summarise();
    return std::move(result_);
  }

 private:
  std::int64_t now_ms() const { return static_cast<std::int64_t>(std::llround(now_s_ * 1000)); }

  // Seconds of work of one stage on a machine that does nothing else, with the jitter.
  double work_of(Stage stage) {
    // Drawn when a stage begins, so that one seed gives one run.
    const StageTimes& times = config_.times;
    const double base_s = stage == Stage::kWitness  ? times.witness_alone_s
                          : stage == Stage::kDevice ? times.device_alone_s
                                                    : times.finish_s;
    std::uniform_real_distribution<double> jitter(1 - times.jitter, 1 + times.jitter);
    return base_s * jitter(random_);
  }

  std::uint32_t running_in(Stage stage) const {
    const auto in_stage = [stage](const StageRun& run) { return run.assignment.stage == stage; };
    return static_cast<std::uint32_t>(std::count_if(runs_.begin(), runs_.end(), in_stage));
  }

  // Seconds of work done in a second.
  double rate_of(const StageRun& run) const {
    const StageTimes& times = config_.times;
    const double witnesses = running_in(Stage::kWitness);
    if (run.assignment.stage == Stage::kWitness) {
      return 1 / (1 + times.witness_slowdown * (witnesses - 1));
    }
    if (run.assignment.stage == Stage::kFinish) return 1;
    for (const StageRun& other : runs_) {
      const bool before = other.assignment.stage == Stage::kDevice &&
                          other.assignment.device == run.assignment.device && other.turn < run.turn;
      if (before) return 0;  // its turn on the device has not come
    }
    const double load = std::min(1.0, witnesses / times.device_loaded_by);
    const double slowdown = times.device_loaded_s / times.device_alone_s - 1;
    return 1 / (1 + slowdown * load);
  }

  // Asks for every idle worker until none gets work, as the pipeline does after each event.
  base::Status begin_what_can() {
    for (bool progress = true; progress;) {
      progress = false;
      for (const WorkerId worker : workers_) {
        const auto busy = [worker](const StageRun& run) { return run.worker == worker; };
        if (std::any_of(runs_.begin(), runs_.end(), busy)) continue;
        const auto assignment = scheduler_.next(worker, now_ms());
        if (!assignment) continue;
        CUZK_ASSERT(assignment->stage == worker.kind);
        const double work_s = work_of(assignment->stage);
        runs_.push_back({worker, *assignment, work_s, work_s, turn_count_++});
        progress = true;
        CUZK_TRY_STATUS(keep_books());
      }
    }
    return base::ok_status();
  }

  // Seconds until the first of what runs is through at the rates of now; infinite when all wait.
  double time_to_next_end() const {
    double soonest_s = std::numeric_limits<double>::infinity();
    for (const StageRun& run : runs_) {
      const double rate = rate_of(run);
      if (rate > 0) soonest_s = std::min(soonest_s, run.left_s / rate);
    }
    return soonest_s;
  }

  // Lets time pass. `step_s` reaches no further than the next end, so nothing is through before it.
  void advance(double step_s) {
    // Rates of this moment for all, before any of them moves on.
    CUZK_ASSERT(step_s >= 0);
    std::vector<double> rates;
    for (const StageRun& run : runs_) rates.push_back(rate_of(run));
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      runs_[i].left_s -= rates[i] * step_s;
      if (runs_[i].assignment.stage != Stage::kWitness) continue;
      CUZK_ASSERT(runs_[i].worker.index < arena_share_.size());
      double& share = arena_share_[runs_[i].worker.index];
      share = std::max(share, 1 - std::max(0.0, runs_[i].left_s) / runs_[i].work_s);
    }
    now_s_ += step_s;
  }

  // Reports every stage that is through, in the order in which they began.
  base::Status end_what_is_done() {
    for (std::size_t i = 0; i < runs_.size();) {
      if (runs_[i].left_s > kEpsilonS) {
        ++i;
        continue;
      }
      // Out of the list before the scheduler is asked for anything.
      const StageRun ended = runs_[i];
      runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
      scheduler_.done(ended.worker, now_ms());
      if (ended.assignment.stage == Stage::kWitness) handed_over_ = true;
      CUZK_TRY_STATUS(keep_books());
    }
    return base::ok_status();
  }

  // The ledger follows the scheduler. It has the same budget and refuses nothing, or the scheduler
  // granted what it must not.
  base::Status keep_books() {
    const SchedulerCounts counts = scheduler_.counts();
    const auto in_device = counts.in_state(PartitionState::kDevice);
    const auto in_witness =
        counts.in_state(PartitionState::kWitness) + counts.in_state(PartitionState::kDeviceQueued);
    const auto in_finish =
        counts.in_state(PartitionState::kFinishQueued) + counts.in_state(PartitionState::kFinish);
    const PartitionPlan& plan = config_.job.partitions.front();
    const std::uint64_t pending = in_finish * plan.pending_bytes;
    const std::uint64_t scratch = in_device * plan.device_bytes;
    const std::uint64_t witness = (in_witness + in_device) * plan.witness_bytes;
    CUZK_ASSERT(counts.held_bytes >= pending + scratch + witness);
    const std::uint64_t shared = counts.held_bytes - pending - scratch - witness;
    using base::MemoryCategory;
    // What shrinks first, so that a change of category is no peak.
    for (int pass = 0; pass < 2; ++pass) {
      CUZK_TRY_STATUS(book(witness_, witness, MemoryCategory::kWitness, pass));
      CUZK_TRY_STATUS(book(scratch_, scratch, MemoryCategory::kEvaluation, pass));
      CUZK_TRY_STATUS(book(pending_, pending, MemoryCategory::kPending, pass));
      CUZK_TRY_STATUS(book(shared_, shared, MemoryCategory::kMatrices, pass));
    }
    const std::uint64_t used = ledger_.snapshot().total.used_bytes;
    CUZK_ASSERT(used == counts.held_bytes + config_.scheduler.memory.fixed_bytes);
    return base::ok_status();
  }

  struct Book {
    Holding holding;
    std::uint64_t bytes = 0;
  };
  base::Status book(Book& book, std::uint64_t bytes, base::MemoryCategory category, int pass) {
    if ((pass == 0) != (bytes < book.bytes)) return base::ok_status();
    book.bytes = bytes;
    return book.holding.resize(ledger_, bytes, category, "simulation");
  }

  // The ledger's bytes, less what witnesses have not filled yet, and what the arenas keep.
  std::uint64_t resident_bytes() const {
    const PartitionPlan& plan = config_.job.partitions.front();
    double bytes = static_cast<double>(ledger_.snapshot().total.used_bytes);
    for (const StageRun& run : runs_) {
      if (run.assignment.stage != Stage::kWitness) continue;
      bytes -= static_cast<double>(plan.witness_bytes) * std::max(0.0, run.left_s) / run.work_s;
    }
    for (const double share : arena_share_) {
      bytes += share * static_cast<double>(config_.arena_bytes);
    }
    return static_cast<std::uint64_t>(bytes);
  }

  // An idle worker's allocator is told to give back what it kept.
  void trim_idle_arenas() {
    for (std::uint32_t i = 0; i < arena_share_.size(); ++i) {
      const WorkerId worker{Stage::kWitness, i};
      const auto busy = [worker](const StageRun& run) { return run.worker == worker; };
      if (std::none_of(runs_.begin(), runs_.end(), busy)) arena_share_[i] = 0;
    }
  }

  // Adds a reading to the curves and keeps the peaks up to date.
  void sample() {
    trim_idle_arenas();
    const SchedulerCounts counts = scheduler_.counts();
    SimulationSample sample;
    sample.time_s = now_s_;
    sample.resident_bytes = resident_bytes();
    sample.ledger_bytes = ledger_.snapshot().total.used_bytes;
    const auto of = [&counts](PartitionState state) {
      return static_cast<std::uint32_t>(counts.in_state(state));
    };
    sample.witness_running = of(PartitionState::kWitness);
    sample.device_queued = of(PartitionState::kDeviceQueued);
    sample.device_running = of(PartitionState::kDevice);
    sample.pending = of(PartitionState::kFinishQueued) + of(PartitionState::kFinish);
    if (sample.resident_bytes > result_.resident_peak_bytes) {
      result_.resident_peak_bytes = sample.resident_bytes;
      result_.resident_peak_s = now_s_;
    }
    // The first burst: all workers fill their first witnesses at once and none has left yet.
    if (!handed_over_) result_.burst_peak_bytes = result_.resident_peak_bytes;
    result_.device_queued_peak = std::max(result_.device_queued_peak, sample.device_queued);
    const bool over = config_.host_bytes != 0 && sample.resident_bytes > config_.host_bytes;
    if (over && result_.overflow_s < 0) result_.overflow_s = now_s_;
    result_.samples.push_back(sample);
  }

  // What is known only at the end of the run.
  void summarise() {
    CUZK_ASSERT(!result_.samples.empty());
    result_.duration_s = now_s_;
    result_.ledger_peak_bytes = ledger_.snapshot().total.peak_bytes;
    result_.resident_end_bytes = result_.samples.back().resident_bytes;
    result_.ledger_end_bytes = result_.samples.back().ledger_bytes;
    result_.counts = scheduler_.counts();
    std::vector<std::uint64_t> middle;
    for (const SimulationSample& sample : result_.samples) {
      const double share = sample.time_s / now_s_;
      if (share >= 0.25 && share <= 0.75) middle.push_back(sample.resident_bytes);
    }
    // The median of the middle half: neither the filling nor the emptying of the pipeline.
    std::sort(middle.begin(), middle.end());
    if (!middle.empty()) result_.plateau_bytes = middle[middle.size() / 2];
  }

  const SimulationConfig& config_;
  Scheduler scheduler_;
  base::Ledger ledger_;
  std::mt19937 random_;
  std::vector<double> arena_share_;  // of each witness worker: how far it ever got
  std::vector<WorkerId> workers_;
  std::vector<StageRun> runs_;
  Holding fixed_;
  Book witness_, scratch_, pending_, shared_;
  std::uint64_t turn_count_ = 0;
  double now_s_ = 0;
  bool handed_over_ = false;
  SimulationResult result_;
};

}  // namespace

base::Result<SimulationResult> simulate(const SimulationConfig& config) {
  CUZK_TRY_STATUS(Scheduler::check(config.scheduler));
  if (config.job.partitions.empty() || config.job_count == 0 || config.sample_s <= 0) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "simulation: expected jobs with partitions and a sampling time"};
  }
  // keep_books() multiplies counts by one plan.
  for (const PartitionPlan& plan : config.job.partitions) {
    const PartitionPlan& first = config.job.partitions.front();
    if (plan.witness_bytes != first.witness_bytes || plan.device_bytes != first.device_bytes ||
        plan.pending_bytes != first.pending_bytes) {
      return base::Error{base::ErrorKind::kInvalidArgument,
                         "simulation: expected partitions of one size"};
    }
  }
  return Run(config).run();
}

}  // namespace cuzk::engine
