// The one file that includes toml++, whose headers are heavy. The tree is copied into ours, so no
// type of the library and none of its exceptions leaves it.
#include <algorithm>
#include <exception>

#include <fmt/format.h>
// The library's code is in its shared object, which Debian ships.
#define TOML_HEADER_ONLY 0
#define TOML_SHARED_LIB 1
#include <toml++/toml.h>

#include "service/config_value.h"

namespace cuzk::service {
namespace {

ConfigValue convert(const toml::node& node);

// Members with the lines of their names; a name stands once, as TOML demands.
ConfigValue::Table convert_table(const toml::table& table) {
  ConfigValue::Table members;
  for (const auto& [key, node] : table) {
    members.push_back({std::string(key.str()), convert(node),
                       static_cast<std::uint32_t>(key.source().begin.line)});
  }
  // The library sorts by name; people read from top to bottom.
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  return members;
}

// Depth is bounded by the library's own limit on nesting.
ConfigValue convert(const toml::node& node) {
  ConfigValue value;
  value.line = static_cast<std::uint32_t>(node.source().begin.line);
  if (const auto* text = node.as_string()) {
    value.content = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.content = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    value.content = number->get();
  } else if (const auto* flag = node.as_boolean()) {
    value.content = flag->get();
  } else if (const auto* array = node.as_array()) {
    ConfigValue::List list;
    for (const toml::node& entry : *array) list.push_back(convert(entry));
    value.content = std::move(list);
  } else if (const auto* table = node.as_table()) {
    value.content = convert_table(*table);
  }
  return value;
}

}  // namespace

// The line is that of the place where the library gave up, which may be after the slip itself.
base::Result<ConfigValue> read_toml(std::string_view text, std::string_view source) {
  try {
    return convert(toml::parse(text));
  } catch (const toml::parse_error& error) {
    // A description may quote a line of any length.
    return base::Error{base::ErrorKind::kMalformed,
                       fmt::format("{}:{}: not TOML: {}", source, error.source().begin.line,
                                   std::string_view(error.description()).substr(0, 256))};
  } catch (const std::exception& error) {
    return base::Error{base::ErrorKind::kMalformed,
                       fmt::format("{}: cannot be read: {}", source, error.what())};
  }
}

// By the places of the variant's types; the first one stands for what no key takes.
std::string_view ConfigValue::kind_name() const {
  static_assert(std::variant_size_v<decltype(content)> == 7);
  switch (content.index()) {
    case 1: return "true or false";
    case 2: return "an integer";
    case 3: return "a fraction";
    case 4: return "a string";
    case 5: return "a list";
    case 6: return "a table";
  }
  return "a date or a time";
}

// Quotes, backslashes and control characters are escaped; bytes of UTF-8 stay as they are.
std::string quote_toml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace cuzk::service
