// One thread sleeps until the next deadline and buries what is over: a subscription is never
// dropped from inside its own call.
#include "service/job_waits.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"

namespace cuzk::service {

using base::Error;
using base::ErrorKind;
using Clock = std::chrono::steady_clock;

// open --job final, time over, closed or abandoned--> over --the thread lets go--> gone. Which of
// the ends counts is decided by over_; that one calls `done`, unless it is abandon(). State and
// wait hold each other until then.
class JobWaits::Wait {
 public:
  Wait(std::shared_ptr<State> owner, std::string job_id, std::function<void(WaitEnd)> done)
      : owner_(std::move(owner)), job_id_(std::move(job_id)), done_(std::move(done)) {
    CUZK_ASSERT(done_ != nullptr);
  }

  // The first of all ends counts.
  void end(WaitEnd how, const std::shared_ptr<Wait>& self);
  void abandon(const std::shared_ptr<Wait>& self);
  const std::string& job_id() const { return job_id_; }

  // Set by begin() and cleared by the thread of the state, never at once.
  std::shared_ptr<engine::Subscription> subscription;
  Clock::time_point deadline;

 private:
  const std::shared_ptr<State> owner_;
  const std::string job_id_;
  const std::function<void(WaitEnd)> done_;
  std::atomic<bool> over_ = false;
};

// waits_ has all waits that are open; deadlines_ those of them whose time is not over; over_ those
// that have ended and still have a subscription for the thread to drop. Lock order: this mutex,
// then that of the tally; `done` and subscriptions are never called or dropped under either.
class JobWaits::State : public std::enable_shared_from_this<State> {
 public:
  State(OnFinal on_final, std::size_t waits_max, std::shared_ptr<AwaitedJobs> awaited)
      : on_final_(std::move(on_final)), awaited_(std::move(awaited)), waits_max_(waits_max) {}

  void start() {
    thread_ = std::thread([this] { run(); });
  }
  base::Result<std::shared_ptr<Wait>> begin(const std::string& job_id,
                                            std::chrono::milliseconds timeout,
                                            std::function<void(WaitEnd)> done);
  // Takes an ended wait off waits_ and out of the tally, and has the thread drop the rest.
  void bury(const std::shared_ptr<Wait>& wait, AwaitedJobs::End how);
  void close();
  void set_limit(std::size_t waits_max) {
    const std::lock_guard lock(mutex_);
    waits_max_ = waits_max;
  }
  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return waits_.size();
  }

 private:
  void run();
  void remove(const std::shared_ptr<Wait>& wait, AwaitedJobs::End how);  // under the lock
  // Adds a wait, if there is room and the state is open.
  base::Status enter(const std::shared_ptr<Wait>& wait);

  const OnFinal on_final_;
  const std::shared_ptr<AwaitedJobs> awaited_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waits_max_;
  bool closed_ = false, stopped_ = false;
  std::set<std::shared_ptr<Wait>> waits_;
  std::multimap<Clock::time_point, std::shared_ptr<Wait>> deadlines_;
  std::vector<std::shared_ptr<Wait>> over_;
  std::thread thread_;
};

// By the engine's thread, by that of the state, or by close(): whoever is first.
void JobWaits::Wait::end(WaitEnd how, const std::shared_ptr<Wait>& self) {
  if (over_.exchange(true)) return;
  const bool out_of_time = how.kind == WaitEnd::Kind::kTimeout;
  // First: who is told finds it gone.
  owner_->bury(self, out_of_time ? AwaitedJobs::End::kTime : AwaitedJobs::End::kOver);
  done_(std::move(how));
}

void JobWaits::Wait::abandon(const std::shared_ptr<Wait>& self) {
  if (!over_.exchange(true)) owner_->bury(self, AwaitedJobs::End::kOver);
}

// Counted in the tally in the same moment, so that no cancellation slips between.
base::Status JobWaits::State::enter(const std::shared_ptr<Wait>& wait) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      return Error{ErrorKind::kUnavailable, "the daemon stops; the job goes on when it is back"};
    }
    if (waits_.size() >= waits_max_) {
      return Error{ErrorKind::kResourceExhausted,
                   fmt::format("{} calls wait for jobs already, which is the limit", waits_max_)};
    }
    waits_.insert(wait);
    awaited_->begin(wait->job_id());
    deadlines_.emplace(wait->deadline, wait);
  }
  changed_.notify_one();
  return base::ok_status();
}

