// The line that the bar draws, and silence where there is no terminal.
#include "base/progress.h"

#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <termios.h>
#include <unistd.h>

namespace cuzk::base {
namespace {

TEST(RenderProgress, ShowsBarAndPercentWhenTheTotalIsKnown) {
  EXPECT_EQ(render_progress("proving", 1, 2, 3.2, 79),
            "proving [############............] 50% 3 s");
  EXPECT_EQ(render_progress("proving", 0, 2, 0, 79), "proving [........................] 0% 0 s");
}

TEST(RenderProgress, NeverPassesTheEnd) {
  EXPECT_EQ(render_progress("x", 9, 3, 1, 79), "x [########################] 100% 1 s");
}

TEST(RenderProgress, ShowsTimeAloneWhenTheTotalIsNotKnown) {
  EXPECT_EQ(render_progress("reading the key", 5, 0, 12, 79), "reading the key 12 s");
}

TEST(RenderProgress, FitsTheTerminal) {
  EXPECT_EQ(render_progress("a long stage name", 1, 2, 3, 10).size(), 10u);
  EXPECT_TRUE(render_progress("stage", 1, 2, 3, 0).empty());
}

TEST(Progress, IsSilentWithoutATerminal) {
  ::testing::internal::CaptureStderr();  // standard error becomes a file
  {
    const auto progress = make_terminal_progress();
    progress->begin_stage("work", 10);
    progress->advance(10);
    silent_progress().begin_stage("work", 10);
    silent_progress().advance(1);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// Standard error as a terminal of our own, for as long as it lives.
class OwnTerminal {
 public:
  OwnTerminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) return;
    slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    if (slave_ < 0) return;
    saved_ = ::dup(STDERR_FILENO);
    ::dup2(slave_, STDERR_FILENO);
  }
  ~OwnTerminal() {
    if (saved_ >= 0) ::dup2(saved_, STDERR_FILENO);
    for (const int fd : {saved_, slave_, master_}) {
      if (fd >= 0) ::close(fd);
    }
  }
  bool is_open() const { return saved_ >= 0; }
  // What Ctrl-S and Ctrl-Q do.
  void stop_output() { ASSERT_EQ(::tcflow(slave_, TCOOFF), 0); }
  void resume_output() { ASSERT_EQ(::tcflow(slave_, TCOON), 0); }
  std::string read_some() {
    char bytes[256];
    const auto count = ::read(master_, bytes, sizeof bytes);
    return count > 0 ? std::string(bytes, std::size_t(count)) : std::string();
  }

 private:
  int master_ = -1, slave_ = -1, saved_ = -1;
};

TEST(Progress, StoppedTerminalDoesNotStopTheWork) {
  OwnTerminal terminal;
  if (!terminal.is_open()) GTEST_SKIP() << "no pseudo-terminal to be had";
  auto progress = make_terminal_progress();
  progress->begin_stage("long work", 4);
  const std::string first = terminal.read_some();  // waits for the first line, after a second
  EXPECT_NE(first.find("long work"), std::string::npos);
  terminal.stop_output();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the drawer now hangs in a write
  auto work = std::async(std::launch::async, [&] {
    for (int i = 0; i < 100; ++i) progress->advance(1);
    progress->begin_stage("more work", 1);
  });
  EXPECT_EQ(work.wait_for(std::chrono::seconds(5)), std::future_status::ready);
  terminal.resume_output();
  work.wait();
  progress.reset();
}

}  // namespace
}  // namespace cuzk::base
