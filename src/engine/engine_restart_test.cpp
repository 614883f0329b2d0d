// What the engine does after crashes of its executor, restarts of its own, and with a disk that
// is full or fails.
#include <future>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "engine/engine_test_support.h"
#include "engine/journal_fault_test_support.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing_support;

// Failures that a test makes on purpose need not fill its output.
class EngineRestart : public ::testing::Test {
 protected:
  void SetUp() override { base::set_log_level(base::LogLevel::kOff); }
  void TearDown() override { base::set_log_level(base::LogLevel::kWarning); }
};

template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(2));
  return condition();
}

TEST_F(EngineRestart, FinishedPartitionsAreNotProvedAgain) {
  const TemporaryFolder folder;
  const SharedBytes input = stand_in_input(12, 10, 1);
  std::uint64_t first = 0;
  {
    auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
    ASSERT_TRUE(engine->submit(stand_in_request("a", input, Priority::kHigh)).ok());
    ASSERT_TRUE(comes_true([&, e = executor] { return e->proved_count() >= 4; }));
    engine->stop();
    first = executor->proved_count();
    EXPECT_EQ(engine->find("a")->record.state, JobState::kQueued) << "kept for the next time";
    EXPECT_EQ(engine->submit(stand_in_request("b", input)).error().kind, ErrorKind::kUnavailable);
  }
  ASSERT_LT(first, 12u);
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  const JobView view = await_end(*engine, "a");
  EXPECT_EQ(view.record.state, JobState::kCompleted);
  EXPECT_EQ(view.record.priority, static_cast<std::uint32_t>(Priority::kHigh));
  EXPECT_EQ(view.record.start_count, 2u);
  EXPECT_EQ(*engine->result("a"), stand_in_result(*input));
  EXPECT_EQ(first + executor->proved_count(), 12u);
}

TEST_F(EngineRestart, WhatWaitedIsRunInOrderOfPriority) {
  const TemporaryFolder folder;
  {
    auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
    executor->pause(true);
    const auto submit = [&e = *engine](const std::string& id, Priority priority) {
      ASSERT_TRUE(e.submit(stand_in_request(id, stand_in_input(1, 30, 1), priority)).ok());
    };
    submit("low", Priority::kLow);
    submit("normal", Priority::kNormal);
    submit("high", Priority::kHigh);
    submit("critical", Priority::kCritical);
  }
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), 1);
  ASSERT_TRUE(engine->wait_idle(seconds(20)));
  EXPECT_THAT(executor->started(), ElementsAre("critical", "high", "normal", "low"));
}

TEST_F(EngineRestart, AfterACrashTheJobsGoOnWhereTheyWere) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  ASSERT_TRUE(engine->submit(stand_in_request("a", stand_in_input(10, 10, 1))).ok());
  ASSERT_TRUE(engine->submit(stand_in_request("b", stand_in_input(10, 10, 2))).ok());
  ASSERT_TRUE(engine->submit(stand_in_request("waits", stand_in_input(1, 1, 3))).ok());
  ASSERT_TRUE(comes_true([&, e = executor] { return e->proved_count() >= 6; }));
  executor->crash("a stand-in fell over");
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_EQ(await_end(*engine, "b").record.state, JobState::kCompleted);
  EXPECT_EQ(await_end(*engine, "waits").record.state, JobState::kCompleted);
  // Each of the two that ran may prove one partition twice.
  EXPECT_LE(executor->proved_count(), 23u);
  EXPECT_EQ(engine->find("waits")->record.crash_count, 0u);
  EXPECT_EQ(engine->report().crash_count, 1u);
  EXPECT_EQ(executor->held_count(), 0u);
}

