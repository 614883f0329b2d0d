// Opening and closing, and the threads; the public functions hand on to the state.
//
// Opening goes from what must survive to what may be made anew: journal, table of unfinished jobs,
// executor, threads. Closing goes the other way, so that whoever speaks still has a listener: the
// executor first, then the feeder, then the recorder, which writes the last words down.
#include "engine/engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/engine_state.h"

namespace cuzk::engine {

using base::LogLevel;
using base::MutexLock;
using base::Result;
using base::Status;

namespace {

std::int64_t system_now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

Engine::State::State(EngineOptions options, std::shared_ptr<const JobTypes> types)
    : options_(std::move(options)), types_(std::move(types)) {
  if (!options_.now_ms) options_.now_ms = system_now_ms;
  // 0 would fail a job for a crash that it did not see.
  if (options_.crashes_max == 0) options_.crashes_max = 1;
}

Engine::State::~State() { stop(); }

// A failure on the way leaves what was made so far to the destructor, whose stop() finds no
// threads.
Status Engine::State::open(const MakeExecutor& make_executor) {
  CUZK_ASSERT(journal_ == nullptr && executor_ == nullptr);
  started_ms_ = now_ms();
  JournalOptions journal;
  journal.folder = options_.journal_folder;
  journal.now_ms = options_.now_ms;
  journal.size_bytes_max = options_.journal_bytes_max;
  journal.file_layer = options_.journal_file_layer;
  if (options_.journal_reserve_bytes) journal.reserve_bytes = *options_.journal_reserve_bytes;
  CUZK_TRY(journal_, Journal::open(std::move(journal)));
  for (const std::string& loss : journal_->open_report().losses) {
    base::log(LogLevel::kWarning, "journal: " + loss);
  }
  // Records alone: inputs and proofs are read when a job is given.
  CUZK_TRY(const auto records, journal_->list({.states = {JobState::kQueued, JobState::kRunning},
                                               .count_max = SIZE_MAX}));
  finals_ = std::make_shared<internal::CallThread>();
  // It may speak at once; say() only queues until the recorder runs.
  CUZK_TRY(executor_, make_executor(*this));
  {
    const MutexLock hold(mutex_);
    for (const JobRecord& record : records) {
      Entry& entry = enter(record);
      entry.announced = true;  // in an earlier life
      wait_for_feeding(entry);
    }
  }
  CUZK_ASSERT(executor_ != nullptr);
  recorder_ = std::thread([this] { record(); });
  feeder_ = std::thread([this] { feed(); });
  housekeeper_ = std::thread([this] { housekeep(); });
  return base::ok_status();
}

void Engine::State::housekeep() {
  while (true) {
    // First at opening: what became too old while no engine ran.
    const auto pruned = journal_->prune(options_.retention);
    if (!pruned.ok()) {
      base::log(LogLevel::kWarning, "cannot prune the journal: " + pruned.error().message);
    }
    const auto next = std::chrono::steady_clock::now() + options_.prune_interval;
    const MutexLock hold(mutex_);
    while (!stopping_) {
      if (changed_.wait_until(mutex_, next) == std::cv_status::timeout) break;
    }
    if (stopping_) return;
  }
}

void Engine::State::drain() {
  const MutexLock hold(mutex_);
  draining_ = true;
}

bool Engine::State::wait_idle(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  const MutexLock hold(mutex_);
  // A claim may be a submission that has not reached the table yet.
  while (live_count_ > 0 || !claimed_.empty()) {
    if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) {
      return live_count_ == 0 && claimed_.empty();
    }
  }
  return true;
}

void Engine::State::stop() {
  {
    const MutexLock hold(mutex_);
    draining_ = true;
    if (stopping_) {
      // Who comes second returns when the first one is through.
      while (!stopped_) changed_.wait(mutex_);
      return;
    }
    stopping_ = true;
  }
  changed_.notify_all();
  // It ends what it has as unavailable, which the recorder takes for "again next time".
  if (executor_ != nullptr) executor_->stop();
  if (feeder_.joinable()) feeder_.join();
  {
    const MutexLock hold(queue_mutex_);
    // After the executor's last word, so that the recorder finds it in its queue.
    recorder_ending_ = true;
  }
  happened_.notify_all();
  if (recorder_.joinable()) recorder_.join();
  if (housekeeper_.joinable()) housekeeper_.join();
  std::vector<std::shared_ptr<internal::Waiter>> waiters;
  {
    const MutexLock hold(mutex_);
    for (const auto& [id, entry] : by_id_) {
      // Collected under the lock, told outside: what they call may come back here.
      auto taken = take_waiters(*entry);
      std::move(taken.begin(), taken.end(), std::back_inserter(waiters));
    }
    stopped_ = true;
  }
  changed_.notify_all();
  for (const auto& waiter : waiters) waiter->abandon();
}

Engine::State::Entry* Engine::State::live(std::string_view request_id) {
  const auto found = by_name_.find(request_id);
  return found == by_name_.end() || found->second->over ? nullptr : found->second;
}

Engine::State::Entry* Engine::State::entry_of(JobId id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second.get();
}

Engine::State::Entry* Engine::State::entry_of_run(RunId run) {
  const auto found = runs_.find(run);
  return found == runs_.end() ? nullptr : entry_of(found->second);
}

void Engine::State::forget(Entry& entry) {
  take_from_backlog(entry);
  set_place(entry, Place::kWaiting);
  const auto found = by_name_.find(entry.request_id);
  if (found != by_name_.end() && found->second == &entry) by_name_.erase(found);
  const JobId id = entry.id;
  by_id_.erase(id);  // the entry dies
  changed_.notify_all();
}

std::vector<std::shared_ptr<internal::Waiter>> Engine::State::take_waiters(Entry& entry) {
  std::vector<std::shared_ptr<internal::Waiter>> out;
  for (const auto& weak : entry.waiters) {
    if (auto waiter = weak.lock()) out.push_back(std::move(waiter));
  }
  entry.waiters.clear();
  return out;
}

// Claims are few and short: as long as an acceptance or a cancellation takes on disk. So all who
// wait are woken by each release, and look again.
void Engine::State::claim(const std::string& request_id) {
  while (is_claimed(request_id)) released_.wait(mutex_);
  const bool is_new = claimed_.insert(request_id).second;
  CUZK_ASSERT(is_new);
}

void Engine::State::release(const std::string& request_id) {
  const std::size_t count = claimed_.erase(request_id);
  CUZK_ASSERT(count == 1);
  released_.notify_all();
  // wait_idle() looks at claims too.
  changed_.notify_all();
}

// What is below hands on. Journal and executor are thread-safe themselves, so what concerns one of
// them alone goes there without the state's lock.
Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {
  CUZK_ASSERT(state_ != nullptr);
}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options,
                                             std::shared_ptr<const JobTypes> types,
                                             const MakeExecutor& make_executor) {
  CUZK_ASSERT(types != nullptr && make_executor);
  auto state = std::make_unique<State>(std::move(options), std::move(types));
  CUZK_TRY_STATUS(state->open(make_executor));
  return std::unique_ptr<Engine>(new Engine(std::move(state)));
}

