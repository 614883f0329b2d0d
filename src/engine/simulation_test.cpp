// The clock and the books, on loads small enough to reckon by hand.
#include "engine/simulation.h"

#include <gtest/gtest.h>

namespace cuzk::engine {
namespace {

// Without contention and jitter: witness 10 s, device 2 s, finish 1 s.
SimulationConfig plain_config(std::uint32_t partition_count) {
  SimulationConfig config;
  config.scheduler.devices = {{1}};
  config.times = {10, 0, 2, 2, 1, 1, 0};
  config.job_count = 1;
  for (std::uint32_t p = 0; p < partition_count; ++p) {
    config.job.partitions.push_back({p, 100, 20, 30});
  }
  return config;
}

TEST(Simulation, TakesTheSumOfTheStagesForOnePartition) {
  const auto result = simulate(plain_config(1));
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(result->duration_s, 13, 1e-6);
  EXPECT_EQ(result->ledger_peak_bytes, 120u);
  EXPECT_EQ(result->resident_peak_bytes, 120u);
  EXPECT_EQ(result->ledger_end_bytes, 0u);
  EXPECT_EQ(result->counts.completed_jobs, 1u);
}

TEST(Simulation, OverlapsStagesOfDifferentPartitions) {
  const auto result = simulate(plain_config(5));
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(result->duration_s, 5 * 10 + 2 + 1, 1e-6);  // witnesses are the bottleneck
  SimulationConfig wide = plain_config(5);
  wide.scheduler.witness_workers = 5;
  const auto wide_result = simulate(wide);
  ASSERT_TRUE(wide_result.ok());
  EXPECT_NEAR(wide_result->duration_s, 10 + 5 * 2 + 1, 1e-6);  // the device is
}

TEST(Simulation, ComputesOnePartitionAtATimeOnADevice) {
  SimulationConfig config = plain_config(4);
  config.scheduler.witness_workers = 4;
  config.scheduler.devices = {{2}};
  const auto shared = simulate(config);
  config.scheduler.devices = {{1}, {1}};
  const auto apart = simulate(config);
  ASSERT_TRUE(shared.ok() && apart.ok());
  EXPECT_NEAR(shared->duration_s, 10 + 4 * 2 + 1, 1e-6);
  EXPECT_NEAR(apart->duration_s, 10 + 2 * 2 + 2 * 1, 1e-6);  // two end together, one finish worker
}

TEST(Simulation, SlowsDownWhatSharesTheMachine) {
  SimulationConfig config = plain_config(3);
  config.scheduler.witness_workers = 3;
  config.times.witness_slowdown = 0.5;
  const auto result = simulate(config);
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(result->duration_s, 10 * (1 + 0.5 * 2) + 3 * 2 + 1, 1e-6);
  config = plain_config(2);
  config.times.device_loaded_s = 6;  // while the second witness runs
  const auto loaded = simulate(config);
  ASSERT_TRUE(loaded.ok());
  EXPECT_NEAR(loaded->samples.back().time_s, 10 + 10 + 2 + 1, 1e-6);
}

TEST(Simulation, ShowsPagesAsTheyAreFilledAndTheAccountAsItIsHeld) {
  SimulationConfig config = plain_config(1);
  config.sample_s = 2.5;
  config.arena_bytes = 40;
  const auto result = simulate(config);
  ASSERT_TRUE(result.ok());
  const SimulationSample& first = result->samples.front();
  EXPECT_EQ(first.resident_bytes, 0u);
  EXPECT_EQ(first.ledger_bytes, 100u);
  const SimulationSample& half = result->samples.at(2);
  EXPECT_NEAR(half.time_s, 5, 1e-9);
  EXPECT_NEAR(static_cast<double>(half.resident_bytes), 50 + 20, 1);
  EXPECT_EQ(result->resident_end_bytes, 0u);
}

TEST(Simulation, SeesTheHostOverflow) {
  SimulationConfig config = plain_config(1);
  config.host_bytes = 50;
  const auto result = simulate(config);
  ASSERT_TRUE(result.ok());
  EXPECT_NEAR(result->overflow_s, 6, 1e-6);  // the first sample above the half
  config.host_bytes = 500;
  EXPECT_LT(simulate(config)->overflow_s, 0);
}

TEST(Simulation, KeepsTheLedgerUnderTheBudgetForEverySetting) {
  for (const std::uint64_t budget : {130u, 200u, 330u, 1000u}) {
    for (const std::uint32_t workers : {1u, 2u, 5u}) {
      for (const auto release : {SlotRelease::kAtDelivery, SlotRelease::kAtWitnessEnd}) {
        SimulationConfig config = plain_config(7);
        config.job_count = 3;
        config.times.jitter = 0.3;
        config.scheduler.witness_workers = workers;
        config.scheduler.memory = {budget, 10, 0};
        config.scheduler.slot_release = release;
        const auto result = simulate(config);
        ASSERT_TRUE(result.ok()) << result.error().message;
        EXPECT_LE(result->ledger_peak_bytes, budget);
        EXPECT_LE(result->resident_peak_bytes, budget);
        EXPECT_EQ(result->counts.completed_jobs, 3u);
      }
    }
  }
}

TEST(Simulation, RefusesWhatCannotRun) {
  SimulationConfig config = plain_config(1);
  config.scheduler.memory = {119, 0, 0};
  EXPECT_EQ(simulate(config).error().kind, base::ErrorKind::kResourceExhausted);
  config = plain_config(2);
  config.job.partitions[1].witness_bytes = 1;
  EXPECT_EQ(simulate(config).error().kind, base::ErrorKind::kInvalidArgument);
  config = plain_config(1);
  config.scheduler.witness_workers = 0;
  EXPECT_FALSE(simulate(config).ok());
}

TEST(Simulation, IsTheSameForTheSameSeed) {
  SimulationConfig config = plain_config(6);
  config.times.jitter = 0.2;
  const auto first = simulate(config), again = simulate(config);
  config.seed = 2;
  const auto other = simulate(config);
  EXPECT_EQ(first->duration_s, again->duration_s);
  EXPECT_NE(first->duration_s, other->duration_s);
}

}  // namespace
}  // namespace cuzk::engine
