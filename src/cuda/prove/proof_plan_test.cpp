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
  unsigned vectors_before = 2;
  for (std::uint64_t budget = 8 * kGiB; budget >= 8 * kMiB;
       budget -= budget > 384 * kMiB ? 64 * kMiB : 4 * kMiB) {
    const auto plan = plan_proof(sizes, budget, 1, model);
    if (!plan.ok()) {
      was_refused = true;
      EXPECT_EQ(plan.error().kind, base::ErrorKind::kResourceExhausted);
      EXPECT_THAT(plan.error().message, ::testing::HasSubstr(std::to_string(budget)));
      continue;
    }
    EXPECT_FALSE(was_refused) << "a smaller budget did after a larger one did not: " << budget;
    EXPECT_LE(plan->resident_bytes + plan->workspace_bytes, budget);
    // A vector that leaves makes room for more of the key.
    EXPECT_LE(least_vectors(*plan), vectors_before);
    if (least_vectors(*plan) == vectors_before) {
      EXPECT_LE(plan->resident_bytes, resident_before);
    }
    vectors_before = least_vectors(*plan);
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
  for (const std::uint64_t budget :
       {100 * kGiB, 4 * kGiB, 2 * kGiB, kGiB, 256 * kMiB, 100 * kMiB}) {
    const auto plan = plan_proof(sizes, budget, 1, model);
    ASSERT_TRUE(plan.ok()) << budget;
    device::Arena common;
    common.take<std::byte>(sizes.witness_bytes);
    const SumArrays sums(common, sizes, *plan);
    device::Arena evaluation = common, quotient = common;
    const EvaluationArrays evaluated(evaluation, sizes, *plan);
    EXPECT_LE(evaluation.used_bytes(), plan->workspace_bytes);
    const PieceSizes piece = piece_sizes(sizes, *plan, kQueryH, model);
    const QuotientArrays h(quotient, sizes, *plan, piece);
    EXPECT_LE(quotient.used_bytes(), plan->workspace_bytes);
    EXPECT_EQ(plan->evaluation_buffers == 0, budget == 100 * kMiB);
    if (plan->evaluation_buffers > 0) {
      EXPECT_EQ(h.scalars.size, kScalarBytes << sizes.domain_log2);
    } else {
      // Whatever the piece begins at: its runs in all rows of tiles have an element more at most
      // at either end.
      EXPECT_EQ(h.scalars.size, kScalarBytes * piece.point_count);
      const std::uint64_t rows = std::uint64_t{1} << (22 - plan->vector_tile_log2);
      for (const std::uint64_t first : {std::uint64_t{0}, rows - 1, rows, rows + 1}) {
        const std::uint64_t width = (first + piece.point_count - 1) / rows + 1 - first / rows;
        EXPECT_LE(width * rows * kScalarBytes, h.raw_scalars.size) << first;
      }
    }
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
  const QuotientArrays h(arena, sizes, plan, piece_sizes(sizes, plan, kQueryH, model));
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

// The least budget, in steps of a MiB, that a plan with so many vectors on the device does in.
std::uint64_t least_budget(ProofSizes sizes, unsigned vectors) {
  sizes.evaluation_buffers_least = sizes.evaluation_buffers_most = vectors;
  std::uint64_t low = kMiB, high = 64 * kGiB;
  while (high - low > kMiB) {
    const std::uint64_t middle = low + (high - low) / 2 / kMiB * kMiB;
    (plan_proof(sizes, middle, 1, MadeUpScratch()).ok() ? high : low) = middle;
  }
  return high;
}

TEST(ProofPlan, VectorsGoToTheHostOnlyWhereNoOtherWayFits) {
  const ProofSizes sizes = porep_sizes();
  const std::uint64_t two = least_budget(sizes, 2), one = least_budget(sizes, 1),
                      tiles = least_budget(sizes, 0);
  // A vector is 128 MiB.
  EXPECT_GT(two, 256 * kMiB);
  EXPECT_LT(one, two - 64 * kMiB);
  EXPECT_GT(one, 128 * kMiB);
  EXPECT_LT(tiles, 64 * kMiB);
  const auto vectors_in = [&](std::uint64_t budget) {
    return plan_proof(sizes, budget, 1, MadeUpScratch())->evaluation_buffers;
  };
  EXPECT_EQ(vectors_in(two), 2u);
  EXPECT_EQ(vectors_in(two - kMiB), 1u);
  EXPECT_EQ(vectors_in(one), 1u);
  EXPECT_EQ(vectors_in(one - kMiB), 0u);
  EXPECT_EQ(vectors_in(tiles), 0u);
  EXPECT_EQ(host_vector_count(*plan_proof(sizes, two, 1, MadeUpScratch())), 0u);
  EXPECT_EQ(host_vector_count(*plan_proof(sizes, one, 1, MadeUpScratch())), 1u);
  EXPECT_EQ(host_vector_count(*plan_proof(sizes, tiles, 1, MadeUpScratch())), 2u);
  // A second lane is not worth it.
  EXPECT_EQ(*plan_proof(sizes, one, 3, MadeUpScratch()),
            *plan_proof(sizes, one, 1, MadeUpScratch()));
  const auto refused = plan_proof(sizes, tiles - 2 * kMiB, 1, MadeUpScratch());
  ASSERT_FALSE(refused.ok());
  // It names what tiles would take, not what vectors on the device would.
  const auto least = refused.error().message.find("at least ") + 9;
  const std::uint64_t named = std::stoull(refused.error().message.substr(least));
  EXPECT_GT(named, tiles - 2 * kMiB);
  EXPECT_LE(named, tiles + kMiB);  // the last that was tried
}

TEST(ProofPlan, APartitionOf32GibibytesFitsAnEightGibibyteCard) {
  ProofSizes sizes = porep_sizes();
  sizes.domain_log2 = 27;
  sizes.witness_bytes = 200 * kMiB;
  sizes.matrix_bytes = 9 * kGiB;
  sizes.table_bytes = 64 * kMiB;
  for (auto& query : sizes.queries) {
    query.point_count *= 32;
    query.scalar_count *= 32;
  }
  const std::uint64_t card = 7 * kGiB + kGiB / 2;
  ProofSizes on_device = sizes;
  on_device.evaluation_buffers_least = 2;
  EXPECT_FALSE(plan_proof(on_device, card, 3, MadeUpScratch()).ok());
  const auto plan = plan_proof(sizes, card, 3, MadeUpScratch());
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->evaluation_buffers, 1u);
  const auto small = plan_proof(sizes, 3 * kGiB, 3, MadeUpScratch());
  ASSERT_TRUE(small.ok()) << small.error().message;
  EXPECT_EQ(small->evaluation_buffers, 0u);
  EXPECT_GE(small->vector_tile_log2, 20u);
}

TEST(ProofPlan, TilesOfVectorsFitTheKernels) {
  for (unsigned log2 = 0; log2 <= 28; ++log2) {
    ProofSizes sizes = porep_sizes();
    sizes.domain_log2 = log2;
    sizes.evaluation_buffers_most = 0;
    sizes.queries[kQueryH].point_count = sizes.queries[kQueryH].scalar_count =
        (std::uint64_t{1} << log2) - 1;
    for (const std::uint64_t budget : {100 * kMiB, kGiB, 64 * kGiB}) {
      const auto plan = plan_proof(sizes, budget, 1, MadeUpScratch());
      ASSERT_TRUE(plan.ok()) << log2 << ": " << plan.error().message;
      EXPECT_EQ(plan->evaluation_buffers, log2 <= 10 ? 1u : 0u);
      if (log2 <= 10) continue;  // one tile of the kernels
      EXPECT_GE(plan->vector_tile_log2, 10u);
      EXPECT_LT(plan->vector_tile_log2, log2);
      EXPECT_LE(log2 - plan->vector_tile_log2, 10u);
      EXPECT_GE(2 * plan->vector_tile_log2, log2);  // a column at least in a tile
    }
  }
}

// A matrix that stays would leave a few MiB for pieces and tiles.
TEST(ProofPlan, MatricesLeaveBeforePiecesAndTilesAreTiny) {
  ProofSizes sizes = porep_sizes();
  sizes.matrix_bytes = 110 * kMiB;
  const auto plan = plan_proof(sizes, 124 * kMiB, 1, MadeUpScratch()).value();
  EXPECT_EQ(plan.evaluation_buffers, 0u);
  EXPECT_FALSE(plan.matrices_resident);
  EXPECT_GE(plan.piece_points, std::uint64_t{1} << 15);
  EXPECT_GE(plan.vector_tile_log2, 18u);
}

TEST(ProofPlan, WhoHandsScalarsOfHOnKeepsThemOnTheDevice) {
  ProofSizes sizes = porep_sizes();
  const std::uint64_t one = least_budget(sizes, 1);
  sizes.evaluation_buffers_least = 1;
  EXPECT_TRUE(plan_proof(sizes, one, 1, MadeUpScratch()).ok());
  EXPECT_FALSE(plan_proof(sizes, one - kMiB, 1, MadeUpScratch()).ok());
}

// A proof that finds less room than its key was laid out for waits for others, as ever; one whose
// key was laid out for vectors on the host takes more of them to the device where it can.
TEST(ProofPlan, ALaterProofHasNoFewerVectorsOnTheDeviceThanItsKeyWasLaidOutFor) {
  const MadeUpScratch model;
  const ProofSizes sizes = porep_sizes();
  const auto two = plan_proof(sizes, least_budget(sizes, 2), 1, model).value();
  EXPECT_FALSE(plan_workspace(sizes, two, two.workspace_bytes / 2, 1, model).ok());
  const std::uint64_t budget = least_budget(sizes, 0);
  const auto tiles = plan_proof(sizes, budget, 1, model).value();
  ASSERT_EQ(tiles.evaluation_buffers, 0u);
  const auto again = plan_workspace(sizes, tiles, budget - tiles.resident_bytes, 3, model);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, tiles);
  // The tables of its transforms are those of the tiles that it was loaded with.
  const auto beside = plan_workspace(sizes, tiles, 100 * kMiB, 3, model);
  ASSERT_TRUE(beside.ok());
  EXPECT_EQ(beside->evaluation_buffers, 0u);
  EXPECT_EQ(beside->vector_tile_log2, tiles.vector_tile_log2);
  EXPECT_EQ(plan_workspace(sizes, tiles, 220 * kMiB, 3, model)->evaluation_buffers, 1u);
  EXPECT_EQ(plan_workspace(sizes, tiles, 64 * kGiB, 3, model)->evaluation_buffers, 3u);
  const auto refused = plan_workspace(sizes, tiles, tiles.workspace_bytes / 2, 1, model);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              ::testing::HasSubstr(std::to_string(tiles.workspace_bytes / 2) + " are left"));
}

TEST(ProofPlan, TellsAboutWhatTheHostWillHold) {
  EXPECT_EQ(host_vector_bytes(22, 288 * kMiB), 0u);
  EXPECT_EQ(host_vector_bytes(22, 288 * kMiB - 1), 128 * kMiB);
  EXPECT_EQ(host_vector_bytes(22, 144 * kMiB), 128 * kMiB);
  EXPECT_EQ(host_vector_bytes(22, 144 * kMiB - 1), 256 * kMiB);
}

}  // namespace
}  // namespace cuzk::cuda::prove
