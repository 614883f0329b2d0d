// The line that the bar draws, and silence where there is no terminal.
#include "base/progress.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cuzk::base
