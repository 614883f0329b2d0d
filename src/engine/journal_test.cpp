// The life of jobs in the journal: acceptance, idempotency, states, proofs, results, restarts.
#include "engine/journal.h"

#include <atomic>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal_test_support.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace testing_support;

class JournalTest : public ::testing::Test {
 protected:
  void reopen() {
    journal.reset();
    journal = open_or_die(options_in(folder.path(), now_ms));
  }
  JobRecord accepted(const std::string& id, std::uint32_t partition_count = 1) {
    auto outcome = journal->accept(submission_of(id, input, partition_count));
    if (!outcome.ok()) ADD_FAILURE() << outcome.error().message;
    return outcome.ok() ? outcome->job : JobRecord();
  }

  TemporaryFolder folder;
  std::shared_ptr<std::int64_t> now_ms = std::make_shared<std::int64_t>(kStartMs);
  std::unique_ptr<Journal> journal = open_or_die(options_in(folder.path(), now_ms));
  const base::Bytes input = test_bytes(10000, 1), other_input = test_bytes(10000, 2);
};

TEST_F(JournalTest, KeepsAnAcceptedJobWithAllItsFields) {
  JobSubmission submission = submission_of("proof-17", input, 10);
  submission.priority = 3;
  submission.deadline_ms = kStartMs + 60000;
  const auto accepted = journal->accept(submission);
  ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  EXPECT_EQ(accepted->acceptance, Acceptance::kNew);
  const JobRecord& job = accepted->job;
  EXPECT_EQ(job.sequence, 1u);
  EXPECT_EQ(job.request_id, "proof-17");
  EXPECT_EQ(job.kind, "porep-2kib");
  EXPECT_EQ(job.priority, 3u);
  EXPECT_EQ(job.deadline_ms, kStartMs + 60000);
  EXPECT_EQ(job.partition_count, 10u);
  EXPECT_EQ(job.input_digest, hash::sha256(input));
  EXPECT_EQ(job.input_bytes, input.size());
  EXPECT_EQ(job.state, JobState::kQueued);
  EXPECT_EQ(job.attempt, 1u);
  EXPECT_EQ(job.start_count, 0u);
  EXPECT_EQ(job.accepted_ms, kStartMs);
  *now_ms += 1000;
  reopen();
  EXPECT_FALSE(journal->open_report().created);
  const auto found = journal->find("proof-17");
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(*found == job);
  EXPECT_EQ(journal->input("proof-17").value(), input);
}

TEST_F(JournalTest, JoinsTheSameJobInEveryStateThatLeadsToAResult) {
  const JobRecord job = accepted("a");
  const auto join = [&] { return journal->accept(submission_of("a", input)); };
  EXPECT_EQ(join()->acceptance, Acceptance::kJoined);
  ASSERT_TRUE(journal->start("a").ok());
  EXPECT_EQ(join()->acceptance, Acceptance::kJoined);
  ASSERT_TRUE(journal->complete("a", 1, test_bytes(192, 3)).ok());
  const auto joined = join();
  EXPECT_EQ(joined->acceptance, Acceptance::kJoined);
  EXPECT_EQ(joined->job.state, JobState::kCompleted);
  EXPECT_EQ(joined->job.sequence, job.sequence);
  EXPECT_EQ(journal->statistics()->joined_count, 3u);
}

TEST_F(JournalTest, RefusesAKnownIdWithOtherInputsAndNamesBothDigests) {
  accepted("a");
  const auto refused = journal->accept(submission_of("a", other_input));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kAlreadyExists);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr(base::to_hex(hash::sha256(input))),
                                             HasSubstr(base::to_hex(hash::sha256(other_input)))));
  JobSubmission other_kind = submission_of("a", input);
  other_kind.kind = "winning-post";
  EXPECT_EQ(journal->accept(other_kind).error().kind, ErrorKind::kAlreadyExists);
  EXPECT_EQ(journal->accept(submission_of("a", input, 2)).error().kind, ErrorKind::kAlreadyExists);
  // Also after it failed: a retry is of the same job.
  ASSERT_TRUE(journal->fail("a", 1, {ErrorKind::kInternal, "broke"}).ok());
  EXPECT_EQ(journal->accept(submission_of("a", other_input)).error().kind,
            ErrorKind::kAlreadyExists);
  EXPECT_EQ(journal->input("a").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(journal->statistics()->refused_count, 4u);
}

