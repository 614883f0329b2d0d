// Proving in a process of its own, with stand-in work and real crashes.
#include "engine/worker_process.h"

#include <charconv>
#include <cstring>
#include <future>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/worker_test_support.h"
#include "engine/worker_wire.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using namespace testing_support;
using Clock = std::chrono::steady_clock;

TEST(WorkerProcess, ProvesInAnotherProcess) {
  const TemporaryFolder folder;
  auto [engine, worker] = open_or_fail(folder.path());
  EXPECT_NE(worker->process_id(), ::getpid());
  const SharedBytes input = stand_in_input(3, 2, 1);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  const JobView view = await_end(*engine, "a");
  EXPECT_EQ(view.record.state, JobState::kCompleted);
  EXPECT_EQ(view.times.total_ms, 5u);
  EXPECT_EQ(*engine->result("a"), stand_in_result(*input));
  EXPECT_EQ(*engine->preload("stand-in"), false);
  EXPECT_EQ(engine->preload("nothing").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(*engine->evict("stand-in"), 7u);
  const EngineReport report = engine->report();
  EXPECT_EQ(report.executor.budget_bytes, 1u << 30);
  ASSERT_EQ(report.executor.devices.size(), 1u);
  EXPECT_EQ(report.executor.devices[0].name, "stand-in");
  ASSERT_EQ(report.executor.keys.size(), 1u);
  EXPECT_EQ(report.executor.keys[0].bytes, 1u << 20);
  EXPECT_EQ(report.executor.process_restarts, 0u);
}

TEST(WorkerProcess, CarriesFailuresAndCancellations) {
  const TemporaryFolder folder;
  auto [engine, worker] = open_or_fail(folder.path());
  ASSERT_TRUE(
      engine->submit(stand_in_request("bad", stand_in_input(1, 1, 1, StandInEnd::kFailure))).ok());
  const JobView bad = await_end(*engine, "bad");
  EXPECT_EQ(bad.record.failure->kind, ErrorKind::kUnsatisfied);
  EXPECT_EQ(bad.record.failure->message, "as asked for");
  ASSERT_TRUE(engine->submit(stand_in_request("slow", stand_in_input(200, 20, 2))).ok());
  ASSERT_TRUE(comes_true([&e = *engine] { return done_count(e, "slow") > 1; }));
  EXPECT_TRUE(engine->cancel("slow")->was_running);
  EXPECT_EQ(await_end(*engine, "slow").record.state, JobState::kCancelled);
  EXPECT_TRUE(comes_true([&e = *engine] { return e.report().executor.counts.queued_jobs == 0; }));
}

TEST(WorkerProcess, LargeInputsArriveWhole) {
  const TemporaryFolder folder;
  auto [engine, worker] = open_or_fail(folder.path());
  base::Bytes bytes = test_bytes(std::size_t{4} << 20, 5);
  bytes[0] = 2, bytes[1] = 0, bytes[2] = 0;
  const auto input = std::make_shared<const base::Bytes>(std::move(bytes));
  ASSERT_TRUE(engine->submit(stand_in_request("large", input)).ok());
  EXPECT_EQ(await_end(*engine, "large").record.state, JobState::kCompleted);
  EXPECT_EQ(*engine->result("large"), stand_in_result(*input));
}

TEST(WorkerProcess, ACrashIsFollowedByAnotherProcessAndTheJobsGoOn) {
  const TemporaryFolder folder;
  const LogKeeper log;
  auto [engine, worker] = open_or_fail(folder.path());
  const SharedBytes input = stand_in_input(20, 10, 1);
  ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
  ASSERT_TRUE(engine->submit(stand_in_request("b", stand_in_input(20, 10, 2))).ok());
  ASSERT_TRUE(engine->submit(stand_in_request("c", stand_in_input(20, 10, 3))).ok());
  ASSERT_TRUE(comes_true([&e = *engine] { return done_count(e, "a") > 2; }));
  const int first = worker->process_id();
  const auto killed_at = Clock::now();
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  ASSERT_TRUE(
      comes_true([w = worker, first] { return w->process_id() != 0 && w->process_id() != first; }));
  EXPECT_LT(Clock::now() - killed_at, seconds(5));
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_EQ(await_end(*engine, id).record.state, JobState::kCompleted) << id;
  }
  EXPECT_EQ(*engine->result("a"), stand_in_result(*input));
  EXPECT_EQ(engine->report().executor.process_restarts, 1u);
  EXPECT_EQ(engine->report().crash_count, 1u);
  EXPECT_THAT(log.lines(), HasSubstr("was killed by signal 9"));
}

