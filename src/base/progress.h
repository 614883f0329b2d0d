// Progress of long work, told by whoever works and shown by whoever watches.
//
// Work announces stages and advances them; it never asks whether anyone looks. The terminal bar
// appears only where standard error is a terminal and the work has taken over a second.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cuzk::base {

// Receives progress. All calls are thread-safe. An advance() that arrives after the next stage has
// begun counts for that one: a bar is a hint to a person, no account.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // A new stage of `total_units` units of work (0: not known) replaces the one before.
  virtual void begin_stage(std::string_view name, std::uint64_t total_units) = 0;
  virtual void advance(std::uint64_t units) = 0;
};

// Ignores everything.
ProgressSink& silent_progress();

// A bar on standard error, redrawn ten times a second by its own thread and wiped when it dies.
// silent_progress-like where standard error is not a terminal.
std::unique_ptr<ProgressSink> make_terminal_progress();

// One line of at most `columns` characters: name, bar and percent when the total is known, and
// elapsed seconds. What the terminal bar draws.
std::string render_progress(std::string_view stage, std::uint64_t done_units,
                            std::uint64_t total_units, double elapsed_s, std::size_t columns);

}  // namespace cuzk::base
