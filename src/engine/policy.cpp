// The words of priorities and stages.
//
// They are part of what clients send and of what traces and status pages show, so a word never
// changes; a switch without a default makes the compiler name what is missing here.
#include "engine/policy.h"

#include <string>

namespace cuzk::engine {

std::string_view to_string(Priority priority) noexcept {
  switch (priority) {
    case Priority::kCritical: return "critical";
    case Priority::kHigh: return "high";
    case Priority::kNormal: return "normal";
    case Priority::kLow: return "low";
  }
  return "normal";
}

base::Result<Priority> parse_priority(std::string_view word) {
  for (std::size_t i = 0; i < kPriorityCount; ++i) {
    const auto priority = static_cast<Priority>(i);
    if (to_string(priority) == word) return priority;
  }
  // A client's word, so only the beginning of it comes back.
  return base::Error{base::ErrorKind::kInvalidArgument,
                     "priority: found '" + std::string(word.substr(0, 64)) +
                         "', expected critical, high, normal or low"};
}

std::string_view to_string(Stage stage) noexcept {
  switch (stage) {
    case Stage::kWitness: return "witness";
    case Stage::kDevice: return "device";
    case Stage::kFinish: return "finish";
  }
  return "witness";
}

}  // namespace cuzk::engine
