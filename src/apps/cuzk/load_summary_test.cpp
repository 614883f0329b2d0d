// Quantiles and the answer of a load run.
//
// Samples are made by hand, so that each figure is known beforehand.
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
                                     {1, 5, false, "failed"},
                                     {3, 0, false, "", true}};
  LoadSurroundings around;
  around.elapsed_s = 2;
  around.sending_s = 0.5;
  const Answer answer = load_answer(samples, around);
  EXPECT_EQ(answer.exit_code(), kExitNo);
  const auto json = nlohmann::json::parse(answer.to_json());
  EXPECT_EQ(json["completed"], 2);
  EXPECT_EQ(json["failed"], 3);
  EXPECT_EQ(json["proofs_per_second"], 1.0);
  EXPECT_EQ(json["latency_p50_ms"], 10.0);
  EXPECT_EQ(json["latency_max_ms"], 30.0) << "a failed job has no latency";
  EXPECT_EQ(json["submit_p99_ms"], 3.0);
  EXPECT_EQ(json["accepted"], 4);
  EXPECT_EQ(json["unawaited"], 1) << "neither proved nor failed";
  EXPECT_EQ(json["jobs_per_second"], 12.0) << "sent, over the time of sending";
  EXPECT_FALSE(json.contains("status_p99_ms")) << "nobody asked";
  EXPECT_EQ(json["problems"]["resource_exhausted"], 2);
}

TEST(LoadSummary, ShowsTheDaemonBesideTheJobs) {
  LoadSurroundings around;
  around.elapsed_s = around.sending_s = 1;
  around.status_ms = {1, 2, 40};
  around.status_failed = 1;
  around.awaits_open_max = 1000;
  around.rss_first_bytes = 10;
  around.rss_max_bytes = 30;
  around.rss_last_bytes = 20;
  const auto json = nlohmann::json::parse(load_answer({{1, 1, true, ""}}, around).to_json());
  EXPECT_EQ(json["status_count"], 3);
  EXPECT_EQ(json["status_failed"], 1);
  EXPECT_EQ(json["status_p50_ms"], 2.0);
  EXPECT_EQ(json["status_p99_ms"], 40.0);
  EXPECT_EQ(json["awaits_open_max"], 1000);
  EXPECT_EQ(json["daemon_rss_first_bytes"], 10);
  EXPECT_EQ(json["daemon_rss_max_bytes"], 30);
  EXPECT_EQ(json["daemon_rss_last_bytes"], 20);
}

TEST(LoadSummary, AllProvedIsZeroAndNothingIsNot) {
  EXPECT_EQ(load_answer({{1, 1, true, ""}}, {}).exit_code(), kExitYes);
  EXPECT_EQ(load_answer({{1, 0, false, "", true}}, {}).exit_code(), kExitYes);
  EXPECT_EQ(load_answer({}, {}).exit_code(), kExitNo);
}

}  // namespace
}  // namespace cuzk::apps
