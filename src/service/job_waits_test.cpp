// Waits end once, whichever end comes first.
#include "service/job_waits.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

using std::chrono::milliseconds;
using Done = std::function<void(const engine::JobView&)>;

// Ends jobs when the test says so.
class Jobs {
 public:
  JobWaits::OnFinal on_final() {
    return [this](std::string_view id,
                  Done done) -> base::Result<std::shared_ptr<engine::Subscription>> {
      const std::lock_guard lock(mutex_);
      if (id == "unknown") return base::Error{base::ErrorKind::kNotFound, "no such job"};
      if (over_.count(std::string(id)) > 0) {
        done(view(std::string(id)));
        return std::shared_ptr<engine::Subscription>(std::make_shared<Handle>(*this));
      }
      waiting_.emplace(std::string(id), std::move(done));
      return std::shared_ptr<engine::Subscription>(std::make_shared<Handle>(*this));
    };
  }
  void end(const std::string& id) {
    std::vector<Done> called;
    {
      const std::lock_guard lock(mutex_);
      over_.insert(id);
      const auto [begin, end] = waiting_.equal_range(id);
      for (auto at = begin; at != end; ++at) called.push_back(at->second);
      waiting_.erase(begin, end);
    }
    for (const Done& done : called) done(view(id));
  }
  int handle_count() const { return handles_; }

 private:
  struct Handle final : engine::Subscription {
    explicit Handle(Jobs& owner) : jobs(owner) { ++jobs.handles_; }
    ~Handle() override { --jobs.handles_; }
    Jobs& jobs;
  };
  static engine::JobView view(const std::string& id) {
    engine::JobView job;
    job.record.request_id = id;
    job.record.state = engine::JobState::kCompleted;
    return job;
  }
  std::mutex mutex_;
  std::multimap<std::string, Done> waiting_;
  std::set<std::string> over_;
  std::atomic<int> handles_ = 0;
};

// How waits ended, in order.
class Ends {
 public:
  std::function<void(WaitEnd)> sink() {
    return [this](WaitEnd end) {
      const std::lock_guard lock(mutex_);
      ends_.push_back(std::move(end));
      changed_.notify_all();
    };
  }
  bool wait_for(std::size_t count, milliseconds timeout = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [&] { return ends_.size() >= count; });
  }
  std::vector<WaitEnd> all() {
    const std::lock_guard lock(mutex_);
    return ends_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<WaitEnd> ends_;
};

constexpr milliseconds kLong = std::chrono::hours(1);

TEST(JobWaits, EndWithTheirJob) {
  const auto awaited = std::make_shared<AwaitedJobs>();
  Jobs jobs;
  Ends ends;
  JobWaits waits(jobs.on_final(), 10, awaited);
  ASSERT_TRUE(waits.begin("a", kLong, ends.sink()).ok());
  ASSERT_TRUE(waits.begin("b", kLong, ends.sink()).ok());
  EXPECT_EQ(waits.count(), 2u);
  EXPECT_TRUE(awaited->awaited("a"));
  jobs.end("a");
  ASSERT_TRUE(ends.wait_for(1));
  const WaitEnd end = ends.all()[0];
  EXPECT_EQ(end.kind, WaitEnd::Kind::kFinal);
  ASSERT_TRUE(end.job.has_value());
  EXPECT_EQ(end.job->record.request_id, "a");
  EXPECT_FALSE(awaited->awaited("a"));
  EXPECT_EQ(waits.count(), 1u);
}

TEST(JobWaits, EndAtOnceForAJobThatIsOver) {
  const auto awaited = std::make_shared<AwaitedJobs>();
  Jobs jobs;
  Ends ends;
  jobs.end("a");
  JobWaits waits(jobs.on_final(), 10, awaited);
  ASSERT_TRUE(waits.begin("a", kLong, ends.sink()).ok());
  EXPECT_EQ(ends.all().size(), 1u);
  EXPECT_EQ(waits.count(), 0u);
}

