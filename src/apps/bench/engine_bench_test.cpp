// Loads of small circuits: every proof is judged, a wrong one is found, the account is closed.
//
// The engine, journal and key store are real and the circuits tiny, so that what is tested is what
// `cuzk bench engine` measures; nothing here depends on how long it takes.
#include "apps/bench/engine_bench.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

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
  // Keys of a circuit on each curve.
  static base::Result<std::unique_ptr<LoadMaterial>> small_material() {
    return LoadMaterial::make(options(1).folder,
                              {{formats::CurveId::kBn254, 6}, {formats::CurveId::kBls12_381, 5}},
                              false, base::silent_progress());
  }
  static base::Result<std::unique_ptr<LoadEngine>> open_load(const LoadMaterial& material,
                                                             const std::string& journal,
                                                             std::uint64_t budget_bytes) {
    EngineSettings settings = options(1).settings;
    settings.journal_folder = options(1).folder / journal;
    settings.budget_bytes = budget_bytes;
    return LoadEngine::open(material, settings);
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
  EXPECT_GT(result.worker_floor_s(), 0);
  EXPECT_LE(result.worker_floor_s(), result.wall_s + 0.1);
  EXPECT_GT(result.cpu_floor_s(), 0);
  EXPECT_LE(result.cpu_floor_s(), result.wall_s + 0.1);
  EXPECT_EQ(result.floor_s(), std::max(result.worker_floor_s(), result.cpu_floor_s()));
  EXPECT_NEAR(result.percent_of_floor(), 100 * result.floor_s() / result.wall_s, 1e-9);
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

// Small jobs of two circuits from many clients at once: each proof is of its own client's value.
TEST_F(EngineBenchTest, ClientsGetProofsOfTheirOwnPublicValues) {
  constexpr std::uint64_t kClients = 32, kJobs = 192;
  const auto material = small_material();
  ASSERT_TRUE(material.ok()) << material.error().message;
  const auto load = open_load(**material, "clients", 0);
  ASSERT_TRUE(load.ok()) << load.error().message;
  engine::Engine& engine = (*load)->engine();
  std::atomic<std::uint64_t> right{0};
  std::vector<std::thread> clients;
  for (std::uint64_t client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      for (std::uint64_t i = client; i < kJobs; i += kClients) {
        const auto job = (*material)->squaring(i % 2, i);
        ASSERT_TRUE(job.ok());
        ASSERT_TRUE(engine.submit({job->name, job->kind, {}, {}, job->input}).ok());
        const auto view = engine.await(job->name, std::chrono::minutes(5));
        ASSERT_TRUE(view.ok() && view->has_value());
        const auto result = engine.result(job->name);
        ASSERT_TRUE(result.ok()) << result.error().message;
        if (job->check(*result).ok()) ++right;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, kJobs);
  EXPECT_EQ(engine.report().live_jobs, 0u);
}

// Five hundred verifications, half of them false, while four proofs are made in the least budget:
// all are answered rightly, and neither takes more memory than it may.
TEST_F(EngineBenchTest, ProofsAndVerificationsShareTheMachine) {
  constexpr int kThreads = 10, kEach = 50;
  const auto material = small_material();
  ASSERT_TRUE(material.ok()) << material.error().message;
  const auto first = (*material)->squaring(0, 0), other = (*material)->squaring(0, 1);
  ASSERT_TRUE(first.ok() && other.ok());
  const auto need = need_bytes(**material, *first);
  ASSERT_TRUE(need.ok());
  const std::uint64_t budget = *need + *need / 5;
  const auto load = open_load(**material, "verifications", budget);
  ASSERT_TRUE(load.ok()) << load.error().message;
  engine::Engine& engine = (*load)->engine();
  ASSERT_TRUE(engine.submit({first->name, first->kind, {}, {}, first->input}).ok());
  ASSERT_TRUE(engine.await(first->name, std::chrono::minutes(5)).ok());
  const auto proof = engine.result(first->name);
  ASSERT_TRUE(proof.ok()) << proof.error().message;
  base::Ledger::process().reset_peaks();
  std::atomic<int> accepted{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        ++((i % 2 == 0 ? first : other)->check(*proof).ok() ? accepted : refused);
      }
    });
  }
  std::vector<LoadJob> jobs;
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto job = (*material)->squaring(0, 10 + i);
    ASSERT_TRUE(job.ok());
    ASSERT_TRUE(engine.submit({job->name, job->kind, {}, {}, job->input}).ok());
    jobs.push_back(std::move(*job));
  }
  for (const LoadJob& job : jobs) {
    const auto view = engine.await(job.name, std::chrono::minutes(5));
    ASSERT_TRUE(view.ok() && view->has_value());
    const auto result = engine.result(job.name);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_TRUE(job.check(*result).ok());
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, kThreads * kEach / 2);
  EXPECT_EQ(refused, kThreads * kEach / 2);
  EXPECT_LE(base::Ledger::process().snapshot().total.peak_bytes, budget);
}

