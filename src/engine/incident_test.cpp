// Each claim about the incident, as a test: what went wrong goes wrong here for the same reason,
// and what is ours cannot.
#include "engine/incident.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cuzk::engine {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kSeeds = 5;

SimulationResult run(std::uint32_t witness_workers, SlotRelease slot, EvaluationRelease evaluation,
                     std::uint32_t seed = 1) {
  IncidentOptions options;
  options.witness_workers = witness_workers;
  options.slot_release = slot;
  options.evaluation = evaluation;
  options.seed = seed;
  auto result = simulate(incident_config(options));
  EXPECT_TRUE(result.ok());
  return std::move(result).value();
}

constexpr auto kEarly = SlotRelease::kAtWitnessEnd, kDelivery = SlotRelease::kAtDelivery;
constexpr auto kHeld = EvaluationRelease::kAfterFinish, kFreed = EvaluationRelease::kAfterStart;

TEST(Incident, GrowsToAPlateauAndReturnsAtTenWorkers) {
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const SimulationResult result = run(10, kEarly, kHeld, seed);
    EXPECT_GT(result.plateau_bytes, 280 * kGiB);
    EXPECT_LT(result.plateau_bytes, 370 * kGiB);
    EXPECT_GT(result.resident_peak_bytes, 300 * kGiB);  // published: 367
    EXPECT_LT(result.resident_peak_bytes, 440 * kGiB);
    EXPECT_EQ(result.resident_end_bytes, 70 * kGiB);  // accumulation, not a leak
    EXPECT_LT(result.overflow_s, 0);
  }
}

TEST(Incident, OverflowsAtTwelveWorkersWhenTheSlotIsFreeAtTheWitnessEnd) {
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const SimulationResult result = run(12, kEarly, kHeld, seed);
    EXPECT_GT(result.resident_peak_bytes, 668 * kGiB);
    EXPECT_GT(result.overflow_s, 0);
    EXPECT_GE(result.device_queued_peak, 28u);  // the cause: finished witnesses that nothing bounds
  }
}

TEST(Incident, IsHardlyHelpedByFreeingTheEvaluationsEarly) {
  const SimulationResult held = run(12, kEarly, kHeld), freed = run(12, kEarly, kFreed);
  EXPECT_LT(freed.resident_peak_bytes, held.resident_peak_bytes);
  // Published: 18 GiB of 668.
  EXPECT_LT(held.resident_peak_bytes - freed.resident_peak_bytes, 30 * kGiB);
  EXPECT_GT(freed.overflow_s, 0);
}

TEST(Incident, IsBoundedByHoldingTheSlotToDelivery) {
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const SimulationResult result = run(12, kDelivery, kFreed, seed);
    // Published: 294.7. A bound by count: each of 12 slots and 2 device workers holds one witness.
    EXPECT_NEAR(static_cast<double>(result.resident_peak_bytes) / kGiB, 294.7, 20);
    EXPECT_LE(result.device_queued_peak, 12u);
    EXPECT_EQ(result.resident_end_bytes, 70 * kGiB);
  }
}

TEST(Incident, CostsNoThroughputToBound) {
  const SimulationResult early = run(12, kEarly, kFreed), delivery = run(12, kDelivery, kFreed);
  EXPECT_LT(delivery.duration_s, early.duration_s * 1.1);
  EXPECT_NEAR(delivery.duration_s / 20, 37.7, 2);  // published: 37.7 s a proof
}

TEST(Incident, FollowsThePublishedTimesOfFewWorkers) {
  EXPECT_NEAR(run(1, kDelivery, kFreed).duration_s / 20, 290, 5);    // published: about 290
  EXPECT_NEAR(run(5, kDelivery, kFreed).duration_s / 20, 68, 6);     // published: 68
  EXPECT_NEAR(run(10, kDelivery, kFreed).duration_s / 20, 38.5, 2);  // published: 37.1 and 38.5
}

TEST(Incident, CannotHappenUnderABudgetWhateverThePolicy) {
  for (const std::uint64_t budget : {90u, 128u, 256u, 400u}) {
    for (const auto slot : {kEarly, kDelivery}) {
      for (const auto evaluation : {kHeld, kFreed}) {
        IncidentOptions options;
        options.witness_workers = 15;
        options.slot_release = slot;
        options.evaluation = evaluation;
        options.budget_bytes = budget * kGiB;
        options.arenas = false;
        const auto result = simulate(incident_config(options));
        ASSERT_TRUE(result.ok());
        EXPECT_LE(result->ledger_peak_bytes, options.budget_bytes);
        EXPECT_LE(result->resident_peak_bytes, options.budget_bytes);
        EXPECT_EQ(result->counts.completed_jobs, 20u);
        EXPECT_EQ(result->ledger_end_bytes, 70 * kGiB);
      }
    }
  }
}

TEST(Incident, IsRefusedWhereOnePartitionCannotFit) {
  IncidentOptions options;
  options.budget_bytes = 87 * kGiB;  // 70 and 18 are 88
  EXPECT_EQ(simulate(incident_config(options)).error().kind, base::ErrorKind::kResourceExhausted);
}

TEST(Incident, IsShownBesideThePublishedFigures) {
  const auto rows = replay_incident();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->size(), incident_cases().size());
  const std::string table = incident_table(*rows);
  for (const char* part : {"367 peak", "668, killed", "650.8", "294.7",
                           "Difference: ", "Exceeds the host's 755 GiB after"}) {
    EXPECT_THAT(table, HasSubstr(part));
  }
  const auto trace = nlohmann::json::parse(incident_trace_json(*rows));
  ASSERT_EQ(trace["runs"].size(), rows->size());
  EXPECT_EQ(trace["runs"][0]["name"], "pw10-early-held");
  EXPECT_EQ(trace["runs"][0]["samples"].size(), rows->front().result.samples.size());
  EXPECT_EQ(trace["runs"][0]["samples"][0].size(), trace["runs"][0]["columns"].size());
  EXPECT_THAT(incident_svg(*rows), HasSubstr("pw12-delivery"));
}

TEST(Incident, RunsOneCaseByName) {
  const auto one = replay_incident("pw12-delivery");
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(one->size(), 1u);
  const auto none = replay_incident("pw99");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("no case pw99, there are: pw10-early-held, "));
}

}  // namespace
}  // namespace cuzk::engine
