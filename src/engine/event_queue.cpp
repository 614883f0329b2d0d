// One thread, one queue.
//
// The lock is not held while an event is told, so listeners may push further ones. An event dies on
// this thread, after it was told and before the next one is taken.
#include "engine/event_queue.h"

#include <utility>

#include "base/check.h"

namespace cuzk::engine {

using base::MutexLock;

EventQueue::EventQueue(ExecutorEvents& events) : events_(events), thread_([this] { run(); }) {}

EventQueue::~EventQueue() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void EventQueue::push(Event event) {
  CUZK_ASSERT(event != nullptr);
  {
    const MutexLock lock(mutex_);
    queue_.push_back(std::move(event));
  }
  changed_.notify_all();
}

void EventQueue::flush() {
  // A listener would wait for its own event to be over.
  CUZK_ASSERT(std::this_thread::get_id() != thread_.get_id());
  const MutexLock lock(mutex_);
  while (!queue_.empty() || telling_) changed_.wait(mutex_);
}

void EventQueue::run() {
  for (;;) {
    Event event;
    {
      const MutexLock lock(mutex_);
      telling_ = false;
      if (queue_.empty()) changed_.notify_all();
      while (queue_.empty() && !closing_) changed_.wait(mutex_);
      // Closing: what is left is told first.
      if (queue_.empty()) return;
      event = std::move(queue_.front());
      queue_.pop_front();
      telling_ = true;
    }
    event(events_);
  }
}

}  // namespace cuzk::engine
