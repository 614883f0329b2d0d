// The engine when the system refuses memory in the middle of a change: it is that change's error,
// and whoever comes next is served.
#include "tests/support/refused_memory.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine_test_support.h"
#include "engine/guarded.h"
#include "engine/journal_fault_test_support.h"
#include "engine/journal_group.h"
#include "engine/journal_test_support.h"
#include "engine/key_store.h"
#include "engine/pipeline_test_support.h"

namespace cuzk::engine {
namespace {

using cuzk::testing::refuse_each;
using cuzk::testing::RefusedMemory;
using internal::CommitQueue;
using internal::PendingChange;
using testing_support::FaultLayer;
using testing_support::open_or_die;
using testing_support::options_in;
using testing_support::submission_of;
using testing_support::TemporaryFolder;
using testing_support::test_bytes;

TEST(RefusedMemory, ACommitThatThrowsPassesTheLeadOn) {
  CommitQueue queue;
  unsigned made_count = 0;
  const auto run = [&](bool throws) {
    std::vector<PendingChange> own(2);
    queue.run(own, [&](const std::vector<PendingChange*>& changes) {
      if (throws) throw std::bad_alloc();
      made_count += static_cast<unsigned>(changes.size());
    });
    return own[0].thrown != nullptr && own[1].thrown != nullptr;
  };
  EXPECT_TRUE(run(true));
  EXPECT_FALSE(run(false));
  EXPECT_EQ(made_count, 2u);
}

// Followers of a leader whose commit throws hear of it too, and the one named next goes on.
TEST(RefusedMemory, AGroupThatThrowsIsHeardOfByAllOfIt) {
  CommitQueue queue;
  std::atomic<int> thrown_count{0}, made_count{0};
  std::atomic<bool> may_go{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        PendingChange own;
        queue.run({&own, 1}, [&](const std::vector<PendingChange*>& changes) {
          while (!may_go) std::this_thread::yield();  // so that a first group gathers
          if ((t + i) % 3 == 0) throw std::bad_alloc();
          made_count += static_cast<int>(changes.size());
        });
        if (own.thrown != nullptr) ++thrown_count;
      }
    });
  }
  may_go = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(thrown_count + made_count, 8 * 50);
  EXPECT_GT(thrown_count, 0);
}

// Each allocation of a whole life of a job in the journal, one after the other.
TEST(RefusedMemory, TheJournalGoesOnAfterAnyAllocationThatFails) {
  const TemporaryFolder folder;
  const auto journal = open_or_die(options_in(folder.path()));
  const base::Bytes input = test_bytes(300, 1);
  unsigned number = 0;
  std::string id;
  bool is_complete = false;
  const auto refused = refuse_each(
      [&] {
        is_complete = false;
        id = "a job whose id takes memory of its own " + std::to_string(++number);
        if (!journal->accept(submission_of(id, input)).ok()) return;
        if (!journal->start(id).ok()) return;
        const std::vector<JournalChange> changes = {
            {.kind = JournalChange::Kind::kPartition, .request_id = id, .bytes = input},
            {.kind = JournalChange::Kind::kComplete, .request_id = id, .bytes = input}};
        const auto outcomes = journal->apply(changes);
        is_complete = outcomes[1].ok();
      },
      [&] {
        // What was told is there, and the next change is taken.
        if (is_complete) {
          const auto result = journal->result(id);
          ASSERT_TRUE(result.ok()) << result.error().message;
          EXPECT_EQ(*result, input);
        }
        const std::string other = "other " + std::to_string(number);
        const auto accepted = journal->accept(submission_of(other, input));
        ASSERT_TRUE(accepted.ok()) << accepted.error().message;
        ASSERT_TRUE(journal->cancel(other).ok());
      });
  EXPECT_TRUE(is_complete);
  EXPECT_GT(refused, 20);
}

