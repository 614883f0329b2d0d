// Bounds and shapes of the cut into chunks.
#include "cuda/msm/chunk_schedule.h"

#include <numeric>

#include <gtest/gtest.h>

namespace cuzk::cuda::msm {
namespace {

std::size_t sum_of(const std::vector<std::size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

TEST(ChunkSchedule, HasNoChunkForNoBases) {
  EXPECT_TRUE(chunk_schedule(0, 1 << 20, 3, 1 << 18).empty());
}

TEST(ChunkSchedule, KeepsSmallSumsWhole) {
  const auto sizes = chunk_schedule(kWorthCutting - 1, 1 << 25, 3, 1000);
  EXPECT_EQ(sizes, std::vector<std::size_t>{kWorthCutting - 1});
}

TEST(ChunkSchedule, CutsSmallSumsThatDoNotFit) {
  const auto sizes = chunk_schedule(1000, 300, 3, 1);
  EXPECT_EQ(sum_of(sizes), 1000u);
  for (const std::size_t size : sizes) EXPECT_LE(size, 300u);
}

TEST(ChunkSchedule, TakesTwoChunksWhereTheFirstMayBeAQuarter) {
  const std::size_t count = std::size_t{1} << 22;
  const auto sizes = chunk_schedule(count, count, 3, count / 4);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{count / 4, count - count / 4}));
}

TEST(ChunkSchedule, GrowsFromASmallFirstChunk) {
  const std::size_t count = std::size_t{1} << 26, first = count / 12;
  const auto sizes = chunk_schedule(count, count / 2, 2.4, first);
  EXPECT_EQ(sum_of(sizes), count);
  ASSERT_GE(sizes.size(), 3u);
  EXPECT_LE(sizes.front(), first);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    EXPECT_LE(sizes[i], count / 2);
    EXPECT_LE(static_cast<double>(sizes[i]), 2.4 * static_cast<double>(sizes[i - 1]) + 3);
    EXPECT_GE(sizes[i], sizes[i - 1]);
  }
}

TEST(ChunkSchedule, TakesThreeChunksWhereTwoWouldBeTooLarge) {
  const std::size_t count = std::size_t{1} << 26;
  const auto sizes = chunk_schedule(count, count / 2, 2.4, count / 4);
  ASSERT_EQ(sizes.size(), 3u);
  EXPECT_NEAR(static_cast<double>(sizes[0]), static_cast<double>(count) / 2 / 3.4, 2);
  EXPECT_NEAR(static_cast<double>(sizes[2]), static_cast<double>(count) / 2, 3);
}

TEST(ChunkSchedule, HoldsItsBoundsForAnySizes) {
  for (const std::size_t count : {1u, 2u, 3u, 1000u, 1u << 20, (1u << 20) + 1, 3000001u}) {
    for (const std::size_t most : {1u, 7u, 1000u, 1u << 22}) {
      if (count / most > 100000) continue;
      for (const double growth : {0.2, 1.0, 5.0}) {
        for (const std::size_t first : {0u, 1u, 100u, 1u << 21}) {
          const auto sizes = chunk_schedule(count, most, growth, first);
          EXPECT_EQ(sum_of(sizes), count);
          for (const std::size_t size : sizes) {
            EXPECT_GT(size, 0u);
            EXPECT_LE(size, most);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace cuzk::cuda::msm
