// Log lines of a daemon, for people, for journald and for programs. Commands keep the plain form of
// base/log.h; a daemon's lines are read by machines too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.h"
#include "service/config.h"

namespace cuzk::service {

// One line with its end. Text: "2026-01-02T03:04:05.678Z info  message". JSON: an object with ts,
// level and message. Journald: the level as its prefix ("<6>message"); it keeps the time itself.
// Control characters never leave as they are, so that no message can look like two.
std::string format_log_line(LogFormat format, base::LogLevel level, std::string_view message,
                            std::int64_t now_ms);

// From now on lines go to standard error in this form.
void use_log_format(LogFormat format);

}  // namespace cuzk::service
