// Lanes and gates: bounds hold, what was let in is done.
#include "service/work_lane.h"

#include <atomic>
#include <future>
#include <new>
#include <utility>

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

TEST(WorkLane, DoesAllThatItTookBeforeItStops) {
  std::atomic<int> done = 0;
  {
    WorkLane lane("test", 3, 1000);
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(lane.post([&] { ++done; }));
  }
  EXPECT_EQ(done, 500);
}

TEST(WorkLane, RefusesWhatDoesNotFitButNotContinuations) {
  std::promise<void> begun, go;
  WorkLane lane("test", 1, 2);
  ASSERT_TRUE(lane.post([&] {
    begun.set_value();
    go.get_future().wait();
  }));
  begun.get_future().wait();
  std::atomic<int> done = 0;
  EXPECT_TRUE(lane.post([&] { ++done; }));
  EXPECT_TRUE(lane.post([&] { ++done; }));
  EXPECT_FALSE(lane.post([&] { done = 100; }));
  EXPECT_TRUE(lane.post_always([&] { ++done; }));
  EXPECT_EQ(lane.waiting_count(), 3u);
  go.set_value();
  lane.stop();
  EXPECT_EQ(done, 3);
  EXPECT_FALSE(lane.post_always([] {})) << "stopped";
}

TEST(WorkLane, WorksInOrderOnOneThread) {
  std::vector<int> order;
  WorkLane lane("test", 1, 100);
  for (int i = 0; i < 50; ++i) lane.post([&order, i] { order.push_back(i); });
  lane.stop();
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(WorkLane, ATaskThatThrowsIsGivenUpAndTheNextIsDone) {
  WorkLane lane("test", 1, 100);
  bool done = false;
  ASSERT_TRUE(lane.post([] { throw std::bad_alloc(); }));
  ASSERT_TRUE(lane.post([&done] { done = true; }));
  lane.stop();
  EXPECT_TRUE(done);
}

TEST(ByteGate, LetsInUpToItsLimit) {
  ByteGate gate(100);
  auto first = gate.enter(60);
  ASSERT_TRUE(first.holds());
  EXPECT_FALSE(gate.enter(41).holds());
  auto second = gate.enter(40);
  EXPECT_TRUE(second.holds());
  EXPECT_EQ(gate.held_bytes(), 100u);
  EXPECT_FALSE(gate.enter(1).holds());
  first.release();
  EXPECT_EQ(gate.held_bytes(), 40u);
  ByteGate::Hold moved = std::move(second);
  EXPECT_EQ(gate.held_bytes(), 40u);
  moved = ByteGate::Hold();
  EXPECT_EQ(gate.held_bytes(), 0u);
}

TEST(ByteGate, LetsInWhatIsLargerThanAllOfItWhenItIsEmpty) {
  ByteGate gate(10);
  auto small = gate.enter(1);
  EXPECT_FALSE(gate.enter(UINT64_MAX).holds()) << "no wrap-around";
  small.release();
  EXPECT_TRUE(gate.enter(1000).holds());
  EXPECT_EQ(gate.held_bytes(), 0u);
}

TEST(ByteGate, LetsInWhatHoldsNothing) {
  ByteGate gate(10);
  const auto all = gate.enter(10);
  EXPECT_TRUE(gate.enter(0).holds());
}

}  // namespace
}  // namespace cuzk::service
