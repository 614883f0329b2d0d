// The table of all keys: one row says how a key is read, shown and explained, and whether a running
// daemon can take a change of it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/config.h"
#include "service/config_value.h"

namespace cuzk::service {

// Names stand once, and those of a section together. All three functions are set and use the same
// field of Config, so what is read is what is shown and copied.
struct ConfigKey {
  std::string name;  // "daemon.listen"
  std::string note;  // one sentence for people
  bool live = false;
  // Takes a value over; the error says what is wrong with it, without its place.
  std::function<base::Status(Config&, const ConfigValue&)> read;
  // The value as TOML; empty where it is not set and has no spelling.
  std::function<std::string(const Config&)> show;
  // Copies the value from one configuration to another.
  std::function<void(Config&, const Config&)> copy;
};

// In the order in which people see them. Made at the first call, thread-safe, never changed.
const std::vector<ConfigKey>& config_keys();

// A key of the Rust daemon, or of an earlier version, that does nothing here. A warning says
// `reason` unless the value is the one (as TOML, a string without its quotes) that needs no word.
struct RetiredKey {
  std::string_view name;
  std::string_view reason;
  std::string_view harmless;  // empty: always warned of
};
const std::vector<RetiredKey>& retired_keys();

// The key most like `name`, or empty: misspelt, or in another section.
std::string nearest_key(std::string_view name);

// Where the journal stands when no key says so, by the environment: systemd's folder, else the
// user's, else the system's.
std::filesystem::path default_journal_folder(
    const std::function<std::string(const char*)>& environment);

// The list [[circuits]] as values; its errors name the entry.
base::Result<std::vector<Config::Circuit>> read_circuits(const ConfigValue& value);

}  // namespace cuzk::service
