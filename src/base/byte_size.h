// Sizes in bytes as people write them: "48GiB", "1.5 TiB", "500 MB".
//
// Budgets, limits and cache sizes enter by the first function, from flags and files alike, and are
// shown by the third. Digits without a unit are bytes everywhere, so that nobody has to know which
// unit a setting is counted in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cuzk::base {

// The bytes of "<number><unit>", with at most one space between. The number is decimal digits with
// an optional fraction; the unit is B, or KiB MiB GiB TiB PiB (powers of 1024), or kB MB GB TB PB
// (powers of 1000), in capitals or not. Digits alone are bytes: "1000000000" is 1GB. What a
// fraction leaves below a byte is dropped, so "2.2MiB", as sizes are shown to people, is 2306867.
// Errors (kInvalidArgument): a fraction without a unit or of "B", another spelling ("48G"), a sign,
// more than 2^63-1.
Result<std::uint64_t> parse_byte_size(std::string_view text);

// The same for what has to be right to the byte, such as a sector's size: a fraction that leaves
// something below a byte is an error.
Result<std::uint64_t> parse_byte_count(std::string_view text);

// The same for people: "48 GiB", "1.04 GiB", "512 B". Two decimals at most, rounded to nearest.
std::string format_byte_size(std::uint64_t bytes);

// The same without rounding, for a size beside the border that it crosses: "1023 KiB", "1048577 B".
std::string format_byte_count(std::uint64_t bytes);

}  // namespace cuzk::base
