// Log lines on standard error. Quiet by default: a command speaks through its output and its
// errors.
#pragma once

#include <functional>
#include <string_view>

namespace cuzk::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// The level as a word, e.g. "warning".
std::string_view to_string(LogLevel level) noexcept;

// Lines below `level` are dropped. Starts as kWarning. Thread-safe.
void set_log_level(LogLevel level) noexcept;
bool log_enabled(LogLevel level) noexcept;

// Writes one line "level: message" in one piece, so lines of several threads do not mix. Format
// with fmt::format after asking log_enabled where that costs.
void log(LogLevel level, std::string_view message);

// Where lines go instead of standard error; an empty function restores it. For tests and for the
// daemon's formats. The sink is called under the log's lock, one line at a time from any thread, so
// it must not log and must not wait for a thread that does.
void set_log_sink(std::function<void(LogLevel, std::string_view)> sink);

}  // namespace cuzk::base
