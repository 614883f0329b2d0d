// Bookkeeping of events and samples under one mutex; nothing here waits. An event costs a look-up,
// a sample nothing that grows; a reader's answer walks the jobs that are not over.
#include "service/dashboard_feed.h"

#include <algorithm>

#include "base/check.h"

namespace cuzk::service {
namespace {

using engine::EngineEvent;
using engine::PartitionState;

// As many as the page keeps.
constexpr std::size_t kEndedMax = 100;
constexpr std::size_t kSpansMax = 48;  // of a partition
constexpr std::size_t kQueuedShownMax = 50;
// What has half minutes alone begins where the seconds end, so the seconds must reach over one.
constexpr std::size_t kRecentMax = 900;  // a quarter of an hour by seconds
constexpr std::size_t kOlderMax = 2880;  // a day by half minutes
constexpr std::int64_t kOlderStep_ms = 30'000;
static_assert(kRecentMax * 1000 > kOlderStep_ms);
static_assert(kOlderMax * kOlderStep_ms == 86'400'000);
constexpr std::size_t kErrorBytesMax = 1000;
constexpr std::size_t kKeysMax = 256;

}  // namespace

// In the engine's thread for this observer. A partition's move ends its last span by beginning the
// next.
void DashboardFeed::observe(const EngineEvent& event) {
  const std::lock_guard lock(mutex_);
  // A job of an earlier process is first heard of by what happens to it.
  const auto job = jobs_.try_emplace(event.request_id).first;
  Job& entry = job->second;
  entry.id = event.request_id;
  entry.kind = event.job_kind;
  entry.revision = ++revision_;
  switch (event.kind) {
    case EngineEvent::Kind::kAccepted:
      entry.accepted_ms = event.at_ms;
      entry.state = engine::JobState::kQueued;
      break;
    case EngineEvent::Kind::kStarted:
      entry.started_ms = event.at_ms;
      entry.state = engine::JobState::kRunning;
      break;
    case EngineEvent::Kind::kPartitionMoved: {
      auto& spans = entry.partitions[event.partition];
      // One that is tried again and again keeps the latest.
      if (spans.size() == kSpansMax) spans.erase(spans.begin());
      CUZK_ASSERT(spans.size() < kSpansMax);
      spans.push_back({event.partition_state, event.at_ms, event.attempt, event.device});
      break;
    }
    // Last: the entry is moved away.
    case EngineEvent::Kind::kEnded:
      entry.ended_ms = event.at_ms;
      entry.state = event.state;
      close_spans(entry);
      end(job);
      break;
  }
}

// The end of a job may be heard in place of that of its last partitions.
void DashboardFeed::close_spans(Job& job) {
  const auto last =
      job.state == engine::JobState::kCompleted ? PartitionState::kDone : PartitionState::kEnded;
  for (auto& [index, spans] : job.partitions) {
    if (spans.empty() || spans.back().state == PartitionState::kDone ||
        spans.back().state == PartitionState::kEnded) {
      continue;
    }
    spans.push_back({last, job.ended_ms, spans.back().attempt, spans.back().device});
  }
}

void DashboardFeed::end(std::map<std::string, Job>::iterator job) {
  ended_.push_back(std::move(job->second));
  jobs_.erase(job);
  if (ended_.size() > kEndedMax) ended_.pop_front();
  CUZK_ASSERT(ended_.size() <= kEndedMax);
}

// What has ended stays: it was heard of whole.
void DashboardFeed::keep_only(const std::set<std::string>& live) {
  const std::lock_guard lock(mutex_);
  std::erase_if(jobs_, [&](const auto& job) { return live.count(job.first) == 0; });
}

// Comes after the end of the job, so it is looked for among those that are over.
void DashboardFeed::note_error(const std::string& id, const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  // From the end: the latest of that name, for a failed job may be submitted again.
  const auto job = std::find_if(ended_.rbegin(), ended_.rend(),
                                [&](const Job& ended) { return ended.id == id; });
  if (job == ended_.rend()) return;
  job->error = sentence.substr(0, kErrorBytesMax);
  job->revision = ++revision_;
}

// Every sample goes into recent_, and the first of each half minute into older_ too.
void DashboardFeed::sample(const engine::EngineReport& report, std::int64_t now_ms) {
  const auto& executor = report.executor;
  Sample sample;
  sample.at_ms = now_ms;
  sample.rss_bytes = executor.rss_bytes;
  sample.budget_bytes = executor.budget_bytes;
  for (std::size_t i = 0; i < sample.category_bytes.size(); ++i) {
    sample.category_bytes[i] = executor.ledger.by_category[i].used_bytes;
  }
  for (const auto& queue : report.queues) {
    sample.pending += queue.pending;
    sample.in_progress += queue.in_progress;
    sample.completed += queue.completed;
    sample.failed += queue.failed;
  }
  for (const auto& device : executor.devices) {
    sample.busy_workers += static_cast<std::uint32_t>(device.running.size());
    sample.workers += device.worker_count;
  }
  // Summed up before the lock, for which readers of the page may wait.
  const std::lock_guard lock(mutex_);
  recent_.push_back(sample);
  if (recent_.size() > kRecentMax) recent_.pop_front();
  if (older_.empty() || now_ms - older_.back().at_ms >= kOlderStep_ms) {
    older_.push_back(sample);
    if (older_.size() > kOlderMax) older_.pop_front();
  }
  CUZK_ASSERT(recent_.size() <= kRecentMax && older_.size() <= kOlderMax);
  // Names come from the configuration, so they are few; the bound is for what nobody thought of.
  for (const auto& key : executor.keys) {
    if (key.reference_count == 0) continue;
    const auto known = key_used_ms_.find(key.name);
    if (known != key_used_ms_.end()) {
      known->second = now_ms;
    } else if (key_used_ms_.size() < kKeysMax) {
      key_used_ms_.emplace(key.name, now_ms);
    }
  }
}

// By their start, which for the monitor is the order of its rows.
std::vector<DashboardFeed::Job> DashboardFeed::active(std::int64_t ended_after_ms) const {
  std::vector<Job> all;
  const std::lock_guard lock(mutex_);
  for (const Job& job : ended_) {
    if (job.ended_ms > ended_after_ms) all.push_back(job);
  }
  for (const auto& [id, job] : jobs_) {
    if (job.started_ms != 0) all.push_back(job);
  }
  std::stable_sort(all.begin(), all.end(), [](const Job& a, const Job& b) {
    return std::pair(a.started_ms, a.accepted_ms) < std::pair(b.started_ms, b.accepted_ms);
  });
  return all;
}

// As old as a sample at most: a use between two is not seen.
std::int64_t DashboardFeed::key_used_ms(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = key_used_ms_.find(name);
  return found == key_used_ms_.end() ? 0 : found->second;
}

// Times are milliseconds since the epoch; 0 stands for what has not been.
DashboardFeed::Json DashboardFeed::to_json(const Job& job) {
  Json out;
  out["id"] = job.id;
  out["kind"] = job.kind;
  out["state"] = std::string(engine::to_string(job.state));
  out["accepted_ms"] = job.accepted_ms;
  out["started_ms"] = job.started_ms;
  out["ended_ms"] = job.ended_ms;
  if (!job.error.empty()) out["error"] = job.error;
  // A partition is a list of [state, begin, attempt, device].
  out["partitions"] = Json::array();
  for (const auto& [index, spans] : job.partitions) {
    Json list = Json::array();
    for (const Span& span : spans) {
      list.push_back({static_cast<int>(span.state), span.begin_ms, span.attempt, span.device});
    }
    out["partitions"].push_back({{"index", index}, {"spans", std::move(list)}});
  }
  return out;
}

// Short names: an answer may have a thousand of these.
DashboardFeed::Json DashboardFeed::to_json(const Sample& sample) {
  Json categories = Json::array();
  for (const std::uint64_t bytes : sample.category_bytes) categories.push_back(bytes);
  return {{"t", sample.at_ms},
          {"rss", sample.rss_bytes},
          {"budget", sample.budget_bytes},
          {"categories", std::move(categories)},
          {"pending", sample.pending},
          {"running", sample.in_progress},
          {"completed", sample.completed},
          {"failed", sample.failed},
          {"busy", sample.busy_workers},
          {"workers", sample.workers}};
}

// A reader that knows nothing (0, 0) gets all there is.
DashboardFeed::Json DashboardFeed::changes(std::uint64_t revision, std::int64_t sample_ms) const {
  const std::lock_guard lock(mutex_);
  Json out;
  out["revision"] = revision_;
  out["jobs"] = Json::array();
  // Over first: of two runs of one id the page keeps what comes last.
  for (const Job& job : ended_) {
    if (job.revision > revision) out["jobs"].push_back(to_json(job));
  }
  std::vector<const Job*> queued;
  for (const auto& [id, job] : jobs_) {
    if (job.started_ms == 0) {
      queued.push_back(&job);
    } else if (job.revision > revision) {
      out["jobs"].push_back(to_json(job));
    }
  }
  // Those that wait are few lines of many: the oldest ones, whole each time.
  std::stable_sort(queued.begin(), queued.end(),
                   [](const Job* a, const Job* b) { return a->accepted_ms < b->accepted_ms; });
  out["queued"] = Json::array();
  for (std::size_t i = 0; i < queued.size() && i < kQueuedShownMax; ++i) {
    out["queued"].push_back(to_json(*queued[i]));
  }
  out["queued_count"] = queued.size();
  out["samples"] = Json::array();
  // The day by half minutes up to where the seconds begin, then those.
  const std::int64_t recent_begin = recent_.empty() ? INT64_MAX : recent_.front().at_ms;
  for (const Sample& sample : older_) {
    if (sample.at_ms > sample_ms && sample.at_ms < recent_begin) {
      out["samples"].push_back(to_json(sample));
    }
  }
  for (const Sample& sample : recent_) {
    if (sample.at_ms > sample_ms) out["samples"].push_back(to_json(sample));
  }
  return out;
}

}  // namespace cuzk::service
