// What happened during a run, in one file: which worker did what and when, and, sampled side by
// side, the ledger by category, resident memory by kind, queues and buffers in flight.
//
// The file is a trace that Chrome and Perfetto open (one track a worker, counters for memory), with
// our own samples and totals as further members of the same object. docs/engine.md lists them.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/executor.h"
#include "engine/resident.h"
#include "engine/stage_observer.h"

namespace cuzk::engine {

// One reading.
struct TraceSample {
  double at_s = 0;  // since the trace began
  std::uint64_t budget_bytes = 0;
  std::uint64_t ledger_bytes = 0;
  std::array<std::uint64_t, base::kMemoryCategoryCount> by_category{};
  Resident resident;
  SchedulerCounts counts;
  std::uint64_t witnesses_alive = 0, pending_alive = 0;
  std::uint64_t descriptor_count = 0;
};
// Reads the process beside what an executor says of itself.
TraceSample make_sample(double at_s, const ExecutorReport& report);

// Sums over all workers.
struct StageTotal {
  std::uint64_t count = 0, failed_count = 0;
  double busy_s = 0;  // without critical work that ran inside
  double longest_s = 0;
};

// Thread-safe. Keeps at most kSpansMax spans and kSamplesMax samples: beyond, totals go on, spans
// are dropped and every second sample goes.
class RunTrace final : public StageObserver {
 public:
  static constexpr std::size_t kSpansMax = 200'000, kSamplesMax = 20'000;
  static_assert(kSamplesMax >= 2, "thinning leaves half of them");

  RunTrace();
  ~RunTrace() override;  // stops sampling

  void stage_ended(const StageSpan& span) override CUZK_EXCLUDES(mutex_);

  // Reads `report` each `interval` from a thread of its own until stop_sampling(), which takes a
  // last one.
  void start_sampling(std::chrono::milliseconds interval, std::function<ExecutorReport()> report);
  void stop_sampling();
  void add_sample(TraceSample sample) CUZK_EXCLUDES(mutex_);
  // How spans of a job are called; its number otherwise.
  void name_job(JobId id, std::string name) CUZK_EXCLUDES(mutex_);

  // Forgets spans, totals and samples and gives their memory back, so that what comes next stands
  // alone. Times go on.
  void restart() CUZK_EXCLUDES(mutex_);

  double now_s() const;
  std::array<StageTotal, kStageCount> totals() const CUZK_EXCLUDES(mutex_);
  std::vector<TraceSample> samples() const CUZK_EXCLUDES(mutex_);
  std::vector<StageSpan> spans() const CUZK_EXCLUDES(mutex_);

  // The file. `title` says what was run.
  std::string to_json(const std::string& title) const CUZK_EXCLUDES(mutex_);
  // Ledger, resident memory and budget over time.
  std::string to_svg(const std::string& title) const CUZK_EXCLUDES(mutex_);

 private:
  // The sampler's thread. Reads outside the lock: a report may take a while.
  void sample_loop(std::stop_token stop, std::chrono::milliseconds interval);

  const StageSpan::Time begin_ = std::chrono::steady_clock::now();
  mutable base::Mutex mutex_;
  std::array<StageTotal, kStageCount> totals_ CUZK_GUARDED_BY(mutex_){};
  std::vector<StageSpan> spans_ CUZK_GUARDED_BY(mutex_);
  std::uint64_t dropped_span_count_ CUZK_GUARDED_BY(mutex_) = 0;
  std::vector<TraceSample> samples_ CUZK_GUARDED_BY(mutex_);
  std::map<JobId, std::string> names_ CUZK_GUARDED_BY(mutex_);
  // What ended inside the stage that each worker still runs.
  std::map<WorkerId, std::vector<StageSpan>> inner_ CUZK_GUARDED_BY(mutex_);
  std::function<ExecutorReport()> report_;
  std::jthread sampler_;
};

}  // namespace cuzk::engine
