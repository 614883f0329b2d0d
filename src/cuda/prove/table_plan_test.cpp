// Tables over made-up scratch and the real costs of sums: what is worth its bytes, what is left
// over for it, and when it is made.
#include "cuda/prove/table_plan.h"

#include <vector>

#include <gtest/gtest.h>

#include "cuda/msm/multiples_table.h"
#include "curve/groups.h"

namespace cuzk::cuda::prove {
namespace {

using G1 = cuzk::curve::Bls12_381::G1;
using G2 = cuzk::curve::Bls12_381::G2;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kGiB = std::uint64_t{1} << 30;

// Scratch for the entries of all windows; a table's fit where its sets are not longer in all.
struct MadeUpScratch : ScratchModel {
  std::uint64_t multiply_bytes(const MultiplySizes& sizes) const override {
    return 600 * sizes.part_count;
  }
  std::uint64_t bitmap_bytes(bool, std::uint64_t count) const override { return 110 * count; }
  template <class G>
  TableOffer offer(const MultiplySizes& sizes, const TableWish& wish) const {
    const auto choice = msm::choose_tables<G>(sizes.count, wish.table_count_max, wish.gain_min,
                                              wish.saved_per_table_min, {},
                                              [this](int tables) { return tables <= fitting; });
    return {choice.table_count, choice.saved, msm::fill_cost<G>(choice.table_count)};
  }
  TableOffer tables(const MultiplySizes& sizes, std::uint64_t,
                    const TableWish& wish) const override {
    return sizes.in_g2 ? offer<G2>(sizes, wish) : offer<G1>(sizes, wish);
  }
  int fitting = 16;  // tables that do in a sum's scratch
};

// Like a PoRep of 2^log2 rows: two variables of a hundred are scalars.
ProofSizes porep_sizes(unsigned log2) {
  const std::uint64_t n = (std::uint64_t{1} << log2) - 1;
  ProofSizes sizes;
  sizes.domain_log2 = log2;
  sizes.witness_bytes = 4 * kMiB;
  sizes.queries[kQueryH] = {n, n, 96, false, true};
  sizes.queries[kQueryL] = {n - n / 16, n / 50, 96, false, true};
  sizes.queries[kQueryA] = {n - n / 16, n / 50, 96, false, true};
  sizes.queries[kQueryB1] = {n / 3, n / 150, 96, false, true};
  sizes.queries[kQueryB2] = {n / 3, n / 150, 192, true, true};
  return sizes;
}

ProofPlan whole_plan() {
  ProofPlan plan;
  plan.piece_points = std::uint64_t{1} << 27;
  return plan;
}

TEST(TableCost, FollowsWhatWasMeasured) {
  const msm::MsmPolicy policy;
  const auto cost = [&](unsigned log2, int tables) {
    return msm::table_cost<G1>(std::size_t{1} << log2, tables, policy);
  };
  // 2^22: 23.7 ms, with thirteen 20.1; 2^26: 283 ms, with two 269, with six 256.
  EXPECT_NEAR(cost(22, 13).additions / cost(22, 1).additions, 20.1 / 23.7, 0.02);
  EXPECT_NEAR(cost(26, 2).additions / cost(26, 1).additions, 269.0 / 283, 0.02);
  EXPECT_NEAR(cost(26, 4).additions / cost(26, 1).additions, 259.0 / 283, 0.02);
  EXPECT_NEAR(cost(26, 6).additions / cost(26, 1).additions, 256.0 / 283, 0.02);
  EXPECT_GT(cost(26, 6).affine_rounds, cost(26, 1).affine_rounds);
  // Six at 2^22 leave so few entries a bucket that a round of affine additions is lost: no gain.
  EXPECT_LT(cost(22, 6).affine_rounds, cost(22, 1).affine_rounds);
  EXPECT_GE(cost(22, 13).affine_rounds, cost(22, 1).affine_rounds);
}

TEST(ChooseTables, TakesTheBestThatFitsAndNoneWhereLittleIsGained) {
  const msm::MsmPolicy policy;
  const auto choose = [&](std::size_t count, int most, double gain_min, int fitting) {
    return msm::choose_tables<G1>(count, most, gain_min, 0, policy,
                                  [fitting](int tables) { return tables <= fitting; });
  };
  const std::size_t n = std::size_t{1} << 22;
  const auto best = choose(n, 16, 0.04, 16);
  EXPECT_EQ(best.table_count, 13);
  EXPECT_GT(best.saved, 0.1 * best.cost);
  EXPECT_EQ(choose(n, 16, 0.5, 16).table_count, 1);
  EXPECT_EQ(choose(n, 1, 0, 16).table_count, 1);
  EXPECT_EQ(choose(n, 16, 0, 1).table_count, 1);
  EXPECT_EQ(choose(n, 1, 0, 16).saved, 0);
  for (const int most : {2, 5, 9, 12}) {
    EXPECT_LE(choose(n, most, 0, 16).table_count, most);
    EXPECT_LE(choose(n, 16, 0, most).table_count, most);
  }
  // Few terms are all buckets, which tables share.
  EXPECT_GT(choose(20, 16, 0, 16).table_count, 8);
  // No more entries than a sum can have.
  EXPECT_LE(choose(std::size_t{1} << 28, 16, 0, 16).table_count, 4);
}

TEST(TablePlan, GivesHItsTablesAndTheRestNone) {
  const auto plan =
      plan_tables(porep_sizes(22), whole_plan(), 35 * kGiB, TableRules(), MadeUpScratch());
  EXPECT_EQ(plan.counts, (std::array<int, kQueryCount>{13, 1, 1, 1, 1}));
  EXPECT_EQ(plan.bytes, table_bytes_of(porep_sizes(22).queries[kQueryH], 13));
  EXPECT_NEAR(static_cast<double>(plan.bytes), 5.2e9, 0.1e9);
  // Measured: 350 ms to make, 3.6 saved.
  EXPECT_GT(plan.proofs_to_earn(), 70u);
  EXPECT_LT(plan.proofs_to_earn(), 150u);
}

// 2^26 in a quarter of a large card: three, as more save too little for their bytes. At 2^27 three
// do not fit, and two save too little, as windows can be no wider.
TEST(TablePlan, TakesAFurtherTableOnlyWhereItPaysToo) {
  const auto counts = [](unsigned log2) {
    return plan_tables(porep_sizes(log2), whole_plan(), 34 * kGiB, TableRules(), MadeUpScratch())
        .counts;
  };
  EXPECT_EQ(counts(26), (std::array<int, kQueryCount>{3, 1, 1, 1, 1}));
  EXPECT_EQ(counts(27), (std::array<int, kQueryCount>{1, 1, 1, 1, 1}));
}

// Their points would be cheap to multiply, but their sums are short.
TEST(TablePlan, GivesShortSumsNoneAndDenseQueriesSome) {
  ProofSizes sizes = porep_sizes(16);
  EXPECT_TRUE(
      plan_tables(sizes, whole_plan(), 35 * kGiB, TableRules(), MadeUpScratch()).is_empty());
  sizes = porep_sizes(20);
  for (auto& query : sizes.queries) query.scalar_count = query.point_count;
  for (const int count :
       plan_tables(sizes, whole_plan(), 35 * kGiB, TableRules(), MadeUpScratch()).counts) {
    EXPECT_GT(count, 1);
  }
}

TEST(TablePlan, KeepsToItsRoomWhateverItIs) {
  for (const unsigned log2 : {10u, 16u, 22u, 26u}) {
    const ProofSizes sizes = porep_sizes(log2);
    for (std::uint64_t room = 0; room < 64 * kGiB; room = 2 * room + 1000) {
      for (const TableRules& rules : {TableRules(), TableRules::any()}) {
        const auto plan = plan_tables(sizes, whole_plan(), room, rules, MadeUpScratch());
        EXPECT_LE(plan.bytes, room);
        std::uint64_t bytes = 0;
        for (int q = 0; q < kQueryCount; ++q) {
          if (plan.counts[q] > 1) bytes += table_bytes_of(sizes.queries[q], plan.counts[q]);
        }
        EXPECT_EQ(plan.bytes, bytes);
        EXPECT_EQ(plan.is_empty(), plan.saved == 0);
      }
    }
  }
}

TEST(TablePlan, HasNoneWhereNothingIsLeft) {
  const auto plan = plan_tables(porep_sizes(22), whole_plan(), 0, TableRules(), MadeUpScratch());
  EXPECT_TRUE(plan.is_empty());
  EXPECT_EQ(plan.proofs_to_earn(), 0u);
}

TEST(TablePlan, LeavesOutWhatIsStreamedCutSummedElsewhereOrEmpty) {
  const MadeUpScratch model;
  const TableRules any = TableRules::any();
  ProofSizes sizes = porep_sizes(18);
  ProofPlan plan = whole_plan();
  for (const int count : plan_tables(sizes, plan, 64 * kGiB, any, model).counts) {
    EXPECT_GT(count, 1);
  }
  plan.query_resident[kQueryL] = false;
  sizes.queries[kQueryA].is_used = false;
  sizes.queries[kQueryB1].scalar_count = 0;
  const auto some = plan_tables(sizes, plan, 64 * kGiB, any, model).counts;
  EXPECT_GT(some[kQueryH], 1);
  EXPECT_EQ(some[kQueryL], 1);
  EXPECT_EQ(some[kQueryA], 1);
  EXPECT_EQ(some[kQueryB1], 1);
  EXPECT_GT(some[kQueryB2], 1);
  plan.piece_points = sizes.queries[kQueryH].point_count - 1;
  EXPECT_EQ(plan_tables(sizes, plan, 64 * kGiB, any, model).counts[kQueryH], 1);
}

TEST(TablePlan, HasNoneWhoseSumsNeedMoreScratch) {
  MadeUpScratch model;
  model.fitting = 1;
  EXPECT_TRUE(
      plan_tables(porep_sizes(22), whole_plan(), 35 * kGiB, TableRules::any(), model).is_empty());
}

TEST(TableRoom, IsWhatKeysAndPlannedProofsLeaveAndNoMoreThanAShare) {
  EXPECT_EQ(table_room(100 * kGiB, 10 * kGiB, 0, 10 * kGiB, 3), 25 * kGiB);
  EXPECT_EQ(table_room(100 * kGiB, 10 * kGiB, 20 * kGiB, 10 * kGiB, 3), 5 * kGiB);
  EXPECT_EQ(table_room(100 * kGiB, 10 * kGiB, 30 * kGiB, 10 * kGiB, 3), 0u);
  EXPECT_EQ(table_room(100 * kGiB, 60 * kGiB, 0, 10 * kGiB, 3), 10 * kGiB);
  EXPECT_EQ(table_room(100 * kGiB, 80 * kGiB, 0, 10 * kGiB, 3), 0u);
  EXPECT_EQ(table_room(0, 0, 0, 0, 1), 0u);
}

// What a schedule is asked and did.
struct Trial {
  TableSchedule schedule;
  TablePlan plan;
  bool is_there = false, can_make = true;
  std::uint64_t proofs = 0, planned = 0;
  std::vector<std::uint64_t> made;  // before which proof

