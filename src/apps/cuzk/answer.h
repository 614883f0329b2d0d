// What a sub-command has to say, once for people and once for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace cuzk::apps {

// The exit codes of every sub-command. kNo is an answer, not a failure: an invalid proof, a witness
// that does not satisfy its circuit. More may be added and none changed: scripts branch on them.
// job_client.h has a fourth (3), and a run that was interrupted ends with 130 (base/interrupt.h).
inline constexpr int kExitYes = 0, kExitNo = 1, kExitError = 2;
static_assert(kExitYes == 0);  // what a shell takes for success

// A headline and facts in order. As text: the headline, then one indented line a fact. As JSON: one
// object with a member for each fact; keys are snake_case with the unit last.
class Answer {
 public:
  explicit Answer(std::string headline, int exit_code = kExitYes)
      : headline_(std::move(headline)), exit_code_(exit_code) {
    CUZK_ASSERT(exit_code >= 0 && exit_code < 128);  // shells take larger ones for signals
  }

  // Facts stand in the order in which they are added. A key that is added twice has two lines in
  // the text and in JSON the later value.
  // A fact. `label` is how people read it; an empty one keeps it out of the text.
  Answer& add(std::string key, nlohmann::ordered_json value, std::string label);
  // The same with a value that people read differently, e.g. "1.04 GiB" for 1114707768.
  Answer& add_as(std::string key, nlohmann::ordered_json value, std::string label,
                 std::string shown);
  // Exact in JSON, rounded for people. Seconds are rounded in both.
  Answer& add_bytes(std::string key, std::uint64_t bytes, std::string label);
  Answer& add_seconds(std::string key, double seconds, std::string label);
  // Something that the user should know; in text on its own line, in JSON in the list "warnings".
  // It does not change the exit code.
  Answer& warn(std::string sentence);

  int exit_code() const noexcept { return exit_code_; }
  // Both end with a line end. Text from outside is made printable on the way out, but for the
  // headline: who makes one of foreign words calls printable() on them.
  std::string to_text() const;
  std::string to_json() const;

 private:
  // `shown` is kept beside the value because it cannot be had from it: "1.04 GiB" of a number.
  struct Fact {
    std::string key, label, shown;
    nlohmann::ordered_json value;
  };

  std::string headline_;
  int exit_code_;
  std::vector<Fact> facts_;
  std::vector<std::string> warnings_;
};

// {"error": {"kind": ..., "message": ...}}, one line.
std::string error_json(const base::Error& error);

// The text with control characters as \xNN, for terminals: a file's name or content must not move
// the cursor or change the colours. Line ends are control characters too.
std::string printable(std::string_view text);

// "1.04 GiB", "512 bytes".
std::string human_bytes(std::uint64_t bytes);

}  // namespace cuzk::apps
