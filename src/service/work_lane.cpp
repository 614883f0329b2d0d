// Threads over one queue; the queue is emptied before they end. What was taken on is done, whatever
// else ends: a call that was let in is answered.
#include "service/work_lane.h"

#include <exception>
#include <utility>

#include <pthread.h>

#include "base/check.h"
#include "base/log.h"

namespace cuzk::service {

WorkLane::WorkLane(std::string name, std::size_t thread_count, std::size_t waiting_max)
    : name_(name.substr(0, 15)), waiting_max_(waiting_max) {
  CUZK_ASSERT(thread_count > 0);
  for (std::size_t i = 0; i < thread_count; ++i) threads_.emplace_back([this] { work(); });
}

// So a lane that is destroyed has done all that it took on.
WorkLane::~WorkLane() { stop(); }

bool WorkLane::post(std::function<void()> task) { return add(std::move(task), true); }

bool WorkLane::post_always(std::function<void()> task) { return add(std::move(task), false); }

// Refused is what comes after stop(), always, and what is too much, where it counts (`bounded`).
bool WorkLane::add(std::function<void()> task, bool bounded) {
  CUZK_ASSERT(task != nullptr);
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || (bounded && waiting_.size() >= waiting_max_)) return false;
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

// Returns when all that was taken on is done. Again: does nothing.
void WorkLane::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    // A task that stops its own lane would wait for itself.
    CUZK_ASSERT(thread.get_id() != std::this_thread::get_id());
    if (thread.joinable()) thread.join();
  }
}

std::size_t WorkLane::waiting_count() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

// Takes, unlocks, does: lanes of several threads only meet at the queue.
void WorkLane::work() {
  // What top and a debugger show.
  ::pthread_setname_np(::pthread_self(), name_.c_str());
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    // Stopped, and nothing left to do.
    if (waiting_.empty()) return;
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      task();
    } catch (const std::exception& error) {  // of a task that should have caught it
      base::log(base::LogLevel::kError, name_ + ": a task was given up: " + error.what());
    }
    task = nullptr;  // what it holds dies outside the lock
    lock.lock();
  }
}

ByteGate::Hold::Hold(Hold&& other) noexcept
    : gate_(std::exchange(other.gate_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

// What was held before is given back first, so a gate never counts both.
ByteGate::Hold& ByteGate::Hold::operator=(Hold&& other) noexcept {
  if (this != &other) {
    release();
    gate_ = std::exchange(other.gate_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

// Again, or of a hold that holds nothing: does nothing.
void ByteGate::Hold::release() {
  if (gate_ == nullptr) return;
  const std::lock_guard lock(gate_->mutex_);
  CUZK_ASSERT(gate_->held_bytes_ >= bytes_);
  gate_->held_bytes_ -= bytes_;
  gate_ = nullptr;
}

// Never waits: who is refused is told so, and comes again.
ByteGate::Hold ByteGate::enter(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  // Without a sum that could overflow.
  const bool fits = bytes <= bytes_max_ && held_bytes_ <= bytes_max_ - bytes;
  if (!fits && held_bytes_ != 0) return {};
  held_bytes_ += bytes;
  CUZK_ASSERT(held_bytes_ <= bytes_max_ || held_bytes_ == bytes);
  return {this, bytes};
}

std::uint64_t ByteGate::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_bytes_;
}

}  // namespace cuzk::service