// The end may come from any thread from enter() on, also before this returns.
base::Result<std::shared_ptr<JobWaits::Wait>> JobWaits::State::begin(
    const std::string& job_id, std::chrono::milliseconds timeout,
    std::function<void(WaitEnd)> done) {
  const auto wait = std::make_shared<Wait>(shared_from_this(), job_id, std::move(done));
  wait->deadline = Clock::now() + timeout;
  // Before the subscription: the job may be final already, and its end comes from within on_final_.
  CUZK_TRY_STATUS(enter(wait));
  // Weak: the wait owns the subscription, which owns this function.
  const std::weak_ptr<Wait> weak = wait;
  auto subscription = on_final_(job_id, [weak](const engine::JobView& job) {
    if (const auto alive = weak.lock()) alive->end({WaitEnd::Kind::kFinal, job}, alive);
  });
  if (!subscription.ok()) {
    // The caller hears of it by the error, and not by `done` too.
    wait->abandon(wait);
    return std::move(subscription).error();
  }
  {
    const std::lock_guard lock(mutex_);
    // Over meanwhile: the handle dies at the end of this function instead.
    if (waits_.count(wait) > 0) wait->subscription.swap(*subscription);
  }
  return wait;
}

void JobWaits::State::bury(const std::shared_ptr<Wait>& wait, AwaitedJobs::End how) {
  {
    const std::lock_guard lock(mutex_);
    remove(wait, how);
    over_.push_back(wait);
  }
  changed_.notify_one();
}

// Under the lock. A wait that has been removed already is left alone.
void JobWaits::State::remove(const std::shared_ptr<Wait>& wait, AwaitedJobs::End how) {
  if (waits_.erase(wait) == 0) return;
  CUZK_ASSERT(deadlines_.size() <= waits_.size() + 1);
  awaited_->end(wait->job_id(), how);
  // It is not there when the time was over: run() has taken it.
  const auto [begin, end] = deadlines_.equal_range(wait->deadline);
  for (auto at = begin; at != end; ++at) {
    if (at->second == wait) {
      deadlines_.erase(at);
      break;
    }
  }
}

// The one thread. Each round takes what is over and what is late under the lock, and ends and drops
// them without it.
void JobWaits::State::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    // Sleeps until something is over, a nearer deadline came, or the next one is due.
    const auto woken = [this] { return stopped_ || !over_.empty(); };
    if (deadlines_.empty()) {
      changed_.wait(lock, [&] { return woken() || !deadlines_.empty(); });
    } else if (!woken()) {
      const Clock::time_point next = deadlines_.begin()->first;
      changed_.wait_until(lock, next, [&] {
        return woken() || deadlines_.empty() || deadlines_.begin()->first < next;
      });
    }
    std::vector<std::shared_ptr<Wait>> buried, late;
    buried.swap(over_);
    std::vector<std::shared_ptr<engine::Subscription>> subscriptions;
    for (const auto& wait : buried) subscriptions.push_back(std::move(wait->subscription));
    const Clock::time_point now = Clock::now();
    for (auto at = deadlines_.begin(); at != deadlines_.end() && at->first <= now;) {
      // Out of the list at once, or the next round would find it again; the wait's end does the
      // rest.
      late.push_back(at->second);
      at = deadlines_.erase(at);
    }
    const bool end = stopped_ && waits_.empty();
    lock.unlock();
    for (const auto& wait : late) wait->end({WaitEnd::Kind::kTimeout, std::nullopt}, wait);
    // Without the lock: dropping one waits for a call of it that is under way.
    subscriptions.clear();
    buried.clear();
    late.clear();
    lock.lock();
    // Closed, and nobody left who could bury: none can come, for enter() refuses.
    CUZK_ASSERT(!end || deadlines_.empty());
    if (end && over_.empty()) return;
  }
}

// A wait that enters before closed_ is set is in `all`; one that comes after it is refused. So none
// is forgotten, and the thread ends when the last is buried. Again: does nothing.
void JobWaits::State::close() {
  std::vector<std::shared_ptr<Wait>> all;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    stopped_ = true;
    all.assign(waits_.begin(), waits_.end());
  }
  // Those that another end has reached first are left alone by this one.
  for (const auto& wait : all) wait->end({WaitEnd::Kind::kClosed, std::nullopt}, wait);
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

JobWaits::JobWaits(OnFinal on_final, std::size_t waits_max, std::shared_ptr<AwaitedJobs> awaited)
    : state_(std::make_shared<State>(std::move(on_final), waits_max, std::move(awaited))) {
  state_->start();
}

JobWaits::~JobWaits() { close(); }

base::Result<std::shared_ptr<JobWaits::Wait>> JobWaits::begin(const std::string& job_id,
                                                              std::chrono::milliseconds timeout,
                                                              std::function<void(WaitEnd)> done) {
  return state_->begin(job_id, timeout, std::move(done));
}

void JobWaits::abandon(const std::shared_ptr<Wait>& wait) { wait->abandon(wait); }

void JobWaits::set_limit(std::size_t waits_max) { state_->set_limit(waits_max); }

std::size_t JobWaits::count() const { return state_->count(); }

void JobWaits::close() { state_->close(); }

}  // namespace cuzk::service
