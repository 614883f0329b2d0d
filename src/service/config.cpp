// Reading, showing and reloading by the table of keys. Nothing here names a key, but for the list
// of circuits: a new key is a row of the table and works in all three.
#include "service/config.h"

#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "service/config_keys.h"
#include "service/config_readers.h"

namespace cuzk::service {
namespace {

constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 20;
// A file that is something else altogether has thousands; the first ones show that.
constexpr std::size_t kFaultsShownMax = 20;

// One reading: what was found so far. Faults are gathered instead of ending it, for who corrects a
// file wants to hear of all.
class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {
    for (const ConfigKey& key : config_keys()) keys_[key.name] = &key;
    for (const RetiredKey& key : retired_keys()) retired_[key.name] = &key;
    CUZK_ASSERT(keys_.size() == config_keys().size());  // each name stands once
    for (const auto& [name, key] : keys_) sections_.insert(name.substr(0, name.find('.')));
  }

  // `document` is a table, as read_toml gives it: circuits, sections, and nothing else.
  void read_document(const ConfigValue& document) {
    for (const ConfigMember& member : std::get<ConfigValue::Table>(document.content)) {
      if (member.name == "circuits") {
        read_circuit_list(member);
      } else if (const auto* table = std::get_if<ConfigValue::Table>(&member.value.content)) {
        read_section(member, *table);
      } else {
        unknown(member.name, member.line);
      }
    }
  }

  // What was read, or all that is wrong with it. Moves the result out: called once.
  base::Result<LoadedConfig> finish() {
    if (faults_.empty()) {
      // Only once each key is fine by itself: a key that could not be read has its default, and
      // what that does not go with is nobody's fault.
      if (const base::Status whole = check_config(loaded_.config); !whole.ok()) {
        return base::Error(whole.error()).within(source_);
      }
      return std::move(loaded_);
    }
    std::string all;
    for (std::size_t i = 0; i < faults_.size() && i < kFaultsShownMax; ++i) {
      all += (i > 0 ? "; " : "") + faults_[i];
    }
    if (faults_.size() > kFaultsShownMax) {
      all += fmt::format("; and {} more", faults_.size() - kFaultsShownMax);
    }
    return base::Error{base::ErrorKind::kInvalidArgument, all};
  }

 private:
  // `sentence` begins with the key that it is about.
  void fault(std::uint32_t line, const std::string& sentence) {
    faults_.push_back(fmt::format("{}:{}: {}", source_, line, sentence));
  }

  // A key or section that is not in the table, with the nearest that is.
  void unknown(const std::string& name, std::uint32_t line) {
    const std::string shown = name.substr(0, 80), near = nearest_key(name);
    fault(line, near.empty() ? fmt::format("there is no key {}", shown)
                             : fmt::format("there is no key {}; did you mean {}?", shown, near));
  }

  // A list with a fault is left out whole; the others of the document are still read.
  void read_circuit_list(const ConfigMember& member) {
    auto circuits = read_circuits(member.value);
    if (circuits.ok()) {
      loaded_.config.circuits = std::move(circuits).value();
    } else {
      fault(member.value.line, circuits.error().message);
    }
  }

  // A section of the table. An unknown one is named once, whatever is in it.
  void read_section(const ConfigMember& section, const ConfigValue::Table& table) {
    if (!sections_.contains(section.name)) {
      // With its first key, so that one of a section that was renamed is found by its last part.
      return unknown(table.empty() ? section.name : section.name + "." + table.front().name,
                     section.line);
    }
    for (const ConfigMember& member : table) {
      const std::string name = section.name + "." + member.name;
      if (const auto key = keys_.find(name); key != keys_.end()) {
        const base::Status read = key->second->read(loaded_.config, member.value);
        if (!read.ok()) fault(member.value.line, name + ": " + read.error().message);
      } else if (const auto retired = retired_.find(name); retired != retired_.end()) {
        read_retired(*retired->second, member);
      } else {
        unknown(name, member.line);
      }
    }
  }

  // A warning, unless the key asks for what is done anyway. The value is compared as text; false
  // has none, since no retired key is harmless when it is off.
  void read_retired(const RetiredKey& key, const ConfigMember& member) {
    std::string value;
    if (const auto* text = std::get_if<std::string>(&member.value.content)) value = *text;
    if (const auto* flag = std::get_if<bool>(&member.value.content)) value = *flag ? "true" : "";
    if (const auto* number = std::get_if<std::int64_t>(&member.value.content)) {
      value = fmt::format("{}", *number);
    }
    if (!key.harmless.empty() && value == key.harmless) return;
    loaded_.warnings.push_back(
        fmt::format("{}:{}: {} is {}", source_, member.line, key.name, key.reason));
  }