TEST_F(EngineBenchTest, ManyVerificationsLeaveTheHeapAsItWas) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another allocator";
#else
  const auto material = small_material();
  ASSERT_TRUE(material.ok()) << material.error().message;
  const auto job = (*material)->squaring(1, 1), other = (*material)->squaring(1, 2);
  ASSERT_TRUE(job.ok() && other.ok());
  const auto load = open_load(**material, "heap", 0);
  ASSERT_TRUE(load.ok()) << load.error().message;
  engine::Engine& engine = (*load)->engine();
  ASSERT_TRUE(engine.submit({job->name, job->kind, {}, {}, job->input}).ok());
  ASSERT_TRUE(engine.await(job->name, std::chrono::minutes(5)).ok());
  const auto result = engine.result(job->name);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const auto verify_some = [&](int count) {
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ((i % 2 == 0 ? job : other)->check(*result).ok(), i % 2 == 0);
    }
  };
  verify_some(20);
  engine.stop();
  // A thread may take scratch for good when it first helps, in one round or another; what is lost
  // at each call is lost in every round.
  // Small blocks, those that malloc maps by themselves, and what the ledger knows of.
  const auto held = [] {
    const auto info = ::mallinfo2();
    return static_cast<std::int64_t>(info.uordblks + info.hblkhd +
                                     base::Ledger::process().snapshot().total.used_bytes);
  };
  std::int64_t least = INT64_MAX;
  for (int round = 0; round < 4; ++round) {
    const auto before = held();
    verify_some(150);
    least = std::min(least, held() - before);
  }
  EXPECT_LT(least, 150 * 16);
#endif
}

// What is resident is compared in per cent, and the trace goes before it is read unless it is
// wanted.
TEST_F(EngineBenchTest, TellsHowMuchMoreIsResidentAfterARun) {
  LoadResult result;
  EXPECT_EQ(result.resident_growth_percent(), 0);
  result.before.anonymous_bytes = 60, result.before.file_bytes = 40;
  result.after.anonymous_bytes = 70, result.after.file_bytes = 40;
  EXPECT_NEAR(result.resident_growth_percent(), 10, 1e-9);
  const auto material = small_material();
  ASSERT_TRUE(material.ok()) << material.error().message;
  const auto load = open_load(**material, "growth", 0);
  ASSERT_TRUE(load.ok()) << load.error().message;
  const auto job_of = [&](std::uint64_t i) { return (*material)->squaring(i % 2, i); };
  for (const bool keeps_trace : {true, false}) {
    const LoadPlan plan{4 + (keeps_trace ? 0u : 2u), job_of, 10, keeps_trace};
    const auto run = run_load(**load, plan, {});
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run->valid_count, run->job_count);
    EXPECT_EQ((*load)->trace().spans().empty(), !keeps_trace);
  }
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
