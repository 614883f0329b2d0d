// The silent sink and the terminal bar.
//
// Workers only add to a state under a mutex; one thread of the bar's own looks at it ten times a
// second and draws. So work pays the same for being watched however slow the terminal is.
#include "base/progress.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mutex.h"

namespace cuzk::base {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRedrawInterval{100};
constexpr std::chrono::seconds kSilence{1};
constexpr std::size_t kBarColumns = 24;

class SilentProgress final : public ProgressSink {
 public:
  void begin_stage(std::string_view, std::uint64_t) override {}
  void advance(std::uint64_t) override {}
};

std::size_t terminal_columns() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// Lives from construction to destruction with its drawer: there is no state in between, and
// destruction waits for the redraw that is under way. What workers and the drawer share is under
// `mutex_`.
class TerminalProgress final : public ProgressSink {
 public:
  TerminalProgress() : start_(Clock::now()), drawer_([this] { draw_until_done(); }) {}
  ~TerminalProgress() override {
    {
      const MutexLock lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    drawer_.join();
  }
  void begin_stage(std::string_view name, std::uint64_t total_units) override {
    const MutexLock lock(mutex_);
    state_ = {std::string(name), 0, total_units};
  }
  void advance(std::uint64_t units) override {
    const MutexLock lock(mutex_);
    state_.done_units += units;
  }

 private:
  struct State {
    std::string stage;
    std::uint64_t done_units = 0, total_units = 0;
  };

  // The state after a redraw interval, or nothing once the work is done.
  std::optional<State> wait_for_redraw() {
    const MutexLock lock(mutex_);
    const auto until = Clock::now() + kRedrawInterval;
    while (!done_) {
      if (wake_.wait_until(mutex_, until) == std::cv_status::timeout) break;
    }
    if (done_) return std::nullopt;
    return state_;
  }

  // Writes without the lock: a terminal that takes nothing (Ctrl-S) stops the drawer, not the work.
  void draw_until_done() {
    bool drawn = false;
    while (const std::optional<State> state = wait_for_redraw()) {
      const auto elapsed = Clock::now() - start_;
      if (elapsed < kSilence || state->stage.empty()) continue;
      const double elapsed_s = std::chrono::duration<double>(elapsed).count();
      const std::string line = render_progress(state->stage, state->done_units, state->total_units,
                                               elapsed_s, terminal_columns() - 1);
      std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
      std::fflush(stderr);
      drawn = true;
    }
    if (drawn) std::fputs("\r\x1b[K", stderr);
  }

  Mutex mutex_;
  std::condition_variable_any wake_;
  bool done_ CUZK_GUARDED_BY(mutex_) = false;
  State state_ CUZK_GUARDED_BY(mutex_);
  const Clock::time_point start_;
  std::thread drawer_;  // last: it uses all of the above
};

}  // namespace

ProgressSink& silent_progress() {
  static SilentProgress sink;
  return sink;
}

std::unique_ptr<ProgressSink> make_terminal_progress() {
  if (::isatty(STDERR_FILENO) == 0) return std::make_unique<SilentProgress>();
  return std::make_unique<TerminalProgress>();
}

std::string render_progress(std::string_view stage, std::uint64_t done_units,
                            std::uint64_t total_units, double elapsed_s, std::size_t columns) {
  std::string line = fmt::format("{} ", stage);
  if (total_units > 0) {
    const double fraction =
        static_cast<double>(std::min(done_units, total_units)) / static_cast<double>(total_units);
    const auto filled = static_cast<std::size_t>(fraction * kBarColumns);
    CUZK_ASSERT(filled <= kBarColumns);  // the fraction is at most one
    line += fmt::format("[{}{}] {:.0f}% ", std::string(filled, '#'),
                        std::string(kBarColumns - filled, '.'), fraction * 100);
  }
  line += fmt::format("{:.0f} s", elapsed_s);
  // A longer line would wrap, and the next redraw could not wipe it.
  if (line.size() > columns) line.resize(columns);
  return line;
}

}  // namespace cuzk::base
