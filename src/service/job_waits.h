// Waits for the ends of jobs: any number of them, at the cost of one thread. A wait is a
// subscription at the engine and a deadline; whoever asked is called back.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "service/awaited_jobs.h"

namespace cuzk::service {

// How a wait ended.
struct WaitEnd {
  enum class Kind : std::uint8_t {
    kFinal,    // the job did
    kTimeout,  // the time was over
    kClosed,   // the server stops; the job goes on with its next start
  };
  Kind kind = Kind::kFinal;
  std::optional<engine::JobView> job;  // of kFinal
};

// Thread-safe.
class JobWaits {
 public:
  // Where ends of jobs are heard; engine::Engine::on_final.
  using OnFinal = std::function<base::Result<std::shared_ptr<engine::Subscription>>(
      std::string_view, std::function<void(const engine::JobView&)>)>;

  // Each wait is in `awaited`, which others may share.
  JobWaits(OnFinal on_final, std::size_t waits_max, std::shared_ptr<AwaitedJobs> awaited);
  JobWaits(const JobWaits&) = delete;
  JobWaits& operator=(const JobWaits&) = delete;
  ~JobWaits();  // closes

  class Wait;
  // Calls `done` exactly once unless abandon() came first, from a thread that must get back soon.
  // Errors: kNotFound; kResourceExhausted (too many waits); kUnavailable (closed).
  base::Result<std::shared_ptr<Wait>> begin(const std::string& job_id,
                                            std::chrono::milliseconds timeout,
                                            std::function<void(WaitEnd)> done);
  // Nothing is called any more, unless it is being called already.
  static void abandon(const std::shared_ptr<Wait>& wait);

  void set_limit(std::size_t waits_max);
  std::size_t count() const;
  // Ends all with kClosed; later ones are refused.
  void close();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace cuzk::service
