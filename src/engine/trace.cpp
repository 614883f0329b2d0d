// Recording spans and samples.
//
// A span costs one lock and a push_back, on the worker that ended a stage; a sample is read by a
// thread of the trace's own. Both lists are bounded: spans are dropped, for totals hold what
// matters, and samples are thinned, for a run of any length should show from its beginning.
#include "engine/trace.h"

#include <algorithm>
#include <utility>

namespace cuzk::engine {
namespace {

using base::MutexLock;

double seconds(StageSpan::Time begin, StageSpan::Time end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

TraceSample make_sample(double at_s, const ExecutorReport& report) {
  TraceSample sample;
  sample.at_s = at_s;
  sample.budget_bytes = report.budget_bytes;
  sample.ledger_bytes = report.ledger.total.used_bytes;
  for (std::size_t i = 0; i < base::kMemoryCategoryCount; ++i) {
    sample.by_category[i] = report.ledger.by_category[i].used_bytes;
  }
  if (const auto resident = read_resident(); resident.ok()) sample.resident = *resident;
  sample.counts = report.counts;
  sample.witnesses_alive = report.witnesses_alive;
  sample.pending_alive = report.pending_alive;
  sample.descriptor_count = open_descriptor_count();
  return sample;
}

RunTrace::RunTrace() = default;
RunTrace::~RunTrace() { stop_sampling(); }

double RunTrace::now_s() const { return seconds(begin_, std::chrono::steady_clock::now()); }

// A worker's time is counted once: what critical work took inside another stage is that work's own,
// and goes off the stage around it.
void RunTrace::stage_ended(const StageSpan& span) {
  const MutexLock lock(mutex_);
  // Spans of a worker end from the inside out: those inside this one have ended before it.
  std::vector<StageSpan>& inner = inner_[span.worker];
  double inside_s = 0;
  while (!inner.empty() && inner.back().begin >= span.begin) {
    inside_s += seconds(inner.back().begin, inner.back().end);
    inner.pop_back();
  }
  // Only what ran inside another span will be asked for again.
  if (span.assignment.reason == GrantReason::kInline) inner.push_back(span);
  const double whole_s = seconds(span.begin, span.end);
  CUZK_ASSERT(static_cast<std::size_t>(span.assignment.stage) < kStageCount);
  StageTotal& total = totals_[static_cast<std::size_t>(span.assignment.stage)];
  ++total.count;
  total.failed_count += span.failed ? 1 : 0;
  total.busy_s += std::max(0.0, whole_s - inside_s);
  total.longest_s = std::max(total.longest_s, whole_s);
  CUZK_ASSERT(spans_.size() <= kSpansMax);
  if (spans_.size() < kSpansMax) {
    spans_.push_back(span);
  } else {
    ++dropped_span_count_;
  }
}

void RunTrace::start_sampling(std::chrono::milliseconds interval,
                              std::function<ExecutorReport()> report) {
  CUZK_ASSERT(report != nullptr);
  stop_sampling();
  report_ = std::move(report);
  sampler_ =
      std::jthread([this, interval](const std::stop_token& stop) { sample_loop(stop, interval); });
}

// Its pause ends at once when it is asked to stop, so stop_sampling() does not wait an interval.
void RunTrace::sample_loop(std::stop_token stop, std::chrono::milliseconds interval) {
  base::Mutex idle;
  std::condition_variable_any wake;
  while (!stop.stop_requested()) {
    add_sample(make_sample(now_s(), report_()));
    const MutexLock lock(idle);
    wake.wait_for(idle, stop, interval, [] { return false; });
  }
}

void RunTrace::stop_sampling() {
  if (!sampler_.joinable()) return;
  sampler_.request_stop();
  sampler_.join();
  add_sample(make_sample(now_s(), report_()));
}

void RunTrace::add_sample(TraceSample sample) {
  const MutexLock lock(mutex_);
  if (samples_.size() >= kSamplesMax) {
    // The distance between samples doubles each time, evenly over the whole run.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
    samples_.resize(kept);
  }
  CUZK_ASSERT(samples_.size() < kSamplesMax);
  samples_.push_back(std::move(sample));
}

void RunTrace::name_job(JobId id, std::string name) {
  const MutexLock lock(mutex_);
  names_[id] = std::move(name);
}

void RunTrace::restart() {
  const MutexLock lock(mutex_);
  totals_ = {};
  std::vector<StageSpan>().swap(spans_);  // an assignment would keep its memory
  std::vector<TraceSample>().swap(samples_);
  inner_.clear();
  dropped_span_count_ = 0;
}

std::array<StageTotal, kStageCount> RunTrace::totals() const {
  const MutexLock lock(mutex_);
  return totals_;
}

std::vector<TraceSample> RunTrace::samples() const {
  const MutexLock lock(mutex_);
  return samples_;
}

std::vector<StageSpan> RunTrace::spans() const {
  const MutexLock lock(mutex_);
  return spans_;
}

}  // namespace cuzk::engine
