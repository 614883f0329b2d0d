// Many clients of one engine at once: each gets its own, who goes away leaves nothing, who asks is
// answered whatever the work does.
#include <future>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_test_support.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using std::chrono::seconds;
using namespace testing_support;

// Runs body(client) on so many threads.
template <class Body>
void run_clients(unsigned count, const Body& body) {
  std::vector<std::future<void>> clients;
  for (unsigned client = 0; client < count; ++client) {
    clients.push_back(std::async(std::launch::async, [&body, client] { body(client); }));
  }
  for (auto& client : clients) client.get();
}

// A thousand jobs of two kinds from 32 clients, no two with the same input.
TEST(EngineClients, EachGetsTheResultOfItsOwnInput) {
  constexpr unsigned kClients = 32, kJobs = 1000;
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), 4);
  std::atomic<unsigned> right{0};
  run_clients(kClients, [&, &e = *engine](unsigned client) {
    for (unsigned i = client; i < kJobs; i += kClients) {
      const std::string id = fmt::format("job-{}", i);
      const SharedBytes input = stand_in_input(static_cast<std::uint8_t>(1 + i % 3), 0, i);
      SubmitRequest request =
          stand_in_request(id, input, static_cast<Priority>(i % kPriorityCount));
      if (i % 2 == 1) request.kind = "other";
      const auto taken = e.submit(request);
      ASSERT_TRUE(taken.ok()) << taken.error().message;
      const JobView view = await_end(e, id, seconds(120));
      EXPECT_EQ(view.record.state, JobState::kCompleted);
      EXPECT_EQ(view.record.kind, request.kind);
      const auto result = e.result(id);
      ASSERT_TRUE(result.ok()) << result.error().message;
      if (*result == stand_in_result(*input)) ++right;
    }
  });
  EXPECT_EQ(right, kJobs);
  const EngineReport report = engine->report();
  EXPECT_EQ(report.live_jobs, 0u);
  ASSERT_EQ(report.queues.size(), 2u);
  EXPECT_EQ(report.queues[0].completed, kJobs / 2);
  EXPECT_EQ(report.queues[1].completed, kJobs / 2);
}

// A hundred clients leave at random moments: their await ends with its time, their handle dies
// before, during or after the end. Nothing of them is left, and the queue drains.
TEST(EngineClients, WhoLeavesAtAnyMomentLeavesNothingBehind) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
  std::atomic<unsigned> gone_but_called{0};
  run_clients(100, [&, &e = *engine](unsigned client) {
    std::mt19937_64 random(client);
    for (unsigned i = 0; i < 3; ++i) {
      const std::string id = fmt::format("job-{}-{}", client, i);
      ASSERT_TRUE(e.submit(stand_in_request(id, stand_in_input(2, 1, client * 3 + i))).ok());
      const auto patience = milliseconds(random() % 20);
      if (random() % 2 == 0) {
        ASSERT_TRUE(e.await(id, patience).ok());
        continue;
      }
      const auto is_gone = std::make_shared<std::atomic<bool>>(false);
      auto handle = e.on_final(id, [&, is_gone](const JobView&) { gone_but_called += *is_gone; });
      ASSERT_TRUE(handle.ok());
      std::this_thread::sleep_for(patience);
      *handle = nullptr;
      *is_gone = true;
    }
  });
  ASSERT_TRUE(engine->wait_idle(seconds(120)));
  EXPECT_EQ(gone_but_called, 0u);
  const EngineReport report = engine->report();
  EXPECT_EQ(report.live_jobs, 0u);
  EXPECT_EQ(report.waiting_calls, 0u);
  EXPECT_EQ(executor->held_count(), 0u);
  ASSERT_TRUE(engine->submit(stand_in_request("next", stand_in_input(1, 0, 1))).ok());
  EXPECT_EQ(await_end(*engine, "next").record.state, JobState::kCompleted);
}

