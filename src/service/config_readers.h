// Rows of the key table by the type of their value. A field is given as a function that returns a
// reference to it, so that reading, showing and copying use the same one. What each type takes and
// with which words it refuses is said here once; the rows (config_keys.cpp) have names, limits and
// fields alone.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/byte_size.h"
#include "service/config_duration.h"
#include "service/config_keys.h"

namespace cuzk::service {

inline base::Error value_fault(std::string message) {
  return {base::ErrorKind::kInvalidArgument, std::move(message)};
}

template <class T>
base::Result<T> value_as(const ConfigValue& value, std::string_view expected) {
  if (const T* content = std::get_if<T>(&value.content)) return *content;
  return value_fault(fmt::format("{} was expected, found {}", expected, value.kind_name()));
}

// Fills the functions of a row from `parse` (ConfigValue to Result of the field's type) and `show`
// (field to TOML).
template <class Field, class Parse, class Show>
ConfigKey make_key(std::string name, std::string note, bool live, Field field, Parse parse,
                   Show show) {
  ConfigKey key{std::move(name), std::move(note), live, {}, {}, {}};
  key.read = [field, parse](Config& config, const ConfigValue& value) -> base::Status {
    CUZK_TRY(field(config), parse(value));
    return base::ok_status();
  };
  key.show = [field, show](const Config& config) { return show(field(config)); };
  key.copy = [field](Config& to, const Config& from) { field(to) = field(from); };
  return key;
}

template <class Field>
ConfigKey flag_key(std::string name, std::string note, bool live, Field field) {
  return make_key(
      std::move(name), std::move(note), live, field,
      [](const ConfigValue& value) { return value_as<bool>(value, "true or false"); },
      [](bool flag) { return std::string(flag ? "true" : "false"); });
}

template <class Field>
ConfigKey number_key(std::string name, std::string note, bool live, Field field,
                     std::uint64_t least, std::uint64_t most) {
  using T = std::remove_cvref_t<decltype(field(std::declval<Config&>()))>;
  const auto parse = [least, most](const ConfigValue& value) -> base::Result<T> {
    CUZK_TRY(const std::int64_t number, value_as<std::int64_t>(value, "a whole number"));
    if (number < 0 || static_cast<std::uint64_t>(number) < least ||
        static_cast<std::uint64_t>(number) > most) {
      return value_fault(fmt::format("{} is outside {} to {}", number, least, most));
    }
    return static_cast<T>(number);
  };
  return make_key(std::move(name), std::move(note), live, field, parse,
                  [](T number) { return fmt::format("{}", number); });
}

// A whole number of bytes, or a string as flags take it: with a unit, or digits alone.
inline base::Result<std::uint64_t> read_size(const ConfigValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.content)) {
    if (*number < 0) return value_fault(fmt::format("{} bytes are less than none", *number));
    return static_cast<std::uint64_t>(*number);
  }
  CUZK_TRY(const std::string text, value_as<std::string>(value, "a size such as \"48GiB\""));
  return base::parse_byte_size(text);
}

// The shortest exact spelling, quoted: "48GiB", "1000B".
std::string show_size(std::uint64_t bytes);

template <class Field>
ConfigKey size_key(std::string name, std::string note, bool live, Field field, std::uint64_t least,
                   std::uint64_t most) {
  const auto parse = [least, most](const ConfigValue& value) -> base::Result<std::uint64_t> {
    CUZK_TRY(const std::uint64_t bytes, read_size(value));
    if (bytes < least || bytes > most) {
      return value_fault(fmt::format("{} is outside {} to {}", base::format_byte_count(bytes),
                                     base::format_byte_count(least),
                                     base::format_byte_count(most)));
    }
    return bytes;
  };
  return make_key(std::move(name), std::move(note), live, field, parse, show_size);
}

// A string with units, or a whole number of seconds.
inline base::Result<std::chrono::milliseconds> read_duration(const ConfigValue& value) {
  if (const auto* seconds = std::get_if<std::int64_t>(&value.content)) {
    return parse_duration(fmt::format("{}s", *seconds));
  }
  CUZK_TRY(std::string text, value_as<std::string>(value, "a duration such as \"5m\""));
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) text += 's';
  return parse_duration(text);
}

template <class Field>
ConfigKey duration_key(std::string name, std::string note, bool live, Field field,
                       std::chrono::milliseconds least, std::chrono::milliseconds most) {
  using Ms = std::chrono::milliseconds;
  const auto parse = [least, most](const ConfigValue& value) -> base::Result<Ms> {
    CUZK_TRY(const Ms duration, read_duration(value));
    if (duration < least || duration > most) {
      return value_fault(fmt::format("{} is outside {} to {}", format_duration(duration),
                                     format_duration(least), format_duration(most)));
    }
    return duration;
  };
  return make_key(std::move(name), std::move(note), live, field, parse,
                  [](Ms duration) { return quote_toml(format_duration(duration)); });
}

// One of some words. The first word of a value is the one shown.
template <class Field, class T>
ConfigKey word_key(std::string name, std::string note, bool live, Field field,
                   std::vector<std::pair<std::string, T>> words) {
  const auto parse = [words](const ConfigValue& value) -> base::Result<T> {
    CUZK_TRY(const std::string text, value_as<std::string>(value, "a word in quotes"));
    std::string known;
    for (const auto& [word, meaning] : words) {
      if (word == text) return meaning;
      known += (known.empty() ? "" : ", ") + word;
    }
    return value_fault(fmt::format("'{}' is none of {}", text.substr(0, 64), known));
  };
  const auto show = [words](T meaning) {
    const auto found = std::find_if(words.begin(), words.end(),
                                    [&](const auto& pair) { return pair.second == meaning; });
    return quote_toml(found->first);
  };
  return make_key(std::move(name), std::move(note), live, field, parse, show);
}

template <class Field>
ConfigKey path_key(std::string name, std::string note, bool live, Field field) {
  const auto parse = [](const ConfigValue& value) -> base::Result<std::filesystem::path> {
    CUZK_TRY(const std::string text, value_as<std::string>(value, "a path in quotes"));
    if (text.find('\0') != std::string::npos) return value_fault("the path has a zero byte");
    if (text.size() > 4095) return value_fault("the path is longer than 4095 bytes");
    return std::filesystem::path(text);
  };
  return make_key(std::move(name), std::move(note), live, field, parse,
                  [](const std::filesystem::path& path) { return quote_toml(path.string()); });
}

// One value or a list of them, read by `parse_one`; shown always as a list.
template <class T, class Parse>
base::Result<std::vector<T>> read_list(const ConfigValue& value, const Parse& parse_one) {
  std::vector<T> all;
  if (const auto* list = std::get_if<ConfigValue::List>(&value.content)) {
    for (const ConfigValue& entry : *list) {
      CUZK_TRY(T one, parse_one(entry));
      all.push_back(std::move(one));
    }
    return all;
  }
  CUZK_TRY(T one, parse_one(value));
  all.push_back(std::move(one));
  return all;
}

template <class T, class Show>
std::string show_list(const std::vector<T>& all, const Show& show_one) {
  std::string text = "[";
  for (const T& one : all) text += (text.size() > 1 ? ", " : "") + show_one(one);
  return text + "]";
}

}  // namespace cuzk::service
