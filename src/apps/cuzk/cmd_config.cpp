// cuzk config: checks a daemon's configuration and shows what it means.
//
// Flags and work are together in this file: the work is what the daemon does at its start, without
// keeping anything. What would end the daemon is an error; what it would live with is a warning.
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/daemon_devices.h"
#include "apps/cuzk/daemon_executor.h"
#include "apps/cuzk/output.h"
#include "service/client.h"
#include "service/config.h"
#include "service/grpc_credentials.h"

namespace cuzk::apps {
namespace {

// Of both sub-commands; `only_differences` is of print-effective alone.
struct ConfigFlags {
  std::filesystem::path file;
  bool only_differences = false;
};

// The machine is asked too: a budget above its memory is an error here as at start.
base::Result<Answer> check(const ConfigFlags& flags) {
  CUZK_TRY(const service::LoadedConfig loaded, service::load_config(flags.file));
  CUZK_TRY(const auto limits, base::detect_memory_limits());
  CUZK_TRY(const std::uint64_t budget, service::memory_budget_bytes(loaded.config, limits));
  const service::Config& config = loaded.config;
  if (!config.auth.token_file.empty()) {
    CUZK_TRY_STATUS(service::read_tokens(config.auth.token_file));
  }
  // Folders are looked at and not made: a check changes nothing.
  if (const base::Status journal = check_folder(config.journal_folder()); !journal.ok()) {
    return base::Error(journal.error()).within("journal.folder");
  }
  // As the daemon tries them, in its sentences; what its library says beside them is less.
  service::quiet_client_library();
  CUZK_TRY_STATUS(service::try_tls_files(config.tls));
  // Reads the header of every circuit's key.
  CUZK_TRY(const JobKinds kinds, daemon_job_kinds(config));
  CUZK_ASSERT(kinds.types != nullptr);
  // Cards are asked only where the daemon would not do without.
  if (config.gpus.cpu == service::CpuUse::kNever || !config.gpus.devices.empty()) {
    CUZK_TRY_STATUS(find_devices(config.gpus));
  }
  Answer answer(printable(flags.file.string()) + " is fine");
  // A list in JSON however many there are.
  std::vector<std::string> listen;
  for (const service::Address& address : config.daemon.listen) {
    listen.push_back(address.to_string());
  }
  answer.add_as("listen", listen, "gRPC at", fmt::format("{}", fmt::join(listen, ", ")));
  answer.add("status_listen",
             config.daemon.status_listen ? config.daemon.status_listen->to_string() : "off",
             "HTTP at");
  if (budget == 0) {
    answer.add_as("memory_budget_bytes", 0, "memory budget", "none");
  } else {
    answer.add_bytes("memory_budget_bytes", budget, "memory budget");
  }
  answer.add("journal_folder", config.journal_folder().string(), "journal");
  answer.add("param_cache", config.param_cache().string(), "parameters");
  answer.add("circuits", config.circuits.size(), "circuits");
  for (const std::string& warning : loaded.warnings) answer.warn(warning);
  // The daemon logs a key that it cannot load and serves, so it is no error.
  for (const std::string& name : config.srs.load_at_start) {
    const auto key = kinds.types->find_key(name);
    if (!key.ok()) answer.warn("srs.load_at_start: " + key.error().message);
  }
  return answer;
}

// The text is TOML that reads back to the same configuration, hence the answer is nothing but it;
// warnings are for programs, under --json.
base::Result<Answer> print_effective(const ConfigFlags& flags) {
  service::LoadedConfig loaded;
  if (!flags.file.empty()) {
    CUZK_TRY(loaded, service::load_config(flags.file));
  }
  std::string text = service::to_toml(loaded.config, flags.only_differences);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  Answer answer(text.empty() ? "# nothing differs from the defaults" : text);
  answer.add("toml", text, "");
  // A fact and not Answer::warn, which would write into the TOML.
  if (!loaded.warnings.empty()) answer.add("warnings", loaded.warnings, "");
  return answer;
}

}  // namespace

void add_config_commands(CLI::App& app, Invocation& invocation) {
  CLI::App* group = app.add_subcommand("config", "Check and show a daemon's configuration");
  group->require_subcommand(1);
  const auto flags = std::make_shared<ConfigFlags>();
  CLI::App* checked = add_command(*group, invocation, "check",
                                  "Say whether a daemon would start with a configuration",
                                  "cuzk config check /etc/cuzk/cuzk.toml");
  checked->add_option("file", flags->file, "Configuration in TOML")->required();
  checked->callback(
      [&invocation, flags] { invocation.action = [flags](Session&) { return check(*flags); }; });
  CLI::App* shown = add_command(*group, invocation, "print-effective",
                                "Print every key with the value that a daemon would use",
                                "cuzk config print-effective cuzk.toml --differences");
  shown->add_option("file", flags->file, "Configuration in TOML (default: none, all defaults)");
  shown->add_flag("--differences", flags->only_differences, "Only what is not at its default");
  shown->callback([&invocation, flags] {
    invocation.action = [flags](Session&) { return print_effective(*flags); };
  });
}

}  // namespace cuzk::apps
