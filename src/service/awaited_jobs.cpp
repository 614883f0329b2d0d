// Entries that only wait for their client to come back stand in a set by time, each once, so that
// the tally is never larger than the jobs that were awaited of late. A call costs a logarithm of
// their number, and the same once more for each that it forgets.
#include "service/awaited_jobs.h"

#include "base/check.h"

namespace cuzk::service {

void AwaitedJobs::begin(const std::string& job_id) {
  const std::lock_guard lock(mutex_);
  ++jobs_[job_id].calls;
}

// A call that ended with its time leaves the job awaited for a while; any other leaves it to the
// calls that are left, and to times that still run.
void AwaitedJobs::end(const std::string& job_id, End how, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job_id);
  CUZK_ASSERT(found != jobs_.end() && found->second.calls > 0);
  Entry& entry = found->second;
  --entry.calls;
  // The later time counts: a call that is told of late takes nothing back.
  if (how == End::kTime && now + kComesBack > entry.until) {
    ends_.erase({entry.until, job_id});
    entry.until = now + kComesBack;
    ends_.emplace(entry.until, job_id);
  }
  if (entry.calls == 0 && entry.until <= now) {
    ends_.erase({entry.until, job_id});
    remove(found);
  }
  forget(now);
}

// Forgets first, so a time that is over does not count until somebody else comes.
bool AwaitedJobs::awaited(const std::string& job_id, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  forget(now);
  return jobs_.count(job_id) > 0;
}

void AwaitedJobs::when_unawaited(const std::string& job_id, std::function<void()> then,
                                 Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  forget(now);
  CUZK_ASSERT(then != nullptr);
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end()) {
    // Under the lock, so that no wait begins between the look and the call.
    then();
  } else {
    found->second.then = std::move(then);
  }
}

// The entries stay: who waits goes on waiting.
void AwaitedJobs::drop_calls() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, entry] : jobs_) entry.then = nullptr;
}

std::size_t AwaitedJobs::size(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  forget(now);
  return jobs_.size();
}

void AwaitedJobs::forget(Clock::time_point now) {
  while (!ends_.empty() && ends_.begin()->first <= now) {
    const auto found = jobs_.find(ends_.begin()->second);
    CUZK_ASSERT(found != jobs_.end());
    found->second.until = {};
    ends_.erase(ends_.begin());
    if (found->second.calls == 0) remove(found);
  }
  // Each entry has one time at most.
  CUZK_ASSERT(ends_.size() <= jobs_.size());
}

void AwaitedJobs::remove(Entries::iterator entry) {
  CUZK_ASSERT(entry->second.calls == 0);
  // Erased first: an exception of `then` leaves no entry that is over.
  const std::function<void()> then = std::move(entry->second.then);
  jobs_.erase(entry);
  if (then) then();
}

}  // namespace cuzk::service
