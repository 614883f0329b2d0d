// Which jobs somebody waits for, over whatever door: one tally that the daemon's doors share. It
// answers one question: may the job of a client that went away be cancelled, or does another call
// still want it? No door can tell alone, for one job may be awaited over several.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  // Calls `then` once nobody waits for the job: now, or when the last wait has ended (noticed by
  // whichever call comes next where that is a time that passes). The latest `then` of a job counts.
  // It is called once, by any thread and under the lock: it is short, and does not call the tally.
  void when_unawaited(const std::string& job_id, std::function<void()> then,
                      Clock::time_point now = Clock::now());
  // None that is still to be called will be, for what it would use is gone.
  void drop_calls();
  // Jobs that are remembered at `now`.
  std::size_t size(Clock::time_point now = Clock::now());

 private:
  // An entry is there while calls wait (`calls` > 0) or its time runs (`until` lies ahead), and
  // goes with the later of the two. A time that is over is set back to zero by forget().
  struct Entry {
    std::size_t calls = 0;
    Clock::time_point until;     // counts so long even without calls
    std::function<void()> then;  // of when_unawaited()
  };
  using Entries = std::map<std::string, Entry>;
  // Both under the lock. forget() ends the times that have passed by `now`, with the entries that
  // had nothing else; remove() takes an entry out and calls what was waiting for that.
  void forget(Clock::time_point now);
  void remove(Entries::iterator entry);

  std::mutex mutex_;
  Entries jobs_;
  std::set<std::pair<Clock::time_point, std::string>> ends_;  // of entries that have an `until`
};

}  // namespace cuzk::service
