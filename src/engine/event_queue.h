// What happened, told in order by one thread, so that whoever listens may call back and may be
// slow.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"
#include "engine/executor.h"

namespace cuzk::engine {

// Thread-safe.
// Unbounded: an event is never dropped and push() never waits, so it may be called with a lock
// held. What bounds the queue is what makes events, a few for each stage of a partition.
class EventQueue {
 public:
  using Event = std::function<void(ExecutorEvents&)>;

  // `events` outlives this.
  explicit EventQueue(ExecutorEvents& events);
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  // Tells what is left.
  ~EventQueue();

  void push(Event event) CUZK_EXCLUDES(mutex_);
  // Returns when all that was pushed before has been told. Not to be called by a listener.
  void flush() CUZK_EXCLUDES(mutex_);

 private:
  void run() CUZK_EXCLUDES(mutex_);

  // telling_ is true from taking an event out of the queue until its call returned, so that flush()
  // does not return while the last one is being told.
  ExecutorEvents& events_;
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Event> queue_ CUZK_GUARDED_BY(mutex_);
  bool telling_ CUZK_GUARDED_BY(mutex_) = false;
  bool closing_ CUZK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace cuzk::engine
