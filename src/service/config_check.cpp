// What no single key shows: the circuits' list, keys that must go together, the budget on this
// machine, tokens; and the nearest name for one that does not exist.
#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/file.h"
#include "service/config.h"
#include "service/config_keys.h"
#include "service/config_readers.h"

namespace cuzk::service {
namespace {

constexpr std::uint64_t kTokenFileBytesMax = std::uint64_t{1} << 20;
constexpr std::size_t kTokenBytesMin = 16, kTokenBytesMax = 512;
constexpr std::size_t kNameBytesMax = 64;

// Of values that are fine one by one.
base::Error mismatch(std::string message) {
  return {base::ErrorKind::kMismatch, std::move(message)};
}

// Levenshtein's distance, for names of a line at most. One row of the table is kept: O(a b) time,
// O(b) memory; names are cut before they come here.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, above + 1, row[j - 1] + 1});
      diagonal = above;
    }
  }
  CUZK_ASSERT(row.back() <= std::max(a.size(), b.size()));
  return row.back();
}

// "listen" of "daemon.listen"; the whole of a name without a dot.
std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// Characters that need no escape in a path, for a circuit is named in those of the REST mirror.
base::Status check_circuit_name(const std::string& name) {
  const bool odd = std::any_of(name.begin(), name.end(), [](char c) {
    return !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
           c != '-' && c != '_' && c != '.';
  });
  if (name.empty() || name.size() > kNameBytesMax || odd) {
    return value_fault(fmt::format("circuits: a name has 1 to {} letters, digits, '-', '_' and '.'",
                                   kNameBytesMax));
  }
  return base::ok_status();
}

// Whether the file is there and is a key is asked when it is opened, not here.
base::Result<Config::Circuit> read_circuit(const ConfigValue& value) {
  CUZK_TRY(const auto table, value_as<ConfigValue::Table>(value, "a table with name and zkey"));
  Config::Circuit circuit;
  for (const ConfigMember& member : table) {
    if (member.name != "name" && member.name != "zkey") {
      return value_fault(fmt::format("circuits: there is no key {}; an entry has name and zkey",
                                     member.name.substr(0, 80)));
    }
    CUZK_TRY(std::string text, value_as<std::string>(member.value, "a string"));
    if (member.name == "name") {
      circuit.name = std::move(text);
    } else {
      circuit.zkey = std::move(text);
    }
  }
  CUZK_TRY_STATUS(check_circuit_name(circuit.name));
  if (circuit.zkey.empty()) {
    return value_fault(fmt::format("circuits: {} has no zkey", circuit.name));
  }
  return circuit;
}

// Addresses once each, and no open door: who listens where other machines come, and asks them for
// neither token nor certificate, has to say that this is meant (auth.required = "never").
base::Status check_listeners(const Config& config) {
  if (config.daemon.listen.empty()) return mismatch("daemon.listen: no address is given");
  std::vector<Address> all = config.daemon.listen;
  if (config.daemon.status_listen) all.push_back(*config.daemon.status_listen);
  std::set<std::string> seen;
  bool remote = false;
  for (const Address& address : all) {
    remote = remote || !address.is_local();
    // Two listeners may both leave the port to the system.
    const bool chosen = address.kind == Address::Kind::kTcp && address.port == 0;
    if (!chosen && !seen.insert(address.to_string()).second) {
      return mismatch(fmt::format("daemon: {} is listened on twice", address.to_string()));
    }
  }
  const bool open = config.auth.token_file.empty() && config.tls.client_ca.empty();
  if (config.auth.required == AuthRequired::kAlways && config.auth.token_file.empty()) {
    return mismatch("auth.required is \"always\" and auth.token_file is not set");
  }
  if (remote && open && config.auth.required != AuthRequired::kNever) {
    return mismatch(
        "daemon.listen: other machines could submit jobs without a token; set auth.token_file, "
        "listen on 127.0.0.1 or a unix socket, or, where the network is trusted (Curio's client "
        "shows no token), set auth.required = \"never\"");
  }
  return base::ok_status();
}

}  // namespace

// Each row is compared: some tens of short names, and only for a key that does not exist.
std::string nearest_key(std::string_view name) {
  name = name.substr(0, 2 * kNameBytesMax);
  std::string best;
  // Two wrong letters, or a quarter of a long name; what is farther is a guess.
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 4) + 1;
  const auto offer = [&](std::string_view candidate) {
    // The same word in another section is nearer than any other name.
    const bool moved = last_part(candidate) == last_part(name);
    const std::size_t far = moved ? 1 : distance(name, candidate);
    if (far < best_distance) best = candidate, best_distance = far;
  };
  for (const ConfigKey& key : config_keys()) offer(key.name);
  return best;
}

