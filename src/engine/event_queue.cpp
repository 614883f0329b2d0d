// One thread, one queue.
#include "engine/event_queue.h"

#include <utility>

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
  {
    const MutexLock lock(mutex_);
    queue_.push_back(std::move(event));
  }
  changed_.notify_all();
}

void EventQueue::flush() {
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
      if (queue_.empty()) return;
      event = std::move(queue_.front());
      queue_.pop_front();
      telling_ = true;
    }
    event(events_);
  }
}

}  // namespace cuzk::engine
