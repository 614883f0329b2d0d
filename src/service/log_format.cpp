// One write a line, so that lines of several threads do not mix. The form is chosen when the sink
// is made, and with each reload anew.
#include "service/log_format.h"

#include <chrono>
#include <cstdio>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuzk::service {
namespace {

constexpr std::int64_t kMsPerSecond = 1000;

// RFC 3339 in UTC, so that lines of machines in several time zones sort.
std::string timestamp(std::int64_t now_ms) {
  const auto seconds = static_cast<std::time_t>(now_ms / kMsPerSecond);
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, now_ms % kMsPerSecond);
}

// Numbers of syslog(3), which journald reads.
int syslog_level(base::LogLevel level) {
  switch (level) {
    case base::LogLevel::kDebug: return 7;
    case base::LogLevel::kInfo: return 6;
    case base::LogLevel::kWarning: return 4;
    case base::LogLevel::kError:
    case base::LogLevel::kOff: break;
  }
  return 3;
}

// Control characters as \xNN; bytes from 0x80 on stay, for they are UTF-8 or nobody's.
std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

// Pure, so that its forms can be tested without a clock and a terminal.
std::string format_log_line(LogFormat format, base::LogLevel level, std::string_view message,
                            std::int64_t now_ms) {
  switch (format) {
    case LogFormat::kJson: {
      nlohmann::ordered_json line;
      line["ts"] = timestamp(now_ms);
      line["level"] = std::string(base::to_string(level));
      line["message"] = std::string(message);
      return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    }
    case LogFormat::kJournald:
      return fmt::format("<{}>{}\n", syslog_level(level), one_line(message));
    case LogFormat::kText: break;
  }
  return fmt::format("{} {:<7} {}\n", timestamp(now_ms), base::to_string(level), one_line(message));
}

// The sink may be called by several threads; it shares nothing but standard error.
void use_log_format(LogFormat format) {
  base::set_log_sink([format](base::LogLevel level, std::string_view message) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string line = format_log_line(
        format, level, message, std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    std::fwrite(line.data(), 1, line.size(), stderr);
  });
}

}  // namespace cuzk::service
