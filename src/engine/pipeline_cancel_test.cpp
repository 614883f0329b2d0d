// A job cancelled in each of its states, and the engine stopped under load: nothing stays behind,
// and the next job works.
#include "engine/pipeline_test_support.h"

namespace cuzk::engine {
namespace {

using stand_in::at_gate;
using stand_in::Bench;
using stand_in::Gate;
using stand_in::Job;

// A bench whose job 1 stands at a gate in `stage`; job 2, if there is one, waits behind it.
struct Standing {
  explicit Standing(Stage stage, std::uint32_t jobs_in_flight = 8) {
    bench.options.jobs_in_flight_max = jobs_in_flight;
    bench.options.witness_workers = 2;
    bench.start();
    EXPECT_TRUE(bench.run(1, "stands", {.partition_count = 2, .hook = at_gate(gate, stage)}).ok());
    gate.wait_for(1);
  }
  void cancel_and_go_on(JobId id) {
    ASSERT_TRUE(bench.pipeline->cancel(id).ok());
    const auto second = bench.pipeline->cancel(id);  // a no-op, or over already
    EXPECT_TRUE(second.ok() || second.error().kind == base::ErrorKind::kNotFound);
    gate.open = true;
    ASSERT_TRUE(bench.run(9, "next").ok());
    const auto has_jobs = [&] {  // a test may have a third one, which no event is waited for
      const auto counts = bench.pipeline->report().counts;
      return counts.in_flight_jobs + counts.queued_jobs > 0;
    };
    while (has_jobs() || bench.events.outcome(9) == "not ended" ||
           bench.events.outcome(1) == "not ended") {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(bench.events.outcome(id).substr(0, 10), "cancelled:");
    EXPECT_EQ(bench.events.outcome(9), "ok: next/0;");
    bench.expect_nothing_left();
  }
  Bench bench;
  Gate gate;
};

TEST(PipelineCancel, EndsAJobInEachStage) {
  for (const Stage stage : {Stage::kWitness, Stage::kDevice, Stage::kFinish}) {
    Standing standing(stage);
    standing.cancel_and_go_on(1);
  }
}

TEST(PipelineCancel, EndsAJobThatHasNotEntered) {
  Standing standing(Stage::kWitness, 1);
  ASSERT_TRUE(standing.bench.run(2, "queued").ok());
  EXPECT_FALSE(standing.bench.pipeline->progress(2)->in_flight);
  standing.cancel_and_go_on(2);
}

TEST(PipelineCancel, EndsAJobThatWaitsForTheDevice) {
  Standing standing(Stage::kDevice);
  ASSERT_TRUE(standing.bench.run(2, "waits").ok());
  ASSERT_TRUE(standing.bench.events.wait_state(1, PartitionState::kDeviceQueued));
  standing.cancel_and_go_on(1);
}

TEST(PipelineCancel, EndsAJobThatWaitsForFinish) {
  Standing standing(Stage::kFinish);
  ASSERT_TRUE(standing.bench.run(2, "waits").ok());
  ASSERT_TRUE(standing.bench.events.wait_state(2, PartitionState::kFinishQueued));
  // Both partitions of the one that stands, and this.
  while (standing.bench.pipeline->report().pending_alive < 3) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  standing.cancel_and_go_on(2);
}

TEST(PipelineCancel, EndsAJobThatWaitsForItsKey) {
  Bench bench;
  std::atomic<bool> load_stopped{false}, loading{false};
  bench.world.put_key("slow", {.on_load = [&](const groth16::Control& control) {
                        loading = true;
                        while (!control.cancel.stop_requested()) {
                          std::this_thread::sleep_for(std::chrono::milliseconds(1));
                        }
                        load_stopped = true;
                        return control.check("loading");
                      }});
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", {.key = "slow"}).ok());
  while (!loading) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(bench.pipeline->cancel(1).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1), "cancelled: a was cancelled");
  bench.pipeline->stop();
  while (!load_stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(bench.world.keys_alive, 0);
}

TEST(PipelineCancel, OfOneJobLeavesTheLoadToTheOther) {
  Bench bench;
  bench.options.witness_workers = 2;
  std::atomic<bool> go{false};
  bench.world.put_key("slow", {.on_load = [&](const groth16::Control& control) {
                        while (!go && !control.cancel.stop_requested()) {
                          std::this_thread::sleep_for(std::chrono::milliseconds(1));
                        }
                        return control.check("loading");
                      }});
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", {.key = "slow"}).ok());
  bench.world.put_job("b", {.key = "slow"});
  RunRequest second = bench.request(2, "b");
  std::atomic<int> reads{0};
  second.input = [&reads, input = second.input] {
    ++reads;
    return input();
  };
  ASSERT_TRUE(bench.pipeline->run(std::move(second)).ok());
  ASSERT_TRUE(bench.events.wait_state(1, PartitionState::kWitness));
  // Its input is read for its plan, and again when it has asked for its key.
  while (reads < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(bench.pipeline->cancel(1).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  go = true;
  ASSERT_TRUE(bench.events.wait_ended(2));
  EXPECT_EQ(bench.events.outcome(2), "ok: b/0;");
  EXPECT_EQ(bench.world.load_count, 1);
  bench.expect_nothing_left();
}

TEST(PipelineCancel, AfterTheEndFindsNothing) {
  Bench bench;
  bench.start();
  ASSERT_TRUE(bench.run(1, "a").ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.pipeline->cancel(1).error().kind, base::ErrorKind::kNotFound);
  EXPECT_EQ(bench.pipeline->cancel(77).error().kind, base::ErrorKind::kNotFound);
}

TEST(PipelineStop, GivesBackWhatIsNotDone) {
  Bench bench(3'000'000);
  bench.options.witness_workers = 3;
  bench.options.devices = {stand_in::cpu(2)};
  bench.options.finish_workers = 2;
  bench.start();
  const Job job{.partition_count = 3, .hook = [](Stage, std::size_t, const StageContext& context) {
                  return stand_in::work_for(std::chrono::milliseconds(3), context);
                }};
  constexpr JobId kJobs = 60;
  for (JobId id = 1; id <= kJobs; ++id) {
    ASSERT_TRUE(bench.run(id, "job" + std::to_string(id), job).ok());
  }
  ASSERT_TRUE(bench.events.wait_ended(5));
  bench.pipeline->stop();
  std::size_t given_back = 0;
  for (JobId id = 1; id <= kJobs; ++id) {
    const std::string outcome = bench.events.outcome(id);
    if (outcome == "unavailable: the engine is stopping") {
      ++given_back;
    } else {
      EXPECT_EQ(outcome.substr(0, 4), "ok: ") << id;
    }
  }
  EXPECT_GT(given_back, 0u);
  bench.expect_nothing_left();
  bench.pipeline->stop();  // again is fine
}

// Cancels at random moments among jobs that go on.
TEST(PipelineCancel, AtAnyMomentLeavesNothingBehind) {
  Bench bench(1'500'000);
  bench.options.witness_workers = 2;
  bench.options.devices = {stand_in::cpu(2)};
  bench.start();
  const Job job{.partition_count = 3, .hook = [](Stage, std::size_t, const StageContext& context) {
                  return stand_in::work_for(std::chrono::milliseconds(1), context);
                }};
  constexpr JobId kJobs = 150;
  std::uint64_t random = 12345;
  for (JobId id = 1; id <= kJobs; ++id) {
    ASSERT_TRUE(bench.run(id, "job" + std::to_string(id), job).ok());
    random = random * 6364136223846793005u + 1442695040888963407u;
    (void)bench.pipeline->cancel(1 + (random >> 33) % id);
    std::this_thread::sleep_for(std::chrono::microseconds((random >> 40) % 2000));
  }
  ASSERT_TRUE(bench.events.wait_ended(kJobs));
  for (JobId id = 1; id <= kJobs; ++id) {
    const std::string outcome = bench.events.outcome(id);
    EXPECT_TRUE(outcome.starts_with("ok: ") || outcome.starts_with("cancelled: ")) << outcome;
  }
  bench.expect_nothing_left();
}

}  // namespace
}  // namespace cuzk::engine
