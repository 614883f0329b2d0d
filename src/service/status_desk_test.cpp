// Every question for the status is answered, whatever making the report or telling another one
// does.
#include "service/status_desk.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

using base::ErrorKind;

// Gathers answers, by question.
class Answers {
 public:
  StatusDesk::Answer take(std::size_t question) {
    return [this, question](const StatusDesk::Made& made) {
      const std::lock_guard lock(mutex_);
      answers_.push_back({question, made.ok() ? "ok" : std::string(to_string(made.error().kind))});
      changed_.notify_all();
    };
  }
  bool wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return answers_.size() >= count; });
  }
  std::vector<std::pair<std::size_t, std::string>> all() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::size_t, std::string>> answers_;
};

TEST(StatusDesk, AReportThatThrowsAnswersItsRoundWithTheReason) {
  int round = 0;
  StatusDesk desk([&round]() -> StatusReport {
    ++round;
    if (round == 1) throw std::bad_alloc();
    if (round == 2) throw std::runtime_error("a library");
    return {};
  });
  Answers answers;
  for (std::size_t question = 0; question < 3; ++question) {
    ASSERT_TRUE(desk.ask(answers.take(question)));
    ASSERT_TRUE(answers.wait(question + 1)) << "question " << question << " has no answer";
  }
  EXPECT_EQ(answers.all(), (std::vector<std::pair<std::size_t, std::string>>{
                               {0, "resource_exhausted"}, {1, "internal"}, {2, "ok"}}));
  desk.stop();
  EXPECT_FALSE(desk.ask(answers.take(3)));
}

TEST(StatusDesk, AnAnswerThatThrowsKeepsNoOtherFromItsOwn) {
  std::atomic<bool> may_go{false}, has_begun{false};
  StatusDesk desk([&]() -> StatusReport {
    has_begun = true;
    while (!may_go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  });
  Answers answers;
  // The first has a round alone; those that come meanwhile share the next.
  ASSERT_TRUE(desk.ask(answers.take(0)));
  while (!has_begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(desk.ask([](const StatusDesk::Made&) { throw std::bad_alloc(); }));
  ASSERT_TRUE(desk.ask(answers.take(1)));
  may_go = true;
  ASSERT_TRUE(answers.wait(2));
  EXPECT_EQ(answers.all()[1].first, 1u);
  EXPECT_EQ(desk.report_count(), 2u);
}

}  // namespace
}  // namespace cuzk::service