// The poison is found out although others run beside it each time, and they come to no harm.
TEST(WorkerProcess, AJobThatCrashesAgainAndAgainFailsAlone) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.crashes_max = 3;
  auto worker = worker_options();
  worker.pause_min = milliseconds(5);
  auto [engine, process] = open_worker_engine(options, worker).value();
  ASSERT_TRUE(
      engine->submit(stand_in_request("poison", stand_in_input(1, 1, 1, StandInEnd::kCrash))).ok());
  for (int i = 0; i < 8; ++i) {
    const std::string id = fmt::format("good-{}", i);
    ASSERT_TRUE(
        engine->submit(stand_in_request(id, stand_in_input(1, 40, static_cast<unsigned>(i)))).ok());
  }
  const JobView poison = await_end(*engine, "poison");
  EXPECT_EQ(poison.record.state, JobState::kFailed);
  ASSERT_TRUE(poison.record.failure);
  EXPECT_THAT(poison.record.failure->message, HasSubstr("in the last one alone"));
  EXPECT_THAT(poison.record.failure->message, HasSubstr("killed by signal 6"));
  EXPECT_THAT(poison.record.failure->message, HasSubstr("instance of 'trouble'"));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(await_end(*engine, fmt::format("good-{}", i)).record.state, JobState::kCompleted);
  }
  EXPECT_GE(engine->report().crash_count, 3u);
  EXPECT_EQ(engine->report().live_jobs, 0u);
}

// A job that brings the process down where it is read has not started, and is to blame all the
// same; those that wait with it are not.
TEST(WorkerProcess, AJobThatCrashesItsReaderFailsAlone) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.crashes_max = 2;
  auto worker = worker_options();
  worker.pause_min = milliseconds(5);
  auto [engine, process] = open_worker_engine(options, worker).value();
  const SharedBytes poison = stand_in_input(1, 1, 1, StandInEnd::kCrashRead);
  ASSERT_TRUE(engine->submit(stand_in_request("poison", poison)).ok());
  for (unsigned i = 0; i < 4; ++i) {
    const std::string id = fmt::format("good-{}", i);
    ASSERT_TRUE(engine->submit(stand_in_request(id, stand_in_input(1, 20, i))).ok());
  }
  const JobView end = await_end(*engine, "poison");
  EXPECT_EQ(end.record.state, JobState::kFailed);
  ASSERT_TRUE(end.record.failure);
  EXPECT_THAT(end.record.failure->message, HasSubstr("in the last one alone"));
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(await_end(*engine, fmt::format("good-{}", i)).record.state, JobState::kCompleted);
  }
}

TEST(WorkerProcess, AProcessThatHangsIsEnded) {
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.crashes_max = 1;
  auto worker = worker_options();
  worker.heartbeat_interval = milliseconds(50);
  worker.heartbeat_timeout = milliseconds(1500);
  auto [engine, process] = open_worker_engine(options, worker).value();
  ASSERT_TRUE(
      engine->submit(stand_in_request("hang", stand_in_input(1, 1, 1, StandInEnd::kHang))).ok());
  const JobView hang = await_end(*engine, "hang");
  ASSERT_EQ(hang.record.state, JobState::kFailed);
  EXPECT_THAT(hang.record.failure->message, HasSubstr("no sign of life"));
  ASSERT_TRUE(engine->submit(stand_in_request("next", stand_in_input(1, 1, 2))).ok());
  EXPECT_EQ(await_end(*engine, "next").record.state, JobState::kCompleted);
}