TEST_F(JournalTest, RetriesAFailedJobWithItsFinishedPartitions) {
  accepted("a", 3);
  ASSERT_TRUE(journal->start("a").ok());
  ASSERT_TRUE(journal->record_partition("a", 1, 1, test_bytes(192, 5)).ok());
  ASSERT_TRUE(journal->fail("a", 1, {ErrorKind::kUnavailable, "the device is gone"}).ok());
  const auto failed = journal->find("a");
  EXPECT_EQ(failed->state, JobState::kFailed);
  EXPECT_EQ(failed->failure->kind, ErrorKind::kUnavailable);
  EXPECT_EQ(failed->failure->message, "the device is gone");
  EXPECT_EQ(journal->result("a").error().message, "the device is gone");
  JobSubmission again = submission_of("a", input, 3);
  again.priority = 2;
  const auto retried = journal->accept(again);
  ASSERT_TRUE(retried.ok()) << retried.error().message;
  EXPECT_EQ(retried->acceptance, Acceptance::kRetried);
  EXPECT_EQ(retried->job.attempt, 2u);
  EXPECT_EQ(retried->job.priority, 2u);
  EXPECT_EQ(retried->job.state, JobState::kQueued);
  EXPECT_FALSE(retried->job.failure);
  EXPECT_EQ(journal->input("a").value(), input);
  ASSERT_EQ(journal->partitions("a")->size(), 1u);
  // A worker of the first attempt comes late.
  ASSERT_TRUE(journal->start("a").ok());
  EXPECT_EQ(journal->record_partition("a", 1, 0, test_bytes(192, 6)).error().kind,
            ErrorKind::kMismatch);
  EXPECT_EQ(journal->complete("a", 1, test_bytes(9, 9)).error().kind, ErrorKind::kMismatch);
  EXPECT_EQ(journal->fail("a", 1, {ErrorKind::kIo, "late"}).error().kind, ErrorKind::kMismatch);
  EXPECT_EQ(journal->find("a")->start_count, 2u);
  EXPECT_EQ(journal->statistics()->retried_count, 1u);
}

TEST_F(JournalTest, CancelsInEveryState) {
  EXPECT_EQ(journal->cancel("unknown").error().kind, ErrorKind::kNotFound);
  accepted("queued");
  EXPECT_EQ(journal->cancel("queued").value(), JobState::kCancelled);
  EXPECT_EQ(journal->cancel("queued").value(), JobState::kCancelled);
  EXPECT_EQ(journal->result("queued").error().kind, ErrorKind::kCancelled);
  accepted("running");
  ASSERT_TRUE(journal->start("running").ok());
  EXPECT_EQ(journal->cancel("running").value(), JobState::kCancelled);
  EXPECT_EQ(journal->complete("running", 1, input).error().kind, ErrorKind::kMismatch);
  accepted("done");
  ASSERT_TRUE(journal->start("done").ok());
  ASSERT_TRUE(journal->complete("done", 1, test_bytes(192, 1)).ok());
  EXPECT_EQ(journal->cancel("done").value(), JobState::kCompleted);
  EXPECT_EQ(journal->result("done").value(), test_bytes(192, 1));
  EXPECT_EQ(journal->accept(submission_of("queued", input))->acceptance, Acceptance::kRetried);
}

