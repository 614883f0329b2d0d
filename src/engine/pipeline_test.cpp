// Jobs from run() to their end with stand-in stages: results, events, inputs, what is refused.
#include "engine/pipeline.h"

#include <atomic>
#include <utility>

#include "engine/pipeline_test_support.h"

namespace cuzk::engine {
namespace {

using stand_in::at_gate;
using stand_in::Bench;
using stand_in::Gate;
using stand_in::Job;
using stand_in::Recorder;

base::Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(Pipeline, ProvesAllPartitionsAndAssemblesThemInOrder) {
  Bench bench;
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", {.partition_count = 3}).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1), "ok: a/0;a/1;a/2;");
  EXPECT_EQ(bench.events.proved_count(), 3u);
  bench.expect_nothing_left();
}

TEST(Pipeline, ReportsWhatDevicesSayOfThemselves) {
  Bench bench;
  std::atomic<std::uint64_t> streamed = 0;
  ProvingDevice card = stand_in::card("card");
  card.free_and_total_bytes = [] { return std::pair<std::uint64_t, std::uint64_t>(3, 4); };
  card.streamed_and_shared_bytes = [&] {
    return std::pair<std::uint64_t, std::uint64_t>(streamed.load(), 6);
  };
  bench.options.devices = {stand_in::cpu(), card};
  bench.start();
  streamed = 5;
  const ExecutorReport report = bench.pipeline->report();
  EXPECT_EQ(report.devices[0].total_bytes, 0u) << "a device that says nothing";
  EXPECT_EQ(report.devices[0].streamed_bytes, 0u);
  EXPECT_EQ(report.devices[1].free_bytes, 3u);
  EXPECT_EQ(report.devices[1].total_bytes, 4u);
  EXPECT_EQ(report.devices[1].streamed_bytes, 5u) << "as it is now";
  EXPECT_EQ(report.devices[1].shared_bytes, 6u);
}

TEST(Pipeline, RunsManyJobsOverFewWorkers) {
  Bench bench(2'000'000);
  bench.options.witness_workers = 3;
  bench.options.devices = {stand_in::cpu(2)};
  bench.options.finish_workers = 2;
  bench.start();
  for (JobId id = 1; id <= 200; ++id) {
    const std::string name = "job" + std::to_string(id);
    ASSERT_TRUE(bench.run(id, name, {.partition_count = 1 + id % 4}).ok());
  }
  ASSERT_TRUE(bench.events.wait_ended(200));
  for (JobId id = 1; id <= 200; ++id) {
    EXPECT_EQ(bench.events.outcome(id).substr(0, 4), "ok: ") << id;
  }
  EXPECT_LE(bench.world.ledger.snapshot().total.peak_bytes, 2'000'000u);
  bench.expect_nothing_left();
}

// Three jobs wait for the device together, one of them with two partitions: none takes the place
// of another.
TEST(Pipeline, KeepsApartWhatWaitsForTheDeviceTogether) {
  Bench bench;
  bench.options.witness_workers = 5;
  bench.start();
  Gate gate;
  ASSERT_TRUE(bench.run(1, "holds", {.hook = at_gate(gate, Stage::kDevice)}).ok());
  gate.wait_for(1);
  ASSERT_TRUE(bench.run(2, "b").ok());
  ASSERT_TRUE(bench.run(3, "c").ok());
  ASSERT_TRUE(bench.run(4, "d", {.partition_count = 2}).ok());
  for (const JobId id : {2, 3, 4}) {
    ASSERT_TRUE(bench.events.wait_state(id, PartitionState::kDeviceQueued));
  }
  gate.open = true;
  ASSERT_TRUE(bench.events.wait_ended(4));
  EXPECT_EQ(bench.events.outcome(2), "ok: b/0;");
  EXPECT_EQ(bench.events.outcome(3), "ok: c/0;");
  EXPECT_EQ(bench.events.outcome(4), "ok: d/0;d/1;");
  bench.expect_nothing_left();
}

TEST(Pipeline, TellsTheStatesOfAPartitionInOrder) {
  Bench bench;
  bench.start();
  ASSERT_TRUE(bench.run(7, "a").ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  std::vector<PartitionState> states;
  for (const Recorder::Moved& moved : bench.events.moved()) states.push_back(moved.state);
  // What is granted at once is not told as waiting.
  ASSERT_GE(states.size(), 4u);
  EXPECT_TRUE(std::is_sorted(states.begin(), states.end()));
  EXPECT_EQ(states.front(), PartitionState::kWitness);
  EXPECT_EQ(std::count(states.begin(), states.end(), PartitionState::kDevice), 1);
  EXPECT_EQ(std::count(states.begin(), states.end(), PartitionState::kFinish), 1);
}

// Read once to know the plan, and again when the job enters; a queued job holds nothing.
TEST(Pipeline, ReadsAnInputWhenItsJobEnters) {
  Bench bench;
  bench.options.jobs_in_flight_max = 1;
  bench.start();
  Gate gate;
  ASSERT_TRUE(
      bench.run(1, "first", {.held_bytes = 1000, .hook = at_gate(gate, Stage::kWitness)}).ok());
  gate.wait_for(1);
  bench.world.put_job("second", {.held_bytes = 50'000});
  auto request = bench.request(2, "second");
  const auto read = bench.world.types()->find("stand-in").value()->read;
  request.plan = plan_of(**read(*request.input()));
  const int reads = bench.world.read_count;
  ASSERT_TRUE(bench.pipeline->run(std::move(request)).ok());
  EXPECT_EQ(bench.world.read_count, reads);  // its plan came with it
  EXPECT_EQ(bench.world.ledger.snapshot().of(base::MemoryCategory::kInput).used_bytes, 1000u);
  EXPECT_FALSE(bench.pipeline->progress(2)->in_flight);
  gate.open = true;
  ASSERT_TRUE(bench.events.wait_ended(2));
  EXPECT_EQ(bench.world.read_count, reads + 1);
  EXPECT_EQ(bench.world.ledger.snapshot().of(base::MemoryCategory::kInput).peak_bytes, 50'000u);
  bench.expect_nothing_left();
}

TEST(Pipeline, FailsAJobWhoseInputIsGone) {
  Bench bench;
  bench.start();
  bench.world.put_job("a", {});
  auto request = bench.request(1, "a");
  const auto read = bench.world.types()->find("stand-in").value()->read;
  request.plan = plan_of(**read(*request.input()));
  request.input = []() -> base::Result<SharedBytes> {
    return base::Error{base::ErrorKind::kNotFound, "the input of a is gone"};
  };
  ASSERT_TRUE(bench.pipeline->run(std::move(request)).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1),
            "not_found: a: partition 0 failed in the witness stage: the input of a is gone");
  ASSERT_TRUE(bench.run(2, "b").ok());
  ASSERT_TRUE(bench.events.wait_ended(2));
  EXPECT_EQ(bench.events.outcome(2), "ok: b/0;");
  bench.expect_nothing_left();
}

TEST(Pipeline, KeepsFinishedPartitionsThatStillHold) {
  Bench bench;
  std::atomic<int> witnesses{0};
  const Job job{.partition_count = 4, .hook = [&](Stage stage, std::size_t, const StageContext&) {
                  witnesses += stage == Stage::kWitness ? 1 : 0;
                  return base::ok_status();
                }};
  bench.start();
  bench.world.put_job("a", job);
  auto request = bench.request(1, "a");
  request.finished = {bytes_of("a/0"), {}, bytes_of("rotten"), bytes_of("a/3")};
  ASSERT_TRUE(bench.pipeline->run(std::move(request)).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1), "ok: a/0;a/1;a/2;a/3;");
  EXPECT_EQ(witnesses.load(), 2);
  EXPECT_EQ(bench.events.proved_count(), 2u);  // what was kept is not told as new
  auto all = bench.request(2, "a");
  all.finished = {bytes_of("a/0"), bytes_of("a/1"), bytes_of("a/2"), bytes_of("a/3")};
  ASSERT_TRUE(bench.pipeline->run(std::move(all)).ok());
  ASSERT_TRUE(bench.events.wait_ended(2));
  EXPECT_EQ(bench.events.outcome(2), "ok: a/0;a/1;a/2;a/3;");
  EXPECT_EQ(witnesses.load(), 2);
  auto wrong = bench.request(3, "a");
  wrong.finished = {bytes_of("a/0")};
  const auto refused = bench.pipeline->run(std::move(wrong));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "a: 1 finished partitions came with it, it has 4");
  bench.expect_nothing_left();
}

// What it says when it is read again is more than was accounted for: it is taken in anew with that.
TEST(Pipeline, TakesAJobInAnewWhosePlanGrew) {
  Bench bench(1'000'000);
  bench.start();
  bench.world.put_job("grows", {.partition_count = 2});
  auto request = bench.request(1, "grows");
  const auto read = bench.world.types()->find("stand-in").value()->read;
  request.plan = plan_of(**read(*request.input()));
  request.plan->partitions[0].pending_bytes = 100;
  ASSERT_TRUE(bench.pipeline->run(std::move(request)).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1), "ok: grows/0;grows/1;");
  const SchedulerCounts counts = bench.pipeline->report().counts;
  EXPECT_EQ(counts.completed_jobs, 1u);
  EXPECT_EQ(counts.cancelled_jobs + counts.failed_jobs, 0u);
  bench.expect_nothing_left();
}

TEST(Pipeline, RefusesWhatItCannotRun) {
  Bench bench(1'000'000);
  bench.start();
  const auto large = bench.run(1, "large", {.witness_bytes = 2'000'000});
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().kind, base::ErrorKind::kResourceExhausted);
  EXPECT_NE(large.error().message.find("can never fit"), std::string::npos);
  auto unknown = bench.request(2, "a");
  unknown.kind = "porridge";
  const auto status = bench.pipeline->run(std::move(unknown));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "kind: found 'porridge', expected one of stand-in");
  Gate gate;
  ASSERT_TRUE(bench.run(3, "b", {.hook = at_gate(gate, Stage::kWitness)}).ok());
  EXPECT_EQ(bench.run(3, "b", {}).error().kind, base::ErrorKind::kAlreadyExists);
  gate.open = true;
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.pipeline->cancel(3).error().kind, base::ErrorKind::kNotFound);
  EXPECT_FALSE(bench.pipeline->progress(3).has_value());
  bench.expect_nothing_left();
  bench.pipeline->stop();
  EXPECT_EQ(bench.run(4, "c").error().kind, base::ErrorKind::kUnavailable);
}

