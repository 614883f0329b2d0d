// The budget, for every setting: the ledger never refuses what the scheduler granted, and never
// holds more than the scheduler's account.
#include <random>

#include "engine/pipeline_test_support.h"

namespace cuzk::engine {
namespace {

using stand_in::Bench;
using stand_in::Job;

struct Setting {
  double budget_factor;  // of the largest job's need
  std::uint32_t pw, gw;
};

Job random_job(std::mt19937& random) {
  const auto below = [&random](std::uint32_t count) { return random() % count; };
  Job job;
  job.partition_count = 1 + below(4);
  job.held_bytes = below(3) * 30'000;
  job.witness_bytes = 1000 + below(60) * 1000;
  job.device_bytes = below(40) * 4096;
  job.pending_bytes = std::min<std::uint64_t>(below(30) * 1000, job.witness_bytes);
  job.key = "k" + std::to_string(1 + below(3));
  return job;
}

std::uint64_t need_of(const Job& job, std::uint64_t key_bytes) {
  return key_bytes + job.held_bytes + job.witness_bytes + job.device_bytes;
}

class PipelineMemory : public ::testing::TestWithParam<Setting> {};

TEST_P(PipelineMemory, KeepsTheBudget) {
  const Setting setting = GetParam();
  std::mt19937 random(7);
  constexpr JobId kJobs = 120;
  std::vector<Job> jobs;
  std::uint64_t largest = 0;
  const std::uint64_t key_bytes[] = {0, 100'000, 40'000, 150'000};
  for (JobId id = 1; id <= kJobs; ++id) {
    jobs.push_back(random_job(random));
    largest = std::max(largest, need_of(jobs.back(), key_bytes[jobs.back().key[1] - '0']));
  }
  const auto budget = static_cast<std::uint64_t>(setting.budget_factor * double(largest));
  Bench bench(budget);
  for (int k = 1; k <= 3; ++k) bench.world.put_key("k" + std::to_string(k), {key_bytes[k]});
  bench.options.witness_workers = setting.pw;
  bench.options.devices = {stand_in::cpu(setting.gw)};
  bench.options.finish_workers = 2;
  std::atomic<int> failed_once{0};
  bench.options.faults.before = [&](const FaultInjection::Point& at) -> base::Status {
    // Some stages fail the first time, so that partitions go back with and without a witness.
    const bool fails = (at.job * 31 + at.partition * 7 + std::size_t(at.stage)) % 9 == 0;
    if (!fails || at.attempt > 1) return base::ok_status();
    ++failed_once;
    return base::Error{base::ErrorKind::kResourceExhausted, "on purpose"};
  };
  bench.start();
  std::atomic<bool> over{false};
  std::thread watcher([&] {
    while (!over) {
      bench.pipeline->check_invariants();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (JobId id = 1; id <= kJobs; ++id) {
    const auto priority = static_cast<Priority>(id % 4);
    const auto status = bench.run(id, "job" + std::to_string(id), jobs[id - 1], priority);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  EXPECT_TRUE(bench.events.wait_ended(kJobs));
  over = true;
  watcher.join();
  for (JobId id = 1; id <= kJobs; ++id) {
    EXPECT_EQ(bench.events.outcome(id).substr(0, 4), "ok: ") << bench.events.outcome(id);
  }
  EXPECT_LE(bench.world.ledger.snapshot().total.peak_bytes, budget);
  EXPECT_GT(failed_once.load(), 20);
  bench.expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Settings, PipelineMemory,
                         ::testing::Values(Setting{1.0, 1, 1}, Setting{1.2, 1, 1},
                                           Setting{1.2, 2, 1}, Setting{1.2, 2, 2},
                                           Setting{1.2, 4, 2}, Setting{2, 2, 2}, Setting{2, 4, 2},
                                           Setting{6, 1, 1}, Setting{6, 2, 1}, Setting{6, 4, 2}),
                         [](const auto& info) {
                           return std::to_string(int(10 * info.param.budget_factor)) + "_pw" +
                                  std::to_string(info.param.pw) + "_gw" +
                                  std::to_string(info.param.gw);
                         });

// A stream of small jobs with one among them that needs the whole budget: it is not passed by more
// than what was in flight, and a job above the budget is refused at once with the arithmetic.
TEST(PipelineLargeJob, AmongSmallOnesIsServedInBoundedTime) {
  constexpr std::uint64_t kBudget = 500'000;
  constexpr JobId kLarge = 30, kJobs = 200;
  Bench bench(kBudget);
  bench.options.witness_workers = 4;
  bench.options.devices = {stand_in::cpu(2)};
  bench.options.jobs_in_flight_max = 8;
  bench.start();
  const auto refused = bench.run(999, "too large", {.witness_bytes = kBudget});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kResourceExhausted);
  for (const char* part : {"100000", "500000", "can never fit"}) {
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  }
  const Job small{.witness_bytes = 20'000, .device_bytes = 20'480, .pending_bytes = 1000};
  const Job large{.witness_bytes = 150'000, .device_bytes = 245'760, .pending_bytes = 1000};
  for (JobId id = 1; id <= kJobs; ++id) {
    ASSERT_TRUE(bench.run(id, "job" + std::to_string(id), id == kLarge ? large : small).ok());
  }
  ASSERT_TRUE(bench.events.wait_ended(kJobs));
  std::uint64_t passed_by = 0;
  for (const JobId id : bench.events.order()) {
    if (id == kLarge) break;
    if (id > kLarge) ++passed_by;
  }
  EXPECT_LE(passed_by, 8u);
  EXPECT_EQ(bench.events.outcome(kLarge), "ok: job30/0;");
  EXPECT_LE(bench.world.ledger.snapshot().total.peak_bytes, kBudget);
  bench.expect_nothing_left();
}

// Descriptors, threads and counters of two thousand small jobs: as before.
TEST(PipelineSoak, LeavesNothingBehind) {
  Bench bench(2'000'000);
  bench.options.witness_workers = 2;
  bench.options.devices = {stand_in::cpu(2)};
  bench.options.finish_workers = 2;
  for (const char* name : {"k1", "k2", "k3"}) bench.world.put_key(name, {});
  bench.start();
  constexpr JobId kJobs = 2000;
  for (JobId id = 1; id <= kJobs; ++id) {
    Job job{
        .partition_count = 1 + id % 3, .held_bytes = 5000, .key = "k" + std::to_string(1 + id % 3)};
    ASSERT_TRUE(bench.run(id, "job" + std::to_string(id), job).ok());
    if (id % 37 == 0) (void)bench.pipeline->cancel(id - 3);
  }
  ASSERT_TRUE(bench.events.wait_ended(kJobs));
  const SchedulerCounts counts = bench.pipeline->report().counts;
  EXPECT_EQ(counts.completed_jobs + counts.cancelled_jobs, kJobs);
  EXPECT_EQ(counts.failed_jobs, 0u);
  EXPECT_LE(bench.world.keys_alive, 3);
  bench.expect_nothing_left();
}

}  // namespace
}  // namespace cuzk::engine
