// A proving process that stands still, without being dead yet: nobody who submits, waits, cancels
// or asks stands still with it, and nothing is lost or refused wrongly whichever way it goes on.
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "engine/worker_test_support.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using namespace testing_support;

// Far more than the socket has room for.
constexpr unsigned kManyJobs = 400;

// Until it is told to go on, or killed. While one lives the process answers nothing.
class Standstill {
 public:
  explicit Standstill(int process) : process_(process) {
    EXPECT_EQ(::kill(process_, SIGSTOP), 0);
    siginfo_t facts{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(process_), &facts, WSTOPPED | WNOWAIT), 0);
  }
  Standstill(const Standstill&) = delete;
  Standstill& operator=(const Standstill&) = delete;
  ~Standstill() { end(SIGCONT); }
  void end(int signal) {
    if (std::exchange(is_over_, true)) return;
    EXPECT_EQ(::kill(process_, signal), 0);
  }
  void leave() { is_over_ = true; }  // somebody else has ended it

 private:
  const int process_;
  bool is_over_ = false;
};

// So that who waits for the process is seen to wait: it is not ended within the test.
WorkerEngine open_patient(const std::filesystem::path& folder,
                          WorkerMood mood = WorkerMood::kWell) {
  EngineOptions options = engine_options_in(folder);
  options.answer_patience = milliseconds(30);
  auto worker = worker_options(mood);
  worker.heartbeat_timeout = minutes(10);
  auto opened = open_worker_engine(options, std::move(worker));
  if (!opened.ok()) ADD_FAILURE() << opened.error().message;
  return std::move(opened).value();
}

// What a call answers while the process stands still; empty where it does not.
template <class Call>
auto answer_of(Call call) -> std::optional<decltype(call())> {
  auto answer = std::make_shared<std::promise<decltype(call())>>();
  auto future = answer->get_future();
  std::thread([answer, call = std::move(call)] { answer->set_value(call()); }).detach();
  if (future.wait_for(seconds(30)) != std::future_status::ready) return std::nullopt;
  return future.get();
}

std::string id_of(unsigned i) { return fmt::format("job-{}", i); }
SharedBytes input_of(unsigned i) { return stand_in_input(2, 0, i); }

bool all_are_taken(Engine& engine) {
  for (unsigned i = 0; i < kManyJobs; ++i) {
    const auto taken = engine.submit(stand_in_request(id_of(i), input_of(i)));
    EXPECT_TRUE(taken.ok()) << taken.error().message;
    if (!taken.ok()) return false;
    EXPECT_EQ(taken->acceptance, Acceptance::kNew);
  }
  return true;
}

void expect_all_completed(Engine& engine) {
  for (unsigned i = 0; i < kManyJobs; ++i) {
    const JobView view = await_end(engine, id_of(i));
    ASSERT_EQ(view.record.state, JobState::kCompleted) << i;
    EXPECT_EQ(view.record.crash_count, 0u) << i;
    EXPECT_EQ(*engine.result(id_of(i)), stand_in_result(*input_of(i))) << i;
  }
  EXPECT_EQ(engine.report().live_jobs, 0u);
}

TEST(WorkerStall, SubmissionsAreAnsweredAndEndWhenItGoesOn) {
  const TemporaryFolder folder;
  auto [engine, process] = open_patient(folder.path());
  {
    const Standstill standstill(process->process_id());
    ASSERT_TRUE(answer_of([&e = *engine] { return all_are_taken(e); }).value_or(false));
    EXPECT_EQ(engine->find(id_of(0))->record.state, JobState::kQueued);
    EXPECT_EQ(engine->submit(stand_in_request(id_of(0), input_of(0)))->acceptance,
              Acceptance::kJoined);
  }
  expect_all_completed(*engine);
  EXPECT_EQ(engine->report().crash_count, 0u);
}

TEST(WorkerStall, SubmissionsGoToTheNextProcessWhenItIsEnded) {
  const TemporaryFolder folder;
  auto [engine, process] = open_patient(folder.path());
  {
    Standstill standstill(process->process_id());
    ASSERT_TRUE(answer_of([&e = *engine] { return all_are_taken(e); }).value_or(false));
    standstill.end(SIGKILL);
  }
  expect_all_completed(*engine);
  EXPECT_EQ(engine->report().crash_count, 1u);
}

TEST(WorkerStall, WaitsKeepTheirTimeAndOthersAreAnswered) {
  const TemporaryFolder folder;
  auto [engine, process] = open_patient(folder.path());
  std::promise<JobState> ended;
  std::shared_ptr<Subscription> handle;
  {
    const Standstill standstill(process->process_id());
    const auto ask = [](auto call) {
      const bool is_answered = answer_of(call).has_value();
      EXPECT_TRUE(is_answered);
      return is_answered;
    };
    Engine& e = *engine;
    ASSERT_TRUE(ask([&e] { return e.submit(stand_in_request("a", input_of(1))).ok(); }));
    const auto late = answer_of([&e] { return e.await("a", milliseconds(10)); });
    ASSERT_TRUE(late && late->ok());
    EXPECT_FALSE((*late)->has_value());
    const auto waiting =
        e.on_final("a", [&ended](const JobView& job) { ended.set_value(job.record.state); });
    ASSERT_TRUE(waiting.ok());
    handle = *waiting;
    ASSERT_TRUE(ask([&e] { return e.report().live_jobs; }));
    ASSERT_TRUE(ask([&e] { return e.list({}).ok(); }));
  }
  EXPECT_EQ(ended.get_future().get(), JobState::kCompleted);
}