// A group is made again one by one where something threw in it; no change is told that is not
// there.
TEST(RefusedMemory, AGroupThatIsRolledBackTellsNothingOfIt) {
  const TemporaryFolder folder;
  const auto journal = open_or_die(options_in(folder.path()));
  const base::Bytes input = test_bytes(300, 1);
  unsigned number = 0;
  std::vector<std::string> ids;
  std::vector<base::Status> outcomes;
  refuse_each(
      [&] {
        ids.clear();
        outcomes.clear();
        std::vector<JournalChange> changes;
        for (int i = 0; i < 4; ++i) {
          ids.push_back("grouped job number " + std::to_string(++number));
          if (!journal->accept(submission_of(ids.back(), input)).ok()) return;
          changes.push_back({.kind = JournalChange::Kind::kStart, .request_id = ids.back()});
        }
        outcomes = journal->apply(changes);
      },
      [&] {
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
          const auto job = journal->find(ids[i]);
          ASSERT_TRUE(job.ok());
          EXPECT_EQ(job->state == JobState::kRunning, outcomes[i].ok());
        }
      });
  ASSERT_EQ(outcomes.size(), 4u);
}

// Whatever a submission or a cancellation was refused, its id and its place in the queue are free
// again: the next one of that id is answered.
TEST(RefusedMemory, AnIdIsFreeAgainAfterAnyAllocationThatFails) {
  const TemporaryFolder folder;
  EngineOptions options = testing_support::engine_options_in(folder.path());
  options.queue_max = 2;
  auto [engine, executor] = testing_support::open_stand_in(options);
  executor->pause(true);
  unsigned number = 0;
  std::string id;
  bool is_cancelled = false;
  const auto refused = refuse_each(
      [&] {
        is_cancelled = false;
        id = "a job whose id takes memory of its own " + std::to_string(++number);
        const auto request =
            testing_support::stand_in_request(id, testing_support::stand_in_input(1, 0, number));
        if (!engine->submit(request).ok()) return;
        is_cancelled = engine->cancel(id).ok();
      },
      [&] {
        (void)engine->cancel(id);
        ASSERT_TRUE(engine->wait_idle(std::chrono::seconds(30))) << id << " is still counted";
        const std::string other = "other " + std::to_string(number);
        const auto taken = engine->submit(testing_support::stand_in_request(
            other, testing_support::stand_in_input(1, 0, number + 1000)));
        ASSERT_TRUE(taken.ok()) << taken.error().message;
        ASSERT_TRUE(engine->cancel(other).ok());
        ASSERT_TRUE(engine->wait_idle(std::chrono::seconds(30)));
      });
  EXPECT_TRUE(is_cancelled);
  EXPECT_GT(refused, 20);
}

// An exception's sentence may be refused as well as what the exception came of.
TEST(RefusedMemory, AnErrorIsMadeOfAnyExceptionThatFindsNoMemory) {
  const std::runtime_error plain("a sentence that takes memory of its own");
  const base::OutOfMemory refused_before({base::ErrorKind::kResourceExhausted, plain.what()});
  const auto error_of = [](const auto& exception) {
    const RefusedMemory refused(0);
    const auto outcome = guarded([&]() -> base::Status { throw exception; });
    EXPECT_TRUE(RefusedMemory::happened());
    return outcome.error().kind;
  };
  EXPECT_EQ(error_of(plain), base::ErrorKind::kResourceExhausted);
  EXPECT_EQ(error_of(refused_before), base::ErrorKind::kResourceExhausted);
  EXPECT_EQ(error_of(1), base::ErrorKind::kResourceExhausted);
}

// An engine whose executor throws in the submitter's own thread, with what `on_run` does before.
class ThrowingRun {
 public:
  ThrowingRun(EngineOptions options, testing_support::StandInEnd end, std::function<void()> on_run)
      : input_(testing_support::stand_in_input(1, 0, 1, end)),
        opened_(testing_support::open_stand_in(std::move(options))) {
    opened_.executor->before_run(
        [this, on_run = std::move(on_run), submitter = std::this_thread::get_id()] {
          if (!is_on_ || std::this_thread::get_id() != submitter) return;  // the feeder may
          on_run();
          throw thrown_;
        });
  }
  Engine& engine() { return *opened_.engine; }
  testing_support::StandInExecutor& executor() { return *opened_.executor; }
  // Whether the submission was taken, with the throwing on or off.
  bool submit(const std::string& id, bool is_on = true) {
    is_on_ = is_on;
    return engine().submit(testing_support::stand_in_request(id, input_)).ok();
  }