TEST(PipelineOptions, AreChosenWhereNothingWasSaid) {
  stand_in::World world;
  PipelineOptions options;
  options.types = world.types();
  options.devices = {stand_in::cpu(0), stand_in::card("card", 0)};
  options.ledger = &world.ledger;
  const auto resolved = resolve_options(options);
  ASSERT_TRUE(resolved.ok()) << resolved.error().message;
  EXPECT_GE(resolved->witness_workers, 2u);
  EXPECT_GE(resolved->finish_workers, 1u);
  EXPECT_GE(resolved->jobs_in_flight_max, 4u);
  EXPECT_GE(resolved->devices[0].worker_count, 1u);
  EXPECT_EQ(resolved->devices[1].worker_count, 2u);
  EXPECT_TRUE(resolved->budget_bytes.has_value());
}

TEST(PipelineOptions, AreRefusedByName) {
  stand_in::World world;
  PipelineOptions good;
  good.types = world.types();
  good.devices = {stand_in::cpu()};
  good.ledger = &world.ledger;
  good.budget_bytes = 1'000'000;
  ASSERT_TRUE(resolve_options(good).ok());
  const auto sentence = [&good](const std::function<void(PipelineOptions&)>& spoil) {
    PipelineOptions options = good;
    spoil(options);
    const auto resolved = resolve_options(options);
    return resolved.ok() ? "taken" : resolved.error().message;
  };
  EXPECT_EQ(sentence([](auto& o) { o.types = nullptr; }), "types: expected a table of kinds");
  EXPECT_EQ(sentence([](auto& o) { o.ledger = nullptr; }), "ledger: expected one");
  EXPECT_EQ(sentence([](auto& o) { o.devices.clear(); }),
            "devices: expected at least one; the CPU is one");
  EXPECT_EQ(sentence([](auto& o) { o.devices[0].fallback_only = true; }),
            "devices: expected one that takes first attempts, all are fallback_only");
  EXPECT_EQ(sentence([](auto& o) { o.witness_workers = 5000; }),
            "witness workers (pw): found 5000, expected at most 4096, or 0 for automatic");
  EXPECT_EQ(sentence([](auto& o) { o.ageing_ms = 0; }), "ageing_ms: expected at least 1");
  EXPECT_NE(sentence([](auto& o) { o.critical_reserve_bytes = 2'000'000; }).find("budget: 1000000"),
            std::string::npos);
}

}  // namespace
}  // namespace cuzk::engine
