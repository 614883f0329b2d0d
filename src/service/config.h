// The daemon's configuration as values, read from TOML.
//
// Every key stands in one table (config_keys.cpp): how it is read, shown, whether a running daemon
// can take a change of it. Keys of the Rust daemon keep their names and meaning; those that have no
// effect here are accepted with a warning. What is not in the table is refused with its line and
// the nearest name. docs/operate.md lists the keys for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/memory_limits.h"
#include "base/result.h"
#include "service/address.h"

namespace cuzk::service {

// Who has to show a token (Config::Auth).
enum class AuthRequired : std::uint8_t { kRemote, kAlways, kNever };
// What becomes of a job whose client of Prove goes away.
enum class OnDisconnect : std::uint8_t { kContinue, kCancel };
// Whether proofs are made on the CPU: beside no card or after a card's failure; never; only there.
enum class CpuUse : std::uint8_t { kFallback, kNever, kOnly };
enum class LogFormat : std::uint8_t { kText, kJson, kJournald };

// Plain values with the defaults of their keys. What parse_config gives has passed check_config and
// the limits of each key; what a program fills in itself has passed nothing.
struct Config {
  // Listeners of both protocols, and how calls and the end of the process are dealt with.
  struct Daemon {
    // gRPC. One or more; TCP and unix sockets may be mixed.
    std::vector<Address> listen = {{Address::Kind::kTcp, "127.0.0.1", 9820, {}}};
    // HTTP: status, metrics, dashboard, REST. None: off.
    std::optional<Address> status_listen = Address{Address::Kind::kTcp, "127.0.0.1", 9821, {}};
    std::uint32_t socket_mode = 0660;  // of unix sockets
    std::uint64_t max_message_bytes = std::uint64_t{256} << 20;
    OnDisconnect on_disconnect = OnDisconnect::kContinue;
    // After SIGTERM: jobs that run have this long to end; the others stay in the journal.
    std::chrono::milliseconds shutdown_grace{60'000};
    bool reflection = true;
    std::uint32_t awaits_max = 10'000;  // waiting AwaitProof and Prove calls at once
    std::chrono::milliseconds await_max{24LL * 3600 * 1000};  // longest single wait
    // A daemon that can prove nothing any more ends with an error, so that its supervisor starts it
    // anew; otherwise it stays and says so in health and readiness.
    bool exit_when_unhealthy = false;
  } daemon;

  struct Tls {                               // of the TCP listeners of gRPC; HTTP speaks none
    std::filesystem::path certificate, key;  // PEM; both or none
    std::filesystem::path client_ca;         // PEM; set: clients must show a certificate of it
    bool enabled() const { return !certificate.empty(); }
  } tls;

  struct Auth {
    // A token a line; '#' begins a comment. Read again at SIGHUP.
    std::filesystem::path token_file;
    AuthRequired required = AuthRequired::kRemote;
  } auth;