  void prove(std::uint64_t count, bool at_once = false) {
    for (std::uint64_t i = 0; i < count; ++i) {
      ++proofs;
      schedule.count_proof(
          at_once, [this] { return is_there; },
          [this] {
            ++planned;
            return plan;
          },
          [this](const TablePlan& wanted) {
            EXPECT_EQ(wanted.bytes, plan.bytes);
            made.push_back(proofs);
            return is_there = can_make;
          });
    }
  }
};

TablePlan earned_by(double proofs) {
  TablePlan plan;
  plan.bytes = kGiB;
  plan.saved = 1e6;
  plan.made = proofs * 1e6;
  return plan;
}

TEST(TableSchedule, MakesTablesOnceTheyWouldHaveEarnedTheirCost) {
  Trial trial;
  trial.plan = earned_by(100);
  trial.prove(100);
  EXPECT_TRUE(trial.made.empty());
  trial.prove(1);
  EXPECT_EQ(trial.made, std::vector<std::uint64_t>{101});
  trial.prove(1000);
  EXPECT_EQ(trial.made.size(), 1u);
  EXPECT_LE(trial.planned, 3u);
}

TEST(TableSchedule, MakesThemAtOnceWhereThatIsAsked) {
  Trial trial;
  trial.plan = earned_by(100);
  trial.prove(1, true);
  EXPECT_EQ(trial.made, std::vector<std::uint64_t>{1});
}

TEST(TableSchedule, LooksAgainNowAndThenWhereThereIsNoRoomOrMakingFailed) {
  Trial trial;
  trial.prove(10 * TableSchedule::kLookAgain);
  EXPECT_TRUE(trial.made.empty());
  EXPECT_GE(trial.planned, 9u);
  EXPECT_LE(trial.planned, 11u);
  trial.plan = earned_by(10);
  trial.can_make = false;
  trial.prove(TableSchedule::kLookAgain + 1);
  EXPECT_EQ(trial.made.size(), 1u);
  trial.can_make = true;
  trial.prove(TableSchedule::kLookAgain + 1);
  EXPECT_EQ(trial.made.size(), 2u);
  EXPECT_TRUE(trial.is_there);
}

TEST(TableSchedule, WaitsTwiceAsLongEachTimeTheyWereTakenAway) {
  Trial trial;
  trial.plan = earned_by(10);
  std::uint64_t before = 0;
  for (const std::uint64_t wait : {11, 21, 41, 81}) {
    trial.prove(wait - 1);
    EXPECT_EQ(trial.made.size(), before);
    trial.prove(1);
    EXPECT_EQ(trial.made.size(), ++before);
    trial.is_there = false;
  }
}

}  // namespace
}  // namespace cuzk::cuda::prove
