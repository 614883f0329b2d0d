// Asking and waiting.
//
// Answers join two sources: the journal, which knows what is durable, and the table, which knows
// what runs. They are read one after the other, never under one lock, so each function says what it
// makes of a job that changed in between.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/engine_state.h"

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;
using base::MutexLock;
using base::Result;

namespace {

// Longer waits end here and are as good as for ever; a clock's arithmetic does not overflow.
constexpr std::chrono::milliseconds kTimeoutMax = std::chrono::hours(24 * 365);

}  // namespace

// Those who gave up leave an empty ticket, which goes when the list has doubled.
void Engine::State::add_waiter(Entry& entry, const std::shared_ptr<internal::Waiter>& waiter) {
  if (entry.waiters.size() >= entry.waiters_sweep_at) {
    std::erase_if(entry.waiters, [](const auto& weak) { return weak.expired(); });
    entry.waiters_sweep_at = std::max<std::size_t>(16, 2 * entry.waiters.size());
  }
  entry.waiters.push_back(waiter);
}

Result<std::optional<JobView>> Engine::State::final_or_wait(
    std::string_view request_id, const std::shared_ptr<internal::Waiter>& waiter, Until until) {
  // The attempt that the journal had when nobody had the job.
  std::optional<std::pair<JobId, std::uint32_t>> seen;
  while (true) {
    bool is_late = false;
    {
      const MutexLock hold(mutex_);
      Entry* entry = nullptr;
      // A claim that has its entry already may last: the executor is asked meanwhile.
      while ((entry = live(request_id)) == nullptr && is_claimed(request_id) && !is_late) {
        if (until) {
          is_late = released_.wait_until(mutex_, *until) == std::cv_status::timeout;
        } else {
          released_.wait(mutex_);
        }
      }
      if (entry != nullptr) {
        if (stopped_) return Error{ErrorKind::kUnavailable, "the engine has stopped"};
        add_waiter(*entry, waiter);
        return std::optional<JobView>();
      }
    }
    CUZK_TRY(JobRecord record, journal_->find(request_id));
    if (is_final(record.state)) return std::optional<JobView>(view_of(std::move(record)));
    if (is_late) return std::optional<JobView>();
    // It was accepted or accepted again between the two looks. The same attempt once more: nobody
    // has had it all the time between, and to look on would be to look for ever.
    const std::pair attempt(record.sequence, record.attempt);
    if (seen == attempt) {
      return Error{ErrorKind::kUnavailable,
                   fmt::format("job '{}' is in the journal, but its submission failed half way and "
                               "nobody runs it; submit it again",
                               request_id)};
    }
    seen = attempt;
  }
}

Result<std::optional<JobView>> Engine::State::await(std::string_view request_id,
                                                    std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() +
                     std::clamp(timeout, std::chrono::milliseconds(0), kTimeoutMax);
  const auto waiter = std::make_shared<internal::BlockedWaiter>();
  CUZK_TRY(auto view, final_or_wait(request_id, waiter, until));
  return view ? std::move(view) : waiter->wait(until);
}

Result<std::shared_ptr<Subscription>> Engine::State::on_final(
    std::string_view request_id, std::function<void(const JobView&)> done) {
  const auto waiter = std::make_shared<internal::CallWaiter>(std::move(done), finals_);
  CUZK_TRY(const auto view, final_or_wait(request_id, waiter, std::nullopt));
  if (view) waiter->finish(*view);
  return std::shared_ptr<Subscription>(std::make_shared<internal::CallHandle>(waiter));
}

std::shared_ptr<Subscription> Engine::State::observe(
    std::function<void(const EngineEvent&)> observer) {
  const auto watching = std::make_shared<internal::Observer>(std::move(observer));
  {
    const MutexLock hold(mutex_);
    std::erase_if(observers_, [](const auto& weak) { return weak.expired(); });
    observers_.push_back(watching);
  }
  return std::make_shared<internal::ObserverHandle>(watching);
}

JobView Engine::State::view_of(JobRecord record) {
  JobView view;
  std::optional<RunId> run;
  {
    const MutexLock hold(mutex_);
    const auto times = times_.find(record.sequence);
    if (times != times_.end()) view.times = times->second;
    const Entry* entry = live(record.request_id);
    const bool is_given = entry != nullptr && entry->place != Place::kWaiting && !entry->stale;
    if (is_given) run = entry->run;
    if (entry != nullptr && !is_final(record.state)) {
      // The journal hears of a start a little later.
      if (entry->running) record.state = JobState::kRunning;
      view.progress = JobProgress{};
      if (!is_given) {
        view.progress->partitions[static_cast<std::size_t>(PartitionState::kQueued)] =
            record.partition_count;
      }
    }
  }
  if (run && view.progress) {
    if (auto progress = executor_->progress(*run)) view.progress = progress;
  }
  view.record = std::move(record);
  return view;
}

Result<JobView> Engine::State::find(std::string_view request_id) {
  CUZK_TRY(JobRecord record, journal_->find(request_id));
  return view_of(std::move(record));
}

Result<std::vector<JobView>> Engine::State::list(const JobQuery& query) {
  CUZK_TRY(std::vector<JobRecord> records, journal_->list(query));
  std::vector<JobView> out;
  out.reserve(records.size());
  for (JobRecord& record : records) out.push_back(view_of(std::move(record)));
  return out;
}

EngineReport Engine::State::report() {
  EngineReport out;
  out.executor = executor_->report();
  if (auto statistics = journal_->statistics(); statistics.ok()) out.journal = *statistics;
  if (const auto in_place = journal_->in_place(); !in_place.ok()) {
    out.journal_failure = in_place.error().message;
  }
  out.opened = journal_->open_report();
  out.started_ms = started_ms_;
  const MutexLock hold(mutex_);
  for (DeviceReport& device : out.executor.devices) {
    for (JobId& job : device.running) {
      const auto found = runs_.find(job);
      job = found == runs_.end() ? 0 : found->second;
    }
  }
  std::map<std::string, EngineReport::Queue> rows = ended_by_kind_;
  for (const JobType* type : types_->all()) rows[type->name];
  for (const auto& [id, entry] : by_id_) {
    std::erase_if(entry->waiters, [](const auto& weak) { return weak.expired(); });
    out.waiting_calls += entry->waiters.size();
    if (entry->over) continue;
    EngineReport::Queue& row = rows[entry->kind];
    ++(entry->running ? row.in_progress : row.pending);
  }
  for (auto& [kind, row] : rows) {
    row.kind = kind;
    out.queues.push_back(row);
  }
  out.draining = draining_;
  out.live_jobs = live_count_;
  out.unrecorded_ends = unrecorded_ends_;
  out.crash_count = crash_count_;
  out.executor_failure = executor_failure_;
  out.retry_after_ms = retry_after_ms();
  return out;
}

}  // namespace cuzk::engine
