// Loads of small circuits: every proof is judged, a wrong one is found, the account is closed.
#include "apps/bench/engine_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/temporary_folder.h"

namespace cuzk::apps {
namespace {

using ::testing::HasSubstr;

class EngineBenchTest : public ::testing::Test {
 protected:
  static EngineBenchOptions options(std::uint64_t job_count) {
    EngineBenchOptions out;
    static const testing::TemporaryFolder folder;
    out.folder = folder.path();
    out.job_count = job_count;
    out.porep_count = 0;
    out.settings.witness_workers = 2;
    out.settings.device_workers = 2;
    out.settings.finish_workers = 1;
    return out;
  }
};

TEST_F(EngineBenchTest, ProvesAndJudgesAMixedLoadWithinItsBudget) {
  const auto bench = EngineBench::make(options(18), base::silent_progress());
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  EngineBench::Documents documents;
  const auto run = (*bench)->run(options(18).settings, 2, &documents, {});
  ASSERT_TRUE(run.ok()) << run.error().message;
  const LoadResult& result = run->result;
  EXPECT_EQ(result.valid_count, 18u);
  EXPECT_THAT(result.faults, ::testing::IsEmpty());
  EXPECT_TRUE(result.counters_are_zero());
  EXPECT_EQ(result.stages[0].count, 18u);
  EXPECT_EQ(result.stages[2].count, 18u);
  EXPECT_GT(result.floor_s(), 0);
  EXPECT_LE(result.floor_s(), result.wall_s + 0.1);
  EXPECT_LE(result.ledger_peak_bytes, run->settings.budget_bytes);
  const auto trace = nlohmann::json::parse(documents.json);
  std::size_t spans = 0;
  for (const auto& event : trace["traceEvents"]) spans += event["ph"] == "X" ? 1 : 0;
  EXPECT_EQ(spans, 3 * 18u);
  EXPECT_GE(trace["samples"].size(), 2u);
  EXPECT_EQ(trace["samples"].back()["witnesses_alive"], 0);
  EXPECT_THAT(documents.svg, HasSubstr("budget"));
}

TEST_F(EngineBenchTest, RefusesABudgetThatHoldsNoJob) {
  const auto bench = EngineBench::make(options(6), base::silent_progress());
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  EngineSettings settings = options(6).settings;
  settings.budget_bytes = 1 << 20;
  const auto run = (*bench)->run(settings, 0, nullptr, {});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, base::ErrorKind::kResourceExhausted);
}

TEST_F(EngineBenchTest, MeasuresCriticalJobs) {
  const auto bench = EngineBench::make(options(6), base::silent_progress());
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  const auto wait = (*bench)->critical(3, 2, {});
  ASSERT_TRUE(wait.ok()) << wait.error().message;
  EXPECT_EQ(wait->valid_count, 6u);
  EXPECT_GT(wait->chunk_s, 0);
  EXPECT_LE(wait->own_median_s, wait->own_max_s);
  EXPECT_LE(wait->p99_s, wait->max_s);
}

// The judge is no yes-man: another job's result, and one with a changed byte, are refused.
TEST_F(EngineBenchTest, JudgesResultsApartFromTheEngine) {
  const auto material = LoadMaterial::make(options(1).folder, {{formats::CurveId::kBn254, 8}},
                                           false, base::silent_progress());
  ASSERT_TRUE(material.ok()) << material.error().message;
  EngineSettings settings;
  settings.journal_folder = options(1).folder / "judge";
  const auto load = LoadEngine::open(**material, settings);
  ASSERT_TRUE(load.ok()) << load.error().message;
  const auto job = (*material)->squaring(0, 1), other = (*material)->squaring(0, 2);
  ASSERT_TRUE(job.ok() && other.ok());
  ASSERT_TRUE((*load)->engine().submit({job->name, job->kind, {}, {}, job->input}).ok());
  ASSERT_TRUE((*load)->engine().await(job->name, std::chrono::minutes(5)).ok());
  auto result = (*load)->engine().result(job->name);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_TRUE(job->check(*result).ok());
  EXPECT_FALSE(other->check(*result).ok());
  for (std::size_t i = 0; i < result->size(); i += 97) {
    base::Bytes changed = *result;
    if (changed[i] < '0' || changed[i] > '8') continue;
    ++changed[i];
    EXPECT_FALSE(job->check(changed).ok()) << i;
  }
}

}  // namespace
}  // namespace cuzk::apps
