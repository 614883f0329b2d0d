// Entries that only wait for their client to come back stand in a set by time, each once, so that
// the tally is never larger than the jobs that were awaited of late.
#include "service/awaited_jobs.h"

#include "base/check.h"

namespace cuzk::service {

void AwaitedJobs::begin(const std::string& job_id) {
  const std::lock_guard lock(mutex_);
  ++jobs_[job_id].calls;
}

void AwaitedJobs::end(const std::string& job_id, End how, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job_id);
  CUZK_ASSERT(found != jobs_.end() && found->second.calls > 0);
  Entry& entry = found->second;
  --entry.calls;
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

bool AwaitedJobs::awaited(const std::string& job_id, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  forget(now);
  return jobs_.count(job_id) > 0;
}

void AwaitedJobs::when_unawaited(const std::string& job_id, std::function<void()> then,
                                 Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  forget(now);
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end()) {
    then();
  } else {
    found->second.then = std::move(then);
  }
}

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
}

void AwaitedJobs::remove(Entries::iterator entry) {
  const std::function<void()> then = std::move(entry->second.then);
  jobs_.erase(entry);
  if (then) then();
}

}  // namespace cuzk::service
