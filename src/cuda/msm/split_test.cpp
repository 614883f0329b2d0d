// Ranges of devices cover all terms once, whatever the rates.
#include "cuda/msm/split.h"

#include <array>

#include <gtest/gtest.h>

namespace cuzk::cuda::msm {
namespace {

std::vector<TermRange> expect_cover(std::size_t count, const std::vector<double>& rates) {
  const auto ranges = split_terms(count, rates);
  EXPECT_EQ(ranges.size(), rates.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(ranges[i].first, next);
    next += ranges[i].count;
    if (rates[i] == 0) {
      EXPECT_EQ(ranges[i].count, 0u);
    }
  }
  EXPECT_EQ(next, count);
  return ranges;
}

TEST(SplitTerms, CoverAllTermsOnce) {
  for (const std::size_t count : {0, 1, 2, 3, 7, 1000, 1 << 27}) {
    expect_cover(count, {1});
    expect_cover(count, {1, 1});
    expect_cover(count, {3, 1, 2});
    expect_cover(count, {0, 1, 0});
    expect_cover(count, {1, 0});
    expect_cover(count, {1e-9, 1e9});
    expect_cover(count, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
  }
}

TEST(SplitTerms, FollowTheRates) {
  const auto ranges = expect_cover(1000, {3, 1});
  EXPECT_EQ(ranges[0].count, 750u);
  EXPECT_EQ(expect_cover(1 << 26, {1, 1})[0].count, std::size_t{1} << 25);
}

TEST(SplitTermsDeathTest, RefusesRatesThatLeaveNobody) {
  const std::array<double, 2> none = {0, 0}, negative = {1, -1};
  EXPECT_DEATH(split_terms(5, none), "");
  EXPECT_DEATH(split_terms(5, negative), "");
}

}  // namespace
}  // namespace cuzk::cuda::msm
