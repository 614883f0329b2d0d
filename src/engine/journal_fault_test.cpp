// Disks that fail: power lost at every write, no room, no right to write.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/journal.h"
#include "engine/journal_fault_test_support.h"
#include "engine/journal_test_support.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace testing_support;

JournalOptions faulty_options(const std::filesystem::path& folder) {
  JournalOptions options = options_in(folder);
  options.file_layer = FaultLayer::kName;
  return options;
}

const base::Bytes& small_input() {
  static const base::Bytes input = test_bytes(500, 1);
  return input;
}
const base::Bytes& large_input() {
  static const base::Bytes input = test_bytes(30000, 2);
  return input;
}

// What the journal said ok to before the power went.
struct Promises {
  bool first = false, started = false, partition = false, completed = false, second = false;
};

Promises work(const std::filesystem::path& folder) {
  Promises done;
  auto opened = Journal::open(faulty_options(folder));
  if (!opened.ok()) return done;
  Journal& journal = **opened;
  done.first = journal.accept(submission_of("first", small_input(), 2)).ok();
  done.started = done.first && journal.start("first").ok();
  done.partition = done.started && journal.record_partition("first", 1, 1, test_bytes(192, 3)).ok();
  done.second = journal.accept(submission_of("second", large_input())).ok();
  done.completed = done.started && journal.complete("first", 1, test_bytes(384, 4)).ok();
  return done;
}

void expect_promises_kept(const std::filesystem::path& folder, const Promises& done) {
  const auto journal = open_or_die(options_in(folder));
  const auto first = journal->find("first");
  ASSERT_TRUE(first.ok() || !done.first) << first.error().message;
  if (first.ok() && first->state == JobState::kQueued) {
    EXPECT_EQ(value_of(journal->input("first")), small_input());
    EXPECT_FALSE(done.completed);
    EXPECT_TRUE(first->start_count == 1 || !done.started);
    const auto partitions = journal->partitions("first");
    ASSERT_TRUE(partitions->size() == 1 || !done.partition);
    for (const PartitionProof& kept : *partitions) EXPECT_EQ(kept.proof, test_bytes(192, 3));
  } else if (first.ok()) {
    EXPECT_EQ(first->state, JobState::kCompleted);
    EXPECT_EQ(value_of(journal->result("first")), test_bytes(384, 4));
  }
  const auto second = journal->find("second");
  ASSERT_TRUE(second.ok() || !done.second) << second.error().message;
  if (second.ok()) {
    EXPECT_EQ(value_of(journal->input("second")), large_input());
  }
}

TEST(JournalFault, KeepsItsPromisesWhenThePowerGoesAtAnyWrite) {
  FaultLayer layer;
  std::uint64_t write_count = 0;
  {
    const TemporaryFolder folder;
    layer.die_at_write(0);
    const Promises done = work(folder.path());
    write_count = layer.write_count();
    ASSERT_TRUE(done.second && done.completed);
  }
  ASSERT_GT(write_count, 50u);
  for (std::uint64_t n = 1; n <= write_count; ++n) {
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      SCOPED_TRACE(fmt::format("write {} of {}, seed {}", n, write_count, seed));
      const TemporaryFolder folder;
      layer.die_at_write(n);
      const Promises done = work(folder.path());
      ASSERT_TRUE(layer.is_dead());
      layer.cut_power(n * 1000 + seed);
      expect_promises_kept(folder.path(), done);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(JournalFault, AFullDiskRefusesNewJobsAndLetsRunningOnesEnd) {
  FaultLayer layer;
  const TemporaryFolder folder;
  JournalOptions options = faulty_options(folder.path());
  options.reserve_bytes = 512 << 10;
  const auto journal = open_or_die(std::move(options));
  ASSERT_TRUE(journal->accept(submission_of("running", small_input(), 10)).ok());
  ASSERT_TRUE(journal->start("running").ok());
  layer.limit(folder.path(), 1200 << 10);
  // Jobs with inputs of their own until one is refused.
  int accepted = 0;
  base::Result<AcceptedJob> outcome = base::Error{};
  for (; accepted < 100; ++accepted) {
    const base::Bytes input = test_bytes(50000, static_cast<std::uint64_t>(accepted) + 10);
    outcome = journal->accept(submission_of(fmt::format("job-{}", accepted), input));
    if (!outcome.ok()) break;
  }
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::kResourceExhausted) << outcome.error().message;
  EXPECT_GT(accepted, 2);
  EXPECT_EQ(journal->find(fmt::format("job-{}", accepted)).error().kind, ErrorKind::kNotFound);
  // The disk fills up to the last byte: others write too.
  layer.limit(folder.path(), 1);
  layer.limit(folder.path(), 0);
  std::uint64_t used = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    used += entry.file_size();
  }
  layer.limit(folder.path(), used);
  for (std::uint32_t k = 0; k < 10; ++k) {
    const auto recorded = journal->record_partition("running", 1, k, test_bytes(20000, k));
    ASSERT_TRUE(recorded.ok()) << "partition " << k << ": " << recorded.error().message;
  }
  const auto completed = journal->complete("running", 1, test_bytes(1920, 1));
  ASSERT_TRUE(completed.ok()) << completed.error().message;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "journal.ballast")) << "it was not needed";
  // Room again, jobs again.
  layer.limit(folder.path(), 0);
  EXPECT_TRUE(journal->accept(submission_of("later", large_input())).ok());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "journal.ballast"));
  EXPECT_EQ(journal->unfinished()->size(), static_cast<std::size_t>(accepted) + 1);
}

