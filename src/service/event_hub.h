// Hands the engine's events to those who watch. A watcher has a bounded queue; what does not fit is
// counted and told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "engine/engine.h"

namespace cuzk::service {

// What one watcher has not taken yet. Thread-safe. Open until close(): then nothing comes in, and
// what waits can still be taken. `woken` may take entries, for no lock is held while it runs; it
// may also find that another call has taken them.
class EventQueue {
 public:
  struct Entry {
    engine::EngineEvent event;
    std::uint64_t missed_count = 0;  // dropped before this one
  };
  // `job_id` empty: all jobs. `woken` is called after something came in or the hub closed, from a
  // thread that must get back soon.
  EventQueue(std::string job_id, std::size_t count_max, std::function<void()> woken);

  void put(const engine::EngineEvent& event);
  void close();
  // The next one; nothing when there is none now. `closed` tells whether more can come.
  bool take(Entry& entry);
  bool closed() const;
  const std::string& job_id() const { return job_id_; }

 private:
  const std::string job_id_;
  const std::size_t count_max_;
  const std::function<void()> woken_;
  mutable std::mutex mutex_;
  std::deque<Entry> waiting_;
  std::uint64_t missed_count_ = 0;  // since the last entry that found room; told with the next
  bool closed_ = false;
};

// Thread-safe. Events are passed on by one thread of the engine, so each queue has them in the
// order in which they happened. A watcher costs a pointer an event.
class EventHub {
 public:
  using Observe = std::function<std::shared_ptr<engine::Subscription>(
      std::function<void(const engine::EngineEvent&)>)>;
  explicit EventHub(const Observe& observe);
  ~EventHub() { close(); }

  // False: closed. The queue is the hub's until remove().
  bool add(const std::shared_ptr<EventQueue>& queue);
  void remove(const std::shared_ptr<EventQueue>& queue);
  void close();

 private:
  void pass_on(const engine::EngineEvent& event);

  std::mutex mutex_;
  bool closed_ = false;
  std::set<std::shared_ptr<EventQueue>> queues_;
  std::shared_ptr<engine::Subscription> subscription_;
};

}  // namespace cuzk::service
