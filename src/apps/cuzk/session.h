// What a running sub-command has of its surroundings: progress, the stop flag, the clock.
//
// Handed to the work so that it neither prints nor looks at signals itself; tests give it a session
// of their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "apps/cuzk/answer.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/result.h"
#include "groth16/control.h"

namespace cuzk::apps {

// Options that every sub-command takes.
struct CommonOptions {
  // The answer, or the error, as one JSON object on standard output.
  bool json = false;
  unsigned threads = 0;  // 0: all CPUs of this process
  // Most bytes that counted buffers may take, as base::resolve_budget reads it; empty: no budget.
  std::string memory;
};

// Alive while one sub-command runs. Ctrl-C asks its stop token to stop, once and for good: a
// watcher looks at the signal's flag, because a handler may not touch a stop source. Progress and
// token may be used by any thread of the work; end_progress() only by the one that runs it, when no
// other reports any more.
class Session {
 public:
  explicit Session(const CommonOptions& options);
  ~Session();

  const CommonOptions& options() const noexcept { return options_; }
  base::ProgressSink& progress() noexcept { return *progress_; }
  // Starts a stage of unknown length for the progress line.
  void stage(std::string_view name) { progress_->begin_stage(name, 0); }
  std::stop_token stop_token() const noexcept { return stop_.get_token(); }
  groth16::Control control() noexcept { return {progress_.get(), stop_token()}; }
  // What a flag names: a file, or a stream that is read until Ctrl-C. Errors as base::open_input.
  base::Result<std::shared_ptr<const base::MappedFile>> open_input(
      const std::filesystem::path& path) const;
  double elapsed_s() const;
  // Again possible afterwards: a later stage has a line of its own.
  // Ends the progress line, so that the answer stands on a clean one.
  void end_progress();

 private:
  CommonOptions options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  // Never null; replaced by end_progress().
  std::unique_ptr<base::ProgressSink> progress_;
  std::stop_source stop_;
  // Last, as it looks at what stands before it.
  std::jthread watcher_;
};

// Peak resident set of this process so far.
std::uint64_t peak_rss_bytes();

// A sub-command after its arguments are parsed.
using Action = std::function<base::Result<Answer>(Session&)>;

}  // namespace cuzk::apps
