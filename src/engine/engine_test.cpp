// The engine over a stand-in executor: acceptance, waiting, cancelling, and what it remembers.
#include "engine/engine.h"

#include <filesystem>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_test_support.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing_support;

TEST(Engine, ProvesAJobAndKeepsItsResult) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  const SharedBytes input = stand_in_input(3, 1, 1);
  const auto submitted = engine->submit(stand_in_request("a", input));
  ASSERT_TRUE(submitted.ok()) << submitted.error().message;
  EXPECT_EQ(submitted->request_id, "a");
  EXPECT_EQ(submitted->acceptance, Acceptance::kNew);
  const JobView view = await_end(*engine, "a");
  EXPECT_EQ(view.record.state, JobState::kCompleted);
  EXPECT_EQ(view.times.total_ms, 5u);
  const auto result = engine->result("a");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(*result, stand_in_result(*input));
  // A second look, and after the engine has forgotten all but the journal.
  EXPECT_EQ(await_end(*engine, "a", milliseconds(0)).record.state, JobState::kCompleted);
  EXPECT_EQ(engine->find("a")->times.total_ms, 5u);
  EXPECT_EQ(engine->report().live_jobs, 0u);
}

// Goal: what would be lost is not accepted, and what was accepted ends. Method: the folder goes
// away and comes back while a job is held, then is replaced by a copy of itself.
TEST(Engine, TakesNoJobsIntoAJournalThatNobodyFindsAgain) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const fs::path journal = folder / "journal", elsewhere = folder / "elsewhere";
  auto [engine, executor] = open_stand_in(engine_options_in(journal));
  executor->pause(true);
  const SharedBytes input = stand_in_input(2, 1, 1);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  EXPECT_EQ(engine->report().journal_failure, "");
  fs::rename(journal, elsewhere);
  const auto refused = engine->submit(stand_in_request("b", stand_in_input(1, 0, 2)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(refused.error().message,
            (journal / "journal.db").string() +
                " was removed under the running journal, so a new job would be lost at the next "
                "start; put it back or start anew");
  EXPECT_EQ(engine->report().journal_failure, refused.error().message);
  EXPECT_EQ(engine->find("b").error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(engine->submit(stand_in_request("a", input)).ok()) << "it was there before";
  executor->pause(false);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_EQ(engine->result("a").value(), stand_in_result(*input));
  fs::rename(elsewhere, journal);
  EXPECT_EQ(engine->report().journal_failure, "");
  EXPECT_TRUE(engine->submit(stand_in_request("b", stand_in_input(1, 0, 2))).ok());
  fs::copy(journal, elsewhere);
  fs::remove_all(journal);
  fs::rename(elsewhere, journal);
  EXPECT_THAT(engine->submit(stand_in_request("c", stand_in_input(1, 0, 3))).error().message,
              HasSubstr("journal.db was replaced under the running journal"));
}

TEST(Engine, TheLogOfTheJournalIsAPartOfIt) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  ASSERT_TRUE(std::filesystem::remove(folder / "journal.db-wal"));
  EXPECT_THAT(engine->submit(stand_in_request("a", stand_in_input(1, 0, 1))).error().message,
              HasSubstr("journal.db-wal was removed"));
}

// Filling, sweeping and opening anew change none of the files' identities.
TEST(Engine, AJournalInDailyUseStaysInPlace) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.retention.age_ms_max = 200;
  options.prune_interval = milliseconds(10);
  for (int opening = 0; opening < 2; ++opening) {
    auto [engine, executor] = open_stand_in(options);
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const auto job = engine->submit(stand_in_request("", stand_in_input(1, 0, seed)));
      ASSERT_TRUE(job.ok()) << job.error().message;
    }
    EXPECT_TRUE(engine->wait_idle(std::chrono::seconds(30)));
    for (int i = 0; i < 100 && !engine->list({})->empty(); ++i) {
      std::this_thread::sleep_for(milliseconds(50));
    }
    EXPECT_TRUE(engine->list({})->empty()) << "swept";
    EXPECT_EQ(engine->report().journal_failure, "");
    EXPECT_TRUE(engine->submit(stand_in_request("", stand_in_input(1, 0, 50))).ok());
  }
}