 private:
  const std::runtime_error thrown_{"a sentence that takes memory of its own"};
  const SharedBytes input_;
  std::atomic<bool> is_on_{false};
  testing_support::StandInEngine opened_;  // dies first
};

// What a submission says is so, whichever allocation after the executor's refusal is refused: an
// error, and the job is gone, or failed where it had been there before; ok, and it is run.
TEST(RefusedMemory, ARefusedJobIsGoneOrRunLater) {
  for (const bool is_again : {false, true}) {
    const TemporaryFolder folder;
    std::int64_t index = 0;
    // Where it was there before, it failed then and does so again when it is run.
    ThrowingRun run(
        testing_support::engine_options_in(folder.path()),
        is_again ? testing_support::StandInEnd::kFailure : testing_support::StandInEnd::kProof,
        [&] { RefusedMemory::arm(index, 0); });
    int gone_count = 0, kept_count = 0;
    for (bool happened = true; happened; ++index) {
      const std::string id = "a job whose id takes memory of its own " + std::to_string(index);
      if (is_again) {
        ASSERT_TRUE(run.submit(id, false));
        testing_support::await_end(run.engine(), id);
      }
      bool is_taken = false;
      {
        const RefusedMemory refused(INT64_MAX);
        is_taken = run.submit(id);
        happened = RefusedMemory::happened();
      }
      ++(is_taken ? kept_count : gone_count);
      ASSERT_TRUE(run.engine().wait_idle(std::chrono::seconds(30))) << id << " stands still";
      const auto job = run.engine().find(id);
      ASSERT_EQ(job.ok(), is_taken || is_again) << index;
      if (is_again) {
        ASSERT_TRUE(job->record.failure.has_value());
        EXPECT_EQ(job->record.failure->kind == base::ErrorKind::kUnsatisfied, is_taken) << index;
        EXPECT_EQ(job->record.attempt, 2u);
      } else if (is_taken) {
        EXPECT_EQ(job->record.state, JobState::kCompleted) << index;
      }
    }
    EXPECT_GT(gone_count, 1);
    EXPECT_GT(kept_count, 2);
  }
}

// The disk fails once the job is durable, so it cannot be taken back: the feeder has it, or, where
// not even its entry found memory, whoever submits it again.
TEST(RefusedMemory, AJobThatCannotBeTakenBackIsNotWaitedForInVain) {
  FaultLayer layer;
  const TemporaryFolder folder;
  EngineOptions options = testing_support::engine_options_in(folder.path());
  options.journal_file_layer = FaultLayer::kName;
  ThrowingRun run(options, testing_support::StandInEnd::kProof, [] {});
  int kept_count = 0, stray_count = 0;
  bool happened = true;
  for (std::int64_t index = 0; happened; ++index) {
    const std::string id = "a job whose id takes memory of its own " + std::to_string(index);
    run.executor().pause(true);
    layer.die_after_sync();
    bool is_taken = false;
    {
      const RefusedMemory refused(index);
      try {
        is_taken = run.submit(id);
      } catch (const std::bad_alloc&) {
        // Before anything was done.
      }
      happened = RefusedMemory::happened();
    }
    layer.revive();
    run.executor().pause(false);
    const auto job = run.engine().find(id);
    ASSERT_TRUE(job.ok() || !is_taken);
    if (!job.ok()) continue;
    if (is_taken) {
      ++kept_count;
    } else {
      ++stray_count;
      const auto waited = run.engine().await(id, std::chrono::seconds(30));
      ASSERT_FALSE(waited.ok());
      EXPECT_EQ(waited.error().kind, base::ErrorKind::kUnavailable);
      ASSERT_TRUE(run.submit(id, false));
    }
    EXPECT_EQ(testing_support::await_end(run.engine(), id).record.state, JobState::kCompleted);
  }
  EXPECT_GT(kept_count, 2);
  EXPECT_GT(stray_count, 2);
  EXPECT_TRUE(run.engine().wait_idle(std::chrono::seconds(30)));
}