// The executor crashes while a job is on its way to it, and the next life gets the job all the
// same. The job is cancelled by then and accepted once more: two runs of one job are with the
// executor, and the end of the first comes while the second runs.
TEST_F(EngineRestart, TheEndOfARunThatACrashLostIsNotTheEndOfTheNext) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  auto& run = *executor;
  auto& jobs = *engine;
  const SharedBytes input = stand_in_input(1, 150, 1);
  run.pause(true);
  run.crash("so that the feeder gives what comes");
  run.before_run([&] {
    if (run.run_count() != 1) return;
    run.crash("while it is given");
    EXPECT_TRUE(jobs.cancel("a").ok());
    EXPECT_EQ(await_end(jobs, "a").record.state, JobState::kCancelled);
  });
  run.before_cancel([&] {
    EXPECT_EQ(jobs.submit(stand_in_request("a", input))->acceptance, Acceptance::kRetried);
    run.pause(false);  // not before, for a cancelled job has no input
    EXPECT_TRUE(comes_true([&] { return run.started().size() == 1; }));
  });
  ASSERT_TRUE(jobs.submit(stand_in_request("a", input)).ok());
  ASSERT_TRUE(comes_true([&] { return run.run_count() == 2; }));
  const JobView view = await_end(jobs, "a");
  ASSERT_EQ(view.record.state, JobState::kCompleted)
      << view.record.failure.value_or(base::Error{}).message;
  EXPECT_EQ(*jobs.result("a"), stand_in_result(*input));
  EXPECT_THAT(run.started(), ElementsAre("a", "a"));
  EXPECT_TRUE(comes_true([&] { return run.held_count() == 0; }));
}

// The same, but the crash is not dealt with when the answer comes: the recorder is in the journal.
TEST_F(EngineRestart, ARunThatACrashIsAboutToThrowBackIsAskedToStop) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  const auto caller = std::this_thread::get_id();
  StandInExecutor* run = nullptr;
  std::atomic<bool> armed{false}, recorder_waits{false}, may_go_on{false};
  options.now_ms = [&] {
    // The recorder is who is neither of the others; the feeder has nothing to do.
    if (armed && std::this_thread::get_id() != caller && !run->is_mine()) {
      recorder_waits = true;
      comes_true([&] { return may_go_on.load(); });
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<milliseconds>(now).count();
  };
  auto opened = open_stand_in(options);
  run = opened.executor;
  Engine& engine = *opened.engine;
  ASSERT_TRUE(engine.submit(stand_in_request("b", stand_in_input(3, 60, 1))).ok());
  run->before_run([&] {
    if (run->run_count() != 2) return;
    armed = true;  // for the record of b's first proof
    EXPECT_TRUE(comes_true([&] { return recorder_waits.load(); }));
    run->crash("while it is given");
  });
  run->before_cancel([&] { may_go_on = true; });
  const SharedBytes input = stand_in_input(1, 150, 2);
  ASSERT_TRUE(engine.submit(stand_in_request("a", input)).ok());
  EXPECT_TRUE(may_go_on) << "nobody asks the run to stop that the crash has thrown back";
  may_go_on = true;
  const JobView view = await_end(engine, "a");
  ASSERT_EQ(view.record.state, JobState::kCompleted)
      << view.record.failure.value_or(base::Error{}).message;
  EXPECT_EQ(*engine.result("a"), stand_in_result(*input));
  EXPECT_EQ(await_end(engine, "b").record.state, JobState::kCompleted);
  EXPECT_TRUE(comes_true([&] { return run->held_count() == 0; }));
}

// Two jobs in two crashes: from then on each runs alone, critical work passes, the rest waits.
TEST_F(EngineRestart, SuspectsRunAloneAndOnlyTheGuiltyOneFails) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.crashes_max = 2;
  auto [engine, executor] = open_stand_in(options);
  auto& run = *executor;
  std::atomic<int> crashes{0};
  run.on_trouble([&](StandInEnd) {
    ++crashes;
    run.crash("the guilty one");
  });
  // Long enough to be there when the other one crashes; no partition is finished by then.
  const SharedBytes innocent = stand_in_input(1, 200, 1);
  const SharedBytes guilty = stand_in_input(1, 30, 2, StandInEnd::kCrash);
  run.pause(true);
  ASSERT_TRUE(engine->submit(stand_in_request("innocent", innocent)).ok());
  ASSERT_TRUE(engine->submit(stand_in_request("guilty", guilty)).ok());
  run.pause(false);
  const JobView failed = await_end(*engine, "guilty");
  EXPECT_EQ(failed.record.state, JobState::kFailed);
  EXPECT_THAT(failed.record.failure->message, HasSubstr("the guilty one"));
  EXPECT_EQ(await_end(*engine, "innocent").record.state, JobState::kCompleted);
  EXPECT_GE(crashes, 2);
  ASSERT_TRUE(engine->submit(stand_in_request("next", stand_in_input(1, 1, 3))).ok());
  EXPECT_EQ(await_end(*engine, "next").record.state, JobState::kCompleted);
  // The guilty one may be tried again by who wants it, with a clean record.
  const auto again = engine->submit(stand_in_request("guilty", guilty));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->acceptance, Acceptance::kRetried);
  EXPECT_EQ(await_end(*engine, "guilty").record.state, JobState::kFailed);
}

