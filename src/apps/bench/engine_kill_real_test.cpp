// Real proofs by an engine that is killed at random moments: nothing that was accepted is lost, a
// result that was told once stays that very one, and every result verifies for its own inputs.
// 6 kills here, more with CUZK_KILLS.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "apps/bench/engine_load.h"
#include "engine/kill_test_support.h"
#include "tests/support/temporary_folder.h"

namespace cuzk::apps {
namespace {

using namespace engine::testing_support;
using engine::JobState;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kFolderVariable = "CUZK_TEST_ENGINE_FOLDER";
constexpr std::uint32_t kJobsInFlight = 6;

// Jobs of two small circuits, one on each curve; everything about one follows from its number.
base::Result<std::unique_ptr<LoadMaterial>> material_in(const std::filesystem::path& folder) {
  return LoadMaterial::make(folder,
                            {{formats::CurveId::kBn254, 8}, {formats::CurveId::kBls12_381, 7}},
                            false, base::silent_progress());
}
base::Result<LoadJob> job_of(const LoadMaterial& material, std::uint32_t number) {
  CUZK_TRY(LoadJob job, material.squaring(number % 2, number));
  job.name = "job-" + std::to_string(number);
  return job;
}

EngineSettings settings_in(const std::filesystem::path& folder) {
  EngineSettings settings;
  settings.witness_workers = settings.device_workers = 2;
  settings.finish_workers = 1;
  settings.journal_folder = folder / "journal";
  settings.keeps_journal = true;
  return settings;
}

// Ends what is there, then takes more, and says so; `count` jobs in all.
void use_engine(const std::filesystem::path& folder, std::uint32_t count,
                const std::function<void(KillWord)>& tell) {
  const auto material = material_in(folder);
  ASSERT_TRUE(material.ok()) << material.error().message;
  const auto load = LoadEngine::open(**material, settings_in(folder));
  ASSERT_TRUE(load.ok()) << load.error().message;
  engine::Engine& engine = (*load)->engine();
  tell({KillWord::kOpened, 0, 0, {}});
  const auto jobs = engine.list({.count_max = SIZE_MAX});
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  std::uint32_t next = 1, oldest = 0;
  for (const engine::JobView& job : *jobs) {
    next = static_cast<std::uint32_t>(job.record.sequence) + 1;
    if (!is_final(job.record.state) && oldest == 0) oldest = next - 1;
  }
  if (oldest == 0) oldest = next;
  for (; oldest <= count; ++oldest) {
    for (; next < oldest + kJobsInFlight; ++next) {
      const auto job = job_of(**material, next);
      ASSERT_TRUE(job.ok()) << job.error().message;
      const auto taken = engine.submit({job->name, job->kind, {}, {}, job->input});
      ASSERT_TRUE(taken.ok()) << taken.error().message;
      tell({KillWord::kAccepted, next, 0, {}});
    }
    const std::string name = "job-" + std::to_string(oldest);
    const auto view = engine.await(name, seconds(120));
    ASSERT_TRUE(view.ok() && view->has_value());
    const auto result = engine.result(name);
    tell({KillWord::kEnded, oldest, static_cast<std::uint32_t>((*view)->record.state),
          result.ok() ? hash::sha256(*result) : hash::Digest{}});
  }
}

// Run by the test below, it goes on until it is killed; otherwise it ends by itself.
TEST(EngineKillReal, EndsTenJobsWhenNobodyKillsIt) {
  if (const char* const folder = std::getenv(kFolderVariable)) {
    use_engine(folder, UINT32_MAX, say);
    ::_exit(8);
  }
  const testing::TemporaryFolder folder;
  std::uint32_t ended = 0;
  use_engine(folder.path(), 10, [&](KillWord word) {
    if (word.what != KillWord::kEnded) return;
    EXPECT_EQ(static_cast<JobState>(word.state), JobState::kCompleted);
    ++ended;
  });
  EXPECT_EQ(ended, 10u);
}

TEST(EngineKillReal, LosesNothingAndAnswersNothingWrongly) {
  const testing::TemporaryFolder folder;
  const auto material = material_in(folder.path());  // so that no process makes keys
  ASSERT_TRUE(material.ok()) << material.error().message;
  const int kills = kill_count(6);
  std::mt19937_64 random(45);
  std::set<std::uint32_t> accepted;
  std::map<std::uint32_t, hash::Digest> told;
  milliseconds longest(0);
  std::size_t worked_count = 0;
  for (int i = 0; i < kills; ++i) {
    KilledProgram program({"--gtest_filter=EngineKillReal.EndsTenJobsWhenNobodyKillsIt"},
                          {std::string(kFolderVariable) + "=" + folder.path().string()});
    if (i % 5 != 4) longest = std::max(longest, program.wait_until_open());
    if (i % 5 < 3) {  // so that there is something to lose however slow all is
      ASSERT_TRUE(program.wait_until_said(3));
      ++worked_count;
    }
    std::this_thread::sleep_for(milliseconds(random() % 400));
    for (const KillWord& word : program.kill()) {
      if (word.what == KillWord::kAccepted) accepted.insert(word.number);
      if (word.what != KillWord::kEnded) continue;
      ASSERT_EQ(static_cast<JobState>(word.state), JobState::kCompleted) << word.number;
      told[word.number] = word.digest;
    }
  }
  const auto load = LoadEngine::open(**material, settings_in(folder.path()));
  ASSERT_TRUE(load.ok()) << load.error().message;
  engine::Engine& engine = (*load)->engine();
  EXPECT_TRUE(engine.report().opened.losses.empty());
  ASSERT_TRUE(engine.wait_idle(seconds(120)));
  for (const std::uint32_t number : accepted) {
    const auto job = job_of(**material, number);
    ASSERT_TRUE(job.ok());
    const auto result = engine.result(job->name);
    ASSERT_TRUE(result.ok()) << "accepted job " << number << ": " << result.error().message;
    EXPECT_TRUE(job->check(*result).ok()) << number;
    const auto before = told.find(number);
    if (before != told.end()) {
      EXPECT_EQ(hash::sha256(*result), before->second) << number;
    }
  }
  // After the first word each second one, at the latest, is of a job that was accepted.
  EXPECT_GE(accepted.size(), worked_count) << "the processes did too little";
  EXPECT_LT(longest, seconds(5)) << "a restart took long";
  RecordProperty("accepted", std::to_string(accepted.size()));
  RecordProperty("longest_restart_ms", std::to_string(longest.count()));
}

}  // namespace
}  // namespace cuzk::apps
