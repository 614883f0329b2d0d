// Journals whose files were cut, or in which bits flipped. What is whole is kept, what is lost is
// said, and nothing that is wrong is ever answered.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal.h"
#include "engine/journal_log.h"
#include "engine/journal_test_support.h"

namespace cuzk::engine {
namespace {

using base::Bytes;
using base::ErrorKind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace testing_support;

constexpr std::uint32_t kJobs = 12;
std::string id_of(std::uint32_t number) { return fmt::format("job-{}", number); }
Bytes input_of(std::uint32_t number) { return test_bytes(1000 + 1500 * (number % 4), number); }
Bytes proof_of(std::uint32_t number) { return test_bytes(192, number + 1000); }
Bytes result_of(std::uint32_t number) { return test_bytes(300 * number, number + 2000); }
bool is_completed(std::uint32_t number) { return number % 3 == 0; }

struct Files {
  Bytes database, log;
};

// A journal's files as a kill leaves them, the whole log in place; every third job is completed,
// the others run with one proof.
Files make_files(const std::filesystem::path& folder, bool is_closed) {
  auto journal = open_or_die(options_in(folder));
  for (std::uint32_t i = 1; i <= kJobs; ++i) {
    const Bytes input = input_of(i);
    EXPECT_TRUE(journal->accept(submission_of(id_of(i), input, 2)).ok());
    EXPECT_TRUE(journal->start(id_of(i)).ok());
    EXPECT_TRUE(journal->record_partition(id_of(i), 1, 1, proof_of(i)).ok());
    if (!is_completed(i)) continue;
    EXPECT_TRUE(journal->complete(id_of(i), 1, result_of(i)).ok());
  }
  if (is_closed) journal.reset();  // moves the log into the database
  return {read_whole(folder / "journal.db"),
          is_closed ? Bytes() : read_whole(folder / "journal.db-wal")};
}

// What became of the jobs of make_files, after checking that every answer is right or an error.
struct Outcome {
  std::uint32_t kept = 0;    // with their input or result
  std::uint32_t failed = 0;  // known, to be submitted again
  std::uint32_t absent = 0;
  std::uint32_t proofs = 0;
  OpenReport report;
};

Outcome open_damaged(const Files& files) {
  const TemporaryFolder folder;
  write_whole(folder.path() / "journal.db", files.database);
  if (!files.log.empty()) write_whole(folder.path() / "journal.db-wal", files.log);
  auto opened = Journal::open(options_in(folder.path()));
  Outcome out;
  if (!opened.ok()) {
    ADD_FAILURE() << opened.error().message;
    return out;
  }
  Journal& journal = **opened;
  out.report = journal.open_report();
  for (std::uint32_t i = 1; i <= kJobs; ++i) {
    const std::string id = id_of(i);
    const auto job = journal.find(id);
    if (!job.ok()) {
      EXPECT_EQ(job.error().kind, ErrorKind::kNotFound) << job.error().message;
      ++out.absent;
      continue;
    }
    EXPECT_EQ(job->input_digest, hash::sha256(input_of(i)));
    const bool has_result = job->state == JobState::kCompleted;
    const auto content = has_result ? journal.result(id) : journal.input(id);
    if (content.ok()) {
      EXPECT_EQ(*content, has_result ? result_of(i) : input_of(i));
      ++out.kept;
    } else {
      EXPECT_EQ(journal.find(id)->state, JobState::kFailed) << content.error().message;
      ++out.failed;
    }
    const auto partitions = journal.partitions(id);
    EXPECT_TRUE(partitions.ok());
    for (const PartitionProof& partition : *partitions) {
      EXPECT_EQ(partition.proof, proof_of(i));
      ++out.proofs;
    }
    // A failed job comes back by being submitted again.
    const Bytes input = input_of(i);
    const auto again = journal.accept(submission_of(id, input, 2));
    EXPECT_TRUE(again.ok()) << again.error().message;
  }
  // The journal is a working one and stays whole.
  EXPECT_TRUE(journal.accept(submission_of("new", files.database)).ok());
  opened->reset();
  const auto later = open_or_die(options_in(folder.path()));
  EXPECT_THAT(later->open_report().losses, IsEmpty());
  EXPECT_EQ(value_of(later->input("new")), files.database);
  return out;
}

constexpr std::uint32_t kCompleted = kJobs / 3;

TEST(JournalDamage, UndamagedFilesLoseNothing) {
  const TemporaryFolder folder;
  for (const bool is_closed : {true, false}) {
    const TemporaryFolder origin;
    const Outcome outcome = open_damaged(make_files(origin.path(), is_closed));
    EXPECT_EQ(outcome.kept, kJobs);
    EXPECT_EQ(outcome.proofs, kJobs - kCompleted);
    EXPECT_THAT(outcome.report.losses, IsEmpty());
    EXPECT_EQ(outcome.report.unfinished_log_bytes, 0u);
    EXPECT_FALSE(outcome.report.rebuilt);
    EXPECT_EQ(outcome.report.requeued_count, kJobs - kCompleted);
  }
}

// The log cut inside its last record: at every byte of the frames' headers and around them, and at
// every 97th byte of the pages. JournalLog has every byte.
TEST(JournalDamage, ALogThatIsCutInItsLastRecordKeepsAllBeforeItAndSaysSo) {
  const TemporaryFolder folder;
  auto journal = open_or_die(options_in(folder.path()));
  const Bytes input = input_of(1);
  ASSERT_TRUE(journal->accept(submission_of("first", input)).ok());
  ASSERT_TRUE(journal->accept(submission_of("second", input)).ok());
  const std::size_t before = read_whole(folder.path() / "journal.db-wal").size();
  ASSERT_TRUE(journal->cancel("first").ok());
  const Files files{read_whole(folder.path() / "journal.db"),
                    read_whole(folder.path() / "journal.db-wal")};
  ASSERT_GT(files.log.size(), before);
  journal.reset();
  for (std::size_t size = before; size <= files.log.size(); ++size) {
    const std::size_t in_frame = (size - before) % (4096 + 24);
    if (in_frame > 40 && size % 97 != 0 && size != files.log.size()) continue;
    SCOPED_TRACE(fmt::format("cut to {} of {}..{}", size, before, files.log.size()));
    const TemporaryFolder cut;
    write_whole(cut.path() / "journal.db", files.database);
    write_whole(cut.path() / "journal.db-wal", {files.log.data(), size});
    const auto reopened = open_or_die(options_in(cut.path()));
    const bool is_whole = size == files.log.size();
    EXPECT_EQ(reopened->open_report().unfinished_log_bytes, is_whole ? 0 : size - before);
    EXPECT_FALSE(reopened->open_report().rebuilt);
    EXPECT_EQ(value_of(reopened->find("first")).state,
              is_whole ? JobState::kCancelled : JobState::kQueued);
    EXPECT_EQ(value_of(reopened->input("second")), input);
    if (::testing::Test::HasFailure()) return;
  }
}

// Positions spread over `size` bytes, and each of the first `dense`.
std::vector<std::size_t> positions(std::size_t size, std::size_t dense, std::size_t count) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < std::min(dense, size); ++i) out.push_back(i);
  const std::size_t step = std::max<std::size_t>(size / count, 1) | 1;
  for (std::size_t i = dense; i < size; i += step) out.push_back(i);
  return out;
}

