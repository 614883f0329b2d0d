// One mutex, one line at a time.
//
// The level is an atomic outside of the mutex, because most lines are below it: asking whether one
// is wanted costs a load. A level that changes while a line is being written takes effect at the
// next line, which is enough.
#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace cuzk::base {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kWarning};
static_assert(LogLevel::kDebug < LogLevel::kInfo && LogLevel::kInfo < LogLevel::kWarning &&
                  LogLevel::kWarning < LogLevel::kError && LogLevel::kError < LogLevel::kOff,
              "levels are compared by their order");

// Where lines go. `write` is empty for standard error; both it and its calls are under `mutex`.
struct Sink {
  std::mutex mutex;
  std::function<void(LogLevel, std::string_view)> write;
};

Sink& sink() {
  // Never destroyed: a thread may log while statics die.
  static Sink* const instance = new Sink();
  return *instance;
}

}  // namespace

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: return "off";
  }
  return "off";
}

void set_log_level(LogLevel level) noexcept { g_level.store(level, std::memory_order_relaxed); }

bool log_enabled(LogLevel level) noexcept {
  return level != LogLevel::kOff && level >= g_level.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view message) {
  if (!log_enabled(level)) return;
  Sink& target = sink();
  const std::lock_guard lock(target.mutex);
  if (target.write) {
    target.write(level, message);
    return;
  }
  const std::string line = fmt::format("{}: {}\n", to_string(level), message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void set_log_sink(std::function<void(LogLevel, std::string_view)> write) {
  Sink& target = sink();
  const std::lock_guard lock(target.mutex);
  target.write = std::move(write);
}

}  // namespace cuzk::base
