// The scan of write-ahead logs, on logs that SQLite wrote.
#include "engine/journal_log.h"

#include <gtest/gtest.h>

#include "engine/journal.h"
#include "engine/journal_test_support.h"

namespace cuzk::engine::internal {
namespace {

using base::Bytes;
using namespace testing_support;

constexpr std::size_t kFrameBytes = 24 + 4096;

// A log of the creation of a journal and of `jobs` jobs; `ends` gets its size after each.
Bytes make_log(int jobs, std::vector<std::size_t>& ends) {
  const TemporaryFolder folder;
  const auto journal = open_or_die(options_in(folder.path()));
  ends.push_back(read_whole(folder.path() / "journal.db-wal").size());
  for (int i = 0; i < jobs; ++i) {
    const Bytes input = test_bytes(100, static_cast<std::uint64_t>(i));
    EXPECT_TRUE(journal->accept(submission_of("job-" + std::to_string(i), input)).ok());
    ends.push_back(read_whole(folder.path() / "journal.db-wal").size());
  }
  return read_whole(folder.path() / "journal.db-wal");
}

TEST(JournalLog, SeesTheTransactionsThatSqliteSees) {
  std::vector<std::size_t> ends;
  const Bytes log = make_log(5, ends);
  const LogScan scan = scan_log(log);
  EXPECT_EQ(scan.page_bytes, 4096u);
  EXPECT_EQ(scan.lost_commits, 0u);
  EXPECT_EQ(scan.unfinished_bytes, 0u);
  EXPECT_EQ(scan.frames.size(), (log.size() - 32) / kFrameBytes);
  const std::uint64_t created = scan_log({log.data(), ends[0]}).kept_commits;
  EXPECT_GE(created, 1u);
  EXPECT_EQ(scan.kept_commits, created + 5);
}

TEST(JournalLog, CutAtEveryByteOfTheLastTransactionKeepsAllBefore) {
  std::vector<std::size_t> ends;
  const Bytes log = make_log(2, ends);
  const std::uint64_t before = scan_log({log.data(), ends[1]}).kept_commits;
  for (std::size_t size = ends[1]; size < log.size(); ++size) {
    const LogScan scan = scan_log({log.data(), size});
    ASSERT_EQ(scan.kept_commits, before) << size;
    ASSERT_EQ(scan.lost_commits, 0u) << size;
    ASSERT_EQ(scan.unfinished_bytes, size - ends[1]) << size;
  }
}

TEST(JournalLog, AnyFlipBeforeTheLastTransactionIsALoss) {
  std::vector<std::size_t> ends;
  const Bytes log = make_log(3, ends);
  const LogScan whole = scan_log(log);
  for (std::size_t i = 0; i < ends[2]; i += i < 100 ? 1 : 53) {
    Bytes flipped = log;
    flipped[i] ^= static_cast<std::uint8_t>(1 << i % 8);
    const LogScan scan = scan_log(flipped);
    ASSERT_GE(scan.lost_commits, 1u) << i;
    ASSERT_LT(scan.kept_commits, whole.kept_commits) << i;
    ASSERT_EQ(scan.frames.size(), whole.frames.size()) << i << ": all frames can be read";
  }
  for (std::size_t i = ends[2]; i < log.size(); i += 53) {
    Bytes flipped = log;
    flipped[i] ^= static_cast<std::uint8_t>(1 << i % 8);
    const LogScan scan = scan_log(flipped);
    ASSERT_EQ(scan.lost_commits, 0u) << i;
    ASSERT_EQ(scan.unfinished_bytes, log.size() - ends[2]) << i;
    ASSERT_EQ(scan.kept_commits, whole.kept_commits - 1) << i;
  }
}

// After a checkpoint SQLite writes from the front again, over frames of the generation before.
TEST(JournalLog, FramesOfOlderGenerationsAreNotCounted) {
  std::vector<std::size_t> ends;
  const Bytes old_log = make_log(4, ends);
  std::vector<std::size_t> new_ends;
  Bytes log = make_log(1, new_ends);
  const LogScan alone = scan_log(log);
  const std::size_t size = log.size();
  ASSERT_LT(size, old_log.size());
  log.insert(log.end(), old_log.begin() + static_cast<std::ptrdiff_t>(size), old_log.end());
  const LogScan mixed = scan_log(log);
  EXPECT_EQ(mixed.kept_commits, alone.kept_commits);
  EXPECT_EQ(mixed.lost_commits, 0u);
  EXPECT_EQ(mixed.unfinished_bytes, 0u);
  EXPECT_EQ(mixed.frames.size(), alone.frames.size());
}

TEST(JournalLog, BytesThatAreNoLogGiveNothing) {
  EXPECT_EQ(scan_log({}).kept_commits, 0u);
  for (const std::size_t size : {1u, 31u, 32u, 33u, 56u, 4152u, 20000u}) {
    const LogScan scan = scan_log(test_bytes(size, size));
    EXPECT_EQ(scan.kept_commits, 0u);
    const LogScan zeros = scan_log(Bytes(size, 0));
    EXPECT_EQ(zeros.kept_commits + zeros.lost_commits, 0u);
  }
}

}  // namespace
}  // namespace cuzk::engine::internal