  std::string source_;
  // By the full name, "section.key"; the rows live as long as the program.
  std::map<std::string, const ConfigKey*> keys_;
  std::map<std::string_view, const RetiredKey*> retired_;
  std::set<std::string> sections_;
  LoadedConfig loaded_;
  std::vector<std::string> faults_;
};

// Empty without circuits: an empty list and none are the same to the reader.
std::string show_circuits(const std::vector<Config::Circuit>& circuits) {
  std::string text;
  for (const auto& circuit : circuits) {
    text += fmt::format("\n[[circuits]]\nname = {}\nzkey = {}\n", quote_toml(circuit.name),
                        quote_toml(circuit.zkey.string()));
  }
  return text;
}

// Empty for a variable that is not set: both mean that nobody said anything.
std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

// Looked at before it is parsed: a text of any size may be given here.
base::Result<LoadedConfig> parse_config(std::string_view text, std::string_view source) {
  if (text.size() > kFileBytesMax) {
    return base::Error{base::ErrorKind::kMalformed,
                       fmt::format("{}: {} bytes are too many for a configuration, {} at most",
                                   source, text.size(), kFileBytesMax)};
  }
  CUZK_TRY(const ConfigValue document, read_toml(text, source));
  Reader reader(source);
  reader.read_document(document);
  return reader.finish();
}

// A file that cannot be read is an error of the file's, not of its contents.
base::Result<LoadedConfig> load_config(const std::filesystem::path& path) {
  CUZK_TRY(const base::Bytes bytes, base::read_file(path, kFileBytesMax));
  return parse_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

// A key that is not set and has no spelling stands there as a comment, so that all keys are seen.
std::string to_toml(const Config& config, bool only_differences) {
  const Config defaults;
  std::string text, section;
  for (const ConfigKey& key : config_keys()) {
    const std::string value = key.show(config);
    // As text: two spellings of one value are no difference.
    if (only_differences && value == key.show(defaults)) continue;
    const std::size_t dot = key.name.find('.');
    // The table keeps the keys of a section together.
    if (key.name.substr(0, dot) != section) {
      section = key.name.substr(0, dot);
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    text += fmt::format("# {}\n{}{} = {}\n", key.note, value.empty() ? "# " : "",
                        key.name.substr(dot + 1), value.empty() ? "(not set)" : value);
  }
  return text + show_circuits(config.circuits);
}

// Compared is what is shown, which is all that a key is.
ReloadPlan plan_reload(const Config& running, const Config& wanted) {
  ReloadPlan plan{running, {}, {}};
  // What cannot change stays as it runs, so that the result is what the daemon really does.
  for (const ConfigKey& key : config_keys()) {
    if (key.show(running) == key.show(wanted)) continue;
    (key.live ? plan.changed : plan.restart).push_back(key.name);
    if (key.live) key.copy(plan.config, wanted);
  }
  if (running.circuits != wanted.circuits) plan.restart.push_back("circuits");
  CUZK_ASSERT(plan.changed.size() + plan.restart.size() <= config_keys().size() + 1);
  return plan;
}

std::filesystem::path default_journal_folder(
    const std::function<std::string(const char*)>& environment) {
  // systemd gives a list of folders, of which the first is ours.
  const std::string given = environment("STATE_DIRECTORY");
  if (!given.empty()) return given.substr(0, given.find(':'));
  const std::filesystem::path state = environment("XDG_STATE_HOME"), home = environment("HOME");
  // The XDG specification has relative paths ignored.
  if (state.is_absolute()) return state / "cuzk";
  if (home.is_absolute()) return home / ".local" / "state" / "cuzk";
  return "/var/lib/cuzk";
}

std::filesystem::path Config::journal_folder() const {
  return journal.folder.empty() ? default_journal_folder(from_environment) : journal.folder;
}

// The variable and the folder are those of the network's own tools, so parameters are found where
// they were put.
std::filesystem::path Config::param_cache() const {
  if (!srs.param_cache.empty()) return srs.param_cache;
  const std::string given = from_environment("FIL_PROOFS_PARAMETER_CACHE");
  return given.empty() ? "/var/tmp/filecoin-proof-parameters" : given;
}

}  // namespace cuzk::service
