// Rendering of answers.
//
// The two forms come from one list of facts, so that neither says what the other leaves out. Words
// of files and clients go through here on their way to a terminal, which is why sub-commands hand
// over an Answer and print nothing (`top` draws, with the same printable()).
#include "apps/cuzk/answer.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace cuzk::apps {
namespace {

using Json = nlohmann::ordered_json;

// How people read a value that nobody put into words.
std::string shown_value(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.dump();
}

// Never throws on text that is not UTF-8 (a path, a line of a damaged file).
std::string dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

// All others come down to add_as().
Answer& Answer::add(std::string key, Json value, std::string label) {
  std::string shown = shown_value(value);
  return add_as(std::move(key), std::move(value), std::move(label), std::move(shown));
}

Answer& Answer::add_as(std::string key, Json value, std::string label, std::string shown) {
  CUZK_ASSERT(!key.empty());
  facts_.push_back({std::move(key), std::move(label), std::move(shown), std::move(value)});
  return *this;
}

Answer& Answer::add_bytes(std::string key, std::uint64_t bytes, std::string label) {
  return add_as(std::move(key), bytes, std::move(label), human_bytes(bytes));
}

Answer& Answer::add_seconds(std::string key, double seconds, std::string label) {
  // Milliseconds: more digits would be noise.
  const double rounded = std::round(seconds * 1000) / 1000;
  return add_as(std::move(key), rounded, std::move(label), fmt::format("{:.2f} s", seconds));
}

Answer& Answer::warn(std::string sentence) {
  warnings_.push_back(std::move(sentence));
  return *this;
}

// One line a fact, whatever its text holds, so that lines can be told apart by programs too.
std::string Answer::to_text() const {
  std::string text = headline_ + "\n";
  for (const Fact& fact : facts_) {
    if (!fact.label.empty()) text += fmt::format("  {}: {}\n", fact.label, printable(fact.shown));
  }
  for (const std::string& sentence : warnings_)
    text += fmt::format("  note: {}\n", printable(sentence));
  return text;
}

std::string Answer::to_json() const {
  Json object = Json::object();
  // Facts first, in their order; warnings last, and only where there are any.
  for (const Fact& fact : facts_) object[fact.key] = fact.value;
  if (!warnings_.empty()) object["warnings"] = warnings_;
  return dump(object, 2) + "\n";
}

std::string error_json(const base::Error& error) {
  const Json object = {
      {"error", {{"kind", base::to_string(error.kind)}, {"message", error.message}}}};
  return dump(object, -1) + "\n";
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    // By bytes, not characters: C0, DEL, and the C1 controls in the two bytes that UTF-8 gives
    // them, which terminals obey as well.
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are two bytes in UTF-8, the first of them c2.
    const bool second = i > 0 && text[i - 1] == '\xc2' && byte >= 0x80 && byte < 0xa0;
    if (byte < 0x20 || byte == 0x7f || second) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

// Powers of 1024 with their names; two decimals tell 1.04 GiB from 1.
std::string human_bytes(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
    amount /= 1024;
    ++unit;
  }
  CUZK_ASSERT(unit < std::size(kUnits));
  return fmt::format("{:.2f} {}", amount, kUnits[unit]);
}

}  // namespace cuzk::apps
