// Threads and tickets of those who are told.
//
// Common to all: what belongs to somebody else is called without a lock, and the handle's end waits
// for a call that is under way, unless that call is what ends the handle: then it would wait for
// itself.
#include "engine/engine_notify.h"

#include <utility>

#include "base/check.h"

namespace cuzk::engine::internal {

using base::Error;
using base::ErrorKind;
using base::MutexLock;

CallThread::CallThread() : thread_([this] { run(); }) {}

CallThread::~CallThread() {
  {
    const MutexLock hold(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void CallThread::post(std::function<void()> call) {
  CUZK_ASSERT(call != nullptr);
  {
    const MutexLock hold(mutex_);
    calls_.push_back(std::move(call));
  }
  wake_.notify_one();
}

void CallThread::run() {
  while (true) {
    std::function<void()> call;
    {
      const MutexLock hold(mutex_);
      while (calls_.empty() && !ending_) wake_.wait(mutex_);
      // Ending, and nothing is left.
      if (calls_.empty()) return;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    call();
  }
}

// A thread that waits. It alone keeps its ticket alive, so one that gave up is found expired.
void BlockedWaiter::finish(const JobView& job) {
  {
    const MutexLock hold(mutex_);
    CUZK_ASSERT(!job_.has_value());
    job_ = job;
  }
  wake_.notify_all();
}

void BlockedWaiter::abandon() {
  {
    const MutexLock hold(mutex_);
    abandoned_ = true;
  }
  wake_.notify_all();
}

base::Result<std::optional<JobView>> BlockedWaiter::wait(
    std::chrono::steady_clock::time_point until) {
  const MutexLock hold(mutex_);
  while (!job_ && !abandoned_) {
    if (wake_.wait_until(mutex_, until) == std::cv_status::timeout) break;
  }
  // The job's end counts more than the engine's, where both came.
  if (job_) return std::optional<JobView>(*job_);
  if (abandoned_) return Error{ErrorKind::kUnavailable, "the engine stops; await again later"};
  return std::optional<JobView>();
}

// A function to be called. From the engine's side it only goes into the queue of the CallThread;
// what it does there may take as long as it likes.
void CallWaiter::finish(const JobView& job) {
  // The ticket lives until the call was made, the thread only as long as the engine.
  const auto thread = thread_.lock();
  if (thread != nullptr) thread->post([self = shared_from_this(), job] { self->call(job); });
}

void CallWaiter::call(const JobView& job) {
  std::function<void(const JobView&)> done;
  {
    const MutexLock hold(mutex_);
    if (!done_) return;
    // Taken out under the lock: it is called once, and cancel() knows who is inside it.
    CUZK_ASSERT(!running_.has_value());
    done = std::exchange(done_, nullptr);
    running_ = std::this_thread::get_id();
  }
  done(job);
  {
    const MutexLock hold(mutex_);
    running_.reset();
  }
  idle_.notify_all();
}

void CallWaiter::cancel() {
  const MutexLock hold(mutex_);
  done_ = nullptr;
  while (running_ && *running_ != std::this_thread::get_id()) idle_.wait(mutex_);
}

// An observer's thread has a share of the state, for the observer may be destroyed by its own
// function; then the thread outlives it by the rest of that call.
Observer::Observer(std::function<void(const EngineEvent&)> observer)
    : state_(std::make_shared<State>(std::move(observer))),
      thread_([state = state_] { run(*state); }) {}

void Observer::post(const EngineEvent& event) {
  State& state = *state_;
  {
    const MutexLock hold(state.mutex);
    if (state.ending) return;
    if (state.events.size() >= kObserverBacklogMax) {
      state.events.pop_front();
      ++state.left_out;
    }
    state.events.push_back(event);
    CUZK_ASSERT(state.events.size() <= kObserverBacklogMax);
  }
  state.wake.notify_one();
}

void Observer::stop() {
  State& state = *state_;
  // Destroyed outside the lock, by this caller.
  std::deque<EngineEvent> dropped;
  {
    const MutexLock hold(state.mutex);
    state.ending = true;
    dropped.swap(state.events);
  }
  state.wake.notify_all();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    // The function ends its own handle: the thread ends by itself, with its share of the state.
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Observer::run(State& state) {
  while (true) {
    EngineEvent event;
    {
      const MutexLock hold(state.mutex);
      while (state.events.empty() && !state.ending) state.wake.wait(state.mutex);
      if (state.ending) return;
      event = std::move(state.events.front());
      state.events.pop_front();
      event.left_out_count = std::exchange(state.left_out, 0);
    }
    state.observer(event);
  }
}

}  // namespace cuzk::engine::internal
