// Plans over made-up scratch: what leaves the device first, what fits, what is refused, and that
// the arrays of every stage fit what was planned.
#include "cuda/prove/proof_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::cuda::prove {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kGiB = std::uint64_t{1} << 30;

// Of the size that the kernels really take: 600 bytes a term, half of it under a limit.
struct MadeUpScratch final : ScratchModel {
  std::uint64_t multiply_bytes(const MultiplySizes& sizes) const override {
    const std::uint64_t wanted = 600 * sizes.part_count * (sizes.in_g2 ? 2 : 1);
    if (sizes.limit_bytes == 0 || wanted <= sizes.limit_bytes) return wanted;
    return std::max(wanted / 4, sizes.limit_bytes / 2);
  }
  std::uint64_t bitmap_bytes(bool in_g2, std::uint64_t count) const override {
    return (in_g2 ? 200 : 110) * count;
  }
};

// Like a 2 KiB PoRep.
ProofSizes porep_sizes() {
  ProofSizes sizes;
  sizes.domain_log2 = 22;
  sizes.witness_bytes = 4 * kMiB;
  sizes.matrix_bytes = 300 * kMiB;
  sizes.table_bytes = 2 * kMiB;
  sizes.longest_row_bytes = 64 << 10;
  sizes.queries[kQueryH] = {(1 << 22) - 1, (1 << 22) - 1, 96, false, true};
  sizes.queries[kQueryL] = {3'900'000, 80'000, 96, false, true};
  sizes.queries[kQueryA] = {3'900'000, 80'000, 96, false, true};
  sizes.queries[kQueryB1] = {1'500'000, 30'000, 96, false, true};
  sizes.queries[kQueryB2] = {1'500'000, 30'000, 192, true, true};
  return sizes;
}

TEST(ProofPlan, EverythingIsResidentAndWholeWhereThereIsRoom) {
  const auto plan = plan_proof(porep_sizes(), 100 * kGiB, 1, MadeUpScratch()).value();
  EXPECT_TRUE(plan.matrices_resident);
  for (const bool resident : plan.query_resident) EXPECT_TRUE(resident);
  EXPECT_EQ(plan.evaluation_buffers, 3u);
  EXPECT_GE(plan.piece_points, std::uint64_t{1} << 22);
  EXPECT_EQ(plan.scratch_limit_bytes, 0u);
}

TEST(ProofPlan, EveryBudgetIsKeptAndLessMemoryNeverKeepsMore) {
  const MadeUpScratch model;
  const ProofSizes sizes = porep_sizes();
  std::uint64_t resident_before = ~std::uint64_t{0};
  bool was_refused = false;
  for (std::uint64_t budget = 8 * kGiB; budget >= 64 * kMiB; budget -= 64 * kMiB) {
    const auto plan = plan_proof(sizes, budget, 1, model);
    if (!plan.ok()) {
      was_refused = true;
      EXPECT_EQ(plan.error().kind, base::ErrorKind::kResourceExhausted);
      EXPECT_THAT(plan.error().message, ::testing::HasSubstr(std::to_string(budget)));
      continue;
    }
    EXPECT_FALSE(was_refused) << "a smaller budget did after a larger one did not: " << budget;
    EXPECT_LE(plan->resident_bytes + plan->workspace_bytes, budget);
    EXPECT_LE(plan->resident_bytes, resident_before);
    EXPECT_EQ(plan->workspace_bytes, workspace_bytes(sizes, *plan, model));
    resident_before = plan->resident_bytes;
  }
  EXPECT_TRUE(was_refused);
}

TEST(ProofPlan, TwoGibibytesAreEnoughForTwoKibibyteSectors) {
  const auto plan = plan_proof(porep_sizes(), 2 * kGiB, 1, MadeUpScratch());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_FALSE(plan->query_resident[kQueryB2]);
}

TEST(ProofPlan, StagesTakeNoMoreThanThePlanSays) {
  const MadeUpScratch model;
  const ProofSizes sizes = porep_sizes();
  for (const std::uint64_t budget : {100 * kGiB, 4 * kGiB, 2 * kGiB, kGiB}) {
    const auto plan = plan_proof(sizes, budget, 1, model);
    ASSERT_TRUE(plan.ok()) << budget;
    device::Arena common;
    common.take<std::byte>(sizes.witness_bytes);
    const SumArrays sums(common, sizes, *plan);
    device::Arena evaluation = common, quotient = common;
    const EvaluationArrays evaluated(evaluation, sizes, *plan);
    EXPECT_LE(evaluation.used_bytes(), plan->workspace_bytes);
    const QuotientArrays h(quotient, sizes, piece_sizes(sizes, *plan, kQueryH, model));
    EXPECT_LE(quotient.used_bytes(), plan->workspace_bytes);
    EXPECT_EQ(h.scalars.size, kScalarBytes << sizes.domain_log2);
    for (const int q : {kQueryL, kQueryA, kQueryB1, kQueryB2}) {
      device::Arena arena = common;
      const QueryArrays arrays(arena, piece_sizes(sizes, *plan, q, model));
      EXPECT_LE(arena.used_bytes(), plan->workspace_bytes);
      const std::uint64_t pieces =
          (sizes.queries[q].point_count + plan->piece_points - 64) / (plan->piece_points - 63);
      EXPECT_GE(sums.bitmaps[q].size, pieces * SumArrays::kBitmapBytes);
    }
  }
}

TEST(ProofPlan, PiecesAreSharedOutOnlyWhenTheQueryIsLonger) {
  const MadeUpScratch model;
  ProofSizes sizes = porep_sizes();
  ProofPlan plan;
  plan.piece_points = 1 << 20;
  EXPECT_TRUE(piece_sizes(sizes, plan, kQueryH, model).multiply.in_parts);
  plan.piece_points = 1 << 22;
  EXPECT_FALSE(piece_sizes(sizes, plan, kQueryH, model).multiply.in_parts);
  const PieceSizes l = piece_sizes(sizes, plan, kQueryL, model);
  EXPECT_EQ(l.multiply.count, 80'000u);
  EXPECT_FALSE(l.is_streamed);
}

TEST(ProofPlan, WhatTheHostSumsTakesNothing) {
  ProofSizes sizes = porep_sizes();
  const auto with = plan_proof(sizes, 100 * kGiB, 1, MadeUpScratch()).value();
  sizes.queries[kQueryB2].is_used = false;
  const auto without = plan_proof(sizes, 100 * kGiB, 1, MadeUpScratch()).value();
  EXPECT_FALSE(without.b_g2_on_device);
  EXPECT_EQ(with.resident_bytes - without.resident_bytes, 1'500'000u * 192u);
}

TEST(ProofPlan, WhoGetsTheScalarsOfHKeepsThemBesideAllStagesAndEvaluatesNothing) {
  const MadeUpScratch model;
  ProofSizes sizes = porep_sizes();
  sizes.forms_quotient = false;
  sizes.matrix_bytes = 0;
  sizes.queries[kQueryH].point_count = sizes.queries[kQueryH].scalar_count = 1 << 20;
  for (const int q : {kQueryL, kQueryA, kQueryB1, kQueryB2}) sizes.queries[q] = {};
  for (auto& query : sizes.queries) query.is_used = query.point_count > 0;
  const auto plan = plan_proof(sizes, 100 * kGiB, 1, model).value();
  EXPECT_EQ(plan.resident_bytes, sizes.table_bytes + (std::uint64_t{96} << 20));
  device::Arena arena;
  arena.take<std::byte>(sizes.witness_bytes);
  const SumArrays sums(arena, sizes, plan);
  const auto arriving = take_arriving_scalars(arena, sizes);
  EXPECT_EQ(arriving.size, kScalarBytes << 20);
  const QuotientArrays h(arena, sizes, piece_sizes(sizes, plan, kQueryH, model));
  EXPECT_EQ(h.scalars.size, 0u);
  EXPECT_EQ(arena.used_bytes(), plan.workspace_bytes);
}

TEST(ProofPlan, LanesFitBesideEachOtherWhereThatCutsNothing) {
  const ProofSizes sizes = porep_sizes();
  const auto alone = plan_proof(sizes, 5 * kGiB, 1, MadeUpScratch()).value();
  const auto three = plan_proof(sizes, 5 * kGiB, 3, MadeUpScratch()).value();
  EXPECT_EQ(three.resident_bytes, alone.resident_bytes);
  EXPECT_EQ(three.piece_points, alone.piece_points);
  EXPECT_GT(3 * alone.workspace_bytes, 5 * kGiB - alone.resident_bytes);
  EXPECT_LE(3 * three.workspace_bytes, 5 * kGiB - three.resident_bytes);
}

TEST(ProofPlan, ASecondLaneIsWorthPiecesAndSomeOfTheKeyOnTheLink) {
  const ProofSizes sizes = porep_sizes();
  bool was_cut = false, was_streamed = false;
  for (std::uint64_t budget = 5 * kGiB; budget > 3 * kGiB / 2; budget -= kGiB / 4) {
    const auto plan = plan_proof(sizes, budget, 3, MadeUpScratch()).value();
    EXPECT_LE(plan.resident_bytes + 2 * plan.workspace_bytes, budget);
    EXPECT_GE(plan.piece_points, std::uint64_t{1} << 19);
    was_cut = was_cut || plan.piece_points < sizes.queries[kQueryH].point_count;
    was_streamed = was_streamed || !plan.query_resident[kQueryB2];
    // The next proof of the key finds the room that was kept for it.
    const auto next =
        plan_workspace(sizes, plan, budget - plan.resident_bytes, 3, MadeUpScratch()).value();
    EXPECT_EQ(next, plan);
  }
  EXPECT_TRUE(was_cut);
  EXPECT_TRUE(was_streamed);
  // One that is alone keeps more of the key.
  const auto alone = plan_proof(sizes, 2 * kGiB, 1, MadeUpScratch()).value();
  EXPECT_GT(alone.resident_bytes, plan_proof(sizes, 2 * kGiB, 3, MadeUpScratch())->resident_bytes);
}

TEST(ProofPlan, ASecondLaneIsNotWorthALargeKeyOnTheLink) {
  ProofSizes sizes = porep_sizes();
  for (auto& query : sizes.queries) query.point_bytes *= 16;
  const std::uint64_t all = resident_bytes(sizes, ProofPlan());
  for (const std::uint64_t budget : {all + kGiB, all, all / 2}) {
    const auto several = plan_proof(sizes, budget, 3, MadeUpScratch()).value();
    const auto one = plan_proof(sizes, budget, 1, MadeUpScratch()).value();
    EXPECT_EQ(several.query_resident, one.query_resident);
  }
}

TEST(ProofPlan, TestsStreamWhatWouldFit) {
  ProofSizes sizes = porep_sizes();
  sizes.streamed_piece_points = 4096;
  for (const unsigned lanes : {1u, 3u}) {
    const auto plan = plan_proof(sizes, 100 * kGiB, lanes, MadeUpScratch()).value();
    EXPECT_TRUE(plan.matrices_resident);
    for (const bool resident : plan.query_resident) EXPECT_FALSE(resident);
    EXPECT_EQ(plan.piece_points, 4096u);
  }
}

TEST(ProofPlan, AnEmptyCircuitHasAPlan) {
  ProofSizes sizes;
  sizes.witness_bytes = 256;
  for (auto& query : sizes.queries) query.point_bytes = 96;
  const auto plan = plan_proof(sizes, kGiB, 1, MadeUpScratch());
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->resident_bytes, 0u);
  EXPECT_GE(plan->piece_points, 64u);  // a word of variables
}

// A witness of scalars only, as a foreign one may be: 32 bytes a variable, and all points summed
// through buckets.
ProofSizes scalars_only(ProofSizes sizes) {
  for (auto& query : sizes.queries) query.scalar_count = query.point_count;
  sizes.witness_bytes += kScalarBytes * sizes.queries[kQueryL].point_count;
  return sizes;
}

TEST(ProofPlan, ALoadedKeyKeepsItsPlaceWhereALaterProofFitsBesideIt) {
  const MadeUpScratch model;
  const ProofSizes sizes = porep_sizes(), dense = scalars_only(sizes);
  EXPECT_GT(dense.witness_bytes, 100 * kMiB);
  const auto loaded = plan_proof(sizes, 4 * kGiB, 1, model).value();
  const std::uint64_t room = 4 * kGiB - loaded.resident_bytes;
  const auto later = plan_workspace(dense, loaded, room, 1, model);
  ASSERT_TRUE(later.ok()) << later.error().message;
  EXPECT_EQ(later->query_resident, loaded.query_resident);
  EXPECT_GT(later->workspace_bytes, plan_workspace(sizes, loaded, room, 1, model)->workspace_bytes);
  EXPECT_LE(later->workspace_bytes, room);
}

// Under a budget that the first witness left little of, the denser one does not fit beside what is
// resident, and does where less is: a key is then laid out anew (CircuitCache).
TEST(ProofPlan, ADenserWitnessMayWantLessOfItsKeyOnTheDevice) {
  const MadeUpScratch model;
  const ProofSizes sizes = porep_sizes(), dense = scalars_only(sizes);
  bool was_stuck = false, had_room = false;
  for (std::uint64_t budget = 4 * kGiB; budget >= kGiB / 2; budget -= 16 * kMiB) {
    const auto loaded = plan_proof(sizes, budget, 1, model);
    const auto anew = plan_proof(dense, budget, 1, model);
    if (!loaded.ok() || !anew.ok()) continue;
    EXPECT_LE(anew->resident_bytes, loaded->resident_bytes);
    EXPECT_LE(anew->resident_bytes + anew->workspace_bytes, budget);
    const auto beside = plan_workspace(dense, *loaded, budget - loaded->resident_bytes, 1, model);
    (beside.ok() ? had_room : was_stuck) = true;
    if (!beside.ok()) {
      EXPECT_EQ(beside.error().kind, base::ErrorKind::kResourceExhausted);
      EXPECT_LT(anew->resident_bytes, loaded->resident_bytes);
    }
  }
  EXPECT_TRUE(was_stuck);
  EXPECT_TRUE(had_room);
}

}  // namespace
}  // namespace cuzk::cuda::prove
