// The inequalities at their borders, and the argument in small: what the rule lets in can always
// end.
#include "engine/memory_rule.h"

#include <gtest/gtest.h>

namespace cuzk::engine {
namespace {

constexpr Priority kNormal = Priority::kNormal, kCritical = Priority::kCritical;

PartitionPlan plan_of(std::uint64_t witness, std::uint64_t device, std::uint64_t pending = 0) {
  return {0, witness, device, pending};
}

TEST(MemoryRule, WithoutABudgetLetsEverythingIn) {
  MemoryRule rule({});
  EXPECT_TRUE(rule.may_enter(1 << 30, 1 << 30, kNormal));
  rule.begin_witness(plan_of(1000, 1000), kNormal);
  EXPECT_TRUE(rule.may_begin_witness(plan_of(1 << 30, 1 << 30), kNormal, 0));
  EXPECT_EQ(rule.excess_bytes(1 << 30, kNormal), 0u);
}

TEST(MemoryRule, KeepsRoomForTheDeviceStageOfWhatWaits) {
  MemoryRule rule({30, 0, 0});
  const PartitionPlan plan = plan_of(10, 10);
  ASSERT_TRUE(rule.may_begin_witness(plan, kNormal, 0));
  rule.begin_witness(plan, kNormal);
  ASSERT_TRUE(rule.may_begin_witness(plan, kNormal, 0));  // 20 wait, 10 are left for either
  rule.begin_witness(plan, kNormal);
  EXPECT_FALSE(rule.may_begin_witness(plan, kNormal, 0));  // 30 would wait and none could start
  EXPECT_TRUE(rule.may_begin_device(plan, kNormal));
  rule.begin_device(plan, kNormal);
  EXPECT_FALSE(rule.may_begin_device(plan, kNormal));
  EXPECT_TRUE(rule.holds());
}

TEST(MemoryRule, AFailedStartKeepsItsWitnessOnlyWhereOthersCanStillStart) {
  MemoryRule rule({30, 0, 0});
  const PartitionPlan plan = plan_of(10, 10);
  rule.begin_witness(plan, kNormal);
  rule.begin_witness(plan, kNormal);
  rule.begin_device(plan, kNormal);
  EXPECT_TRUE(rule.may_return(plan, kNormal));
  // A third witness takes the place that the first left free...
  EXPECT_FALSE(rule.may_begin_witness(plan, kNormal, 0));  // ...but 30 are held now
  rule.end_device(plan);                                   // keeps nothing
  ASSERT_TRUE(rule.may_begin_witness(plan, kNormal, 0));
  rule.begin_witness(plan, kNormal);
  rule.begin_device(plan, kNormal);
  rule.end_device(plan);
  rule.drop_witness(plan, kNormal);
  EXPECT_EQ(rule.held_bytes(), 0u);
}

TEST(MemoryRule, RefusesTheReturnThatWouldBlock) {
  // Different needs: the returning witness would leave 4 for a start that needs 5.
  MemoryRule rule({30, 0, 0});
  const PartitionPlan first = plan_of(14, 2), second = plan_of(12, 5);
  rule.begin_witness(first, kNormal);
  rule.begin_device(first, kNormal);
  ASSERT_TRUE(rule.may_begin_witness(second, kNormal, 0));
  rule.begin_witness(second, kNormal);
  EXPECT_FALSE(rule.may_return(first, kNormal));
  rule.drop_device(first);
  EXPECT_TRUE(rule.may_begin_device(second, kNormal));
}

TEST(MemoryRule, LeavesRoomForAStarvedDevice) {
  MemoryRule rule({100, 0, 0});
  EXPECT_TRUE(rule.may_begin_witness(plan_of(40, 10), kNormal, 60));
  EXPECT_FALSE(rule.may_begin_witness(plan_of(40, 10), kNormal, 61));
}

TEST(MemoryRule, LetsAJobEnterOnlyWhereEachInFlightCanStillRun) {
  MemoryRule rule({100, 20, 0});
  ASSERT_TRUE(rule.may_enter(30, 50, kNormal));
  EXPECT_FALSE(rule.may_enter(31, 50, kNormal));
  rule.enter(30, 50, kNormal);
  EXPECT_FALSE(rule.may_enter(1, 10, kNormal));  // the first could no longer run
  EXPECT_TRUE(rule.may_enter(0, 50, kNormal));
  rule.leave(30, 50, kNormal);
  EXPECT_TRUE(rule.may_enter(30, 50, kNormal));
}

TEST(MemoryRule, KeepsTheReserveForCriticalWork) {
  MemoryRule rule({100, 0, 10});
  EXPECT_EQ(rule.capacity_bytes(kNormal), 90u);
  EXPECT_EQ(rule.capacity_bytes(kCritical), 100u);
  rule.begin_witness(plan_of(80, 10), kNormal);
  EXPECT_FALSE(rule.may_begin_witness(plan_of(1, 0), kNormal, 0));
  EXPECT_TRUE(rule.may_begin_witness(plan_of(8, 2), kCritical, 0));
  rule.begin_witness(plan_of(8, 2), kCritical);
  EXPECT_TRUE(rule.holds());
  EXPECT_TRUE(rule.may_begin_device(plan_of(8, 2), kCritical));
}

// What a random history found: a critical job's key in the reserve, and the others could not start.
TEST(MemoryRule, DoesNotLetAKeyOfCriticalWorkTakeTheRoomOfAStart) {
  MemoryRule rule({110, 0, 10});
  rule.enter(50, 45, kNormal);
  rule.begin_witness(plan_of(20, 25), kNormal);
  EXPECT_TRUE(rule.may_enter(5, 5, kCritical));
  EXPECT_FALSE(rule.may_enter(6, 5, kCritical));  // 56 + 20 + 25 are over 100
  rule.enter(5, 5, kCritical);
  EXPECT_TRUE(rule.may_begin_witness(plan_of(3, 2), kCritical, 0));
  rule.begin_witness(plan_of(3, 2), kCritical);
  EXPECT_FALSE(rule.may_begin_device(plan_of(20, 25), kNormal));  // after the critical one
  rule.begin_device(plan_of(3, 2), kCritical);
  rule.end_device(plan_of(3, 2));
  EXPECT_TRUE(rule.may_begin_device(plan_of(20, 25), kNormal));
}

TEST(MemoryRule, CountsIdleKeysAsRoom) {
  MemoryRule rule({100, 0, 0});
  rule.add_idle_key(60);
  EXPECT_TRUE(rule.may_begin_witness(plan_of(80, 20), kNormal, 0));
  EXPECT_EQ(rule.excess_bytes(80, kNormal), 40u);
  rule.refer_key(60);
  EXPECT_FALSE(rule.may_begin_witness(plan_of(41, 0), kNormal, 0));
  rule.unrefer_key(60);
  rule.drop_idle_key(60);
  EXPECT_EQ(rule.held_bytes(), 0u);
}

TEST(MemoryRuleDeathTest, SumsDoNotGoBelowZero) {
  MemoryRule rule({100, 0, 0});
  EXPECT_DEATH(rule.end_finish(plan_of(1, 0, 1)), "check failed");
  EXPECT_DEATH(rule.begin_device(plan_of(1, 0), kNormal), "check failed");
  EXPECT_DEATH(rule.begin_witness(plan_of(1, 0, 2), kNormal), "check failed");
}

}  // namespace
}  // namespace cuzk::engine
