// Processes that are killed while they use a journal. What the process was told is kept must be
// there afterwards; what it had not been told may be there, but whole.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/journal.h"
#include "engine/journal_test_support.h"

namespace cuzk::engine {
namespace {

using ::testing::IsEmpty;
using namespace testing_support;

constexpr std::uint32_t kPartitions = 3;

// Everything about a job follows from its number.
std::string id_of(std::uint32_t number) { return fmt::format("job-{}", number); }
base::Bytes input_of(std::uint32_t number) { return test_bytes(100 + number % 9 * 3000, number); }
base::Bytes proof_of(std::uint32_t number, std::uint32_t partition) {
  return test_bytes(192, number * kPartitions + partition + 1000000);
}
base::Bytes result_of(std::uint32_t number) { return test_bytes(576, number + 2000000); }
JobState end_of(std::uint32_t number) {
  constexpr JobState kEnds[] = {JobState::kCompleted, JobState::kCompleted, JobState::kFailed,
                                JobState::kCancelled};
  return kEnds[number % 4];
}

// What the process says after the journal has said that it is kept.
struct Word {
  enum : std::uint32_t { kAccepted, kPartition, kEnded } what;
  std::uint32_t number, partition;
};

// The process: goes on with what is unfinished, then accepts more, until it is killed. Returns the
// exit code of an error.
int use_journal(const std::filesystem::path& folder, int words) {
  auto opened = Journal::open(options_in(folder));
  if (!opened.ok()) return 3;
  Journal& journal = **opened;
  const auto say = [&](Word word) { return ::write(words, &word, sizeof word) == sizeof word; };
  const auto finish = [&](std::uint32_t number) {
    const std::string id = id_of(number);
    if (!journal.start(id).ok()) return false;
    for (std::uint32_t k = 0; k < kPartitions; ++k) {
      if (!journal.record_partition(id, 1, k, proof_of(number, k)).ok()) return false;
      if (!say({Word::kPartition, number, k})) return false;
    }
    bool ok = false;
    switch (end_of(number)) {
      case JobState::kFailed: ok = journal.fail(id, 1, {base::ErrorKind::kIo, "no"}).ok(); break;
      case JobState::kCancelled: ok = journal.cancel(id).ok(); break;
      default: ok = journal.complete(id, 1, result_of(number)).ok(); break;
    }
    return ok && say({Word::kEnded, number, 0});
  };
  const auto unfinished = journal.unfinished();
  if (!unfinished.ok()) return 4;
  for (const UnfinishedJob& job : *unfinished) {
    if (!finish(static_cast<std::uint32_t>(job.job.sequence))) return 5;
  }
  while (true) {
    const auto jobs = journal.list({});
    if (!jobs.ok()) return 6;
    const auto number = static_cast<std::uint32_t>(jobs->empty() ? 1 : jobs->back().sequence + 1);
    const base::Bytes input = input_of(number);
    if (!journal.accept(submission_of(id_of(number), input, kPartitions)).ok()) return 7;
    if (!say({Word::kAccepted, number, 0}) || !finish(number)) return 8;
    if (number % 5 == 0 && !journal.prune({}).ok()) return 9;
  }
}

// Runs use_journal in a process, kills it after the time and returns what it said.
std::vector<Word> use_and_kill(const std::filesystem::path& folder, long microseconds) {
  int ends[2];
  CUZK_ASSERT(::pipe(ends) == 0);
  const pid_t child = ::fork();
  CUZK_ASSERT(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    ::_exit(use_journal(folder, ends[1]));
  }
  ::close(ends[1]);
  const timespec wait{0, microseconds * 1000};
  ::nanosleep(&wait, nullptr);
  ::kill(child, SIGKILL);
  std::vector<Word> words;
  Word word;
  while (::read(ends[0], &word, sizeof word) == sizeof word) words.push_back(word);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the process ended by itself, code " << WEXITSTATUS(status);
  return words;
}

// All that was ever said about a folder's journal.
struct Known {
  std::set<std::uint32_t> accepted, ended;
  std::set<std::pair<std::uint32_t, std::uint32_t>> partitions;