TEST(JournalDamage, AFlippedBitInTheLogLosesAtMostWhatItHitAndSaysSo) {
  const TemporaryFolder folder;
  const Files files = make_files(folder.path(), false);
  ASSERT_GT(files.log.size(), 100000u);
  std::uint32_t runs = 0, kept = 0;
  for (const std::size_t position : positions(files.log.size(), 56, 150)) {
    SCOPED_TRACE(fmt::format("log byte {} of {}", position, files.log.size()));
    Files flipped = files;
    flipped.log[position] ^= static_cast<std::uint8_t>(1 << position % 8);
    const Outcome outcome = open_damaged(flipped);
    if (outcome.kept < kJobs || outcome.proofs < kJobs - kCompleted) {
      EXPECT_TRUE(!outcome.report.losses.empty() || outcome.report.unfinished_log_bytes > 0);
    }
    EXPECT_GE(outcome.kept + outcome.failed, kJobs - 1);
    ++runs;
    kept += outcome.kept;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(kept, runs * kJobs - runs / 4) << "most flips hit superseded pages or one row";
}

TEST(JournalDamage, AFlippedBitInTheDatabaseLosesAtMostItsPageAndSaysSo) {
  const TemporaryFolder folder;
  const Files files = make_files(folder.path(), true);
  std::uint32_t runs = 0, kept = 0, rebuilt = 0;
  for (const std::size_t position : positions(files.database.size(), 140, 250)) {
    SCOPED_TRACE(fmt::format("byte {} of {}", position, files.database.size()));
    Files flipped = files;
    flipped.database[position] ^= static_cast<std::uint8_t>(1 << position % 8);
    const Outcome outcome = open_damaged(flipped);
    if (outcome.absent > 0 || outcome.proofs < kJobs - kCompleted) {
      EXPECT_THAT(outcome.report.losses, Not(IsEmpty()));
    }
    ++runs;
    kept += outcome.kept;
    rebuilt += outcome.report.rebuilt ? 1 : 0;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(rebuilt, runs / 10);
  EXPECT_GE(kept, runs * kJobs * 9 / 10);
}

TEST(JournalDamage, ADatabaseThatIsCutKeepsWhatIsLeft) {
  const TemporaryFolder folder;
  const Files files = make_files(folder.path(), true);
  for (std::size_t pages = 1; pages * 4096 < files.database.size(); pages += 3) {
    SCOPED_TRACE(fmt::format("{} pages", pages));
    Files cut = files;
    cut.database.resize(pages * 4096 - 1000);
    const Outcome outcome = open_damaged(cut);
    EXPECT_THAT(outcome.report.losses, Not(IsEmpty()));
    EXPECT_TRUE(outcome.report.rebuilt);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(JournalDamage, ZeroedPagesLoseTheirRowsOnly) {
  const TemporaryFolder folder;
  const Files files = make_files(folder.path(), true);
  std::uint32_t runs = 0, kept = 0;
  for (std::size_t at = 0; at + 4096 <= files.database.size(); at += 4096) {
    SCOPED_TRACE(fmt::format("page at {}", at));
    Files zeroed = files;
    std::fill_n(zeroed.database.begin() + static_cast<std::ptrdiff_t>(at), 4096, std::uint8_t{0});
    const Outcome outcome = open_damaged(zeroed);
    EXPECT_TRUE(at > 0 || outcome.kept == kJobs) << "the first page holds no rows";
    EXPECT_TRUE(outcome.absent == 0 || !outcome.report.losses.empty());
    ++runs;
    kept += outcome.kept;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(kept, runs * kJobs * 8 / 10);
}

TEST(JournalDamage, ALogWithoutItsDatabaseGivesWhatItHolds) {
  const TemporaryFolder folder;
  Files files = make_files(folder.path(), false);
  files.database.clear();
  const Outcome outcome = open_damaged(files);
  EXPECT_EQ(outcome.kept, kJobs);
  EXPECT_EQ(outcome.proofs, kJobs - kCompleted);
  EXPECT_THAT(outcome.report.losses, Not(IsEmpty()));
}

TEST(JournalDamage, SetsTheDamagedFilesAsideAndNamesThem) {
  const TemporaryFolder folder;
  Files files = make_files(folder.path(), true);
  files.database[70] ^= 1;  // application id
  write_whole(folder.path() / "journal.db", files.database);
  const auto journal = open_or_die(options_in(folder.path()));
  const OpenReport& report = journal->open_report();
  ASSERT_TRUE(report.rebuilt);
  EXPECT_EQ(read_whole(report.damaged_files), files.database);
  EXPECT_EQ(report.kept_jobs, kJobs);
  EXPECT_EQ(report.failed_jobs, 0u);
  EXPECT_EQ(report.damaged_rows, 0u);
  ASSERT_THAT(report.losses, SizeIs(2));
  EXPECT_THAT(report.losses[0], HasSubstr("header is damaged"));
  EXPECT_THAT(report.losses[1], HasSubstr("12 jobs kept"));
}

// A whole rebuilt journal waits beside the damaged one, which is partly moved away already.
TEST(JournalDamage, AnInterruptedExchangeIsFinished) {
  const TemporaryFolder folder, damaged;
  const Files files = make_files(folder.path(), true);
  for (const bool is_moved : {false, true}) {
    const TemporaryFolder half;
    write_whole(half.path() / "journal.rebuilt", files.database);
    if (!is_moved) write_whole(half.path() / "journal.db", test_bytes(9000, 1));
    write_whole(half.path() / "journal.db-wal", test_bytes(5000, 1));
    write_whole(half.path() / "journal.rebuilding", test_bytes(5000, 2));
    const auto journal = open_or_die(options_in(half.path()));
    EXPECT_EQ(journal->list({})->size(), kJobs);
    EXPECT_TRUE(journal->open_report().rebuilt);
    EXPECT_FALSE(std::filesystem::exists(half.path() / "journal.rebuilding"));
    EXPECT_FALSE(std::filesystem::exists(half.path() / "journal.rebuilt"));
  }
}

}  // namespace
}  // namespace cuzk::engine