TEST(Engine, MakesAnIdWhereNoneIsGiven) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  const auto one = engine->submit(stand_in_request("", stand_in_input(1, 0, 1)));
  const auto two = engine->submit(stand_in_request("", stand_in_input(1, 0, 1)));
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one->request_id, two->request_id);
  EXPECT_EQ(await_end(*engine, one->request_id).record.state, JobState::kCompleted);
  EXPECT_EQ(await_end(*engine, two->request_id).record.state, JobState::kCompleted);
}

TEST(Engine, RefusesWhatItsKindCannotRead) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  const auto bad = engine->submit(stand_in_request("a", std::make_shared<const base::Bytes>(3)));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind, ErrorKind::kMalformed);
  SubmitRequest unknown = stand_in_request("a", stand_in_input(1, 0, 1));
  unknown.kind = "nothing";
  EXPECT_EQ(engine->submit(unknown).error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(engine->submit(stand_in_request("a", nullptr)).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(engine->find("a").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(engine->await("a", milliseconds(10)).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(engine->cancel("a").error().kind, ErrorKind::kNotFound);
}

TEST(Engine, JoinsTheSameJobAndRefusesAnotherOfItsName) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  executor->pause(true);
  const SharedBytes input = stand_in_input(2, 1, 1);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  const auto joined = engine->submit(stand_in_request("a", input));
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined->acceptance, Acceptance::kJoined);
  const auto other = engine->submit(stand_in_request("a", stand_in_input(2, 1, 2)));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::kAlreadyExists);
  SubmitRequest kind = stand_in_request("a", input);
  kind.kind = "other";
  EXPECT_EQ(engine->submit(kind).error().kind, ErrorKind::kAlreadyExists);
  executor->pause(false);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_EQ(engine->submit(stand_in_request("a", input))->state, JobState::kCompleted);
  EXPECT_EQ(executor->run_count(), 1u);
}

TEST(Engine, RunsAFailedJobOnceMoreWhenItComesAgain) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  const SharedBytes input = stand_in_input(2, 1, 1, StandInEnd::kFailure);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  const JobView first = await_end(*engine, "a");
  EXPECT_EQ(first.record.state, JobState::kFailed);
  EXPECT_EQ(engine->result("a").error().message, "as asked for");
  const auto again = engine->submit(stand_in_request("a", input));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->acceptance, Acceptance::kRetried);
  EXPECT_EQ(await_end(*engine, "a").record.attempt, 2u);
  EXPECT_EQ(executor->proved_count(), 2u) << "partitions that were finished are not proved again";
}

TEST(Engine, AJobThatCanNeverFitIsNotAccepted) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  executor->refuse(base::Error{ErrorKind::kResourceExhausted, "9 GiB of 8 GiB"});
  const SharedBytes input = stand_in_input(1, 1, 1);
  const auto refused = engine->submit(stand_in_request("a", input));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(refused.error().message, "9 GiB of 8 GiB");
  EXPECT_EQ(engine->find("a").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(engine->report().journal.input_count, 0u);
  EXPECT_EQ(engine->report().live_jobs, 0u);
  executor->refuse(std::nullopt);
  EXPECT_EQ(engine->submit(stand_in_request("a", input))->acceptance, Acceptance::kNew);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
}

