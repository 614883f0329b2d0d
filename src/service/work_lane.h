// A few threads that do what may block (disk, parsing) for servers whose own threads must not.
// Bounded: what does not fit is refused at once, so a flood costs no memory. A task that throws is
// given up with a line in the log; the thread goes on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cuzk::service {

// Thread-safe.
class WorkLane {
 public:
  // At most 15 characters of `name` are shown by the system.
  WorkLane(std::string name, std::size_t thread_count, std::size_t waiting_max);
  WorkLane(const WorkLane&) = delete;
  WorkLane& operator=(const WorkLane&) = delete;
  ~WorkLane();  // stops

  // False, and nothing is kept of it: `waiting_max` tasks wait already, or the lane has stopped.
  bool post(std::function<void()> task);
  // For the continuation of what was let in: waits however many are before it. False: stopped.
  bool post_always(std::function<void()> task);
  // Takes no more; what waits is done first. Not from a task of this lane.
  void stop();
  std::size_t waiting_count() const;

 private:
  bool add(std::function<void()> task, bool bounded);
  void work();

  const std::string name_;
  const std::size_t waiting_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Tasks are taken in the order in which they came. With one thread they also end so.
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;  // for good
  std::vector<std::thread> threads_;
};

// Counts the bytes of requests that are being read or handled, against a limit. Thread-safe.
// Outlives its holds; a hold belongs to one thread at a time.
class ByteGate {
 public:
  explicit ByteGate(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Holds bytes until it dies.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept;
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { release(); }
    bool holds() const { return gate_ != nullptr; }
    void release();

   private:
    friend class ByteGate;
    Hold(ByteGate* gate, std::uint64_t bytes) : gate_(gate), bytes_(bytes) {}
    ByteGate* gate_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // A hold that holds nothing when there is no room. What is larger than the whole limit enters
  // when nothing else is inside.
  Hold enter(std::uint64_t bytes);
  std::uint64_t held_bytes() const;
  std::uint64_t bytes_max() const { return bytes_max_; }

 private:
  const std::uint64_t bytes_max_;
  mutable std::mutex mutex_;
  std::uint64_t held_bytes_ = 0;
};

}  // namespace cuzk::service