Result<Submitted> Engine::submit(const SubmitRequest& request) { return state_->submit(request); }

Result<std::optional<JobView>> Engine::await(std::string_view request_id,
                                             std::chrono::milliseconds timeout) {
  return state_->await(request_id, timeout);
}

Result<std::shared_ptr<Subscription>> Engine::on_final(std::string_view request_id,
                                                       std::function<void(const JobView&)> done) {
  return state_->on_final(request_id, std::move(done));
}

std::shared_ptr<Subscription> Engine::observe(std::function<void(const EngineEvent&)> observer) {
  return state_->observe(std::move(observer));
}

Result<Engine::Cancelled> Engine::cancel(std::string_view request_id) {
  return state_->cancel(request_id);
}
Result<JobView> Engine::find(std::string_view request_id) { return state_->find(request_id); }
Result<std::vector<JobView>> Engine::list(const JobQuery& query) { return state_->list(query); }
Result<base::Bytes> Engine::result(std::string_view request_id) {
  return state_->journal().result(request_id);
}
Result<bool> Engine::preload(const std::string& key_name) {
  return state_->executor().preload(key_name);
}
Result<std::uint64_t> Engine::evict(const std::string& key_name) {
  return state_->executor().evict(key_name);
}
EngineReport Engine::report() { return state_->report(); }
std::int64_t Engine::retry_after_ms() { return state_->retry_hint_ms(); }
const JobTypes& Engine::types() const { return state_->types(); }
void Engine::drain() { state_->drain(); }
bool Engine::wait_idle(std::chrono::milliseconds timeout) { return state_->wait_idle(timeout); }
void Engine::stop() { state_->stop(); }

}  // namespace cuzk::engine
