// Metrics: read back by a parser of others, values where they belong, counters that only rise.
#include "service/metrics.h"

#include <gtest/gtest.h>

#include "service/metrics_clock.h"
#include "service/metrics_test_support.h"
#include "tests/support/program.h"

namespace cuzk::service {
namespace {

using engine::JobState;
using engine::PartitionState;
using Kind = engine::EngineEvent::Kind;

Metrics::Names names() {
  return {[](std::string_view kind) { return kind == "porep" ? "porep-c2" : std::string(kind); },
          [](std::string_view id) -> std::optional<base::ErrorKind> {
            return id == "bad" ? std::optional(base::ErrorKind::kMalformed) : std::nullopt;
          }};
}

// A job of one partition from acceptance to its end.
void run_job(Metrics& metrics, const std::string& id, JobState end) {
  metrics.observe(event(Kind::kAccepted, id, 1'000));
  metrics.observe(event(Kind::kStarted, id, 3'000));
  metrics.observe(moved(id, 0, PartitionState::kWitness, 3'000));
  metrics.observe(moved(id, 0, PartitionState::kDeviceQueued, 3'500));
  metrics.observe(moved(id, 0, PartitionState::kDevice, 3'600));
  metrics.observe(moved(id, 0, PartitionState::kFinishQueued, 7'600));
  metrics.observe(moved(id, 0, PartitionState::kFinish, 7'600));
  metrics.observe(moved(id, 0, PartitionState::kDone, 7'700));
  metrics.observe(event(Kind::kEnded, id, 8'000, end));
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

// What check_metrics.py says of the files; its exit code in `code`. Debian's own Python has
// Debian's packages, whatever else is called python3 here.
std::string checked(const std::vector<std::string>& texts, int& code) {
  const cuzk::testing::TemporaryFolder folder;
  std::vector<std::string> arguments = {CUZK_TEST_DATA "/../support/check_metrics.py"};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    arguments.push_back(folder.file(std::to_string(i)));
    cuzk::testing::write_text(arguments.back(), texts[i]);
  }
  const auto result = cuzk::testing::run_program("/usr/bin/python3", arguments);
  code = result.exit_code == -1 || result.exit_code == 127 ? 77 : result.exit_code;
  return result.out + result.err;
}

constexpr int kPackageMissing = 77;

TEST(MetricsText, AParserOfOthersFindsNoFault) {
  Metrics metrics({"1.0", "abc\"def", "g++ \\ 12"}, names());
  run_job(metrics, "a", JobState::kCompleted);
  run_job(metrics, "bad", JobState::kFailed);
  metrics.count_answer("http", "200");
  int code = 0;
  const std::string said = checked({metrics.text(sample_report())}, code);
  if (code == kPackageMissing) GTEST_SKIP() << said;
  ASSERT_EQ(code, 0) << said;
  EXPECT_GE(std::stoi(said), 40) << "families";
}

TEST(MetricsText, TheCheckItselfFindsFaults) {
  const std::string good = "# HELP a_total Text.\n# TYPE a_total counter\na_total 5\n";
  int code = 0;
  const std::string said = checked({good}, code);
  if (code == kPackageMissing) GTEST_SKIP() << said;
  EXPECT_EQ(code, 0) << said;
  for (const std::string& bad : std::vector<std::string>{
           "# HELP a_total Text.\n# TYPE a_total counter\na_total -5\n",
           "# HELP a Text.\n# TYPE a gauge\na 1\na 2\n",
           "# HELP a Text.\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\n"
           "a_count 1\na_sum 1\n",
           "a{b=\"c} 1\n"}) {
    checked({bad}, code);
    EXPECT_EQ(code, 1) << bad;
  }
  const std::string less = "# HELP a_total Text.\n# TYPE a_total counter\na_total 4\n";
  checked({less, good}, code);
  EXPECT_EQ(code, 1);
}

TEST(MetricsText, ShowsWhatTheReportSays) {
  Metrics metrics({"1.0", "abc", "g++"}, names());
  const std::string text = metrics.text(sample_report());
  for (const char* line :
       {"cuzk_build_info{version=\"1.0\",commit=\"abc\",compiler=\"g++\"} 1",
        "cuzk_queue_depth 3",
        "cuzk_running_jobs 2",
        "cuzk_proofs_completed_total{proof_kind=\"porep-c2\"} 10",
        "cuzk_proofs_completed_total{proof_kind=\"circom\"} 5",
        "cuzk_proofs_failed_total{proof_kind=\"porep-c2\"} 1",
        "cuzk_proofs_cancelled_total{proof_kind=\"porep-c2\"} 4",
        "cuzk_partitions{state=\"device_queued\"} 3",
        "cuzk_partitions_retried_total 9",
        "cuzk_memory_used_bytes{category=\"srs\"} 3145728",
        "cuzk_memory_peak_bytes{category=\"srs\"} 4194304",
        "cuzk_memory_account_budget_bytes{account=\"host\"} 1073741824",
        "cuzk_memory_budget_bytes 1073741824",
        "cuzk_proving_resident_memory_bytes 128974848",
        "cuzk_gpu_workers 2",
        "cuzk_device_busy_workers{device=\"0\",name=\"odd \\\"card\\\"\\n\\\\\"} 1",
        "cuzk_device_wrong_proofs_total{device=\"0\",name=\"odd \\\"card\\\"\\n\\\\\"} 1",
        "cuzk_device_streamed_key_bytes_total{device=\"0\",name=\"odd \\\"card\\\"\\n\\\\\"} "
        "3145728",
        "cuzk_device_shared_key_bytes_total{device=\"0\",name=\"odd \\\"card\\\"\\n\\\\\"} 5242880",
        "cuzk_srs_resident_bytes{circuit_id=\"porep-2k\"} 1048576",
        "cuzk_srs_resident_bytes{circuit_id=\"porep-32g\"} 0",
        "cuzk_srs_references{circuit_id=\"porep-2k\"} 1",
        "cuzk_submissions_total{outcome=\"new\"} 20",
        "cuzk_job_errors_total{class=\"malformed\"} 0",
        "cuzk_worker_process_restarts_total 1"}) {
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
  }
}

TEST(MetricsText, ReadyIsWhatTheProbeSays) {
  Metrics metrics({"1.0", "abc", "g++"}, names());
  engine::EngineReport report = sample_report();
  EXPECT_TRUE(has_line(metrics.text(report), "cuzk_ready 1"));
  EXPECT_TRUE(has_line(metrics.text(report, "a door is closed"), "cuzk_ready 0"));
  report.draining = true;
  EXPECT_TRUE(has_line(metrics.text(report), "cuzk_ready 0"));
}

TEST(MetricsText, TimesEachStageOfAJob) {
  Metrics metrics({}, names());
  run_job(metrics, "a", JobState::kCompleted);
  const std::string text = metrics.text(sample_report());
  for (const char* line :
       {"cuzk_jobs_submitted_total{proof_kind=\"porep-c2\"} 1",
        "cuzk_job_queue_wait_seconds_sum{proof_kind=\"porep-c2\"} 2",
        "cuzk_proof_duration_seconds_sum{proof_kind=\"porep-c2\"} 7",
        "cuzk_proof_duration_seconds_bucket{proof_kind=\"porep-c2\",le=\"3\"} 0",
        "cuzk_proof_duration_seconds_bucket{proof_kind=\"porep-c2\",le=\"10\"} 1",
        "cuzk_stage_duration_seconds_sum{proof_kind=\"porep-c2\",stage=\"witness\"} 0.5",
        "cuzk_stage_duration_seconds_sum{proof_kind=\"porep-c2\",stage=\"device\"} 4",
        "cuzk_stage_duration_seconds_count{proof_kind=\"porep-c2\",stage=\"finish\"} 1",
        "cuzk_stage_wait_seconds_sum{proof_kind=\"porep-c2\",stage=\"device\"} 0.1"}) {
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
  }
}

TEST(MetricsText, FailuresAreCountedByTheirClassAndNotTimed) {
  Metrics metrics({}, names());
  run_job(metrics, "bad", JobState::kFailed);
  run_job(metrics, "unknown", JobState::kFailed);
  run_job(metrics, "c", JobState::kCancelled);
  const std::string text = metrics.text(sample_report());
  EXPECT_TRUE(has_line(text, "cuzk_job_errors_total{class=\"malformed\"} 1"));
  EXPECT_TRUE(has_line(text, "cuzk_job_errors_total{class=\"internal\"} 1"));
  EXPECT_EQ(text.find("cuzk_proof_duration_seconds_count"), std::string::npos);
}

TEST(MetricsText, CountersOnlyRiseThoughAProcessBeginsAgain) {
  Metrics metrics({}, names());
  auto report = sample_report();
  const std::string before = metrics.text(report);
  report.executor.devices[0].started_count = 5;  // a new proving process counts from zero
  report.executor.devices[0].busy_s = 1;
  report.executor.counts.retried_partitions = 0;
  const std::string after = metrics.text(report);
  EXPECT_TRUE(has_line(after, "cuzk_partitions_retried_total 9"));
  EXPECT_NE(after.find("} 45\n"), std::string::npos) << "40 before and 5 after";
  int code = 0;
  const std::string said = checked({after, before}, code);
  if (code == kPackageMissing) GTEST_SKIP() << said;
  EXPECT_EQ(code, 0) << said;
}

TEST(MetricsClock, KeepsNothingOfWhatIsOver) {
  EventClock clock;
  for (int i = 0; i < 100; ++i) {
    const std::string id = std::to_string(i);
    clock.observe(event(Kind::kAccepted, id, 0));
    clock.observe(moved(id, 3, PartitionState::kWitness, 1));
    EXPECT_EQ(clock.job_count(), 1U);
    clock.observe(event(Kind::kEnded, id, 2, JobState::kCompleted));
    EXPECT_EQ(clock.job_count(), 0U);
  }
  EXPECT_TRUE(clock.observe(event(Kind::kEnded, "never seen", 2)).empty());
}

TEST(MetricsClock, ForgetsWhatMayBeOverWhereEventsWereLeftOut) {
  EventClock clock;
  for (int i = 0; i < 100; ++i) clock.observe(event(Kind::kAccepted, std::to_string(i), 0));
  auto late = event(Kind::kStarted, "5", 20);
  late.left_out_count = 1000;
  EXPECT_TRUE(clock.observe(late).empty());
  EXPECT_EQ(clock.job_count(), 1U);
}

TEST(MetricsClock, WhatWasCutShortAndAClockThatWentBackGiveNoTime) {
  EventClock clock;
  clock.observe(moved("a", 0, PartitionState::kWitness, 100));
  EXPECT_TRUE(clock.observe(moved("a", 0, PartitionState::kEnded, 200)).empty());
  clock.observe(moved("b", 0, PartitionState::kDevice, 100));
  const auto measured = clock.observe(moved("b", 0, PartitionState::kFinishQueued, 50));
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].ms, 0);
}

TEST(MetricsClock, TheEndOfAJobEndsTheFinishOfItsLastPartition) {
  EventClock clock;
  clock.observe(moved("a", 0, PartitionState::kFinish, 100));
  const auto measured = clock.observe(event(Kind::kEnded, "a", 150, JobState::kCompleted));
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].what, Measured::What::kFinish);
  EXPECT_EQ(measured[0].ms, 50);
  clock.observe(moved("b", 0, PartitionState::kFinish, 100));
  EXPECT_TRUE(clock.observe(event(Kind::kEnded, "b", 150, JobState::kFailed)).empty());
}

TEST(MetricsClock, ASecondRunAfterACrashIsNoSecondWait) {
  EventClock clock;
  clock.observe(event(Kind::kAccepted, "a", 0));
  EXPECT_EQ(clock.observe(event(Kind::kStarted, "a", 10)).size(), 1U);
  EXPECT_TRUE(clock.observe(event(Kind::kStarted, "a", 20)).empty());
}

}  // namespace
}  // namespace cuzk::service
