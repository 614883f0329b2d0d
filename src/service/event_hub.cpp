// Events go to copies of the list of watchers, so that no lock is held while one is woken. Nothing
// here waits for a watcher: the engine's thread puts, wakes, and goes on.
#include "service/event_hub.h"

#include <utility>
#include <vector>

#include "base/check.h"

namespace cuzk::service {

EventQueue::EventQueue(std::string job_id, std::size_t count_max, std::function<void()> woken)
    : job_id_(std::move(job_id)), count_max_(count_max), woken_(std::move(woken)) {
  CUZK_ASSERT(count_max_ > 0 && woken_ != nullptr);
}

// By the hub, and once by the watcher for the state that a job has now.
void EventQueue::put(const engine::EngineEvent& event) {
  // Of other jobs nothing is kept and nothing counted as missed.
  if (!job_id_.empty() && event.request_id != job_id_) return;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    missed_count_ += event.left_out_count;  // before they came here
    // The newest is left out: what a slow watcher has not read yet stays in order.
    if (waiting_.size() >= count_max_) {
      ++missed_count_;
      return;
    }
    waiting_.push_back({event, std::exchange(missed_count_, 0)});
    CUZK_ASSERT(waiting_.size() <= count_max_ && missed_count_ == 0);
  }
  woken_();
}

// Once; the watcher is woken to see it.
void EventQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  woken_();
}

// Also after close(): what had come in before is read to its end.
bool EventQueue::take(Entry& entry) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return false;
  entry = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

bool EventQueue::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

EventHub::EventHub(const Observe& observe)
    : subscription_(observe([this](const engine::EngineEvent& event) { pass_on(event); })) {}

bool EventHub::add(const std::shared_ptr<EventQueue>& queue) {
  CUZK_ASSERT(queue != nullptr);
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  queues_.insert(queue);
  return true;
}

// Of a queue that is not there any more: does nothing.
void EventHub::remove(const std::shared_ptr<EventQueue>& queue) {
  const std::lock_guard lock(mutex_);
  queues_.erase(queue);
}

// A queue that is removed meanwhile may still get this event; it is then read by nobody.
void EventHub::pass_on(const engine::EngineEvent& event) {
  std::vector<std::shared_ptr<EventQueue>> queues;
  {
    const std::lock_guard lock(mutex_);
    queues.assign(queues_.begin(), queues_.end());
  }
  for (const auto& queue : queues) queue->put(event);
}

// Again: does nothing, since lists and subscription are gone.
void EventHub::close() {
  std::set<std::shared_ptr<EventQueue>> queues;
  std::shared_ptr<engine::Subscription> subscription;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    queues.swap(queues_);
    subscription.swap(subscription_);
  }
  subscription.reset();  // outside the lock: it may wait for an event that is being handed on
  // After the last event, so that "closed" is the last thing that a watcher hears.
  for (const auto& queue : queues) queue->close();
}

}  // namespace cuzk::service
