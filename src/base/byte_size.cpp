// Strict reading of sizes; exact arithmetic in 128 bits, so that a fraction is right to the byte.
//
// No library function is used to read the number: those accept signs, exponents, other bases or a
// locale's comma, and a budget of a thousandth of what was meant is found out only under load.
#include "base/byte_size.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"

namespace cuzk::base {
namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::uint64_t kBytesMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kThousand = 1000;
// The powers of 1024 first and in rising order: format_byte_size walks through them alone.
constexpr std::array<Unit, 11> kUnits = {{
    {"B", 1},
    {"KiB", std::uint64_t{1} << 10},
    {"MiB", std::uint64_t{1} << 20},
    {"GiB", std::uint64_t{1} << 30},
    {"TiB", std::uint64_t{1} << 40},
    {"PiB", std::uint64_t{1} << 50},
    {"kB", kThousand},
    {"MB", kThousand* kThousand},
    {"GB", kThousand* kThousand* kThousand},
    {"TB", kThousand* kThousand* kThousand* kThousand},
    {"PB", kThousand* kThousand* kThousand* kThousand* kThousand},
}};
// More digits than any size that fits has, few enough that the products below fit 128 bits.
constexpr std::size_t kDigitsMax = 19;
static_assert(kDigitsMax <= std::numeric_limits<std::uint64_t>::digits10,
              "a number below 2^64 times a unit of at most 2^50 stays far below 2^128");
static_assert(kUnits[5].bytes == std::uint64_t{1} << 50 && kUnits[10].bytes < kUnits[5].bytes,
              "PiB is the largest unit");

// The text is quoted cut short: it may be a whole file that was given in the wrong place.
Error fault(std::string_view text, std::string_view reason) {
  return {ErrorKind::kInvalidArgument,
          fmt::format("'{}' is not a size: {} (write for example 48GiB or 1.5TiB)",
                      text.substr(0, 64), reason)};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits at the front of `text`.
std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// The value of at most kDigitsMax digits; 0 for none.
Wide number_of(std::string_view digits) {
  CUZK_ASSERT(digits.size() <= kDigitsMax);
  Wide number = 0;
  for (const char c : digits) number = number * 10 + static_cast<unsigned>(c - '0');
  return number;
}

// Bytes, and whether the text means exactly these.
struct Parsed {
  std::uint64_t bytes;
  bool is_exact;
};

Result<Parsed> parse(std::string_view text) {
  std::string_view rest = text;
  const std::string_view whole = take_digits(rest);
  if (whole.empty()) return fault(text, "it does not begin with a digit");
  std::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty()) return fault(text, "no digit follows the point");
  }
  // Before any arithmetic: what follows relies on the numbers being short.
  if (whole.size() > kDigitsMax || fraction.size() > kDigitsMax) {
    return fault(text, "it has too many digits");
  }
  // Digits and nothing else; what has a fraction must say of what.
  if (whole.size() == text.size()) rest = kUnits[0].name;
  if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (rest.empty()) return fault(text, "it has no unit");
  for (const Unit& unit : kUnits) {
    if (!same_letters(unit.name, rest)) continue;
    // The unit comes before the division, so only what is below a byte is lost.
    Wide scale = 1;
    for (std::size_t i = 0; i < fraction.size(); ++i) scale *= 10;
    const Wide part = number_of(fraction) * unit.bytes;
    if (unit.bytes == 1 && part != 0) return fault(text, "a byte has no fractions");
    const Wide bytes = number_of(whole) * unit.bytes + part / scale;
    if (bytes > kBytesMax) return fault(text, "it is more than any machine has");
    return Parsed{static_cast<std::uint64_t>(bytes), part % scale == 0};
  }
  return fault(text, "its unit is none of B KiB MiB GiB TiB PiB kB MB GB TB PB");
}

}  // namespace

Result<std::uint64_t> parse_byte_size(std::string_view text) {
  CUZK_TRY(const Parsed parsed, parse(text));
  return parsed.bytes;
}

Result<std::uint64_t> parse_byte_count(std::string_view text) {
  CUZK_TRY(const Parsed parsed, parse(text));
  if (!parsed.is_exact) return fault(text, "it is no whole number of bytes");
  return parsed.bytes;
}

std::string format_byte_size(std::uint64_t bytes) {
  std::size_t index = 0;
  while (index + 1 < 6 && bytes >= kUnits[index + 1].bytes) ++index;
  const Unit& unit = kUnits[index];
  if (bytes % unit.bytes == 0) return fmt::format("{} {}", bytes / unit.bytes, unit.name);
  CUZK_ASSERT(bytes > unit.bytes);  // a part is left over, which cannot be with plain bytes
  const double amount = static_cast<double>(bytes) / static_cast<double>(unit.bytes);
  return fmt::format("{:.2f} {}", amount, unit.name);
}

std::string format_byte_count(std::uint64_t bytes) {
  std::size_t index = 0;
  while (index + 1 < 6 && bytes != 0 && bytes % kUnits[index + 1].bytes == 0) ++index;
  return fmt::format("{} {}", bytes / kUnits[index].bytes, kUnits[index].name);
}

}  // namespace cuzk::base
