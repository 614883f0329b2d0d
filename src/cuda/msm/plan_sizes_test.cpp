// The room for heads suffices for every part that a plan in parts may be given.
#include "cuda/msm/plan_sizes.h"

#include <gtest/gtest.h>

namespace cuzk::cuda::msm {
namespace {

MsmPlan plan_of(std::size_t part_count_max, int tables, int sets, int rounds, bool is_in_parts) {
  MsmPlan plan;
  plan.count = plan.part_count_max = part_count_max;
  plan.layout = WindowLayout::shared(255, tables, sets);
  plan.is_in_parts = is_in_parts;
  plan.affine_rounds = rounds;
  plan.affine_entry_min = plan.policy.affine_count_min;
  plan.run_length_max = plan.policy.run_length_max;
  return plan;
}

std::size_t heads_of(const MsmPlan& plan, std::size_t terms) {
  return head_count(plan.entries_of(terms), plan.layout.bucket_count_max(), plan.steps_of(terms));
}

TEST(HeadCountMax, IsEnoughForEveryPart) {
  for (const std::size_t largest : {1u, 1000u, 16384u, 400000u, 5000000u, 40000000u}) {
    for (const int tables : {1, 2, 6, 13}) {
      for (const int sets : {1, 2, 7, 12, 16}) {
        if (tables * sets < 12 || tables * sets > kWindowsMax) continue;
        for (const int rounds : {0, 1, 3, 5}) {
          const MsmPlan plan = plan_of(largest, tables, sets, rounds, true);
          const std::size_t room = head_count_max(plan);
          // All neighbourhoods of sizes, eight steps an octave, and the largest.
          for (double size = 1; size < static_cast<double>(largest); size = size * 1.09 + 1) {
            const auto terms = static_cast<std::size_t>(size);
            ASSERT_LE(heads_of(plan, terms), room) << terms << " of " << largest;
          }
          ASSERT_LE(heads_of(plan, largest), room);
        }
      }
    }
  }
}

TEST(HeadCountMax, IsExactForASumAtOnce) {
  for (const std::size_t count : {1u, 1000u, 400000u, 5000000u}) {
    const MsmPlan plan = plan_of(count, 1, 14, 3, false);
    EXPECT_EQ(head_count_max(plan), heads_of(plan, count));
  }
}

TEST(PlanSteps, SmallPartsTakeShorterRunsAndFewerRounds) {
  const MsmPlan plan = plan_of(std::size_t{1} << 25, 1, 12, 3, true);
  int rounds = 0, run_length = 0;
  for (std::size_t terms = 16; terms <= plan.part_count_max; terms *= 2) {
    const MsmPlan::Steps steps = plan.steps_of(terms);
    EXPECT_GE(steps.affine_rounds, rounds);
    EXPECT_LE(steps.affine_rounds, plan.affine_rounds);
    EXPECT_GE(steps.run_length, plan.policy.run_length_min);
    EXPECT_LE(steps.run_length, plan.policy.run_length_max);
    rounds = steps.affine_rounds;
    if (terms < plan.affine_entry_min) {
      EXPECT_GE(steps.run_length, run_length);  // no rounds yet: runs only grow
      run_length = steps.run_length;
    }
  }
  EXPECT_EQ(rounds, 3);
}

TEST(PlanSteps, LongListsTakeLateRoundsWhereThereIsWorkForThem) {
  const std::size_t many = std::size_t{1} << 26, few = std::size_t{1} << 22;
  EXPECT_EQ(plan_of(many, 6, 2, 5, false).steps_of(many).affine_rounds, 5);
  EXPECT_EQ(plan_of(many, 2, 6, 5, false).steps_of(many).affine_rounds, 4);
  EXPECT_EQ(plan_of(many, 1, 12, 5, false).steps_of(many).affine_rounds, 3);  // short lists
  EXPECT_EQ(plan_of(few, 13, 1, 5, false).steps_of(few).affine_rounds, 3);    // too few pairs
  EXPECT_EQ(plan_of(many, 6, 2, 3, false).steps_of(many).affine_rounds, 3);   // not planned
}

TEST(PlanSteps, RunsOfPairsAreLongOnlyWhereThreadsAbound) {
  const MsmPlan plan = plan_of(std::size_t{1} << 26, 1, 12, 3, true);
  EXPECT_EQ(plan.steps_of(std::size_t{1} << 22).pair_run_length, MsmPlan::kPairRunShort);
  EXPECT_EQ(plan.steps_of(std::size_t{1} << 26).pair_run_length, MsmPlan::kPairRunLong);
}

TEST(HalvedLists, HoldAPairEachAndTheOddOnesOfTheirBuckets) {
  EXPECT_EQ(halved(0, 5), 0u);
  EXPECT_EQ(halved(1, 5), 1u);
  EXPECT_EQ(halved(10, 1), 6u);     // 5 or 6, if the bound counts an odd one
  EXPECT_EQ(halved(10, 100), 10u);  // each alone in its bucket
}

}  // namespace
}  // namespace cuzk::cuda::msm