TEST(JobWaits, EndWithTheirTime) {
  const auto awaited = std::make_shared<AwaitedJobs>();
  Jobs jobs;
  Ends ends;
  JobWaits waits(jobs.on_final(), 10, awaited);
  ASSERT_TRUE(waits.begin("long", kLong, ends.sink()).ok());
  ASSERT_TRUE(waits.begin("short", milliseconds(5), ends.sink()).ok());
  ASSERT_TRUE(ends.wait_for(1));
  EXPECT_EQ(ends.all()[0].kind, WaitEnd::Kind::kTimeout);
  EXPECT_FALSE(ends.all()[0].job.has_value());
  EXPECT_EQ(waits.count(), 1u);
  jobs.end("short");
  jobs.end("long");
  ASSERT_TRUE(ends.wait_for(2));
  EXPECT_EQ(ends.all().size(), 2u) << "each once";
  EXPECT_TRUE(awaited->awaited("short")) << "its client may ask again";
  EXPECT_FALSE(awaited->awaited("long"));
}

TEST(JobWaits, AreRefusedForUnknownJobsAndBeyondTheLimit) {
  const auto awaited = std::make_shared<AwaitedJobs>();
  Jobs jobs;
  Ends ends;
  JobWaits waits(jobs.on_final(), 2, awaited);
  const auto unknown = waits.begin("unknown", kLong, ends.sink());
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, base::ErrorKind::kNotFound);
  EXPECT_EQ(waits.count(), 0u);
  ASSERT_TRUE(waits.begin("a", kLong, ends.sink()).ok());
  ASSERT_TRUE(waits.begin("b", kLong, ends.sink()).ok());
  const auto third = waits.begin("c", kLong, ends.sink());
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().kind, base::ErrorKind::kResourceExhausted);
  waits.set_limit(3);
  EXPECT_TRUE(waits.begin("c", kLong, ends.sink()).ok());
}

TEST(JobWaits, AreNotHeardOfOnceAbandoned) {
  const auto awaited = std::make_shared<AwaitedJobs>();
  Jobs jobs;
  Ends ends;
  JobWaits waits(jobs.on_final(), 10, awaited);
  const auto wait = waits.begin("a", kLong, ends.sink());
  ASSERT_TRUE(wait.ok());
  JobWaits::abandon(*wait);
  EXPECT_FALSE(awaited->awaited("a"));
  jobs.end("a");
  waits.close();
  EXPECT_TRUE(ends.all().empty());
}

TEST(JobWaits, AllEndWhenTheyAreClosed) {
  const auto awaited = std::make_shared<AwaitedJobs>();
  Jobs jobs;
  Ends ends;
  {
    JobWaits waits(jobs.on_final(), 10, awaited);
    ASSERT_TRUE(waits.begin("a", kLong, ends.sink()).ok());
    ASSERT_TRUE(waits.begin("a", kLong, ends.sink()).ok());
    EXPECT_TRUE(awaited->awaited("a"));
    waits.close();
    ASSERT_TRUE(ends.wait_for(2));
    for (const WaitEnd& end : ends.all()) EXPECT_EQ(end.kind, WaitEnd::Kind::kClosed);
    const auto late = waits.begin("a", kLong, ends.sink());
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().kind, base::ErrorKind::kUnavailable);
  }
  EXPECT_EQ(jobs.handle_count(), 0) << "no subscription is left";
}

// Method: waits that their job, their time, an abandonment and the close reach at about the same
// moment, from several threads. An abandoned one may have been told just before, hence the two
// bounds.
TEST(JobWaits, EndOnceEachWhenEverythingHappensTogether) {
  const auto awaited = std::make_shared<AwaitedJobs>();
  constexpr int kThreads = 4, kEach = 200;
  Jobs jobs;
  std::atomic<int> ended = 0, abandoned = 0;
  {
    JobWaits waits(jobs.on_final(), 100'000, awaited);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          const std::string id = std::to_string(t) + "-" + std::to_string(i);
          std::atomic<bool> called = false;
          auto wait = waits.begin(id, milliseconds(i % 3), [&](WaitEnd) { ++ended; });
          ASSERT_TRUE(wait.ok());
          if (i % 2 == 0) jobs.end(id);
          if (i % 5 == 0) {
            JobWaits::abandon(*wait);
            ++abandoned;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_LE(ended, kThreads * kEach);
  EXPECT_GE(ended + abandoned, kThreads * kEach) << "none is lost";
  EXPECT_EQ(jobs.handle_count(), 0);
}

}  // namespace
}  // namespace cuzk::service