TEST(JournalFault, TheLimitOfItsSizeKeepsRoomForResults) {
  const TemporaryFolder folder;
  JournalOptions options = options_in(folder.path());
  options.size_bytes_max = 2 << 20;
  options.reserve_bytes = 512 << 10;
  const auto journal = open_or_die(options);
  int accepted = 0;
  base::Result<AcceptedJob> outcome = base::Error{};
  for (; accepted < 100; ++accepted) {
    const base::Bytes input = test_bytes(100000, static_cast<std::uint64_t>(accepted) + 10);
    outcome = journal->accept(submission_of(fmt::format("job-{}", accepted), input));
    if (!outcome.ok()) break;
  }
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_THAT(outcome.error().message, HasSubstr("2097152"));
  ASSERT_GT(accepted, 5);
  // Every accepted job can end with a result of 30 kB.
  for (int i = 0; i < accepted; ++i) {
    const std::string id = fmt::format("job-{}", i);
    ASSERT_TRUE(journal->start(id).ok());
    const auto completed = journal->complete(id, 1, test_bytes(30000, 1));
    ASSERT_TRUE(completed.ok()) << completed.error().message;
  }
  // Their inputs have gone, so that there is room.
  EXPECT_TRUE(journal->accept(submission_of("later", large_input())).ok());
  EXPECT_LE(journal->statistics()->file_bytes, options.size_bytes_max);
}

TEST(JournalFault, AFailedWriteChangesNothingAndTheJournalGoesOn) {
  FaultLayer layer;
  const TemporaryFolder folder;
  const auto journal = open_or_die(faulty_options(folder.path()));
  ASSERT_TRUE(journal->accept(submission_of("first", small_input())).ok());
  for (std::uint64_t n = 1; n <= 6; ++n) {
    layer.die_at_write(n);
    const auto refused = journal->accept(submission_of("second", large_input()));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kIo);
    layer.die_at_write(0);
    EXPECT_EQ(journal->find("second").error().kind, ErrorKind::kNotFound);
    EXPECT_EQ(value_of(journal->input("first")), small_input());
  }
  EXPECT_TRUE(journal->accept(submission_of("second", large_input())).ok());
  EXPECT_EQ(value_of(journal->input("second")), large_input());
}

// Root may write anywhere, so that a process without that right has to try.
TEST(JournalFault, AFolderWithoutTheRightToWriteIsRefusedInOneSentence) {
  const TemporaryFolder folder;
  { const auto journal = open_or_die(options_in(folder.path())); }
  ASSERT_EQ(::chmod(folder.path().c_str(), S_IRUSR | S_IXUSR | S_IROTH | S_IXOTH), 0);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ASSERT_EQ(::chmod(entry.path().c_str(), S_IRUSR | S_IROTH), 0);
  }
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    const auto opened = Journal::open(options_in(folder.path()));
    const std::string said =
        opened.ok() ? "opened"
                    : fmt::format("{} {}", to_string(opened.error().kind), opened.error().message);
    const bool is_said = ::write(ends[1], said.data(), said.size()) > 0;
    ::_exit(is_said ? 0 : 3);
  }
  ::close(ends[1]);
  std::string said(1000, '\0');
  const ssize_t size = ::read(ends[0], said.data(), said.size());
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(said, ::testing::StartsWith("io "));
  EXPECT_THAT(said, HasSubstr(folder.path().string()));
  EXPECT_THAT(said, HasSubstr("Permission denied"));
  ASSERT_EQ(::chmod(folder.path().c_str(), S_IRWXU), 0);
}

}  // namespace
}  // namespace cuzk::engine
