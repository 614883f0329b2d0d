// Quantiles and the answer of a load run.
#include "apps/cuzk/load_summary.h"

#include <numeric>

#include <gtest/gtest.h>

namespace cuzk::apps {
namespace {

TEST(LoadSummary, QuantilesAreValuesThatWereThere) {
  std::vector<double> values(100);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(quantile(values, 0.5), 50);
  EXPECT_EQ(quantile(values, 0.99), 99);
  EXPECT_EQ(quantile(values, 1), 100);
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile({7, 3}, 0.5), 3);
  EXPECT_EQ(quantile({7}, 0.99), 7);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

TEST(LoadSummary, CountsWhatWasNotProvedByItsReason) {
  std::vector<LoadSample> samples = {{1, 10, true, ""},
                                     {2, 30, true, ""},
                                     {0, 0, false, "resource_exhausted"},
                                     {0, 0, false, "resource_exhausted"},
                                     {1, 5, false, "failed"}};
  const Answer answer = load_answer(samples, 2);
  EXPECT_EQ(answer.exit_code(), kExitNo);
  const auto json = nlohmann::json::parse(answer.to_json());
  EXPECT_EQ(json["completed"], 2);
  EXPECT_EQ(json["failed"], 3);
  EXPECT_EQ(json["proofs_per_second"], 1.0);
  EXPECT_EQ(json["latency_p50_ms"], 10.0);
  EXPECT_EQ(json["latency_max_ms"], 30.0) << "a failed job has no latency";
  EXPECT_EQ(json["submit_p99_ms"], 2.0);
  EXPECT_EQ(json["problems"]["resource_exhausted"], 2);
}

TEST(LoadSummary, AllProvedIsZeroAndNothingIsNot) {
  EXPECT_EQ(load_answer({{1, 1, true, ""}}, 1).exit_code(), kExitYes);
  EXPECT_EQ(load_answer({}, 1).exit_code(), kExitNo);
}

}  // namespace
}  // namespace cuzk::apps