TEST(WorkerProcess, SaysWhyTheFirstOneCannotStart) {
  const TemporaryFolder folder;
  const auto error_of = [&](WorkerProcessOptions worker) {
    const auto opened = open_worker_engine(engine_options_in(folder.path()), std::move(worker));
    EXPECT_FALSE(opened.ok());
    return opened.ok() ? base::Error{} : opened.error();
  };
  const base::Error refused = error_of(worker_options(WorkerMood::kRefuses));
  EXPECT_EQ(refused.kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(refused.message, "pw: found 0, expected 1 or more");
  const base::Error died = error_of(worker_options(WorkerMood::kDiesAtOnce));
  EXPECT_EQ(died.kind, ErrorKind::kUnavailable);
  EXPECT_THAT(died.message, HasSubstr("with code 7"));
  EXPECT_THAT(died.message, HasSubstr("no device driver"));
  EXPECT_THAT(error_of(worker_options(WorkerMood::kTalksNonsense)).message,
              HasSubstr("is no message"));
  auto slow = worker_options(WorkerMood::kNeverReady);
  slow.start_timeout = milliseconds(300);
  EXPECT_THAT(error_of(slow).message, HasSubstr("no sign of life"));
  auto absent = worker_options();
  absent.command = {"/nonexistent/program"};
  EXPECT_EQ(error_of(absent).kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(open_worker_engine(engine_options_in(folder.path()), worker_options()).ok())
      << "the journal is free again";
}

// A driver that breaks and comes back: jobs that were accepted wait, new ones are refused.
TEST(WorkerProcess, WaitsForBetterTimesAndTakesNothingNewMeanwhile) {
  const TemporaryFolder folder;
  const auto broken = folder.path() / "broken";
  const std::string path = broken.string();
  auto worker = worker_options(WorkerMood::kDiesWhileFileExists);
  worker.setup.insert(worker.setup.end(), path.begin(), path.end());
  worker.pause_min = milliseconds(20);
  worker.pause_max = milliseconds(100);
  worker.down_patience = milliseconds(50);
  auto [engine, process] =
      open_worker_engine(engine_options_in(folder.path() / "journal"), worker).value();
  ASSERT_TRUE(engine->submit(stand_in_request("kept", stand_in_input(20, 20, 1))).ok());
  ASSERT_TRUE(comes_true([&e = *engine] { return done_count(e, "kept") > 1; }));
  write_whole(broken, {});
  ASSERT_EQ(::kill(process->process_id(), SIGKILL), 0);
  ASSERT_TRUE(comes_true([&e = *engine] { return !e.report().executor_failure.empty(); }));
  EXPECT_THAT(engine->report().executor_failure, HasSubstr("no device driver"));
  ASSERT_FALSE(engine->report().executor.devices.empty());
  EXPECT_FALSE(engine->report().executor.devices[0].usable);
  const auto refused = engine->submit(stand_in_request("new", stand_in_input(1, 1, 2)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("no device driver"));
  EXPECT_FALSE(is_final(engine->find("kept")->record.state));
  std::filesystem::remove(broken);
  EXPECT_EQ(await_end(*engine, "kept").record.state, JobState::kCompleted);
  EXPECT_TRUE(comes_true(
      [&e = *engine] { return e.submit(stand_in_request("new", stand_in_input(1, 1, 2))).ok(); }));
  EXPECT_EQ(await_end(*engine, "new").record.state, JobState::kCompleted);
}

TEST(WorkerProcess, InheritsNothingButItsSocketAndItsLog) {
  const TemporaryFolder folder;
  const LogKeeper log;
  const int open_here = ::open("/dev/null", O_RDONLY);  // not closed on exec
  ASSERT_GE(open_here, 0);
  auto [engine, process] =
      open_or_fail(folder.path(), worker_options(WorkerMood::kListsDescriptors));
  ::close(open_here);
  EXPECT_TRUE(comes_true([&] {
    return log.lines().find("descriptors 0 1 2 3\n") != std::string::npos;
  })) << log.lines();
}

TEST(WorkerProcess, ItsLogFollowsTheLevelAlsoInTheNextProcess) {
  const TemporaryFolder folder;
  base::set_log_level(base::LogLevel::kDebug);
  {
    const LogKeeper log;
    auto [engine, worker] = open_or_fail(folder.path(), worker_options(WorkerMood::kChats));
    unsigned job_count = 0;
    // Whether a job's turn, and a while of them, brings the line that only debug has.
    const auto hears_closely = [&, &run = *engine](milliseconds patience) {
      const auto before = log.lines().size();
      return comes_true(
          [&] {
            const std::string id = fmt::format("job-{}", job_count);
            EXPECT_TRUE(run.submit(stand_in_request(id, stand_in_input(1, 1, job_count++))).ok());
            await_end(run, id);
            return log.lines().find("who looks closely", before) != std::string::npos;
          },
          patience);
    };
    EXPECT_FALSE(hears_closely(milliseconds(300)));
    EXPECT_THAT(log.lines(), HasSubstr("a word for everybody"));
    worker->set_log_level(base::LogLevel::kDebug);
    EXPECT_TRUE(hears_closely(seconds(20)));
    const int first = worker->process_id();
    const auto before = log.lines().size();
    ASSERT_EQ(::kill(first, SIGKILL), 0);
    EXPECT_TRUE(comes_true([&] {  // from its first line on, before there is any job
      return log.lines().find("who looks closely", before) != std::string::npos;
    }));
    worker->set_log_level(base::LogLevel::kError);
    std::this_thread::sleep_for(milliseconds(600));
    EXPECT_FALSE(hears_closely(milliseconds(300)));
  }
  base::set_log_level(base::LogLevel::kWarning);
}

TEST(WorkerProcess, StoppingKeepsWhatIsUnfinishedForTheNextTime) {
  const TemporaryFolder folder;
  const SharedBytes input = stand_in_input(30, 10, 1);
  {
    auto [engine, process] = open_or_fail(folder.path());
    ASSERT_TRUE(engine->submit(stand_in_request("a", input)).ok());
    ASSERT_TRUE(engine->submit(stand_in_request("b", stand_in_input(1, 1, 2))).ok());
    ASSERT_TRUE(comes_true([&e = *engine] { return done_count(e, "a") > 2; }));
    auto waiting =
        std::async(std::launch::async, [&e = *engine] { return e.await("a", seconds(30)); });
    const int id = process->process_id();
    engine->stop();
    const auto awaited = waiting.get();
    ASSERT_FALSE(awaited.ok());
    EXPECT_EQ(awaited.error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(::kill(id, 0), -1) << "the process is gone and collected";
  }
  auto [engine, process] = open_or_fail(folder.path());
  const JobView view = await_end(*engine, "a");
  EXPECT_EQ(view.record.state, JobState::kCompleted);
  EXPECT_EQ(view.record.crash_count, 0u);
  EXPECT_EQ(*engine->result("a"), stand_in_result(*input));
  EXPECT_EQ(await_end(*engine, "b").record.state, JobState::kCompleted);
}

TEST(WorkerProcess, AProcessThatIgnoresTheStopIsEnded) {
  const TemporaryFolder folder;
  auto worker = worker_options();
  worker.stop_timeout = milliseconds(200);
  auto [engine, process] = open_or_fail(folder.path(), worker);
  ASSERT_EQ(::kill(process->process_id(), SIGSTOP), 0);
  engine->stop();  // returns
  EXPECT_EQ(process->process_id(), 0);
}

// Kills under load: 20 here, more with CUZK_KILLS.
TEST(WorkerProcess, NothingIsLostHoweverOftenItIsKilled) {
  const char* const wanted = std::getenv("CUZK_KILLS");
  int kills = 20;
  if (wanted != nullptr) (void)std::from_chars(wanted, wanted + std::strlen(wanted), kills);
  const TemporaryFolder folder;
  EngineOptions options = engine_options_in(folder.path());
  options.crashes_max = 1'000'000;  // here the jobs are not to blame
  auto worker = worker_options();
  worker.pause_min = worker.pause_max = milliseconds(10);
  auto [engine, process] = open_worker_engine(options, worker).value();
  std::mt19937_64 random(7);
  std::map<std::string, SharedBytes> jobs;
  milliseconds longest(0);
  int killed = 0;
  for (int i = 0; i < kills; ++i) {
    for (int k = 0; k < 6; ++k) {
      const std::string id = fmt::format("job-{}-{}", i, k);
      const auto ms = static_cast<std::uint8_t>(random() % 10);
      jobs[id] = stand_in_input(static_cast<std::uint8_t>(1 + random() % 5), ms, random());
      const auto priority = static_cast<Priority>(random() % kPriorityCount);
      // Where kills have kept the process from starting for seconds, the refusal says so.
      ASSERT_TRUE(comes_true([&] {
        const auto taken = engine->submit(stand_in_request(id, jobs[id], priority));
        return taken.ok() || taken.error().kind != ErrorKind::kUnavailable;
      }));
      ASSERT_TRUE(engine->find(id).ok());
    }
    // A slow machine takes long to start one: a kill needs a process.
    ASSERT_TRUE(comes_true([&] { return process->process_id() != 0; }));
    std::this_thread::sleep_for(milliseconds(random() % 60));
    const int id = process->process_id();
    if (id == 0) continue;  // it ended by itself, as its last kill was seen late
    ASSERT_EQ(::kill(id, SIGKILL), 0);
    ++killed;
    const auto killed_at = Clock::now();
    if (i % 4 != 0) continue;
    ASSERT_TRUE(comes_true([&] { return process->process_id() != id && process->process_id(); }));
    longest = std::max(longest, std::chrono::duration_cast<milliseconds>(Clock::now() - killed_at));
  }
  ASSERT_TRUE(engine->wait_idle(std::chrono::minutes(3)));
  for (const auto& [id, input] : jobs) {
    ASSERT_EQ(engine->find(id)->record.state, JobState::kCompleted) << id;
    EXPECT_EQ(*engine->result(id), stand_in_result(*input)) << id;
  }
  EXPECT_LT(longest, seconds(5));
  EXPECT_GT(killed, kills / 4);
  // Fewer than kills: one that meets a process which is still starting is no crash of a job's.
  EXPECT_GE(engine->report().crash_count, 1u);
  EXPECT_EQ(engine->report().live_jobs, 0u);
  RecordProperty("longest_restart_ms", std::to_string(longest.count()));
}

}  // namespace
}  // namespace cuzk::engine
