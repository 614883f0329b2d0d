// Levels filter, sinks receive, nothing is written by default below a warning.
#include "base/log.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk::base {
namespace {

class LogTest : public ::testing::Test {
 protected:
  void TearDown() override {
    set_log_sink({});
    set_log_level(LogLevel::kWarning);
  }
};

TEST_F(LogTest, DropsWhatIsBelowTheLevel) {
  std::vector<std::pair<LogLevel, std::string>> lines;
  set_log_sink([&](LogLevel level, std::string_view text) { lines.emplace_back(level, text); });
  log(LogLevel::kInfo, "quiet");
  log(LogLevel::kWarning, "first");
  set_log_level(LogLevel::kDebug);
  log(LogLevel::kDebug, "second");
  set_log_level(LogLevel::kOff);
  log(LogLevel::kError, "silenced");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], std::make_pair(LogLevel::kWarning, std::string("first")));
  EXPECT_EQ(lines[1].second, "second");
}

TEST_F(LogTest, WritesOneLineToStandardError) {
  ::testing::internal::CaptureStderr();
  log(LogLevel::kError, "disk is full");
  log(LogLevel::kInfo, "never seen");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "error: disk is full\n");
}

TEST_F(LogTest, OffIsNotALevelOfALine) {
  set_log_level(LogLevel::kDebug);
  EXPECT_FALSE(log_enabled(LogLevel::kOff));
  EXPECT_TRUE(log_enabled(LogLevel::kDebug));
  EXPECT_EQ(to_string(LogLevel::kWarning), "warning");
}

}  // namespace
}  // namespace cuzk::base
