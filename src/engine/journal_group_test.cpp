// Changes that share a sync: what one does wrong, or a disk that is full, is no other's concern.
#include "engine/journal_group.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal.h"
#include "engine/journal_fault_test_support.h"
#include "engine/journal_test_support.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using namespace testing_support;
using Kind = JournalChange::Kind;

JournalChange change_of(Kind kind, const std::string& id, base::Bytes bytes = {}) {
  JournalChange change;
  change.kind = kind;
  change.request_id = id;
  change.bytes = std::move(bytes);
  return change;
}

TEST(JournalGroup, MakesChangesInOrderAndEachForItself) {
  const TemporaryFolder folder;
  const auto journal = open_or_die(options_in(folder.path()));
  const base::Bytes input = test_bytes(10, 1);
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_TRUE(journal->accept(submission_of(id, input, 2)).ok());
  }
  const std::vector<JournalChange> changes = {
      change_of(Kind::kStart, "a"),
      change_of(Kind::kComplete, "b", {1}),  // not started
      change_of(Kind::kPartition, "a", {2, 3}),
      change_of(Kind::kStart, "nobody"),
      change_of(Kind::kStart, "c"),
      change_of(Kind::kComplete, "a", {4}),
      change_of(Kind::kPartition, "a", {5}),  // over
      change_of(Kind::kFail, "c"),
  };
  const auto outcomes = journal->apply(changes);
  ASSERT_EQ(outcomes.size(), changes.size());
  EXPECT_TRUE(outcomes[0].ok());
  EXPECT_EQ(outcomes[1].error().kind, ErrorKind::kMismatch);
  EXPECT_TRUE(outcomes[2].ok());
  EXPECT_EQ(outcomes[3].error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(outcomes[4].ok());
  EXPECT_TRUE(outcomes[5].ok());
  EXPECT_EQ(outcomes[6].error().kind, ErrorKind::kMismatch);
  EXPECT_TRUE(outcomes[7].ok());
  EXPECT_EQ(*journal->result("a"), (base::Bytes{4}));
  EXPECT_EQ(journal->find("b")->state, JobState::kQueued);
  EXPECT_EQ(journal->find("c")->state, JobState::kFailed);
  EXPECT_TRUE(journal->apply({}).empty());
}

TEST(JournalGroup, CountsCrashesUntilAPartitionIsFinished) {
  const TemporaryFolder folder;
  const auto journal = open_or_die(options_in(folder.path()));
  const base::Bytes input = test_bytes(10, 1);
  ASSERT_TRUE(journal->accept(submission_of("a", input, 2)).ok());
  ASSERT_TRUE(journal->start("a").ok());
  ASSERT_TRUE(journal->requeue("a", 1, Requeue::kCrashed).ok());
  ASSERT_TRUE(journal->start("a").ok());
  ASSERT_TRUE(journal->requeue("a", 1).ok());
  EXPECT_EQ(journal->find("a")->crash_count, 1u);
  ASSERT_TRUE(journal->start("a").ok());
  ASSERT_TRUE(journal->record_partition("a", 1, 0, test_bytes(10, 2)).ok());
  EXPECT_EQ(journal->find("a")->crash_count, 0u);
}