// Every call in every state, against the table of may_follow.
TEST_F(JournalTest, AllowsExactlyTheTransitionsOfTheTable) {
  const auto bring_to = [&](const std::string& id, JobState state) {
    accepted(id);
    if (state == JobState::kRunning || state == JobState::kCompleted) {
      ASSERT_TRUE(journal->start(id).ok());
    }
    if (state == JobState::kCompleted) {
      ASSERT_TRUE(journal->complete(id, 1, input).ok());
    }
    if (state == JobState::kFailed) {
      ASSERT_TRUE(journal->fail(id, 1, {}).ok());
    }
    if (state == JobState::kCancelled) {
      ASSERT_TRUE(journal->cancel(id).ok());
    }
    ASSERT_EQ(journal->find(id)->state, state);
  };
  for (int from = 0; from < static_cast<int>(kJobStateCount); ++from) {
    const auto state = static_cast<JobState>(from);
    const std::string name(to_string(state));
    const auto expect = [&](const std::string& id, JobState to, bool ok) {
      EXPECT_EQ(ok, may_follow(state, to)) << id;
      EXPECT_EQ(journal->find(id)->state, ok ? to : state) << id;
    };
    bring_to(name + "-start", state);
    expect(name + "-start", JobState::kRunning, journal->start(name + "-start").ok());
    bring_to(name + "-complete", state);
    expect(name + "-complete", JobState::kCompleted,
           journal->complete(name + "-complete", 1, other_input).ok());
    bring_to(name + "-fail", state);
    expect(name + "-fail", JobState::kFailed, journal->fail(name + "-fail", 1, {}).ok());
    bring_to(name + "-requeue", state);
    EXPECT_EQ(journal->requeue(name + "-requeue", 1).ok(), state == JobState::kRunning);
  }
}