// Once the job is with executor or feeder, a word to observers that finds no memory is no reason to
// take it back. The clock stands for the memory: it is asked for each word, after the journal was.
TEST(RefusedMemory, AnAcceptedJobIsNotTakenBackForAWordAboutIt) {
  for (const bool is_down : {false, true}) {
    const TemporaryFolder folder;
    EngineOptions options = testing_support::engine_options_in(folder.path());
    const auto submitter = std::this_thread::get_id();
    std::optional<int> left;
    options.now_ms = [&] {
      if (std::this_thread::get_id() == submitter && left && (*left)-- == 0) throw std::bad_alloc();
      return testing_support::kStartMs;
    };
    auto [engine, executor] = testing_support::open_stand_in(options);
    for (int call = 0; call < 3; ++call) {
      const std::string id = "job " + std::to_string(call);
      if (is_down) executor->crash("for the test");  // the next one waits for the feeder
      left = call;
      const auto taken = engine->submit(testing_support::stand_in_request(
          id, testing_support::stand_in_input(1, 0, static_cast<std::uint64_t>(call))));
      const bool happened = *left < 0;
      left.reset();
      EXPECT_EQ(happened, call < 2) << "the journal's call and the word's";
      ASSERT_EQ(taken.ok(), call > 0) << call;
      if (!taken.ok()) continue;
      EXPECT_EQ(testing_support::await_end(*engine, id).record.state, JobState::kCompleted);
    }
    EXPECT_TRUE(engine->wait_idle(std::chrono::seconds(30)));
  }
}

TEST(RefusedMemory, AKeyThatFoundNoMemoryToBeginIsAskedForAgain) {
  stand_in::World world;
  std::atomic<int> settled{0};
  KeyStore store(world.ledger, [&] { ++settled; });
  KeyId id = 0;
  bool is_loaded = false;
  const auto answer_of = [&](const KeyStore::Wish& wish) {
    auto answer = store.answer(wish);
    while (!answer) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      answer = store.answer(wish);
    }
    return answer->ok();
  };
  const auto refused = refuse_each(
      [&] {
        const auto key = store.enroll(world.source("key"));
        if (!key.ok()) return;
        id = key->id;
        is_loaded = answer_of(store.ask(id));
        EXPECT_NO_THROW(store.drop(id));  // it makes room, and may not need any
      },
      [&] {
        if (id == 0) return;
        // Whatever became of that one, the next wish is answered.
        EXPECT_TRUE(answer_of(store.ask(id)));
        store.drop(id);
        store.leave(id);
        id = 0;
        EXPECT_TRUE(store.all_of("key").empty());
      });
  EXPECT_TRUE(is_loaded);
  EXPECT_GT(refused, 6);
}

// The last allocation before a partition counts as proved: it is tried again and proved once.
TEST(RefusedMemory, AProofThatCannotBeKeptIsMadeAgain) {
  const std::string name(777, 'n');
  const std::size_t proof_bytes = name.size() + std::string("/0").size();
  stand_in::Bench bench;
  std::atomic<int> finish_count{0};
  stand_in::Job job;
  job.hook = [&](Stage stage, std::size_t, const StageContext&) {
    // The proof itself, then the copy for who listens.
    if (stage == Stage::kFinish && ++finish_count == 1) RefusedMemory::arm(1, proof_bytes);
    return base::ok_status();
  };
  bench.start();
  ASSERT_TRUE(bench.run(1, name, job).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1), "ok: " + name + "/0;");
  EXPECT_EQ(finish_count, 2);
  bench.expect_nothing_left();
}

}  // namespace
}  // namespace cuzk::engine
