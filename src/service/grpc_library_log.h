// What gRPC's library says of itself, which it does in lines of a log and nowhere else.
#pragma once

#include <cstdint>
#include <string_view>

namespace cuzk::service {

// From now on its lines go to our log, and the one that tells of a closed listener is counted. For
// the whole process, since the library knows only one place for its lines.
void take_library_lines();

// Begins the library's last line, after which it ends the process.
inline constexpr std::string_view kLastWords = "assertion failed";

// How many listeners of this process the library has closed by itself since its start. It does so
// at the first connection that it cannot accept, says not which, and never opens one again.
std::uint64_t closed_listener_count();

}  // namespace cuzk::service