TEST(Engine, WhatReadersAndExecutorsThrowRefusesTheJobAlone) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  const auto bad = std::make_shared<const base::Bytes>(testing_support::kThrowingBytes);
  const auto unread = engine->submit(stand_in_request("a", bad));
  ASSERT_FALSE(unread.ok());
  EXPECT_EQ(unread.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(unread.error().message, "an exception: a reader's own");
  executor->before_run([] { throw std::bad_alloc(); });
  const SharedBytes input = stand_in_input(1, 1, 1);
  const auto refused = engine->submit(stand_in_request("a", input));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(engine->find("a").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(engine->report().live_jobs, 0u);
  executor->before_run({});
  EXPECT_EQ(engine->submit(stand_in_request("a", input))->acceptance, Acceptance::kNew);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
}

TEST(Engine, ARetryThatIsRefusedFailsAgain) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  const SharedBytes input = stand_in_input(1, 1, 1, StandInEnd::kFailure);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kFailed);
  executor->refuse(base::Error{ErrorKind::kResourceExhausted, "9 GiB of 8 GiB"});
  EXPECT_FALSE(engine->submit(stand_in_request("a", input)).ok());
  const JobView view = await_end(*engine, "a");
  EXPECT_EQ(view.record.state, JobState::kFailed);
  EXPECT_EQ(view.record.failure->message, "9 GiB of 8 GiB");
  EXPECT_EQ(engine->report().live_jobs, 0u);
}

TEST(Engine, AFullQueueSaysWhenToComeAgain) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.queue_max = 2;
  auto [engine, executor] = open_stand_in(options);
  executor->pause(true);
  ASSERT_TRUE(engine->submit(stand_in_request("a", stand_in_input(1, 1, 1))).ok());
  ASSERT_TRUE(engine->submit(stand_in_request("b", stand_in_input(1, 1, 2))).ok());
  const auto refused = engine->submit(stand_in_request("c", stand_in_input(1, 1, 3)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("try again in about"));
  EXPECT_TRUE(engine->submit(stand_in_request("a", stand_in_input(1, 1, 1))).ok()) << "joins";
  executor->pause(false);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_TRUE(engine->submit(stand_in_request("c", stand_in_input(1, 1, 3))).ok());
}

TEST(Engine, TellsThePositionInTheOrderOfPriorities) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), 1);
  executor->pause(true);
  const auto submit = [&, &e = *engine](const std::string& id, Priority priority) {
    return e.submit(stand_in_request(id, stand_in_input(1, 0, 1), priority))->queue_position;
  };
  EXPECT_EQ(submit("low", Priority::kLow), 0u);
  EXPECT_EQ(submit("normal", Priority::kNormal), 0u);
  EXPECT_EQ(submit("low2", Priority::kLow), 2u);
  EXPECT_EQ(submit("critical", Priority::kCritical), 0u);
  executor->pause(false);
  ASSERT_TRUE(engine->wait_idle(std::chrono::seconds(10)));
  EXPECT_THAT(executor->started(), ElementsAre("critical", "normal", "low", "low2"));
}

TEST(Engine, AwaitEndsWithItsTimeAndTheJobGoesOn) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  executor->pause(true);
  const SharedBytes input = stand_in_input(1, 1, 1);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  const auto early = engine->await("a", milliseconds(20));
  ASSERT_TRUE(early.ok());
  EXPECT_FALSE(early->has_value());
  EXPECT_EQ(engine->result("a").error().kind, ErrorKind::kUnavailable);
  auto other = std::async(std::launch::async, [&e = *engine] { return await_end(e, "a"); });
  executor->pause(false);
  EXPECT_EQ(await_end(*engine, "a").record, other.get().record);
  for (int i = 0; i < 2; ++i) {
    const auto later = engine->await("a", milliseconds(0));
    ASSERT_TRUE(later.ok() && later->has_value());
    EXPECT_EQ(*engine->result("a"), stand_in_result(*input));
  }
}

