// Telling others without making the engine wait for them: threads that call, tickets of those who
// wait for a job's end, and observers with queues of their own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "engine/engine.h"

namespace cuzk::engine::internal {

// Runs calls in order on a thread of its own. Destroyed: runs what is queued, then ends.
// A call dies on the thread that ran it. Calls must not wait for this object's end.
class CallThread {
 public:
  CallThread();
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;
  ~CallThread();
  void post(std::function<void()> call) CUZK_EXCLUDES(mutex_);

 private:
  void run() CUZK_EXCLUDES(mutex_);

  base::Mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::function<void()>> calls_ CUZK_GUARDED_BY(mutex_);
  bool ending_ CUZK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Somebody who waits for a job's end. Called at most once, from the engine's threads, without its
// lock; returns at once.
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual void finish(const JobView& job) = 0;
  virtual void abandon() = 0;  // the engine stops
};

// A thread in await().
class BlockedWaiter final : public Waiter {
 public:
  void finish(const JobView& job) override CUZK_EXCLUDES(mutex_);
  void abandon() override CUZK_EXCLUDES(mutex_);
  // As Engine::await.
  base::Result<std::optional<JobView>> wait(std::chrono::steady_clock::time_point until)
      CUZK_EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<JobView> job_ CUZK_GUARDED_BY(mutex_);
  bool abandoned_ CUZK_GUARDED_BY(mutex_) = false;
};

// A function that is to be called, through a CallThread, unless it is cancelled first.
class CallWaiter final : public Waiter, public std::enable_shared_from_this<CallWaiter> {
 public:
  // Does not keep the thread alive, which belongs to the engine.
  CallWaiter(std::function<void(const JobView&)> done, std::weak_ptr<CallThread> thread)
      : done_(std::move(done)), thread_(std::move(thread)) {}
  void finish(const JobView& job) override;
  void abandon() override {}
  // Afterwards the function neither runs nor will, unless this thread is inside it.
  void cancel() CUZK_EXCLUDES(mutex_);

 private:
  void call(const JobView& job) CUZK_EXCLUDES(mutex_);

  base::Mutex mutex_;
  std::condition_variable_any idle_;
  std::function<void(const JobView&)> done_ CUZK_GUARDED_BY(mutex_);
  std::optional<std::thread::id> running_ CUZK_GUARDED_BY(mutex_);
  const std::weak_ptr<CallThread> thread_;
};

// An observer: a bounded queue and a thread. Owned by its handle.
// post() never waits. Beyond kObserverBacklogMax events the oldest goes and is counted.
class Observer {
 public:
  explicit Observer(std::function<void(const EngineEvent&)> observer);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer() { stop(); }
  void post(const EngineEvent& event) CUZK_EXCLUDES(state_->mutex);
  // Drops what is queued. Waits for the function, unless this thread is inside it.
  void stop();

 private:
  struct State {
    explicit State(std::function<void(const EngineEvent&)> function)
        : observer(std::move(function)) {}
    const std::function<void(const EngineEvent&)> observer;
    base::Mutex mutex;
    std::condition_variable_any wake;
    std::deque<EngineEvent> events CUZK_GUARDED_BY(mutex);
    std::uint64_t left_out CUZK_GUARDED_BY(mutex) = 0;
    bool ending CUZK_GUARDED_BY(mutex) = false;
  };
  static void run(State& state);

  const std::shared_ptr<State> state_;  // the thread's too, where it outlives this
  std::thread thread_;
};

// Handles that people hold.
class CallHandle final : public Subscription {
 public:
  explicit CallHandle(std::shared_ptr<CallWaiter> waiter) : waiter_(std::move(waiter)) {
    CUZK_ASSERT(waiter_ != nullptr);
  }
  ~CallHandle() override { waiter_->cancel(); }

 private:
  const std::shared_ptr<CallWaiter> waiter_;
};
// Held by whoever observes; the engine has a weak pointer to the observer itself.
class ObserverHandle final : public Subscription {
 public:
  explicit ObserverHandle(std::shared_ptr<Observer> observer) : observer_(std::move(observer)) {
    CUZK_ASSERT(observer_ != nullptr);
  }
  ~ObserverHandle() override { observer_->stop(); }

 private:
  const std::shared_ptr<Observer> observer_;
};

}  // namespace cuzk::engine::internal
