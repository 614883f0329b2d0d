// Strict: "1h" of the Rust daemon silently meant five minutes; here a text means what it says or is
// refused.
#include "service/config_duration.h"

#include <array>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"

namespace cuzk::service {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};
// Largest first.
constexpr std::array<Unit, 5> kUnits = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
static_assert([] {
  for (std::size_t i = 1; i < kUnits.size(); ++i) {
    if (kUnits[i].ms >= kUnits[i - 1].ms) return false;
  }
  return true;
}());
// Beyond what anybody means, but more than a clock in nanoseconds holds: keys and waits have
// smaller bounds of their own.
constexpr std::int64_t kMsMax = 1000LL * 365 * 86'400'000;
constexpr std::size_t kDigitsMax = 14;  // the largest time in ms has as many; no overflow below
static_assert(kDigitsMax <= std::numeric_limits<std::int64_t>::digits10);
static_assert(kMsMax / 10'000'000'000'000 > 0 && kMsMax / 100'000'000'000'000 == 0);

base::Error fault(std::string_view text, std::string_view reason) {
  return {base::ErrorKind::kInvalidArgument,
          fmt::format("'{}' is not a duration: {} (write for example 30s, 5m, 1h30m or 250ms)",
                      text.substr(0, 64), reason)};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Cuts the longest beginning off `text` whose characters all are, and gives it.
template <class Is>
std::string_view take_while(std::string_view& text, const Is& is) {
  std::size_t count = 0;
  while (count < text.size() && is(text[count])) ++count;
  const std::string_view taken = text.substr(0, count);
  text.remove_prefix(count);
  return taken;
}

}  // namespace

base::Result<std::chrono::milliseconds> parse_duration(std::string_view whole) {
  std::string_view text = whole;
  std::int64_t total_ms = 0;
  std::size_t next_unit = 0;
  if (text.empty()) return fault(whole, "it is empty");
  while (!text.empty()) {
    const std::string_view digits = take_while(text, is_digit);
    if (digits.empty()) return fault(whole, "a number was expected");
    if (digits.size() > kDigitsMax) return fault(whole, "the number is too large");
    const std::string_view name = take_while(text, is_letter);
    if (name.empty()) return fault(whole, "the unit is missing");
    // From the unit after the last one on: a larger or a second one is not found.
    std::size_t unit = next_unit;
    while (unit < kUnits.size() && kUnits[unit].name != name) ++unit;
    if (unit == kUnits.size()) {
      return fault(whole, "units are d, h, m, s and ms, the largest first, each once");
    }
    std::int64_t number = 0;
    for (const char c : digits) number = number * 10 + (c - '0');
    if (number > (kMsMax - total_ms) / kUnits[unit].ms) {
      return fault(whole, "it is over a thousand years");
    }
    total_ms += number * kUnits[unit].ms;
    next_unit = unit + 1;
    // Between two parts only; a space at the end is left, and is no digit.
    if (text.size() > 1 && text[0] == ' ') text.remove_prefix(1);
  }
  CUZK_ASSERT(total_ms >= 0 && total_ms <= kMsMax);
  return std::chrono::milliseconds(total_ms);
}

std::string format_duration(std::chrono::milliseconds duration) {
  std::int64_t left_ms = duration.count();
  if (left_ms <= 0) return "0s";
  std::string text;
  // The largest unit takes all it can: 90 minutes come back as 1h30m.
  for (const Unit& unit : kUnits) {
    if (left_ms >= unit.ms) text += fmt::format("{}{}", left_ms / unit.ms, unit.name);
    left_ms %= unit.ms;
  }
  return text;
}

}  // namespace cuzk::service