TEST_F(EngineRestart, ACrashIsRememberedOverARestart) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  {
    auto [engine, executor] = open_stand_in(options);
    ASSERT_TRUE(engine->submit(stand_in_request("a", stand_in_input(1, 250, 1))).ok());
    ASSERT_TRUE(comes_true([&, e = executor] { return !e->started().empty(); }));
    executor->crash("once");
    ASSERT_TRUE(comes_true([&e = *engine] { return e.find("a")->record.crash_count == 1; }));
  }
  auto [engine, executor] = open_stand_in(options);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_EQ(engine->find("a")->record.crash_count, 0u) << "it finished a partition";
}

TEST_F(EngineRestart, AJobThatTheExecutorRefusesAfterARestartFailsWithItsReason) {
  const TemporaryFolder folder;
  {
    auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
    executor->pause(true);
    ASSERT_TRUE(engine->submit(stand_in_request("a", stand_in_input(1, 1, 1))).ok());
  }
  StandInExecutor* executor = nullptr;
  auto engine =
      Engine::open(engine_options_in(folder.path()), stand_in_types(), [&](ExecutorEvents& events) {
        auto made = std::make_unique<StandInExecutor>(events);
        made->refuse(base::Error{ErrorKind::kResourceExhausted, "smaller"});
        executor = made.get();
        return base::Result<std::unique_ptr<Executor>>(std::move(made));
      });
  ASSERT_TRUE(engine.ok());
  const JobView view = await_end(**engine, "a");
  EXPECT_EQ(view.record.state, JobState::kFailed);
  EXPECT_EQ(view.record.failure->message, "smaller");
}

TEST_F(EngineRestart, FinalJobsGoWhenTheirTimeIsOver) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.retention.age_ms_max = 50;
  options.prune_interval = milliseconds(20);
  auto [engine, executor] = open_stand_in(options);
  ASSERT_TRUE(engine->submit(stand_in_request("a", stand_in_input(1, 1, 1))).ok());
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_TRUE(comes_true([&e = *engine] { return !e.find("a").ok(); }));
  EXPECT_EQ(engine->submit(stand_in_request("a", stand_in_input(1, 1, 1)))->acceptance,
            Acceptance::kNew);
}

// The executor may hold a cancelled job for longer than the journal keeps it.
TEST_F(EngineRestart, AnIdIsFreeWhileTheExecutorStillHoldsItsForgottenJob) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.retention.age_ms_max = 50;
  options.prune_interval = milliseconds(20);
  auto [engine, executor] = open_stand_in(options);
  ASSERT_TRUE(
      engine->submit(stand_in_request("a", stand_in_input(1, 1, 1, StandInEnd::kHang))).ok());
  ASSERT_TRUE(comes_true([&e = *executor] { return e.proved_count() == 1; }));
  ASSERT_TRUE(engine->cancel("a").ok());
  ASSERT_TRUE(comes_true([&e = *engine] { return !e.find("a").ok(); }));
  EXPECT_EQ(executor->held_count(), 1u);
  EXPECT_EQ(engine->submit(stand_in_request("a", stand_in_input(2, 1, 2)))->acceptance,
            Acceptance::kNew);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_EQ(executor->held_count(), 1u);
}