TEST_F(JournalTest, KeepsTheFirstProofOfAPartition) {
  accepted("a", 3);
  EXPECT_EQ(journal->record_partition("a", 1, 0, input).error().kind, ErrorKind::kMismatch)
      << "it does not run";
  ASSERT_TRUE(journal->start("a").ok());
  const base::Bytes proof = test_bytes(192, 7);
  EXPECT_EQ(journal->record_partition("a", 1, 2, proof).value(), PartitionOutcome::kRecorded);
  EXPECT_EQ(journal->record_partition("a", 1, 0, {}).value(), PartitionOutcome::kRecorded);
  EXPECT_EQ(journal->record_partition("a", 1, 2, test_bytes(192, 8)).value(),
            PartitionOutcome::kAlreadyRecorded);
  EXPECT_EQ(journal->record_partition("a", 1, 3, proof).error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(journal->record_partition("b", 1, 0, proof).error().kind, ErrorKind::kNotFound);
  const auto kept = journal->partitions("a");
  ASSERT_EQ(kept->size(), 2u);
  EXPECT_EQ((*kept)[0].partition, 0u);
  EXPECT_THAT((*kept)[0].proof, IsEmpty());
  EXPECT_EQ((*kept)[1].partition, 2u);
  EXPECT_EQ((*kept)[1].proof, proof);
  ASSERT_TRUE(journal->forget_partitions("a", 1).ok());
  EXPECT_THAT(*journal->partitions("a"), IsEmpty());
  ASSERT_TRUE(journal->complete("a", 1, proof).ok());
  EXPECT_EQ(journal->forget_partitions("a", 1).error().kind, ErrorKind::kMismatch);
}

TEST_F(JournalTest, ARestartQueuesWhatRanAndKeepsFinishedPartitions) {
  for (const char* id : {"first", "second", "third", "done"}) accepted(id, 2);
  ASSERT_TRUE(journal->start("second").ok());
  ASSERT_TRUE(journal->record_partition("second", 1, 1, test_bytes(192, 11)).ok());
  ASSERT_TRUE(journal->start("done").ok());
  ASSERT_TRUE(journal->complete("done", 1, test_bytes(384, 12)).ok());
  ASSERT_TRUE(journal->cancel("third").ok());
  reopen();
  EXPECT_EQ(journal->open_report().requeued_count, 1u);
  EXPECT_THAT(journal->open_report().losses, IsEmpty());
  const auto unfinished = journal->unfinished();
  ASSERT_TRUE(unfinished.ok()) << unfinished.error().message;
  ASSERT_EQ(unfinished->size(), 2u);
  EXPECT_EQ((*unfinished)[0].job.request_id, "first");
  EXPECT_THAT((*unfinished)[0].partitions, IsEmpty());
  EXPECT_EQ((*unfinished)[1].job.request_id, "second");
  EXPECT_EQ((*unfinished)[1].job.state, JobState::kQueued);
  EXPECT_EQ((*unfinished)[1].job.start_count, 1u);
  ASSERT_EQ((*unfinished)[1].partitions.size(), 1u);
  EXPECT_EQ((*unfinished)[1].partitions[0].proof, test_bytes(192, 11));
  // The same attempt goes on: restarts are no failures.
  ASSERT_TRUE(journal->start("second").ok());
  EXPECT_TRUE(journal->record_partition("second", 1, 0, test_bytes(192, 13)).ok());
  EXPECT_EQ(journal->result("done").value(), test_bytes(384, 12));
  EXPECT_EQ(journal->result("second").error().kind, ErrorKind::kUnavailable);
}

TEST_F(JournalTest, CompletingTwiceWithTheSameResultIsOneCompletion) {
  accepted("a");
  ASSERT_TRUE(journal->start("a").ok());
  ASSERT_TRUE(journal->complete("a", 1, input).ok());
  EXPECT_TRUE(journal->complete("a", 1, input).ok());
  EXPECT_EQ(journal->complete("a", 1, other_input).error().kind, ErrorKind::kMismatch);
  EXPECT_EQ(journal->result("a").value(), input);
}

TEST_F(JournalTest, StoresAnInputOnceHoweverManyJobsHaveItAndDropsItWithTheLast) {
  for (int i = 0; i < 20; ++i) accepted("job-" + std::to_string(i));
  EXPECT_EQ(journal->statistics()->input_count, 1u);
  EXPECT_EQ(journal->statistics()->input_bytes, input.size());
  for (int i = 0; i < 19; ++i) ASSERT_TRUE(journal->cancel("job-" + std::to_string(i)).ok());
  EXPECT_EQ(journal->input("job-19").value(), input);
  ASSERT_TRUE(journal->cancel("job-19").ok());
  EXPECT_EQ(journal->statistics()->input_count, 0u);
}

TEST_F(JournalTest, RefusesFieldsBeyondTheirLimits) {
  const auto kind_of = [&](const JobSubmission& submission) {
    const auto outcome = journal->accept(submission);
    return outcome.ok() ? std::string("accepted")
                        : std::string(base::to_string(outcome.error().kind));
  };
  EXPECT_EQ(kind_of(submission_of("", input)), "invalid_argument");
  EXPECT_EQ(kind_of(submission_of(std::string(kRequestIdBytesMax, 'x'), input)), "accepted");
  EXPECT_EQ(kind_of(submission_of(std::string(kRequestIdBytesMax + 1, 'x'), input)),
            "invalid_argument");
  EXPECT_EQ(kind_of(submission_of("line\nbreak", input)), "invalid_argument");
  EXPECT_EQ(kind_of(submission_of(std::string("nul\0", 4), input)), "invalid_argument");
  EXPECT_EQ(kind_of(submission_of("o'clock; DROP TABLE job", input)), "accepted");
  EXPECT_EQ(kind_of(submission_of("none", input, 0)), "invalid_argument");
  EXPECT_EQ(kind_of(submission_of("many", input, kPartitionCountMax + 1)), "invalid_argument");
  EXPECT_EQ(kind_of(submission_of("empty", {})), "accepted");
  EXPECT_THAT(journal->input("empty").value(), IsEmpty());
  JobSubmission bad_kind = submission_of("kind", input);
  bad_kind.kind = std::string(kJobKindBytesMax + 1, 'k');
  EXPECT_EQ(kind_of(bad_kind), "invalid_argument");
  ASSERT_TRUE(journal->start("empty").ok());
  const base::Bytes large(kPartitionProofBytesMax + 1);
  EXPECT_EQ(journal->record_partition("empty", 1, 0, large).error().kind,
            ErrorKind::kInvalidArgument);
  const std::string sentence(kFailureBytesMax + 100, 'f');
  ASSERT_TRUE(journal->fail("empty", 1, {ErrorKind::kInternal, sentence}).ok());
  EXPECT_EQ(journal->find("empty")->failure->message.size(), kFailureBytesMax);
}

TEST_F(JournalTest, AnInputAboveTheConfiguredSizeIsRefusedWithBothNumbers) {
  journal.reset();
  JournalOptions options = options_in(folder.path(), now_ms);
  options.input_bytes_max = 9999;
  journal = open_or_die(std::move(options));
  const auto refused = journal->accept(submission_of("a", input));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("10000"), HasSubstr("9999")));
}

