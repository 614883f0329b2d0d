// What the journal lets go of, and when.
#include <chrono>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal.h"
#include "engine/journal_test_support.h"

namespace cuzk::engine {
namespace {

using base::Bytes;
using base::ErrorKind;
using namespace testing_support;

constexpr std::int64_t kHourMs = 3600 * 1000;
constexpr std::uint64_t kMuch = std::uint64_t{1} << 40;

class JournalRetention : public ::testing::Test {
 protected:
  void finish(const std::string& id, std::size_t result_bytes) {
    ASSERT_TRUE(journal->accept(submission_of(id, input)).ok());
    ASSERT_TRUE(journal->start(id).ok());
    ASSERT_TRUE(journal->complete(id, 1, test_bytes(result_bytes, 1)).ok());
  }
  bool has(const std::string& id) { return journal->find(id).ok(); }

  TemporaryFolder folder;
  std::shared_ptr<std::int64_t> now_ms = std::make_shared<std::int64_t>(kStartMs);
  std::unique_ptr<Journal> journal = open_or_die(options_in(folder.path(), now_ms));
  const Bytes input = test_bytes(100, 1);
};

TEST_F(JournalRetention, RemovesFinalJobsAfterTheirTimeAndNoOthers) {
  finish("old", 100);
  ASSERT_TRUE(journal->accept(submission_of("waiting", input)).ok());
  ASSERT_TRUE(journal->accept(submission_of("running", input, 2)).ok());
  ASSERT_TRUE(journal->start("running").ok());
  ASSERT_TRUE(journal->record_partition("running", 1, 0, input).ok());
  ASSERT_TRUE(journal->accept(submission_of("cancelled", input)).ok());
  ASSERT_TRUE(journal->cancel("cancelled").ok());
  *now_ms += kHourMs;
  finish("young", 100);
  const Retention retention{.age_ms_max = kHourMs, .bytes_max = kMuch};
  EXPECT_EQ(journal->prune(retention)->job_count, 0u) << "exactly as old as allowed";
  *now_ms += 1;
  const auto pruned = journal->prune(retention);
  ASSERT_TRUE(pruned.ok()) << pruned.error().message;
  EXPECT_EQ(pruned->job_count, 2u);
  EXPECT_GT(pruned->freed_bytes, 100u);
  EXPECT_FALSE(has("old"));
  EXPECT_FALSE(has("cancelled"));
  EXPECT_TRUE(has("young"));
  EXPECT_TRUE(has("waiting"));
  EXPECT_EQ(journal->partitions("running")->size(), 1u);
  EXPECT_EQ(value_of(journal->input("waiting")), input);
  // A removed id is new again, with a later place.
  const auto again = journal->accept(submission_of("old", input));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->acceptance, Acceptance::kNew);
  EXPECT_EQ(again->job.sequence, 6u);
}

TEST_F(JournalRetention, RemovesTheOldestUntilTheRestFits) {
  for (int i = 0; i < 10; ++i) {
    finish(fmt::format("job-{}", i), 10000);
    *now_ms += 1000;
  }
  const auto all = journal->statistics();
  EXPECT_GT(all->final_bytes, 100000u);
  const Retention retention{.age_ms_max = 1000 * kHourMs, .bytes_max = 45000};
  const auto pruned = journal->prune(retention);
  ASSERT_TRUE(pruned.ok());
  EXPECT_EQ(pruned->job_count, 6u);
  const auto left = journal->statistics();
  EXPECT_LE(left->final_bytes, 45000u);
  EXPECT_EQ(left->final_bytes + pruned->freed_bytes, all->final_bytes);
  EXPECT_FALSE(has("job-5"));
  EXPECT_TRUE(has("job-6"));
  EXPECT_EQ(value_of(journal->result("job-9")), test_bytes(10000, 1));
  EXPECT_EQ(journal->prune(retention)->job_count, 0u);
  EXPECT_EQ(journal->prune({.age_ms_max = 1000 * kHourMs, .bytes_max = 0})->job_count, 4u);
  EXPECT_EQ(journal->statistics()->final_bytes, 0u);
}

TEST_F(JournalRetention, CountsTheProofsThatFailedJobsKeep) {
  ASSERT_TRUE(journal->accept(submission_of("failed", input, 2)).ok());
  ASSERT_TRUE(journal->start("failed").ok());
  ASSERT_TRUE(journal->record_partition("failed", 1, 0, test_bytes(50000, 1)).ok());
  EXPECT_EQ(journal->statistics()->final_bytes, 0u);
  ASSERT_TRUE(journal->fail("failed", 1, {ErrorKind::kIo, "no"}).ok());
  EXPECT_GT(journal->statistics()->final_bytes, 50000u);
  ASSERT_TRUE(journal->prune({.bytes_max = 49000}).ok());
  EXPECT_FALSE(has("failed"));
  EXPECT_EQ(journal->statistics()->partition_count, 0u);
}

TEST_F(JournalRetention, GivesRoomBackToTheFileSystem) {
  for (int i = 0; i < 300; ++i) finish(fmt::format("job-{}", i), 10000);
  const std::uint64_t full_bytes = journal->statistics()->file_bytes;
  ASSERT_GT(full_bytes, 3'000'000u);
  ASSERT_TRUE(journal->prune({.bytes_max = 0}).ok());
  EXPECT_EQ(journal->statistics()->job_count[2], 0u);
  EXPECT_LT(journal->statistics()->file_bytes, full_bytes / 20);
  EXPECT_LT(std::filesystem::file_size(folder.path() / "journal.db"), full_bytes / 20);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "journal.db-wal"), 0u);
}

// Small jobs come and go: the files do not grow.
TEST_F(JournalRetention, TheFilesStayFlatUnderALongStreamOfJobs) {
  const Retention retention{.age_ms_max = 50, .bytes_max = kMuch};
  std::uint64_t bytes_early = 0, bytes_late = 0;
  for (int i = 0; i < 2000; ++i) {
    finish(fmt::format("job-{}", i), 192);
    *now_ms += 1;
    if (i % 100 == 99) {
      ASSERT_TRUE(journal->prune(retention).ok());
    }
    if (i == 699) bytes_early = journal->statistics()->file_bytes;
  }
  bytes_late = journal->statistics()->file_bytes;
  EXPECT_LE(bytes_late, bytes_early + bytes_early / 4);
  EXPECT_LT(journal->statistics()->job_count[2], 60u);
  journal.reset();
  const auto begin = std::chrono::steady_clock::now();
  journal = open_or_die(options_in(folder.path(), now_ms));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace cuzk::engine