// A thousand callbacks, half of them gone before the end, and no thread for any.
TEST(Engine, AnyNumberMayWait) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  executor->pause(true);
  ASSERT_TRUE(engine->submit(stand_in_request("a", stand_in_input(1, 1, 1))).ok());
  std::atomic<int> called{0};
  std::vector<std::shared_ptr<Subscription>> kept;
  for (int i = 0; i < 1000; ++i) {
    auto handle = engine->on_final("a", [&](const JobView& job) {
      EXPECT_EQ(job.record.state, JobState::kCompleted);
      ++called;
    });
    ASSERT_TRUE(handle.ok());
    if (i % 2 == 0) kept.push_back(*handle);
  }
  EXPECT_EQ(engine->report().waiting_calls, 500u);
  executor->pause(false);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  while (called < 500) std::this_thread::sleep_for(milliseconds(1));
  std::promise<void> late;
  const auto handle = engine->on_final("a", [&](const JobView&) { late.set_value(); });
  late.get_future().get();
  EXPECT_EQ(called, 500);
}

TEST(Engine, CancelsInEveryState) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), 1);
  const SharedBytes slow = stand_in_input(200, 5, 1);
  ASSERT_TRUE(engine->submit(stand_in_request("running", slow)).ok());
  while (engine->find("running")->record.state != JobState::kRunning) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  ASSERT_TRUE(engine->submit(stand_in_request("queued", stand_in_input(1, 1, 2))).ok());
  const auto queued = engine->cancel("queued");
  ASSERT_TRUE(queued.ok());
  EXPECT_EQ(queued->state, JobState::kCancelled);
  EXPECT_FALSE(queued->was_running);
  const auto running = engine->cancel("running");
  ASSERT_TRUE(running.ok());
  EXPECT_TRUE(running->was_running);
  EXPECT_FALSE(engine->cancel("running")->was_running);  // and may not have stopped yet
  EXPECT_EQ(await_end(*engine, "running").record.state, JobState::kCancelled);
  EXPECT_EQ(engine->result("running").error().kind, ErrorKind::kCancelled);
  const auto twice = engine->cancel("running");
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(twice->state, JobState::kCancelled);
  EXPECT_FALSE(twice->was_running);
  ASSERT_TRUE(engine->submit(stand_in_request("done", stand_in_input(1, 0, 3))).ok());
  EXPECT_EQ(await_end(*engine, "done").record.state, JobState::kCompleted);
  EXPECT_EQ(engine->cancel("done")->state, JobState::kCompleted);
  EXPECT_EQ(engine->cancel("unknown").error().kind, ErrorKind::kNotFound);
  ASSERT_TRUE(engine->wait_idle(std::chrono::seconds(5)));
  EXPECT_EQ(executor->held_count(), 0u);
}

TEST(Engine, ACancelledJobMayComeAgainBeforeItHasStopped) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), 1);
  const SharedBytes input = stand_in_input(4, 50, 1);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  while (engine->find("a")->record.state != JobState::kRunning) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  ASSERT_TRUE(engine->cancel("a")->was_running);
  const auto again = engine->submit(stand_in_request("a", input));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->acceptance, Acceptance::kRetried);
  EXPECT_EQ(await_end(*engine, "a").record.state, JobState::kCompleted);
  EXPECT_EQ(*engine->result("a"), stand_in_result(*input));
  EXPECT_EQ(engine->report().live_jobs, 0u);
}

// The request to stop the first attempt is late: the attempt has ended by itself, and the job is
// there again.
TEST(Engine, ALateStopDoesNotHitTheNextAttempt) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), 1);
  std::promise<void> asked, go_on;
  executor->before_cancel([&, held = go_on.get_future().share()] {
    asked.set_value();
    held.wait();
  });
  const SharedBytes input = stand_in_input(1, 50, 1);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  while (engine->find("a")->record.state != JobState::kRunning) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  std::thread canceller([&engine = engine] { EXPECT_TRUE(engine->cancel("a").ok()); });
  asked.get_future().wait();
  while (executor->held_count() > 0) std::this_thread::sleep_for(milliseconds(1));
  executor->pause(true);
  const auto again = engine->submit(stand_in_request("a", input));
  EXPECT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->acceptance, Acceptance::kRetried);
  EXPECT_EQ(executor->held_count(), 1u) << "it need not wait for the stop";
  executor->before_cancel({});
  go_on.set_value();
  canceller.join();
  executor->pause(false);
  const JobView view = await_end(*engine, "a");
  EXPECT_EQ(view.record.state, JobState::kCompleted)
      << view.record.failure.value_or(base::Error{}).message;
  EXPECT_EQ(executor->run_count(), 2u);
}