// In the order of the file; the first fault ends it.
base::Result<std::vector<Config::Circuit>> read_circuits(const ConfigValue& value) {
  const auto* list = std::get_if<ConfigValue::List>(&value.content);
  if (list == nullptr) {
    return value_fault(
        fmt::format("circuits: a list of tables, [[circuits]], was expected, found "
                    "{}",
                    value.kind_name()));
  }
  std::vector<Config::Circuit> circuits;
  std::set<std::string> names;
  for (const ConfigValue& entry : *list) {
    CUZK_TRY(Config::Circuit circuit, read_circuit(entry));
    if (!names.insert(circuit.name).second) {
      return value_fault(fmt::format("circuits: {} is named twice", circuit.name));
    }
    circuits.push_back(std::move(circuit));
  }
  return circuits;
}

// The first that is wrong: these are few, and one often follows from another.
base::Status check_config(const Config& config) {
  if (config.tls.certificate.empty() != config.tls.key.empty()) {
    return mismatch("tls: certificate and key go together, one of them is not set");
  }
  if (!config.tls.client_ca.empty() && !config.tls.enabled()) {
    return mismatch("tls.client_ca needs tls.certificate and tls.key");
  }
  if (config.http.request_timeout < config.http.read_timeout) {
    return mismatch("http.request_timeout is shorter than http.read_timeout");
  }
  return check_listeners(config);
}

// The largest unit that divides it, so nothing is rounded.
std::string show_size(std::uint64_t bytes) {
  constexpr std::pair<const char*, int> kUnits[] = {
      {"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}};
  for (const auto& [unit, log2] : kUnits) {
    if (bytes != 0 && bytes % (std::uint64_t{1} << log2) == 0) {
      return fmt::format("\"{}{}\"", bytes >> log2, unit);
    }
  }
  return fmt::format("\"{}B\"", bytes);
}

// A margin that leaves nothing is refused: a budget of 0 would mean that there is none.
base::Result<std::uint64_t> memory_budget_bytes(const Config& config,
                                                const base::MemoryLimits& limits) {
  const auto& memory = config.memory;
  if (memory.total_budget != "auto" || !memory.safety_margin_bytes) {
    auto budget = base::resolve_budget(memory.total_budget, limits);
    if (!budget.ok()) return std::move(budget).error().within("memory.total_budget");
    return budget;
  }
  // The margin of the configuration in place of resolve_budget's own.
  const std::uint64_t limit_bytes = limits.limit_bytes();
  if (*memory.safety_margin_bytes >= limit_bytes) {
    return value_fault(fmt::format("memory.safety_margin: {} leaves nothing of {}",
                                   base::format_byte_size(*memory.safety_margin_bytes),
                                   base::format_byte_size(limit_bytes)));
  }
  return limit_bytes - *memory.safety_margin_bytes;
}

// Line by line: a comment is cut off, then white space at the end; what is left is a token.
base::Result<std::vector<std::string>> read_tokens(const std::filesystem::path& path) {
  CUZK_TRY(const base::Bytes bytes, base::read_file(path, kTokenFileBytesMax));
  // 0007: neither the owner nor of the file's group.
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) == 0 && (facts.st_mode & 0007) != 0) {
    return value_fault(
        fmt::format("{}: others may use this file of tokens (mode {:04o}); set mode "
                    "0600 or 0640",
                    path.string(), static_cast<unsigned>(facts.st_mode & 07777)));
  }
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> tokens;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view token = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    token = token.substr(0, token.find('#'));
    while (!token.empty() && (token.back() == ' ' || token.back() == '\r' || token.back() == '\t'))
      token.remove_suffix(1);
    if (token.empty()) continue;
    const bool odd =
        std::any_of(token.begin(), token.end(), [](char c) { return c <= ' ' || c > '~'; });
    if (odd || token.size() < kTokenBytesMin || token.size() > kTokenBytesMax) {
      return value_fault(fmt::format("{}:{}: a token has {} to {} visible ASCII characters",
                                     path.string(), line, kTokenBytesMin, kTokenBytesMax));
    }
    tokens.emplace_back(token);
  }
  if (tokens.empty()) return value_fault(fmt::format("{}: there is no token", path.string()));
  return tokens;
}

bool token_matches(const std::vector<std::string>& tokens, std::string_view presented) {
  // Every byte of every token is looked at, whatever came before. What is presented is read round
  // and round, so that its length does not show in the time either.
  bool found = false;
  for (const std::string& token : tokens) {
    unsigned difference = token.size() == presented.size() ? 0 : 1;
    for (std::size_t i = 0; i < token.size(); ++i) {
      const char other = presented.empty() ? '\0' : presented[i % presented.size()];
      difference |= static_cast<unsigned char>(token[i]) ^ static_cast<unsigned char>(other);
    }
    found = found | (difference == 0);
  }
  return found;
}

}  // namespace cuzk::service