  void add(const std::vector<Word>& words) {
    for (const Word& word : words) {
      if (word.what == Word::kAccepted) accepted.insert(word.number);
      if (word.what == Word::kPartition) partitions.emplace(word.number, word.partition);
      if (word.what == Word::kEnded) ended.insert(word.number);
    }
  }
};

void expect_whole(Journal& journal, const JobRecord& job) {
  const auto number = static_cast<std::uint32_t>(job.sequence);
  EXPECT_EQ(job.request_id, id_of(number));
  EXPECT_EQ(job.input_digest, hash::sha256(input_of(number)));
  EXPECT_EQ(job.attempt, 1u);
  if (!is_final(job.state)) {
    const auto input = journal.input(job.request_id);
    ASSERT_TRUE(input.ok()) << input.error().message;
    EXPECT_EQ(*input, input_of(number));
  } else {
    EXPECT_EQ(job.state, end_of(number));
  }
  if (job.state == JobState::kCompleted) {
    const auto result = journal.result(job.request_id);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(*result, result_of(number));
  }
}

void expect_kept(Journal& journal, const Known& known) {
  EXPECT_THAT(journal.open_report().losses, IsEmpty());
  EXPECT_FALSE(journal.open_report().rebuilt);
  const auto jobs = journal.list({.count_max = SIZE_MAX});
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  std::map<std::uint32_t, JobState> states;
  for (const JobRecord& job : *jobs) {
    const auto number = static_cast<std::uint32_t>(job.sequence);
    states[number] = job.state;
    expect_whole(journal, job);
    if (job.state == JobState::kCompleted) continue;
    const auto partitions = journal.partitions(job.request_id);
    ASSERT_TRUE(partitions.ok());
    std::set<std::uint32_t> kept;
    for (const PartitionProof& partition : *partitions) {
      EXPECT_EQ(partition.proof, proof_of(number, partition.partition));
      kept.insert(partition.partition);
    }
    for (std::uint32_t k = 0; k < kPartitions; ++k) {
      EXPECT_TRUE(known.partitions.count({number, k}) == 0 || kept.count(k) == 1)
          << "partition " << k << " of job " << number << " is lost";
    }
  }
  for (const std::uint32_t number : known.accepted) {
    EXPECT_EQ(states.count(number), 1u) << "accepted job " << number << " is lost";
  }
  for (const std::uint32_t number : known.ended) {
    EXPECT_TRUE(is_final(states[number])) << "job " << number << " had ended";
  }
}

// How long after its start a process is killed at the latest: some jobs' time on this machine.
long kill_window_us() {
  const auto begin = std::chrono::steady_clock::now();
  const TemporaryFolder folder;
  const auto journal = open_or_die(options_in(folder.path()));
  const base::Bytes input = input_of(1);
  EXPECT_TRUE(journal->accept(submission_of(id_of(1), input, kPartitions)).ok());
  EXPECT_TRUE(journal->start(id_of(1)).ok());
  EXPECT_TRUE(journal->complete(id_of(1), 1, result_of(1)).ok());
  const auto took = std::chrono::steady_clock::now() - begin;
  const long took_us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  return std::clamp(6 * took_us, 30000L, 300000L);
}

TEST(JournalKill, LosesNothingAtAHundredKillsAtRandomMoments) {
  constexpr int kFolders = 4, kKills = 25;
  std::mt19937_64 random(20);
  const auto window_us = static_cast<std::uint64_t>(kill_window_us());
  std::size_t ended_count = 0, resumed_count = 0;
  for (int f = 0; f < kFolders; ++f) {
    const TemporaryFolder folder;
    Known known;
    for (int k = 0; k < kKills; ++k) {
      // Some kills fall into the opening, most into the work.
      known.add(use_and_kill(folder.path(), static_cast<long>(random() % window_us)));
      const auto journal = open_or_die(options_in(folder.path()));
      resumed_count += journal->unfinished()->size();
      expect_kept(*journal, known);
      if (::testing::Test::HasFailure()) {
        FAIL() << "after kill " << k << " in folder " << f;
      }
    }
    ended_count += known.ended.size();
  }
  EXPECT_GT(ended_count, 20u) << "the processes did too little for a test";
  EXPECT_GT(resumed_count, 5u) << "no kill met a job at work";
}

// A kill while a damaged journal is rebuilt: the next opening begins again or goes on.
TEST(JournalKill, ARebuildingThatIsKilledIsDoneAgain) {
  const TemporaryFolder origin;
  constexpr std::uint32_t kJobs = 30;
  {
    const auto journal = open_or_die(options_in(origin.path()));
    for (std::uint32_t i = 1; i <= kJobs; ++i) {
      const base::Bytes input = input_of(i);
      ASSERT_TRUE(journal->accept(submission_of(id_of(i), input, kPartitions)).ok());
    }
  }
  base::Bytes file = read_whole(origin.path() / "journal.db");
  file[file.size() / 2] ^= 0xff;  // somewhere in an input
  file[68] ^= 0x01;               // in the header: the whole is suspect
  std::mt19937_64 random(21);
  int rebuilt_late = 0;
  for (int k = 0; k < 25; ++k) {
    const TemporaryFolder folder;
    write_whole(folder.path() / "journal.db", file);
    (void)use_and_kill(folder.path(), static_cast<long>(random() % 12000));
    const auto journal = open_or_die(options_in(folder.path()));
    rebuilt_late += journal->open_report().rebuilt ? 1 : 0;
    const auto jobs = journal->list({});
    ASSERT_TRUE(jobs.ok()) << jobs.error().message;
    EXPECT_GE(jobs->size(), kJobs);
    for (const JobRecord& job : *jobs) {
      if (job.sequence <= kJobs && job.state != JobState::kFailed) expect_whole(*journal, job);
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "journal.salvage"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "journal.rebuilt"));
  }
  EXPECT_GT(rebuilt_late, 0) << "no kill came before the rebuilding was done";
}

}  // namespace
}  // namespace cuzk::engine
