// The feed: what it tells, what it forgets, and that it stays small.
#include "service/dashboard_feed.h"

#include <gtest/gtest.h>

#include "service/http_status.h"
#include "service/metrics_test_support.h"

namespace cuzk::service {
namespace {

using engine::JobState;
using engine::PartitionState;
using Kind = engine::EngineEvent::Kind;

void run_job(DashboardFeed& feed, const std::string& id, std::int64_t at_ms, JobState end) {
  feed.observe(event(Kind::kAccepted, id, at_ms));
  feed.observe(event(Kind::kStarted, id, at_ms + 10, JobState::kRunning));
  feed.observe(moved(id, 0, PartitionState::kWitness, at_ms + 10));
  feed.observe(moved(id, 0, PartitionState::kDevice, at_ms + 30));
  feed.observe(moved(id, 0, PartitionState::kDone, at_ms + 90));
  feed.observe(event(Kind::kEnded, id, at_ms + 100, end));
}

TEST(DashboardFeed, TellsTheCourseOfAJob) {
  DashboardFeed feed;
  run_job(feed, "a", 1'000, JobState::kCompleted);
  const auto changes = feed.changes(0, 0);
  ASSERT_EQ(changes["jobs"].size(), 1U);
  const auto& job = changes["jobs"][0];
  EXPECT_EQ(job["id"], "a");
  EXPECT_EQ(job["state"], "completed");
  EXPECT_EQ(job["started_ms"], 1'010);
  EXPECT_EQ(job["ended_ms"], 1'100);
  ASSERT_EQ(job["partitions"][0]["spans"].size(), 3U);
  EXPECT_EQ(job["partitions"][0]["spans"][1],
            nlohmann::ordered_json({static_cast<int>(PartitionState::kDevice), 1'030, 1, 0}));
}

TEST(DashboardFeed, TellsOnlyWhatChangedSince) {
  DashboardFeed feed;
  run_job(feed, "a", 1'000, JobState::kCompleted);
  const auto first = feed.changes(0, 0);
  EXPECT_TRUE(feed.changes(first["revision"], 0)["jobs"].empty());
  run_job(feed, "b", 2'000, JobState::kFailed);
  const auto second = feed.changes(first["revision"], 0);
  ASSERT_EQ(second["jobs"].size(), 1U);
  EXPECT_EQ(second["jobs"][0]["id"], "b");
  // A reason that comes after the end is a change too.
  feed.note_error("b", "the sentence");
  const auto third = feed.changes(second["revision"], 0);
  ASSERT_EQ(third["jobs"].size(), 1U);
  EXPECT_EQ(third["jobs"][0]["error"], "the sentence");
}

TEST(DashboardFeed, ForgetsJobsWhoseEndWasLeftOut) {
  DashboardFeed feed;
  run_job(feed, "over", 1'000, JobState::kCompleted);
  for (const char* id : {"live", "lost"}) {
    feed.observe(event(Kind::kAccepted, id, 2'000));
    feed.observe(event(Kind::kStarted, id, 2'010, JobState::kRunning));
  }
  feed.keep_only({"live"});
  const auto active = feed.active(0);
  ASSERT_EQ(active.size(), 2U);
  EXPECT_EQ(active[0].id, "over");
  EXPECT_EQ(active[1].id, "live");
}

TEST(DashboardFeed, TheEndOfAJobEndsWhatItsPartitionsDid) {
  DashboardFeed feed;
  for (const auto& [id, end, last] :
       {std::tuple{"good", JobState::kCompleted, PartitionState::kDone},
        std::tuple{"bad", JobState::kFailed, PartitionState::kEnded}}) {
    feed.observe(event(Kind::kStarted, id, 1'000, JobState::kRunning));
    feed.observe(moved(id, 0, PartitionState::kFinish, 1'500));
    feed.observe(event(Kind::kEnded, id, 2'000, end));
    const auto spans = feed.active(0).back().partitions.at(0);
    ASSERT_EQ(spans.size(), 2U) << id;
    EXPECT_EQ(spans.back().state, last);
    EXPECT_EQ(spans.back().begin_ms, 2'000);
  }
}

TEST(DashboardFeed, QueuedJobsAreCountedAndTheOldestShown) {
  DashboardFeed feed;
  for (int i = 0; i < 200; ++i) {
    feed.observe(event(Kind::kAccepted, "job-" + std::to_string(i), 1'000 + 200 - i));
  }
  const auto changes = feed.changes(0, 0);
  EXPECT_TRUE(changes["jobs"].empty());
  EXPECT_EQ(changes["queued_count"], 200);
  ASSERT_EQ(changes["queued"].size(), 50U);
  EXPECT_EQ(changes["queued"][0]["id"], "job-199");
}

TEST(DashboardFeed, StaysSmallWhateverHappens) {
  DashboardFeed feed;
  for (int i = 0; i < 500; ++i) run_job(feed, std::to_string(i), i, JobState::kCompleted);
  EXPECT_EQ(feed.changes(0, 0)["jobs"].size(), 100U) << "the latest that are over";
  for (int i = 0; i < 1'000; ++i) feed.observe(moved("long", 0, PartitionState::kDevice, i));
  feed.observe(event(Kind::kStarted, "long", 1));
  const auto changes = feed.changes(0, 0);
  EXPECT_LE(changes["jobs"].back()["partitions"][0]["spans"].size(), 48U);
  const auto report = sample_report();
  for (int i = 0; i < 10'000; ++i) feed.sample(report, i * 1'000);
  const auto samples = feed.changes(0, 0)["samples"];
  EXPECT_LT(samples.size(), 1'300U);
  EXPECT_GT(samples.size(), 900U);
  for (std::size_t i = 1; i < samples.size(); ++i) EXPECT_GT(samples[i]["t"], samples[i - 1]["t"]);
}

TEST(DashboardFeed, SamplesShowTheLedgerAndTheQueue) {
  DashboardFeed feed;
  feed.sample(sample_report(), 5'000);
  const auto sample = feed.changes(0, 0)["samples"][0];
  EXPECT_EQ(sample["t"], 5'000);
  EXPECT_EQ(sample["rss"], 123 << 20);
  EXPECT_EQ(sample["categories"][0], 3 << 20);
  EXPECT_EQ(sample["pending"], 3);
  EXPECT_EQ(sample["running"], 2);
  EXPECT_EQ(sample["completed"], 15);
  EXPECT_EQ(sample["busy"], 1);
  EXPECT_TRUE(feed.changes(0, 5'000)["samples"].empty());
}

TEST(HttpStatus, HasTheFieldsOfTheRustDaemon) {
  DashboardFeed feed;
  feed.sample(sample_report(), 90'000);
  feed.observe(event(Kind::kAccepted, "j", 95'000));
  feed.observe(event(Kind::kStarted, "j", 96'000, JobState::kRunning));
  feed.observe(moved("j", 0, PartitionState::kWitness, 96'000));
  feed.observe(moved("j", 0, PartitionState::kDevice, 97'500));
  feed.observe(moved("j", 1, PartitionState::kWitness, 96'500));
  const StatusFacts facts{"1.0", 100'000, [](std::string_view kind) { return std::string(kind); }};
  const auto status = status_json(sample_report(), feed, facts);
  EXPECT_EQ(status["uptime_secs"], 99);
  EXPECT_EQ(status["memory"]["total_bytes"], 1 << 30);
  EXPECT_EQ(status["memory"]["used_bytes"], 5 << 20);
  EXPECT_EQ(status["memory"]["available_bytes"], (1 << 30) - (5 << 20));
  EXPECT_EQ(status["synthesis"]["active"], 2);
  ASSERT_EQ(status["pipelines"].size(), 1U);
  const auto& job = status["pipelines"][0];
  EXPECT_EQ(job["job_id"], "j");
  EXPECT_EQ(job["started_secs_ago"], 4);
  EXPECT_EQ(job["total_partitions"], 2);
  EXPECT_EQ(job["partitions_done"], 0);
  EXPECT_EQ(job["partitions"][0]["state"], "gpu");
  EXPECT_EQ(job["partitions"][0]["synth_ms"], 1'500);
  EXPECT_EQ(job["partitions"][0]["gpu_ms"], 2'500);
  EXPECT_EQ(job["partitions"][1]["state"], "synthesizing");
  ASSERT_EQ(status["gpu_workers"].size(), 2U);
  EXPECT_EQ(status["gpu_workers"][0]["state"], "proving");
  EXPECT_EQ(status["gpu_workers"][0]["current_job"], "j");
  EXPECT_EQ(status["gpu_workers"][0]["busy_secs"], 2);
  EXPECT_EQ(status["gpu_workers"][1]["state"], "idle");
  ASSERT_EQ(status["allocations"]["srs"].size(), 1U) << "what is on disk only is not allocated";
  EXPECT_EQ(status["allocations"]["srs"][0]["circuit_id"], "porep-2k");
  EXPECT_EQ(status["allocations"]["srs"][0]["evictable"], false);
  EXPECT_EQ(status["allocations"]["srs"][0]["last_used_secs_ago"], 10);
  EXPECT_TRUE(status["allocations"]["pce"].is_array());
  EXPECT_EQ(status["counters"]["total_completed"], 15);
  EXPECT_EQ(status["counters"]["completed_by_kind"]["porep"], 10);
  EXPECT_EQ(status["counters"]["queue_depth"], 3);
  for (const char* name : {"synth_in_flight", "provers_in_flight", "aux_in_flight",
                           "shells_in_flight", "pending_handles"}) {
    EXPECT_GE(status["buffers"][name].get<int>(), 0) << name;
  }
}

TEST(HttpStatus, EndedJobsAreShownForHalfAMinute) {
  DashboardFeed feed;
  run_job(feed, "a", 1'000, JobState::kCompleted);
  StatusFacts facts{"1.0", 20'000, [](std::string_view kind) { return std::string(kind); }};
  EXPECT_EQ(status_json(sample_report(), feed, facts)["pipelines"].size(), 1U);
  facts.now_ms = 40'000;
  EXPECT_EQ(status_json(sample_report(), feed, facts)["pipelines"].size(), 0U);
}

}  // namespace
}  // namespace cuzk::service
