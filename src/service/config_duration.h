// Times as people write them in a configuration: "30s", "5m", "1h 30m". Also the `timeout` of a
// wait over HTTP.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cuzk::service {

// One or more "<digits><unit>", largest unit first, each at most once, a space between them
// allowed; units d, h, m, s, ms. Errors (kInvalidArgument): no unit, a fraction, a sign, more than
// a thousand years.
base::Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The shortest text that parse_duration reads back: "1h30m", "0s".
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace cuzk::service