TEST_F(JournalTest, ListsByStateKindAndPage) {
  for (int i = 1; i <= 5; ++i) {
    JobSubmission submission = submission_of(std::to_string(i), input);
    if (i % 2 == 0) submission.kind = "circom";
    ASSERT_TRUE(journal->accept(submission).ok());
  }
  ASSERT_TRUE(journal->start("2").ok());
  ASSERT_TRUE(journal->cancel("3").ok());
  const auto ids = [&](const JobQuery& query) {
    std::vector<std::string> out;
    const auto jobs = journal->list(query);
    for (const JobRecord& job : *jobs) out.push_back(job.request_id);
    return out;
  };
  EXPECT_THAT(ids({}), ElementsAre("1", "2", "3", "4", "5"));
  EXPECT_THAT(ids({.kind = "circom"}), ElementsAre("2", "4"));
  EXPECT_THAT(ids({.kind = "porep"}), IsEmpty());
  EXPECT_THAT(ids({.states = {JobState::kQueued}}), ElementsAre("1", "4", "5"));
  EXPECT_THAT(ids({.states = {JobState::kRunning, JobState::kCancelled}}), ElementsAre("2", "3"));
  EXPECT_THAT(ids({.states = {JobState::kQueued}, .kind = "circom"}), ElementsAre("4"));
  EXPECT_THAT(ids({.count_max = 2}), ElementsAre("1", "2"));
  EXPECT_THAT(ids({.after_sequence = 2, .count_max = 2}), ElementsAre("3", "4"));
  EXPECT_THAT(ids({.count_max = 0}), IsEmpty());
}

TEST_F(JournalTest, CountsWhatIsThere) {
  accepted("a");
  accepted("b", 2);
  ASSERT_TRUE(journal->start("b").ok());
  ASSERT_TRUE(journal->record_partition("b", 1, 0, test_bytes(192, 1)).ok());
  accepted("c");
  ASSERT_TRUE(journal->start("c").ok());
  ASSERT_TRUE(journal->complete("c", 1, test_bytes(5000, 1)).ok());
  const auto counts = journal->statistics();
  ASSERT_TRUE(counts.ok());
  EXPECT_THAT(counts->job_count, ElementsAre(1, 1, 1, 0, 0));
  EXPECT_EQ(counts->partition_count, 1u);
  EXPECT_EQ(counts->accepted_count, 3u);
  EXPECT_GT(counts->final_bytes, 5000u);
  EXPECT_LT(counts->final_bytes, 6000u);
  EXPECT_GT(counts->file_bytes, input.size());
}

TEST_F(JournalTest, OneProcessHoldsAFolder) {
  const auto second = Journal::open(options_in(folder.path(), now_ms));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("in use by another process"));
  journal.reset();
  EXPECT_TRUE(Journal::open(options_in(folder.path(), now_ms)).ok());
}

TEST_F(JournalTest, ThreadsMayCallAtOnce) {
  constexpr int kThreads = 4, kJobs = 25;
  std::vector<std::thread> threads;
  std::atomic<int> new_count = 0;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kJobs; ++i) {
        // Every second id is every thread's, so that they meet.
        const std::string id =
            i % 2 == 0 ? fmt::format("shared-{}", i) : fmt::format("{}-{}", t, i);
        const auto accepted = journal->accept(submission_of(id, input));
        if (accepted.ok() && accepted->acceptance == Acceptance::kNew) ++new_count;
        if (journal->start(id).ok()) (void)journal->complete(id, 1, test_bytes(192, 1));
        (void)journal->statistics();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(new_count, 13 + kThreads * 12);
  EXPECT_EQ(journal->statistics()->job_count[2], static_cast<std::uint64_t>(new_count));
}

}  // namespace
}  // namespace cuzk::engine