  struct Http {
    std::uint32_t connections_max = 128;  // open at once, a thread each
    std::uint64_t body_bytes_max = std::uint64_t{128} << 20;
    std::chrono::milliseconds read_timeout{10'000};     // between two pieces of a request
    std::chrono::milliseconds request_timeout{60'000};  // for a whole request to arrive
    std::chrono::milliseconds keep_alive{15'000};
    bool dashboard = true;
    // Names in lower case that browsers may know the server by, beside localhost and addresses.
    std::vector<std::string> allowed_hosts;
  } http;

  // Bytes of the host's memory.
  struct Memory {
    // As base::resolve_budget reads it: "auto", "none", or a size.
    std::string total_budget = "auto";
    // With "auto": what is left to the rest of the machine. Not set: resolve_budget's own.
    std::optional<std::uint64_t> safety_margin_bytes;
    // Of the budget, for critical jobs alone. Not set: chosen from the parameters that are there.
    std::optional<std::uint64_t> critical_reserve_bytes;
  } memory;

  // Which devices prove, and how.
  struct Gpus {
    std::vector<std::uint32_t> devices;  // ordinals; empty: all that are usable
    std::uint32_t gpu_threads = 0;       // finish workers; 0: chosen from the CPUs
    std::uint32_t gpu_workers_per_device = 2;
    // On each card, for keys, circuits and proofs together. Not set: what is free.
    std::optional<std::uint64_t> memory_bytes_max;
    bool share_proofs = false;  // all cards make each proof together
    CpuUse cpu = CpuUse::kFallback;
  } gpus;

  // Bounds of the queue, and what happens to devices and jobs that fail again and again.
  struct Scheduler {
    std::uint64_t queue_max = 10'000;
    std::uint32_t jobs_in_flight_max = 0;  // 0: chosen from the workers, 4 at least
    std::uint32_t grouping_max = 8;
    std::chrono::milliseconds ageing{60'000};
    std::uint32_t quarantine_failures = 3;
    std::uint32_t crashes_max = 3;
  } scheduler;

  struct Synthesis {
    std::uint32_t threads = 0;  // of all CPU work; 0: every CPU of the process
  } synthesis;

  struct Pipeline {
    std::uint32_t max_parallel_synthesis = 0;  // witness workers; 0: chosen from CPUs and budget
    bool worker_process = true;  // proving code runs beside the daemon and may crash there
  } pipeline;

  // Proving keys: where they lie and which are wanted at once.
  struct Srs {
    std::filesystem::path param_cache;       // empty: FIL_PROOFS_PARAMETER_CACHE, else the default
    std::vector<std::string> load_at_start;  // circuit ids, e.g. "porep-32g"
  } srs;

  // Accepted jobs and results on disk. The first bound of the two that is reached counts.
  struct Journal {
    std::filesystem::path folder;  // empty: STATE_DIRECTORY, else $XDG_STATE_HOME or ~/.local/state
    std::chrono::milliseconds retention_age{7LL * 24 * 3600 * 1000};
    std::uint64_t retention_bytes = std::uint64_t{1} << 30;
  } journal;

  // Both can change while the daemon runs.
  struct Logging {
    base::LogLevel level = base::LogLevel::kInfo;
    LogFormat format = LogFormat::kText;
  } logging;

  // A circom circuit that jobs name: [[circuits]] with name and zkey.
  struct Circuit {
    std::string name;
    std::filesystem::path zkey;
    bool operator==(const Circuit&) const = default;
  };
  std::vector<Circuit> circuits;

  // Folders with the defaults filled in from the environment.
  std::filesystem::path journal_folder() const;
  std::filesystem::path param_cache() const;
};

// What was read, and what its reader should know (deprecated keys, keys without effect).
struct LoadedConfig {
  Config config;
  std::vector<std::string> warnings;
};

// Reads TOML. `source` names it in errors: "cuzk.toml:12: daemon.listen: ...". Errors: kMalformed
// (not TOML), kInvalidArgument (an unknown key, a wrong type, a value that cannot be), kMismatch
// (values that do not go together). All that is wrong is named, joined by "; ".
base::Result<LoadedConfig> parse_config(std::string_view text, std::string_view source);
// The same from a file of at most a mebibyte.
base::Result<LoadedConfig> load_config(const std::filesystem::path& path);
// What no single key shows: addresses twice, half a TLS pair, remote listeners without a token.
base::Status check_config(const Config& config);

// The whole configuration as TOML that parse_config reads back to the same values, a comment above
// each key. `only_differences`: keys that differ from the defaults.
std::string to_toml(const Config& config, bool only_differences = false);

// What a running daemon does with a new configuration. Nothing is done by it: whoever takes it over
// applies `config`.
struct ReloadPlan {
  Config config;                     // the old one with all that can change taken over
  std::vector<std::string> changed;  // keys that were
  std::vector<std::string> restart;  // keys that differ and need a restart
};
ReloadPlan plan_reload(const Config& running, const Config& wanted);

// memory.total_budget in bytes on a machine with `limits`; 0: none. Errors: as
// base::resolve_budget; kInvalidArgument where the margin leaves nothing.
base::Result<std::uint64_t> memory_budget_bytes(const Config& config,
                                                const base::MemoryLimits& limits);

// The tokens of Auth::token_file. Errors: as base::read_file; kInvalidArgument for a file that
// others may read, one without a token, a token under 16 characters or with odd ones.
base::Result<std::vector<std::string>> read_tokens(const std::filesystem::path& path);
// Whether `presented` is one of them, in a time that says nothing of how much was right.
bool token_matches(const std::vector<std::string>& tokens, std::string_view presented);

}  // namespace cuzk::service
