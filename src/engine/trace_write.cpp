// A trace as a file and as a picture.
//
// The events follow the Trace Event Format of Chrome (complete events "X", counters "C", names "M";
// times in microseconds), which viewers read and which lets further members stand in the document.
// Words of states and reasons are part of the file's format; docs/engine.md lists its members.
#include <climits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/svg_plot.h"
#include "engine/trace.h"

namespace cuzk::engine {
namespace {

using Json = nlohmann::ordered_json;
using base::MutexLock;

constexpr double kMicrosecond = 1e-6;
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr int kProcess = 1;

constexpr int kTracksOfStage = 1'000'000;  // more than workers of a kind on any machine

static_assert(kTracksOfStage < INT_MAX / static_cast<int>(kStageCount));

// Tracks in the order of the pipeline, then of the workers.
int track_of(WorkerId worker) {
  return 1 + static_cast<int>(worker.kind) * kTracksOfStage + static_cast<int>(worker.index);
}

std::string_view state_name(PartitionState state) {
  switch (state) {
    case PartitionState::kQueued: return "queued";
    case PartitionState::kWitness: return "witness";
    case PartitionState::kDeviceQueued: return "device_queued";
    case PartitionState::kDevice: return "device";
    case PartitionState::kFinishQueued: return "finish_queued";
    case PartitionState::kFinish: return "finish";
    case PartitionState::kDone: return "done";
    case PartitionState::kEnded: return "ended";
  }
  return "";
}

std::string_view reason_name(GrantReason reason) {
  switch (reason) {
    case GrantReason::kOrder: return "order";
    case GrantReason::kAged: return "aged";
    case GrantReason::kGrouped: return "grouped";
    case GrantReason::kInline: return "inline";
  }
  return "";
}

// The event that names a worker's track.
Json thread_name(WorkerId worker) {
  return {{"ph", "M"},
          {"name", "thread_name"},
          {"pid", kProcess},
          {"tid", track_of(worker)},
          {"args", {{"name", fmt::format("{} worker {}", to_string(worker.kind), worker.index)}}}};
}

// A counter's reading; viewers draw the members of `values` on top of one another.
Json counter(const char* name, double at_s, Json values) {
  return {{"ph", "C"},       {"name", name},
          {"pid", kProcess}, {"ts", at_s / kMicrosecond},
          {"tid", 0},        {"args", std::move(values)}};
}

// Bytes by category, under the words that status pages use.
Json categories(const TraceSample& sample) {
  Json out = Json::object();
  for (std::size_t i = 0; i < sample.by_category.size(); ++i) {
    out[std::string(to_string(static_cast<base::MemoryCategory>(i)))] = sample.by_category[i];
  }
  return out;
}

// Jobs by where they are, and the partitions of those in flight by state.
Json queues(const SchedulerCounts& counts) {
  Json out = {{"jobs_queued", counts.queued_jobs}, {"jobs_in_flight", counts.in_flight_jobs}};
  for (std::size_t i = 0; i < kPartitionStateCount; ++i) {
    out[std::string(state_name(static_cast<PartitionState>(i)))] = counts.partitions[i];
  }
  return out;
}

// A sample in full, for who wants to compute with it; the counters are for viewers.
Json sample_json(const TraceSample& sample) {
  return {{"at_s", sample.at_s},
          {"budget_bytes", sample.budget_bytes},
          {"ledger_bytes", sample.ledger_bytes},
          {"ledger", categories(sample)},
          {"resident_bytes", sample.resident.total_bytes()},
          {"resident",
           {{"anonymous", sample.resident.anonymous_bytes},
            {"file", sample.resident.file_bytes},
            {"shared", sample.resident.shared_bytes}}},
          {"queues", queues(sample.counts)},
          {"slots_held", sample.counts.slots_held},
          {"scheduler_bytes", sample.counts.held_bytes},
          {"witnesses_alive", sample.witnesses_alive},
          {"pending_alive", sample.pending_alive},
          {"threads", sample.resident.thread_count},
          {"descriptors", sample.descriptor_count}};
}

Json total_json(const StageTotal& total) {
  return {{"count", total.count},
          {"failed", total.failed_count},
          {"busy_s", total.busy_s},
          {"longest_s", total.longest_s}};
}

// Four counters a sample. They repeat what the samples say, since viewers know no other form.
Json sample_counters(const std::vector<TraceSample>& samples) {
  Json out = Json::array();
  for (const TraceSample& sample : samples) {
    out.push_back(counter("ledger", sample.at_s, categories(sample)));
    out.push_back(counter("resident", sample.at_s,
                          {{"anonymous", sample.resident.anonymous_bytes},
                           {"file", sample.resident.file_bytes},
                           {"shared", sample.resident.shared_bytes}}));
    out.push_back(counter("waiting partitions", sample.at_s,
                          {{"for a device", sample.counts.in_state(PartitionState::kDeviceQueued)},
                           {"for finish", sample.counts.in_state(PartitionState::kFinishQueued)}}));
    out.push_back(
        counter("buffers in flight", sample.at_s,
                {{"witnesses", sample.witnesses_alive}, {"pending proofs", sample.pending_alive}}));
  }
  return out;
}

}  // namespace

// The whole document in memory, some hundred bytes an event, under the lock: it is made once, when
// the run is over.
std::string RunTrace::to_json(const std::string& title) const {
  const MutexLock lock(mutex_);
  Json events = Json::array();
  // Each track is named once, before its first span.
  std::map<WorkerId, bool> named;
  for (const StageSpan& span : spans_) {
    if (named.try_emplace(span.worker, true).second) events.push_back(thread_name(span.worker));
    const auto since = [this](StageSpan::Time time) {
      return std::chrono::duration<double>(time - begin_).count() / kMicrosecond;
    };
    const auto known = names_.find(span.assignment.job);
    const std::string job =
        known != names_.end() ? known->second : fmt::format("job {}", span.assignment.job);
    events.push_back({{"ph", "X"},
                      {"name", fmt::format("{} {}", job, to_string(span.assignment.stage))},
                      {"cat", std::string(to_string(span.assignment.stage))},
                      {"pid", kProcess},
                      {"tid", track_of(span.worker)},
                      {"ts", since(span.begin)},
                      {"dur", since(span.end) - since(span.begin)},
                      {"args",
                       {{"job", span.assignment.job},
                        {"partition", span.assignment.partition},
                        {"attempt", span.assignment.attempt},
                        {"device", span.assignment.device},
                        {"reason", std::string(reason_name(span.assignment.reason))},
                        {"failed", span.failed}}}});
  }
  for (Json& event : sample_counters(samples_)) events.push_back(std::move(event));
  Json samples = Json::array();
  for (const TraceSample& sample : samples_) samples.push_back(sample_json(sample));
  Json stages = Json::object();
  for (std::size_t i = 0; i < kStageCount; ++i) {
    stages[std::string(to_string(static_cast<Stage>(i)))] = total_json(totals_[i]);
  }
  const Json document = {{"displayTimeUnit", "ms"},
                         {"traceEvents", std::move(events)},
                         {"title", title},
                         {"stages", std::move(stages)},
                         {"dropped_spans", dropped_span_count_},
                         {"samples", std::move(samples)}};
  // Names of jobs come from clients: what is no UTF-8 is replaced and does not throw.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string RunTrace::to_svg(const std::string& title) const {
  const MutexLock lock(mutex_);
  Plot plot;
  plot.title = title;
  plot.x_label = "seconds";
  plot.y_label = "GiB";
  // In the order of `values` below.
  plot.series = {{"resident", {}},
                 {"resident, without mapped files", {}},
                 {"ledger", {}},
                 {"ledger: keys", {}},
                 {"ledger: witnesses", {}},
                 {"ledger: evaluation", {}}};
  const auto in_category = [](const TraceSample& sample, base::MemoryCategory category) {
    return static_cast<double>(sample.by_category[static_cast<std::size_t>(category)]) / kGiB;
  };
  for (const TraceSample& s : samples_) {
    const double values[] = {static_cast<double>(s.resident.total_bytes()) / kGiB,
                             static_cast<double>(s.resident.anonymous_bytes) / kGiB,
                             static_cast<double>(s.ledger_bytes) / kGiB,
                             in_category(s, base::MemoryCategory::kSrs),
                             in_category(s, base::MemoryCategory::kWitness),
                             in_category(s, base::MemoryCategory::kEvaluation)};
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      plot.series[i].points.emplace_back(s.at_s, values[i]);
    }
  }
  if (!samples_.empty() && samples_.back().budget_bytes != 0) {
    plot.levels.push_back({static_cast<double>(samples_.back().budget_bytes) / kGiB, "budget"});
  }
  return render_svg(plot);
}

}  // namespace cuzk::engine
