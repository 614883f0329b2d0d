// An engine with its proving process, killed as a whole at random moments under load. What it said
// is kept must be there after each restart, with the right result; what it had accepted must end.
// 20 kills here, more with CUZK_KILLS.
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include "engine/worker_test_support.h"

extern char** environ;

namespace cuzk::engine {
namespace {

using std::chrono::seconds;
using namespace testing_support;
using Clock = std::chrono::steady_clock;

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

// What the engine's process says once the engine has said it. The digest is that of a result.
struct Word {
  enum : std::uint32_t { kOpened, kAccepted, kEnded } what;
  std::uint32_t number;
  std::uint32_t state;
  hash::Digest digest;
};

// The process: ends what is there, then takes more, until it is killed.
int use_engine(const std::vector<std::string>& words) {
  if (words.size() < 3) return 2;
  base::set_log_level(base::LogLevel::kOff);
  auto opened = open_worker_engine(engine_options_in(words[2]), worker_options());
  if (!opened.ok()) return 3;
  Engine& engine = *opened->engine;
  const auto say = [](Word word) {
    if (::write(STDOUT_FILENO, &word, sizeof word) != sizeof word) ::_exit(9);
  };
  say({Word::kOpened, 0, 0, {}});
  const auto await = [&](std::uint32_t number) {
    const auto view = engine.await(id_of(number), seconds(60));
    if (!view.ok() || !view->has_value()) ::_exit(5);
    const auto result = engine.result(id_of(number));
    say({Word::kEnded, number, static_cast<std::uint32_t>((*view)->record.state),
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
      say({Word::kAccepted, next++, 0, {}});
    }
    await(oldest++);
  }
}

[[maybe_unused]] const int kBecame = become_what_is_asked({{kEngineWord, use_engine}});

class EngineInAProcess {
 public:
  explicit EngineInAProcess(const std::string& folder) {
    int ends[2];
    CUZK_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
    output_ = ends[0];
    std::string program = "/proc/self/exe", word = kEngineWord, path = folder;
    char* arguments[] = {program.data(), word.data(), path.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    CUZK_CHECK(::posix_spawn(&id_, program.c_str(), &actions, nullptr, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    born_ = Clock::now();
  }
  EngineInAProcess(const EngineInAProcess&) = delete;
  ~EngineInAProcess() { ::close(output_); }

  pid_t id() const { return id_; }
  // Waits for the word that it is open. How long it took.
  milliseconds wait_until_open() {
    pollfd end{output_, POLLIN, 0};
    const int ready = ::poll(&end, 1, 60'000);
    EXPECT_EQ(ready, 1) << "the engine did not open";
    return std::chrono::duration_cast<milliseconds>(Clock::now() - born_);
  }
  std::vector<Word> kill() {
    ::kill(id_, SIGKILL);
    std::vector<Word> words;
    Word word;
    while (::read(output_, &word, sizeof word) == sizeof word) words.push_back(word);
    int status = 0;
    ::waitpid(id_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself, code " << WEXITSTATUS(status);
    return words;
  }

 private:
  pid_t id_ = -1;
  int output_ = -1;
  Clock::time_point born_;
};

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
  const char* const wanted = std::getenv("CUZK_KILLS");
  int kills = 20;
  if (wanted != nullptr) (void)std::from_chars(wanted, wanted + std::strlen(wanted), kills);
  const TemporaryFolder folder;
  const std::string journal = folder.file("journal");
  std::mt19937_64 random(31);
  std::set<std::uint32_t> accepted, ended;
  milliseconds longest(0);
  for (int i = 0; i < kills; ++i) {
    EngineInAProcess process(journal);
    // Some are killed while they open, most at work.
    if (i % 5 != 0) longest = std::max(longest, process.wait_until_open());
    std::this_thread::sleep_for(milliseconds(random() % 150));
    for (const Word& word : process.kill()) {
      if (word.what == Word::kAccepted) accepted.insert(word.number);
      if (word.what != Word::kEnded) continue;
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
  EXPECT_GT(ended.size(), static_cast<std::size_t>(kills)) << "the processes did too little";
  EXPECT_LT(longest, seconds(5)) << "a restart took long";
  RecordProperty("accepted", std::to_string(accepted.size()));
  RecordProperty("longest_restart_ms", std::to_string(longest.count()));
}

// The proving process does not outlive the engine's, however that ends.
TEST(EngineKill, TheProvingProcessGoesWithTheEngine) {
  const TemporaryFolder folder;
  EngineInAProcess process(folder.file("journal"));
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
