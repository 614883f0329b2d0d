// A job is awaited while a call waits for it, and a while after one that ran out of time.
#include "service/awaited_jobs.h"

#include <map>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

using Clock = AwaitedJobs::Clock;
using End = AwaitedJobs::End;
using std::chrono::milliseconds;

TEST(AwaitedJobs, CountCallsUntilTheLastOneEnds) {
  AwaitedJobs jobs;
  EXPECT_FALSE(jobs.awaited("a"));
  jobs.begin("a");
  jobs.begin("a");
  jobs.begin("b");
  EXPECT_TRUE(jobs.awaited("a"));
  EXPECT_FALSE(jobs.awaited("c"));
  jobs.end("a", End::kOver);
  EXPECT_TRUE(jobs.awaited("a"));
  jobs.end("a", End::kOver);
  EXPECT_FALSE(jobs.awaited("a"));
  EXPECT_EQ(jobs.size(), 1u);
}

TEST(AwaitedJobs, ACallThatRanOutOfTimeCountsAWhile) {
  AwaitedJobs jobs;
  const auto start = Clock::now();
  jobs.begin("a");
  jobs.end("a", End::kTime, start);
  EXPECT_TRUE(jobs.awaited("a", start));
  EXPECT_TRUE(jobs.awaited("a", start + AwaitedJobs::kComesBack - milliseconds(1)));
  EXPECT_FALSE(jobs.awaited("a", start + AwaitedJobs::kComesBack));
  EXPECT_EQ(jobs.size(start + AwaitedJobs::kComesBack), 0u);
}

TEST(AwaitedJobs, WhoComesBackAndLeavesForGoodStillCountsTheOldTime) {
  AwaitedJobs jobs;
  const auto start = Clock::now();
  jobs.begin("a");
  jobs.end("a", End::kTime, start);
  jobs.begin("a");
  // Over the old time: the call itself counts.
  EXPECT_TRUE(jobs.awaited("a", start + 2 * AwaitedJobs::kComesBack));
  jobs.end("a", End::kTime, start + 2 * AwaitedJobs::kComesBack);
  EXPECT_TRUE(jobs.awaited("a", start + 3 * AwaitedJobs::kComesBack - milliseconds(1)));
  jobs.begin("a");
  jobs.end("a", End::kOver, start + 2 * AwaitedJobs::kComesBack + milliseconds(1));
  EXPECT_TRUE(jobs.awaited("a", start + 3 * AwaitedJobs::kComesBack - milliseconds(1)));
  EXPECT_FALSE(jobs.awaited("a", start + 3 * AwaitedJobs::kComesBack));
}

TEST(AwaitedJobs, TellOnceWhenNobodyWaitsAnyMore) {
  AwaitedJobs jobs;
  const auto start = Clock::now();
  int told = 0;
  const auto tell = [&] { ++told; };
  jobs.when_unawaited("nobody", tell, start);
  EXPECT_EQ(told, 1);
  jobs.begin("a");
  jobs.begin("a");
  jobs.when_unawaited("a", tell, start);
  jobs.when_unawaited("a", tell, start);  // the latest counts
  jobs.end("a", End::kOver, start);
  EXPECT_EQ(told, 1);
  jobs.end("a", End::kOver, start);
  EXPECT_EQ(told, 2);
  // A wait that ran out of time: when it has not come back.
  jobs.begin("b");
  jobs.when_unawaited("b", tell, start);
  jobs.end("b", End::kTime, start);
  EXPECT_TRUE(jobs.awaited("b", start));
  EXPECT_EQ(told, 2);
  EXPECT_FALSE(jobs.awaited("other", start + AwaitedJobs::kComesBack));
  EXPECT_EQ(told, 3);
  jobs.begin("c");
  jobs.when_unawaited("c", tell, start);
  jobs.drop_calls();
  jobs.end("c", End::kOver, start);
  EXPECT_EQ(told, 3);
}

// Against a list of all that happened, looked through each time.
TEST(AwaitedJobs, AgreeWithTheNaiveTally) {
  AwaitedJobs jobs;
  std::map<std::string, int> calls;
  std::map<std::string, Clock::time_point> until;
  const auto start = Clock::now();
  std::uint64_t state = 1;
  const auto next = [&state](std::uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  for (int step = 0; step < 20'000; ++step) {
    const auto now = start + milliseconds(500) * step;
    const std::string id(1, static_cast<char>('a' + next(5)));
    if (next(2) == 0) {
      jobs.begin(id);
      ++calls[id];
    } else if (calls[id] > 0) {
      const bool out_of_time = next(3) == 0;
      jobs.end(id, out_of_time ? End::kTime : End::kOver, now);
      --calls[id];
      if (out_of_time) until[id] = now + AwaitedJobs::kComesBack;
    }
    std::size_t size = 0;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      const bool expected = calls[name] > 0 || (until.count(name) > 0 && until[name] > now);
      ASSERT_EQ(jobs.awaited(name, now), expected) << step << " " << name;
      size += expected ? 1 : 0;
    }
    ASSERT_EQ(jobs.size(now), size) << step;
  }
}

TEST(AwaitedJobs, NothingIsLostBetweenThreads) {
  AwaitedJobs jobs;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&jobs, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string id = std::to_string(i % 7);
        jobs.begin(id);
        EXPECT_TRUE(jobs.awaited(id));
        jobs.end(id, (i + t) % 2 == 0 ? End::kTime : End::kOver);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(jobs.size(Clock::now() + AwaitedJobs::kComesBack), 0u);
}

}  // namespace
}  // namespace cuzk::service
