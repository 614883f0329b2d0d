// Loops cover their range once, nest, and keep to the cap.
#include "base/threads.h"

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/checkpoint_test_support.h"

namespace cuzk::base {
namespace {

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (const std::size_t size : {0u, 1u, 2u, 63u, 64u, 1000u, 4097u}) {
    for (const std::size_t grain : {1u, 7u, 64u, 10000u}) {
      std::vector<std::atomic<int>> seen(size);
      parallel_for(0, size, grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) seen[i].fetch_add(1);
      });
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(seen[i].load(), 1) << i;
    }
  }
}

TEST(ParallelFor, StartsWhereItIsTold) {
  std::atomic<std::size_t> sum{0};
  parallel_for(10, 20, 3, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) sum += i;
  });
  EXPECT_EQ(sum.load(), 145u);
  parallel_for(5, 5, 1, [&](std::size_t, std::size_t) { ADD_FAILURE() << "empty range"; });
  parallel_for(6, 5, 1, [&](std::size_t, std::size_t) { ADD_FAILURE() << "empty range"; });
}

TEST(ParallelFor, Nests) {
  std::atomic<int> count{0};
  parallel_for(0, 20, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      parallel_for(0, 50, 5, [&](std::size_t inner_first, std::size_t inner_last) {
        count += static_cast<int>(inner_last - inner_first);
      });
    }
  });
  EXPECT_EQ(count.load(), 1000);
}

TEST(ParallelTasks, DoesEachPieceOnceHoweverOftenItIsSetAside) {
  for (const int every : {2, 3, 17}) {
    testing::CountingCheckpoint checkpoint(every, -1);
    std::vector<std::atomic<int>> done(200);
    EXPECT_TRUE(parallel_tasks(200, &checkpoint, [&](std::size_t i) { ++done[i]; }));
    for (std::size_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i].load(), 1) << i;
    EXPECT_GT(checkpoint.pass_count, 0);
  }
}

TEST(ParallelTasks, BeginsNoFurtherPieceOnceTheCheckpointSaidNo) {
  testing::CountingCheckpoint checkpoint(10, 2);
  std::atomic<int> done{0};
  EXPECT_FALSE(parallel_tasks(1000, &checkpoint, [&](std::size_t) { ++done; }));
  EXPECT_LT(done.load(), 100);
  const int before = done.load();
  EXPECT_FALSE(parallel_tasks(1000, &checkpoint, [&](std::size_t) { ++done; }));
  EXPECT_EQ(done.load(), before);
}

TEST(ParallelTasks, NeedsNoCheckpointAndNoPiece) {
  std::atomic<int> done{0};
  EXPECT_TRUE(parallel_tasks(100, nullptr, [&](std::size_t) { ++done; }));
  EXPECT_EQ(done.load(), 100);
  EXPECT_TRUE(parallel_tasks(0, nullptr, [&](std::size_t) { ++done; }));
  testing::CountingCheckpoint checkpoint(1000, -1);
  EXPECT_TRUE(parallel_tasks(0, &checkpoint, [&](std::size_t) { ++done; }));
  EXPECT_EQ(done.load(), 100);
}

TEST(ParallelInvoke, RunsBothAndWaits) {
  std::atomic<int> done{0};
  parallel_invoke([&] { done += 1; }, [&] { done += 10; });
  EXPECT_EQ(done.load(), 11);
}

TEST(ThreadCount, FollowsTheCap) {
  const std::size_t machine = thread_count();
  ASSERT_GE(machine, 1u);
  set_thread_count(1);
  EXPECT_EQ(thread_count(), 1u);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  parallel_for(0, 64, 1, [&](std::size_t, std::size_t) {
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(ids.size(), 1u);
  set_thread_count(3);
  EXPECT_EQ(thread_count(), 3u);
  set_thread_count(0);
  EXPECT_EQ(thread_count(), machine);
}

}  // namespace
}  // namespace cuzk::base
