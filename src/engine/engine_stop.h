// A job that is to stop, from the decision under the engine's lock to the executor's answer.
#pragma once

#include "base/mutex.h"
#include "engine/engine_state.h"

namespace cuzk::engine {

// While it lives the job is not given to the executor again (stops_). Made with the lock, asked and
// dropped without it, for the executor may take its time.
class Engine::State::Stop {
 public:
  Stop(State& state, JobId id) CUZK_REQUIRES(state.mutex_)
      : state_(state), place_(state.stops_.insert(id)), id_(id) {}
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;
  ~Stop() {
    const base::MutexLock hold(state_.mutex_);
    state_.stops_.erase(place_);
    state_.changed_.notify_all();
  }
  // Where it has just ended there is nothing to stop.
  void ask() { (void)state_.executor_->cancel(id_); }

 private:
  State& state_;
  const std::multiset<JobId>::iterator place_;
  const JobId id_;
};

}  // namespace cuzk::engine