TEST(WorkerStall, ACancelledJobIsNotRunWhenItGoesOn) {
  const TemporaryFolder folder;
  auto [engine, process] = open_patient(folder.path());
  {
    const Standstill standstill(process->process_id());
    Engine& e = *engine;
    ASSERT_TRUE(answer_of([&e] { return all_are_taken(e); }).value_or(false));
    for (unsigned i = 0; i < kManyJobs; ++i) {
      const auto cancelled = answer_of([&e, i] { return e.cancel(id_of(i)); });
      ASSERT_TRUE(cancelled && cancelled->ok());
      EXPECT_EQ((*cancelled)->state, JobState::kCancelled);
      EXPECT_FALSE((*cancelled)->was_running);
    }
    EXPECT_EQ(await_end(e, id_of(0)).record.state, JobState::kCancelled);
    // One comes again before the process knows of either.
    const auto again =
        answer_of([&e] { return e.submit(stand_in_request(id_of(7), input_of(7))); });
    ASSERT_TRUE(again && again->ok());
    EXPECT_EQ((*again)->acceptance, Acceptance::kRetried);
  }
  EXPECT_EQ(await_end(*engine, id_of(7)).record.state, JobState::kCompleted);
  EXPECT_EQ(*engine->result(id_of(7)), stand_in_result(*input_of(7)));
  EXPECT_TRUE(engine->wait_idle(seconds(30)));
  EXPECT_TRUE(comes_true([&e = *engine] { return e.report().executor.counts.queued_jobs == 0; }));
  EXPECT_EQ(engine->find(id_of(8))->record.state, JobState::kCancelled);
}

TEST(WorkerStall, ARefusalThatComesLateIsTheJobsFailure) {
  const TemporaryFolder folder;
  auto [engine, process] = open_patient(folder.path(), WorkerMood::kRefusesJobs);
  {
    const Standstill standstill(process->process_id());
    Engine& e = *engine;
    const auto taken = answer_of([&e] { return e.submit(stand_in_request("a", input_of(1))); });
    ASSERT_TRUE(taken && taken->ok());
  }
  const JobView end = await_end(*engine, "a");
  ASSERT_EQ(end.record.state, JobState::kFailed);
  EXPECT_EQ(end.record.failure->kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(end.record.failure->message, "9 GiB of 8 GiB");
  EXPECT_EQ(engine->report().live_jobs, 0u);
  // Once it answers again, the submission hears the refusal.
  EXPECT_TRUE(comes_true([&e = *engine, i = 0u]() mutable {
    const auto refused = e.submit(stand_in_request(fmt::format("b-{}", i++), input_of(2)));
    return !refused.ok() && refused.error().kind == ErrorKind::kResourceExhausted;
  }));
}

TEST(WorkerStall, AStopEndsWithoutIt) {
  const TemporaryFolder folder;
  {
    EngineOptions options = engine_options_in(folder.path());
    options.answer_patience = milliseconds(30);
    auto worker = worker_options();
    worker.stop_timeout = milliseconds(200);
    auto [engine, process] = open_worker_engine(options, worker).value();
    Standstill standstill(process->process_id());
    ASSERT_TRUE(answer_of([&e = *engine] { return all_are_taken(e); }).value_or(false));
    engine->stop();
    standstill.leave();
  }
  auto [engine, process] = open_or_fail(folder.path());
  expect_all_completed(*engine);
}

// What the log says of a driver that breaks, fails in the same way many times and is mended.
TEST(WorkerStall, TheLogSaysOnceWhyItCannotStartAndThatItWorksAgain) {
  const TemporaryFolder folder;
  const auto broken = folder.path() / "broken";
  const std::string path = broken.string();
  auto worker = worker_options(WorkerMood::kDiesWhileFileExists);
  worker.setup.insert(worker.setup.end(), path.begin(), path.end());
  worker.pause_min = worker.pause_max = milliseconds(5);
  worker.down_patience = milliseconds(1);
  base::set_log_level(base::LogLevel::kInfo);
  {
    const LogKeeper log;
    const auto count = [&log](const std::string& words) {
      std::size_t count = 0;
      const std::string lines = log.lines();
      for (std::size_t at = 0; (at = lines.find(words, at)) != std::string::npos; ++at) ++count;
      return count;
    };
    auto [engine, process] =
        open_worker_engine(engine_options_in(folder.path() / "journal"), worker).value();
    EXPECT_EQ(count("the proving process w"), 0u) << log.lines();
    for (std::size_t round = 1; round <= 2; ++round) {
      const auto restarts = engine->report().executor.process_restarts;
      write_whole(broken, {});
      ASSERT_EQ(::kill(process->process_id(), SIGKILL), 0);
      ASSERT_TRUE(comes_true([&e = *engine, restarts] {
        return e.report().executor.process_restarts >= restarts + 5;
      }));
      std::filesystem::remove(broken);
      ASSERT_TRUE(comes_true([&] { return count("the proving process works again") == round; }));
      EXPECT_EQ(count("a start of the proving process failed"), round) << log.lines();
    }
    EXPECT_THAT(log.lines(),
                HasSubstr("jobs wait: the proving process ended by itself with code 7"));
    EXPECT_EQ(count("was started again"), 0u);
    ASSERT_EQ(::kill(process->process_id(), SIGKILL), 0);
    EXPECT_TRUE(comes_true([&] { return count("was started again and is ready") == 1; }));
  }
  base::set_log_level(base::LogLevel::kWarning);
}

}  // namespace
}  // namespace cuzk::engine
