// Which jobs somebody waits for, over whatever door: one tally that the daemon's doors share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace cuzk::service {

// Thread-safe. Holds a job while calls wait for it, and for a while after one that ended with its
// own time: such a client comes again.
class AwaitedJobs {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kComesBack{10'000};

  // How a call's wait ended.
  enum class End : std::uint8_t {
    kOver,  // with its job, or its client went away
    kTime,  // its time was over: counts for kComesBack more
  };

  void begin(const std::string& job_id);
  // Once for each begin().
  void end(const std::string& job_id, End how, Clock::time_point now = Clock::now());
  bool awaited(const std::string& job_id, Clock::time_point now = Clock::now());
  // Jobs that are remembered at `now`.
  std::size_t size(Clock::time_point now = Clock::now());

 private:
  struct Entry {
    std::size_t calls = 0;
    Clock::time_point until;  // counts so long even without calls
  };
  // Forgets what is over. Under the lock.
  void forget(Clock::time_point now);

  std::mutex mutex_;
  std::map<std::string, Entry> jobs_;
  std::set<std::pair<Clock::time_point, std::string>> ends_;  // of entries that have an `until`
};

}  // namespace cuzk::service
