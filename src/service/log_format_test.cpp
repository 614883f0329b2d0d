// Lines of the log in their three forms.
#include "service/log_format.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cuzk::service {
namespace {

using base::LogLevel;
constexpr std::int64_t kNow_ms = 1'767'323'045'678;  // 2026-01-02 03:04:05.678 UTC

TEST(LogFormat, TextHasTimeAndLevel) {
  EXPECT_EQ(format_log_line(LogFormat::kText, LogLevel::kInfo, "a job ended", kNow_ms),
            "2026-01-02T03:04:05.678Z info    a job ended\n");
}

TEST(LogFormat, JsonIsAnObjectALine) {
  const std::string line =
      format_log_line(LogFormat::kJson, LogLevel::kWarning, "say \"no\"\nnow\xff", kNow_ms);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["ts"], "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(json["level"], "warning");
  EXPECT_EQ(json["message"], "say \"no\"\nnow\xEF\xBF\xBD");
}

TEST(LogFormat, JournaldGetsTheLevelOfSyslog) {
  const auto line = [](LogLevel level) {
    return format_log_line(LogFormat::kJournald, level, "x", kNow_ms);
  };
  EXPECT_EQ(line(LogLevel::kDebug), "<7>x\n");
  EXPECT_EQ(line(LogLevel::kInfo), "<6>x\n");
  EXPECT_EQ(line(LogLevel::kWarning), "<4>x\n");
  EXPECT_EQ(line(LogLevel::kError), "<3>x\n");
}

TEST(LogFormat, NoMessageLooksLikeTwo) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJournald, LogFormat::kJson}) {
    const std::string line = format_log_line(format, LogLevel::kInfo, "a\n<3>b\x1b[31m\r", kNow_ms);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.find('\r'), std::string::npos);
  }
}

}  // namespace
}  // namespace cuzk::service