TEST(JournalGroup, AWithdrawnJobIsAsIfItHadNotCome) {
  const TemporaryFolder folder;
  const auto journal = open_or_die(options_in(folder.path()));
  const base::Bytes input = test_bytes(10, 1);
  const base::Error reason{ErrorKind::kResourceExhausted, "too large"};
  ASSERT_TRUE(journal->accept(submission_of("a", input)).ok());
  EXPECT_EQ(journal->withdraw("a", 2, reason).error().kind, ErrorKind::kMismatch);
  ASSERT_TRUE(journal->withdraw("a", 1, reason).ok());
  EXPECT_EQ(journal->find("a").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(journal->statistics()->input_count, 0u);
  EXPECT_EQ(journal->withdraw("a", 1, reason).error().kind, ErrorKind::kNotFound);
  // One that was accepted once more fails instead.
  ASSERT_TRUE(journal->accept(submission_of("b", input)).ok());
  ASSERT_TRUE(journal->cancel("b").ok());
  ASSERT_TRUE(journal->accept(submission_of("b", input)).ok());
  ASSERT_TRUE(journal->withdraw("b", 2, reason).ok());
  EXPECT_EQ(journal->find("b")->state, JobState::kFailed);
  EXPECT_EQ(journal->find("b")->failure->message, "too large");
  // One that runs stays.
  ASSERT_TRUE(journal->accept(submission_of("c", input)).ok());
  ASSERT_TRUE(journal->start("c").ok());
  EXPECT_EQ(journal->withdraw("c", 1, reason).error().kind, ErrorKind::kMismatch);
}

// Where the group's transaction fails, each change is made alone; the result that needs the room
// kept for it gets it, the new job does not.
TEST(JournalGroup, AFullDiskRefusesInAGroupWhatItRefusesAlone) {
  FaultLayer layer;
  const TemporaryFolder folder;
  JournalOptions options = options_in(folder.path());
  options.file_layer = FaultLayer::kName;
  options.reserve_bytes = 512 << 10;
  const auto journal = open_or_die(options);
  std::vector<JournalChange> ends;
  for (unsigned i = 0; i < 10; ++i) {
    const std::string id = "job-" + std::to_string(i);
    const base::Bytes input = test_bytes(100, i);
    ASSERT_TRUE(journal->accept(submission_of(id, input)).ok());
    ASSERT_TRUE(journal->start(id).ok());
    ends.push_back(change_of(Kind::kComplete, id, test_bytes(20'000, i)));
  }
  std::uint64_t used = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    used += entry.file_size();
  }
  layer.limit(folder.path(), used + 4096);
  const base::Bytes large = test_bytes(100'000, 99);
  EXPECT_EQ(journal->accept(submission_of("new", large)).error().kind,
            ErrorKind::kResourceExhausted);
  const auto outcomes = journal->apply(ends);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ASSERT_TRUE(outcomes[i].ok()) << outcomes[i].error().message;
    EXPECT_EQ(*journal->result(ends[i].request_id), ends[i].bytes);
  }
}

// A group that loses power is there whole or not at all, and what was told is there.
TEST(JournalGroup, ALossOfPowerKeepsWhatWasTold) {
  const base::Bytes input = test_bytes(500, 1);
  for (std::uint64_t write = 1; write <= 12; ++write) {
    FaultLayer layer;
    const TemporaryFolder folder;
    JournalOptions options = options_in(folder.path());
    options.file_layer = FaultLayer::kName;
    std::vector<JournalChange> changes;
    std::vector<base::Status> outcomes;
    {
      const auto journal = open_or_die(options);
      for (unsigned i = 0; i < 4; ++i) {
        const std::string id = "job-" + std::to_string(i);
        ASSERT_TRUE(journal->accept(submission_of(id, input)).ok());
        changes.push_back(change_of(Kind::kStart, id));
        changes.push_back(change_of(Kind::kComplete, id, test_bytes(3000, i)));
      }
      layer.die_at_write(write);
      outcomes = journal->apply(changes);
    }
    layer.cut_power(write);
    layer.die_at_write(0);
    const auto journal = open_or_die(options);
    EXPECT_TRUE(journal->open_report().losses.empty());
    for (std::size_t i = 1; i < changes.size(); i += 2) {
      const auto result = journal->result(changes[i].request_id);
      if (outcomes[i].ok()) {
        ASSERT_TRUE(result.ok()) << "write " << write << ": " << result.error().message;
      }
      if (result.ok()) {
        EXPECT_EQ(*result, changes[i].bytes);
      }
    }
  }
}

TEST(JournalGroup, EveryThreadHearsOfItsOwnChange) {
  const TemporaryFolder folder;
  const auto journal = open_or_die(options_in(folder.path()));
  constexpr unsigned kThreads = 8, kJobs = 25;
  std::atomic<unsigned> taken{0}, refused{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < kJobs; ++i) {
        const std::string id = "job-" + std::to_string(t) + "-" + std::to_string(i);
        const base::Bytes input = test_bytes(50, t * 1000 + i);
        const auto accepted = journal->accept(submission_of(id, input));
        if (accepted.ok() && accepted->job.request_id == id) ++taken;
        // A name that all threads want, each with another input: one has it.
        const std::string shared = "shared-" + std::to_string(i);
        const auto contested = journal->accept(submission_of(shared, input));
        if (!contested.ok() && contested.error().kind == ErrorKind::kAlreadyExists) ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, kThreads * kJobs);
  EXPECT_EQ(refused, (kThreads - 1) * kJobs);
  EXPECT_EQ(journal->list({.count_max = SIZE_MAX})->size(), (kThreads + 1) * kJobs);
}

}  // namespace
}  // namespace cuzk::engine
