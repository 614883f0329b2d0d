// What the dashboard and /status show beside the engine's report: the course of jobs and their
// partitions, and memory, queue and throughput over time.
//
// Bounded: jobs that are over are kept by number, samples by age, spans by partition. A reader asks
// for what changed since its last answer.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/ledger.h"
#include "engine/engine.h"

namespace cuzk::service {

// Thread-safe.
class DashboardFeed {
 public:
  using Json = nlohmann::ordered_json;

  // A state that a partition was or is in. It ends where the next one begins.
  struct Span {
    engine::PartitionState state = engine::PartitionState::kQueued;
    std::int64_t begin_ms = 0;  // since the epoch
    std::uint32_t attempt = 1, device = 0;
  };
  // What has been heard of a job. A partition is there once it has moved.
  struct Job {
    std::string id, kind;
    engine::JobState state = engine::JobState::kQueued;
    std::int64_t accepted_ms = 0, started_ms = 0, ended_ms = 0;  // 0: not yet
    std::map<std::size_t, std::vector<Span>> partitions;
    std::string error;
    std::uint64_t revision = 0;
  };

  // For Engine::observe.
  void observe(const engine::EngineEvent& event);
  // After events were left out: forgets all that are not over but those in `live`, for their ends
  // may be among what was left out.
  void keep_only(const std::set<std::string>& live);
  // Why a job that ended failed, when it is known.
  void note_error(const std::string& id, const std::string& sentence);
  // Once a second.
  void sample(const engine::EngineReport& report, std::int64_t now_ms);

  // Jobs that are worked on or ended after `ended_after_ms`, in order of their start; copies.
  std::vector<Job> active(std::int64_t ended_after_ms) const;
  // When a key was in use last, as the samples saw it; 0: never.
  std::int64_t key_used_ms(const std::string& name) const;
  // Jobs that changed after `revision` and samples after `sample_ms`.
  Json changes(std::uint64_t revision, std::int64_t sample_ms) const;

 private:
  // The state of the whole at one time. completed and failed are totals since the engine was made;
  // their differences are the throughput.
  struct Sample {
    std::int64_t at_ms = 0;
    std::uint64_t rss_bytes = 0, budget_bytes = 0;
    std::array<std::uint64_t, base::kMemoryCategoryCount> category_bytes{};
    std::uint64_t pending = 0, in_progress = 0, completed = 0, failed = 0;
    std::uint32_t busy_workers = 0, workers = 0;
  };

  static Json to_json(const Job& job);
  static Json to_json(const Sample& sample);
  // close_spans() ends what the job's partitions were in; end() moves it to ended_. Under the lock.
  static void close_spans(Job& job);
  void end(std::map<std::string, Job>::iterator job);

  // A job is in jobs_ from the first event that was heard of it to its end, then in ended_ until a
  // hundred others have ended. Each change of one gives it the next revision, so that what changed
  // since an answer is one comparison. older_ has a sample of recent_ now and then and keeps it
  // for a day; an answer takes from it only what is before the first of recent_.
  mutable std::mutex mutex_;
  std::uint64_t revision_ = 0;
  std::map<std::string, Job> jobs_;  // not over
  std::list<Job> ended_;             // oldest first
  std::deque<Sample> recent_;        // one a second
  std::deque<Sample> older_;         // one in half a minute
  std::map<std::string, std::int64_t> key_used_ms_;
};

}  // namespace cuzk::service