TEST(Engine, ObserversHearTheWholeStoryInOrder) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  std::mutex mutex;
  std::vector<std::string> story;
  std::promise<void> over;
  const auto handle = engine->observe([&](const EngineEvent& event) {
    const std::lock_guard hold(mutex);
    story.push_back(fmt::format("{} {} {}", event.request_id, static_cast<int>(event.kind),
                                to_string(event.state)));
    if (event.kind == EngineEvent::Kind::kEnded) over.set_value();
  });
  ASSERT_TRUE(engine->submit(stand_in_request("a", stand_in_input(1, 1, 1))).ok());
  over.get_future().get();
  const std::lock_guard hold(mutex);
  EXPECT_THAT(story, ElementsAre("a 0 queued", "a 1 running", "a 2 running", "a 2 running",
                                 "a 3 completed"));
}

TEST(Engine, ASlowObserverLosesTheOldestAndDelaysNobody) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  std::promise<void> go;
  auto gone = go.get_future().share();
  std::atomic<std::uint64_t> heard{0}, left_out{0};
  const auto handle = engine->observe([&](const EngineEvent& event) {
    gone.wait();
    ++heard;
    left_out += event.left_out_count;
  });
  for (int i = 0; i < 60; ++i) {  // 2 * 200 + 3 events each
    const std::string id = fmt::format("job-{}", i);
    ASSERT_TRUE(
        engine->submit(stand_in_request(id, stand_in_input(200, 0, static_cast<unsigned>(i))))
            .ok());
  }
  ASSERT_TRUE(engine->wait_idle(std::chrono::seconds(60)));
  go.set_value();
  const auto all = [&] { return heard + left_out == 60 * 403; };
  for (int i = 0; i < 10000 && !all(); ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(heard + left_out, 60u * 403u);
  EXPECT_GE(left_out, 60u * 403u - kObserverBacklogMax - 2);  // one in hand, one told late
}

TEST(Engine, DrainsAndReportsByKind) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), 1);
  ASSERT_TRUE(engine->submit(stand_in_request("a", stand_in_input(100, 5, 1))).ok());
  SubmitRequest other = stand_in_request("b", stand_in_input(1, 0, 1, StandInEnd::kFailure));
  other.kind = "other";
  ASSERT_TRUE(engine->submit(other).ok());
  while (engine->find("a")->record.state != JobState::kRunning) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  engine->drain();
  EXPECT_EQ(engine->submit(stand_in_request("c", stand_in_input(1, 0, 1))).error().kind,
            ErrorKind::kUnavailable);
  EXPECT_FALSE(engine->wait_idle(milliseconds(20)));
  EngineReport report = engine->report();
  ASSERT_EQ(report.queues.size(), 2u);
  EXPECT_EQ(report.queues[0].kind, "other");
  EXPECT_EQ(report.queues[0].pending, 1u);
  EXPECT_EQ(report.queues[1].in_progress, 1u);
  EXPECT_TRUE(report.draining);
  EXPECT_TRUE(engine->wait_idle(std::chrono::seconds(20)));
  report = engine->report();
  EXPECT_EQ(report.queues[0].failed, 1u);
  EXPECT_EQ(report.queues[1].completed, 1u);
  EXPECT_EQ(report.live_jobs, 0u);
  EXPECT_EQ(*engine->preload("stand-in"), false);
  EXPECT_EQ(*engine->evict("stand-in"), 7u);
}

}  // namespace
}  // namespace cuzk::engine