// New jobs are refused, those that run record their results in the room kept for them.
TEST_F(EngineRestart, AFullDiskRefusesNewJobsAndEndsTheRunningOnes) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.journal_bytes_max = 1 << 20;
  options.journal_reserve_bytes = 256 << 10;
  auto [engine, executor] = open_stand_in(options);
  executor->pause(true);
  std::vector<std::string> taken;
  base::Status refused = base::ok_status();
  for (unsigned i = 0; i < 100 && refused.ok(); ++i) {
    base::Bytes bytes = test_bytes(30'000, i);
    bytes[0] = 3, bytes[1] = 1, bytes[2] = 0;
    const std::string id = fmt::format("job-{}", i);
    const auto submitted =
        engine->submit(stand_in_request(id, std::make_shared<const base::Bytes>(bytes)));
    if (submitted.ok()) {
      taken.push_back(id);
    } else {
      refused = submitted.error();
    }
  }
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  ASSERT_GT(taken.size(), 5u);
  executor->pause(false);
  for (const std::string& id : taken) {
    EXPECT_EQ(await_end(*engine, id).record.state, JobState::kCompleted) << id;
  }
  EXPECT_EQ(engine->report().unrecorded_ends, 0u);
  EXPECT_TRUE(engine->submit(stand_in_request("later", stand_in_input(1, 1, 1))).ok());
}

// The disk fails for good while a job runs: nothing false is said, and the next start proves anew.
TEST_F(EngineRestart, AnEndThatTheDiskDoesNotTakeIsNotAnswered) {
  FaultLayer layer;
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.journal_file_layer = FaultLayer::kName;
  const SharedBytes input = stand_in_input(2, 1, 1);
  {
    auto [engine, executor] = open_stand_in(options);
    executor->pause(true);
    ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
    layer.die_at_write(1);
    executor->pause(false);
    ASSERT_TRUE(comes_true([&e = *engine] { return e.report().unrecorded_ends == 1; }));
    const auto awaited = engine->await("a", milliseconds(50));
    ASSERT_TRUE(awaited.ok());
    EXPECT_FALSE(awaited->has_value());
    EXPECT_FALSE(engine->submit(stand_in_request("b", input)).ok());
    EXPECT_EQ(engine->report().live_jobs, 1u);
  }
  layer.die_at_write(0);
  auto [engine, executor] = open_stand_in(options);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_EQ(*engine->result("a"), stand_in_result(*input));
  EXPECT_EQ(engine->find("b").error().kind, ErrorKind::kNotFound);
}

// The journal has the end of a cancelled job and has no memory to read it back at that moment.
TEST_F(EngineRestart, AnEndThatCannotBeReadBackIsToldLater) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  const auto caller = std::this_thread::get_id();
  std::atomic<int> calls_left{0};
  // The last look at the clock of a cancellation is after its record was written.
  options.now_ms = [&calls_left, caller] {
    if (std::this_thread::get_id() == caller && calls_left > 0 && --calls_left == 0) {
      sqlite3_hard_heap_limit64(1);
    }
    return std::int64_t{1'700'000'000'000};
  };
  auto [engine, executor] = open_stand_in(options);
  executor->pause(true);
  const SharedBytes input = stand_in_input(1, 1, 1);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  ASSERT_TRUE(engine->submit(stand_in_request("b", stand_in_input(1, 1, 2))).ok());
  std::atomic<int> told{0};
  const auto waiting = engine->on_final("a", [&](const JobView& job) {
    EXPECT_EQ(job.record.state, JobState::kCancelled);
    ++told;
  });
  ASSERT_TRUE(waiting.ok());
  calls_left = 2;
  ASSERT_TRUE(engine->cancel("a").ok());
  ASSERT_EQ(calls_left, 0);
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_EQ(told, 0) << "read back after all: the test has lost its point";
  EXPECT_EQ(engine->report().live_jobs, 2u);
  sqlite3_hard_heap_limit64(0);
  EXPECT_TRUE(comes_true([&told] { return told == 1; }));
  executor->pause(false);
  EXPECT_EQ(await_end(*engine, "b").record.state, JobState::kCompleted);
  // Its place is free for another try.
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_EQ(told, 1);
}

