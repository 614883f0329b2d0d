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
  CUZK_CHECK(found != jobs_.end() && found->second.calls > 0);
  Entry& entry = found->second;
  --entry.calls;
  if (how == End::kTime && now + kComesBack > entry.until) {
    ends_.erase({entry.until, job_id});
    entry.until = now + kComesBack;
    ends_.emplace(entry.until, job_id);
  }
  if (entry.calls == 0 && entry.until <= now) {
    ends_.erase({entry.until, job_id});
    jobs_.erase(found);
  }
  forget(now);
}

bool AwaitedJobs::awaited(const std::string& job_id, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  forget(now);
  return jobs_.count(job_id) > 0;
}

std::size_t AwaitedJobs::size(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  forget(now);
  return jobs_.size();
}

void AwaitedJobs::forget(Clock::time_point now) {
  while (!ends_.empty() && ends_.begin()->first <= now) {
    const auto found = jobs_.find(ends_.begin()->second);
    CUZK_CHECK(found != jobs_.end());
    found->second.until = {};
    if (found->second.calls == 0) jobs_.erase(found);
    ends_.erase(ends_.begin());
  }
}

}  // namespace cuzk::service
