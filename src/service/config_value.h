// A TOML document as a plain tree, so that one file alone knows the library that reads it. Every
// value keeps its line, because that is what a sentence about a configuration has to name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace cuzk::service {

struct ConfigMember;

// A value with the line where it stands. Dates are not values of any key and are not kept.
struct ConfigValue {
  using List = std::vector<ConfigValue>;
  using Table = std::vector<ConfigMember>;  // in order of appearance, names once
  struct Other {};                          // a date or a time
  std::variant<Other, bool, std::int64_t, double, std::string, List, Table> content;
  std::uint32_t line = 0;

  // "a string", "an integer", ... for messages.
  std::string_view kind_name() const;
};

struct ConfigMember {
  std::string name;
  ConfigValue value;
  std::uint32_t line = 0;  // of the name
};

// Error kMalformed "SOURCE:LINE: ..." where the text is not TOML. The result is a table.
base::Result<ConfigValue> read_toml(std::string_view text, std::string_view source);

// `text` as a TOML basic string with its quotes.
std::string quote_toml(std::string_view text);

}  // namespace cuzk::service