// Whoever asks is answered while a job runs that is not over before the last answer; the second job
// waits behind it.
TEST(EngineClients, PollsAreAnsweredWhileAJobRuns) {
  const TemporaryFolder folder;
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), 1);
  ASSERT_TRUE(engine->submit(stand_in_request("first", stand_in_input(255, 250, 1))).ok());
  while (engine->find("first")->record.state != JobState::kRunning) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  const SharedBytes input = stand_in_input(1, 1, 2);
  ASSERT_TRUE(engine->submit(stand_in_request("second", input)).ok());
  std::vector<std::chrono::steady_clock::duration> times;
  for (int poll = 0; poll < 100; ++poll) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(engine->find("first")->record.state, JobState::kRunning);
    EXPECT_EQ(engine->find("second")->record.state, JobState::kQueued);
    EXPECT_EQ(engine->list({})->size(), 2u);
    EXPECT_EQ(engine->report().live_jobs, 2u);
    times.push_back(std::chrono::steady_clock::now() - begin);
  }
  // Each partition takes 250 ms: who waited for one would show in the median, which a busy machine
  // does not move.
  std::nth_element(times.begin(), times.begin() + 50, times.end());
  EXPECT_LT(times[50], milliseconds(50));
  EXPECT_TRUE(engine->cancel("first")->was_running);
  EXPECT_EQ(await_end(*engine, "second").record.state, JobState::kCompleted);
  EXPECT_EQ(*engine->result("second"), stand_in_result(*input));
}

// While the executor takes its time over a new job, who waits for the job has a place, keeps the
// time that was asked for, and hears how it went.
TEST(EngineClients, WaitsDoNotStandInLineBehindASubmission) {
  for (const bool is_refused : {false, true}) {
    const TemporaryFolder folder;
    auto [engine, executor] = open_stand_in(engine_options_in(folder.path()));
    Engine& e = *engine;
    std::promise<void> gate;
    if (is_refused) executor->refuse(base::Error{ErrorKind::kResourceExhausted, "9 GiB of 8 GiB"});
    executor->before_run([opened = gate.get_future().share()] { opened.wait(); });
    auto submitting = std::async(std::launch::async, [&e] {
      return e.submit(stand_in_request("a", stand_in_input(1, 0, 1)));
    });
    while (executor->run_count() == 0) std::this_thread::sleep_for(milliseconds(1));
    std::promise<JobView> told;
    auto waiting = std::async(std::launch::async, [&e, &told] {
      const auto late = e.await("a", milliseconds(5));
      EXPECT_TRUE(late.ok() && !late->has_value());
      return e.on_final("a", [&told](const JobView& view) { told.set_value(view); });
    });
    const bool is_ready = waiting.wait_for(seconds(30)) == std::future_status::ready;
    gate.set_value();
    ASSERT_TRUE(is_ready);
    const auto handle = waiting.get();
    ASSERT_TRUE(handle.ok());
    const JobView view = told.get_future().get();
    EXPECT_EQ(view.record.request_id, "a");
    EXPECT_EQ(view.record.state, is_refused ? JobState::kFailed : JobState::kCompleted);
    EXPECT_EQ(submitting.get().ok(), !is_refused);
    if (!is_refused) continue;
    ASSERT_TRUE(view.record.failure);
    EXPECT_EQ(view.record.failure->message, "9 GiB of 8 GiB");
    EXPECT_EQ(e.find("a").error().kind, ErrorKind::kNotFound);
    EXPECT_EQ(e.report().live_jobs, 0u);
  }
}

// What a stop finds: three jobs that run and five that wait. All are kept and none is answered.
TEST(EngineClients, AStopKeepsWhatRunsAndWhatWaits) {
  constexpr unsigned kRunning = 3, kJobs = 8;
  const TemporaryFolder folder;
  const auto id_of = [](unsigned i) { return fmt::format("job-{}", i); };
  const auto input_of = [](unsigned i) { return stand_in_input(20, 5, i); };
  {
    auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), kRunning);
    for (unsigned i = 0; i < kJobs; ++i) {
      ASSERT_TRUE(engine->submit(stand_in_request(id_of(i), input_of(i))).ok());
    }
    while (executor->started().size() < kRunning || executor->proved_count() < 5) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    auto waits = std::async(std::launch::async,
                            [&e = *engine, id = id_of(7)] { return e.await(id, seconds(60)); });
    engine->stop();
    const auto answer = waits.get();
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
    const auto refused = engine->submit(stand_in_request("late", input_of(9)));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
    engine->stop();  // a second time is nothing
  }
  auto [engine, executor] = open_stand_in(engine_options_in(folder.path()), kRunning);
  for (unsigned i = 0; i < kJobs; ++i) {
    EXPECT_EQ(await_end(*engine, id_of(i)).record.state, JobState::kCompleted) << i;
    EXPECT_EQ(*engine->result(id_of(i)), stand_in_result(*input_of(i)));
  }
  EXPECT_LT(executor->proved_count(), 20u * kJobs) << "finished partitions are not proved again";
}

}  // namespace
}  // namespace cuzk::engine