// A tail that was torn off: what was told as accepted before it is there.
TEST_F(EngineRestart, ATornJournalLosesNothingThatWasAccepted) {
  const TemporaryFolder folder;
  std::set<std::string> ids;
  const auto log = folder.path() / "journal" / "journal.db-wal";
  base::Bytes torn;
  {
    auto [engine, executor] = open_stand_in(engine_options_in(folder.path() / "journal"));
    executor->pause(true);
    for (unsigned i = 0; i < 10; ++i) {
      const std::string id = fmt::format("job-{}", i);
      ASSERT_TRUE(engine->submit(stand_in_request(id, stand_in_input(1, 0, i))).ok());
      ids.insert(id);
    }
    torn = read_whole(log);  // as a power cut may leave it: with half of a frame at its end
    std::filesystem::copy(folder.path() / "journal", folder.path() / "after");
  }
  torn.insert(torn.end(), 2000, 0x5a);
  write_whole(folder.path() / "after" / "journal.db-wal", torn);
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path() / "after"));
  EXPECT_GT(engine->report().opened.unfinished_log_bytes, 0u);
  for (const std::string& id : ids) {
    EXPECT_EQ(await_end(*engine, id).record.state, JobState::kCompleted) << id;
  }
}

TEST_F(EngineRestart, ASecondEngineIsToldThatTheJournalIsInUse) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  const auto second =
      Engine::open(engine_options_in(folder.path()), stand_in_types(),
                   [](ExecutorEvents& events) -> base::Result<std::unique_ptr<Executor>> {
                     ADD_FAILURE() << "no executor is made without a journal";
                     return std::unique_ptr<Executor>(std::make_unique<StandInExecutor>(events));
                   });
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
}

// Threads that submit, cancel, wait and ask at once, with crashes in between.
TEST_F(EngineRestart, EverythingAtOnce) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.crashes_max = 1000;
  auto [engine, executor] = open_stand_in(options);
  std::atomic<bool> over{false};
  std::vector<std::future<void>> tasks;
  for (unsigned t = 0; t < 4; ++t) {
    tasks.push_back(std::async(std::launch::async, [&e = *engine, t] {
      for (unsigned i = 0; i < 30; ++i) {
        // Half of the ids are those of another thread.
        const std::string id = fmt::format("job-{}-{}", i % 2 == 0 ? t : 0, i);
        const SharedBytes input = stand_in_input(2, 1, i);
        const auto taken = e.submit(stand_in_request(id, input, static_cast<Priority>(i % 4)));
        ASSERT_TRUE(taken.ok()) << taken.error().message;
        if (i % 5 == 0) {
          ASSERT_TRUE(e.cancel(id).ok());
        }
        if (i % 3 == 0) {
          ASSERT_TRUE(is_final(await_end(e, id).record.state)) << id;
        }
      }
    }));
  }
  auto watcher = std::async(std::launch::async, [&, &e = *engine] {
    while (!over) {
      ASSERT_TRUE(e.list({}).ok());
      (void)e.report();
      std::this_thread::sleep_for(milliseconds(5));
    }
  });
  for (int i = 0; i < 6; ++i) {
    std::this_thread::sleep_for(milliseconds(15));
    executor->crash("on purpose");
  }
  for (auto& task : tasks) task.get();
  EXPECT_TRUE(engine->wait_idle(seconds(30)));
  over = true;
  watcher.get();
  const auto jobs = engine->list({.count_max = SIZE_MAX});
  for (const JobView& job : *jobs) {
    EXPECT_TRUE(is_final(job.record.state)) << job.record.request_id;
    if (job.record.state == JobState::kCompleted) {
      EXPECT_EQ(engine->result(job.record.request_id)->size(), 64u);
    } else {
      EXPECT_EQ(job.record.state, JobState::kCancelled)
          << job.record.failure.value_or(base::Error{}).message;
    }
  }
  EXPECT_TRUE(comes_true([e = executor] { return e->held_count() == 0; }));
  EXPECT_EQ(engine->report().live_jobs, 0u);
  EXPECT_EQ(engine->report().waiting_calls, 0u);
}

}  // namespace
}  // namespace cuzk::engine
