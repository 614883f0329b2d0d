// Tiles fit the scratch they were planned for, and their passes fit the kernels.
#include <gtest/gtest.h>

#include "cuda/poly/tiled_plan.h"

namespace cuzk::cuda::poly {
namespace {

TEST(TiledPlan, FitsTheLimitOrIsTheSmallestThereIs) {
  for (std::size_t log2 = 0; log2 <= 28; ++log2) {
    for (std::uint64_t limit = 1; limit < std::uint64_t{1} << 36; limit *= 8) {
      const TiledPlan plan = plan_tiles(log2, 32, limit);
      ASSERT_EQ(plan.size_log2, log2);
      ASSERT_LE(plan.tile_log2, log2);
      if (plan.row_log2() == 0) {
        EXPECT_EQ(plan.scratch_bytes, std::uint64_t{32} << log2);
        EXPECT_TRUE(plan.scratch_bytes <= limit || log2 <= 10);
        continue;
      }
      EXPECT_GT(std::uint64_t{32} << log2, limit);
      EXPECT_EQ(plan.scratch_bytes, std::uint64_t{64} << plan.tile_log2);
      EXPECT_LE(plan.row_log2(), 10u);                 // one pass over the columns
      EXPECT_GE(plan.tile_log2, 10u);                  // a tile of the kernels
      EXPECT_GE(plan.tile_log2 + 1, plan.row_log2());  // at least one column a tile
      const bool is_least = plan.tile_log2 == 10 || plan.row_log2() == 10;
      EXPECT_TRUE(plan.scratch_bytes <= limit || is_least) << log2 << " " << limit;
    }
  }
}

TEST(TiledPlan, TakesTheLargestTilesThatFit) {
  EXPECT_EQ(plan_tiles(27, 32, std::uint64_t{4} << 30).row_log2(), 0u);
  EXPECT_EQ(plan_tiles(27, 32, (std::uint64_t{4} << 30) - 1).tile_log2, 25u);
  EXPECT_EQ(plan_tiles(28, 32, std::uint64_t{256} << 20).tile_log2, 22u);
  EXPECT_EQ(plan_tiles(28, 32, 1).scratch_bytes, std::uint64_t{16} << 20);
}

}  // namespace
}  // namespace cuzk::cuda::poly
