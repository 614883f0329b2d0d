// An engine with its proving process, killed as a whole at random moments under load. What it said
// is kept must be there after each restart, with the right result; what it had accepted must end.
// 20 kills here, more with CUZK_KILLS.
#include <chrono>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/kill_test_support.h"
#include "engine/worker_test_support.h"

namespace cuzk::engine {
namespace {

using std::chrono::seconds;
using namespace testing_support;

constexpr const char* kEngineWord = "stand-in-engine";
constexpr std::uint32_t kJobsInFlight = 6;

// Everything about a job follows from its number.
std::string id_of(std::uint32_t number) { return fmt::format("job-{}", number); }
SharedBytes input_of(std::uint32_t number) {
  return stand_in_input(static_cast<std::uint8_t>(1 + number % 4),
                        static_cast<std::uint8_t>(number % 7), number,
                        number % 11 == 5 ? StandInEnd::kFailure : StandInEnd::kProof);
}
JobState end_of(std::uint32_t number) {
  return number % 11 == 5 ? JobState::kFailed : JobState::kCompleted;
}

// The process: ends what is there, then takes more, until it is killed.
int use_engine(const std::vector<std::string>& words) {
  if (words.size() < 3) return 2;
  base::set_log_level(base::LogLevel::kOff);
  auto opened = open_worker_engine(engine_options_in(words[2]), worker_options());
  if (!opened.ok()) return 3;
  Engine& engine = *opened->engine;
  say({KillWord::kOpened, 0, 0, {}});
  const auto await = [&](std::uint32_t number) {
    const auto view = engine.await(id_of(number), seconds(60));
    if (!view.ok() || !view->has_value()) ::_exit(5);
    const auto result = engine.result(id_of(number));
    say({KillWord::kEnded, number, static_cast<std::uint32_t>((*view)->record.state),
         result.ok() ? hash::sha256(*result) : hash::Digest{}});
  };
  const auto jobs = engine.list({.count_max = SIZE_MAX});
  if (!jobs.ok()) return 4;
  std::uint32_t next = 1, oldest = 0;
  for (const JobView& job : *jobs) {
    next = static_cast<std::uint32_t>(job.record.sequence) + 1;
    if (!is_final(job.record.state) && oldest == 0) oldest = next - 1;
  }
  if (oldest == 0) oldest = next;
  while (true) {
    while (next < oldest + kJobsInFlight) {
      auto request = stand_in_request(id_of(next), input_of(next));
      request.priority = static_cast<Priority>(next % kPriorityCount);
      const auto taken = engine.submit(request);
      if (!taken.ok()) return 6;
      say({KillWord::kAccepted, next++, 0, {}});
    }
    await(oldest++);
  }
}

[[maybe_unused]] const int kBecame = become_what_is_asked({{kEngineWord, use_engine}});

// State and parent of a process, as proc(5) has them; nothing when it is gone.
struct ProcessFacts {
  char state = 0;
  pid_t parent = 0;
};
ProcessFacts facts_of(const std::string& number) {
  std::ifstream file("/proc/" + number + "/stat");
  std::string line;
  std::getline(file, line);
  ProcessFacts facts;
  const std::size_t end = line.rfind(')');  // the name may hold anything
  if (end != std::string::npos)
    (void)std::sscanf(line.c_str() + end + 1, " %c %d", &facts.state, &facts.parent);
  return facts;
}
bool lives(pid_t id) {
  const char state = facts_of(std::to_string(id)).state;
  return state != 0 && state != 'Z' && state != 'X';
}
pid_t child_of(pid_t parent) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string number = entry.path().filename().string();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    if (facts_of(number).parent == parent) return std::stoi(number);
  }
  return 0;
}

TEST(EngineKill, NothingIsLostAndNothingIsAnsweredWrongly) {
  const int kills = kill_count(20);
  const TemporaryFolder folder;
  const std::string journal = folder.file("journal");
  std::mt19937_64 random(31);
  std::set<std::uint32_t> accepted, ended;
  std::size_t worked_count = 0;
  for (int i = 0; i < kills; ++i) {
    KilledProgram process({kEngineWord, journal});
    // Some are killed while they open, most at work: then after progress and not after a time, so
    // that a slow machine has as much to lose. After the word of opening at most kJobsInFlight jobs
    // are accepted before one ends, so each of these ends one.
    if (i % 5 != 0) {
      ASSERT_TRUE(process.wait_until_said(1 + kJobsInFlight + 1 + random() % 4));
      ++worked_count;
    }
    std::this_thread::sleep_for(milliseconds(random() % 150));
    for (const KillWord& word : process.kill()) {
      if (word.what == KillWord::kAccepted) accepted.insert(word.number);
      if (word.what != KillWord::kEnded) continue;
      ended.insert(word.number);
      ASSERT_EQ(static_cast<JobState>(word.state), end_of(word.number)) << word.number;
      if (end_of(word.number) == JobState::kCompleted) {
        ASSERT_EQ(word.digest, hash::sha256(stand_in_result(*input_of(word.number))));
      }
    }
  }
  auto opened = open_worker_engine(engine_options_in(journal), worker_options());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Engine& engine = *opened->engine;
  EXPECT_TRUE(engine.report().opened.losses.empty());
  ASSERT_TRUE(engine.wait_idle(seconds(60)));
  for (const std::uint32_t number : accepted) {
    const auto job = engine.find(id_of(number));
    ASSERT_TRUE(job.ok()) << "accepted job " << number << " is lost";
    EXPECT_EQ(job->record.state, end_of(number)) << number;
    if (end_of(number) == JobState::kCompleted) {
      EXPECT_EQ(*engine.result(id_of(number)), stand_in_result(*input_of(number))) << number;
    }
  }
  EXPECT_GE(ended.size(), worked_count) << "the processes did too little";
  RecordProperty("accepted", std::to_string(accepted.size()));
}

// No home, no folder for temporary files, and what another user's engine left behind.
TEST(EngineKill, NeedsNoHomeAndMindsNoOldLocks) {
  const TemporaryFolder folder;
  const auto journal = folder.path() / "journal";
  std::filesystem::create_directories(journal);
  write_whole(journal / "journal.lock", base::Bytes{'9', '9', '9', '9'});
  write_whole(journal / "journal.ballast", base::Bytes(10, 1));
  KilledProgram process({kEngineWord, journal.string()},
                        {"HOME=", "TMPDIR=/proc", "SQLITE_TMPDIR=/proc"});
  EXPECT_TRUE(process.wait_until_said(12));
  std::size_t ended = 0;
  for (const KillWord& word : process.kill()) {
    if (word.what != KillWord::kEnded) continue;
    EXPECT_EQ(static_cast<JobState>(word.state), end_of(word.number));
    ++ended;
  }
  // The first word is of opening; no more jobs are accepted than have ended and are in flight.
  EXPECT_GE(ended + (ended + kJobsInFlight), 12u - 1);
}

// The proving process does not outlive the engine's, however that ends.
TEST(EngineKill, TheProvingProcessGoesWithTheEngine) {
  const TemporaryFolder folder;
  KilledProgram process({kEngineWord, folder.file("journal")});
  (void)process.wait_until_open();
  const pid_t worker = child_of(process.id());
  ASSERT_GT(worker, 0);
  (void)process.kill();
  bool gone = false;
  for (int i = 0; i < 2000 && !gone; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
    gone = !lives(worker);
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace cuzk::engine
