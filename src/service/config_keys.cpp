// The rows, by section. Limits are what could be meant; a zero too many is refused with both ends.
// A key is live when its value is asked for at each use or handed on by Door::reload; what sockets,
// threads and budgets are made from needs a restart.
#include "service/config_keys.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "base/check.h"
#include "service/config_readers.h"

namespace cuzk::service {
namespace {

using std::chrono::milliseconds;
using Keys = std::vector<ConfigKey>;

// A function that returns a field of a configuration, constant or not.
#define CUZK_FIELD(path) \
  [](auto& config) -> auto& { return config.path; }

constexpr bool kLive = true, kRestart = false;
constexpr std::uint64_t kKiB = 1024, kMiB = kKiB * 1024, kGiB = kMiB * 1024, kTiB = kGiB * 1024;
constexpr milliseconds kNone{0}, kSecond{1000}, kHour{3'600'000}, kDay{86'400'000};

void append(Keys& all, Keys more) { std::move(more.begin(), more.end(), std::back_inserter(all)); }

// A text alone; the error of parse_address shows a right one.
base::Result<Address> read_address(const ConfigValue& value) {
  CUZK_TRY(const std::string text, value_as<std::string>(value, "an address in quotes"));
  return parse_address(text);
}

// Keys whose values are of no common type follow, a function each.
ConfigKey listen_key() {
  return make_key(
      "daemon.listen", "Where gRPC listens: host:port, unix:///path, or a list of them.", kRestart,
      CUZK_FIELD(daemon.listen),
      [](const ConfigValue& value) { return read_list<Address>(value, read_address); },
      [](const std::vector<Address>& all) {
        return show_list(all, [](const Address& one) { return quote_toml(one.to_string()); });
      });
}

// As the flag --status-listen reads it.
ConfigKey status_listen_key() {
  using Maybe = std::optional<Address>;
  return make_key(
      "daemon.status_listen", "Where HTTP (status, metrics, dashboard, REST) listens, or \"off\".",
      kRestart, CUZK_FIELD(daemon.status_listen),
      [](const ConfigValue& value) -> base::Result<Maybe> {
        CUZK_TRY(const std::string text, value_as<std::string>(value, "an address in quotes"));
        return parse_optional_address(text);
      },
      [](const Maybe& one) { return quote_toml(one ? one->to_string() : "off"); });
}

// Octal and in quotes: numbers of TOML have no leading zero, and 660 would be another mode.
ConfigKey socket_mode_key() {
  const auto parse = [](const ConfigValue& value) -> base::Result<std::uint32_t> {
    CUZK_TRY(const std::string text, value_as<std::string>(value, "octal digits in quotes"));
    if (text.empty() || text.size() > 4 ||
        text.find_first_not_of("01234567") != std::string::npos) {
      return value_fault(fmt::format("'{}' is no file mode such as \"0660\"", text.substr(0, 16)));
    }
    const auto mode = static_cast<std::uint32_t>(std::stoul(text, nullptr, 8));
    if (mode > 0777) return value_fault(fmt::format("'{}' is above 0777", text));
    return mode;
  };
  return make_key("daemon.socket_mode", "Who may use the unix sockets.", kRestart,
                  CUZK_FIELD(daemon.socket_mode), parse,
                  [](std::uint32_t mode) { return fmt::format("\"{:04o}\"", mode); });
}

// The largest message ends below 2 GiB, which protobuf's own lengths do not go beyond.
Keys daemon_keys() {
  Keys keys = {listen_key(), status_listen_key(), socket_mode_key()};
  append(keys,
         {size_key("daemon.max_message", "Largest gRPC message, either way.", kRestart,
                   CUZK_FIELD(daemon.max_message_bytes), kMiB, 2 * kGiB - 1),
          word_key("daemon.on_disconnect",
                   "What becomes of a job whose Prove client goes away: continue or cancel.", kLive,
                   CUZK_FIELD(daemon.on_disconnect),
                   std::vector<std::pair<std::string, OnDisconnect>>{
                       {"continue", OnDisconnect::kContinue}, {"cancel", OnDisconnect::kCancel}}),
          duration_key("daemon.shutdown_grace", "How long running jobs may go on after SIGTERM.",
                       kLive, CUZK_FIELD(daemon.shutdown_grace), kNone, kDay),
          flag_key("daemon.reflection", "gRPC server reflection, for grpcurl and the like.",
                   kRestart, CUZK_FIELD(daemon.reflection)),
          number_key("daemon.awaits_max", "Calls that wait for a proof at once; more are refused.",
                     kLive, CUZK_FIELD(daemon.awaits_max), 1, 1'000'000),
          duration_key("daemon.await_max", "Longest wait of one call.", kLive,
                       CUZK_FIELD(daemon.await_max), kSecond, 30 * kDay),
          flag_key(
              "daemon.exit_when_unhealthy",
              "End with an error when nothing can be proved any more, for a supervisor to restart.",
              kLive, CUZK_FIELD(daemon.exit_when_unhealthy))});
  return keys;
}

// A token file is read again at a reload even when its name stays; certificates are watched.
Keys access_keys() {
  return {
      path_key("tls.certificate", "PEM chain of the gRPC server; empty: no TLS.", kRestart,
               CUZK_FIELD(tls.certificate)),
      path_key("tls.key", "PEM key of the certificate.", kRestart, CUZK_FIELD(tls.key)),
      path_key("tls.client_ca", "PEM of who signs clients; set: clients must show one.", kRestart,
               CUZK_FIELD(tls.client_ca)),
      path_key("auth.token_file", "A token a line; '#' begins a comment. Mode 0600.", kLive,
               CUZK_FIELD(auth.token_file)),
      word_key("auth.required", "Who has to show a token: remote, always or never.", kLive,
               CUZK_FIELD(auth.required),
               std::vector<std::pair<std::string, AuthRequired>>{{"remote", AuthRequired::kRemote},
                                                                 {"always", AuthRequired::kAlways},
                                                                 {"never", AuthRequired::kNever}})};
}

// A name as the header Host has it, without its port; in lower case, as names are compared.
base::Result<std::string> read_host_name(const ConfigValue& value) {
  CUZK_TRY(std::string name, value_as<std::string>(value, "a host's name in quotes"));
  constexpr std::size_t kNameBytesMax = 253;  // RFC 1035
  const bool odd = std::any_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) == 0 && c != '-' && c != '.' && c != '_';
  });
  if (name.empty() || name.size() > kNameBytesMax || odd) {
    return value_fault(
        fmt::format("'{}' is no host's name such as \"prover.lan\", without scheme and port",
                    name.substr(0, 64)));
  }
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

ConfigKey allowed_hosts_key() {
  return make_key(
      "http.allowed_hosts",
      "Names of this machine in a browser's address beside localhost, e.g. [\"prover.lan\"].",
      kRestart, CUZK_FIELD(http.allowed_hosts),
      [](const ConfigValue& value) { return read_list<std::string>(value, read_host_name); },
      [](const std::vector<std::string>& all) { return show_list(all, quote_toml); });
}

// Timeouts end at a tenth of a second: shorter ones would cut off clients that do nothing wrong.
Keys http_keys() {
  return {number_key("http.max_connections",
                     "Open connections; the longest idle one makes room for a new one.", kRestart,
                     CUZK_FIELD(http.connections_max), 8, 4096),
          size_key("http.max_body", "Largest request body.", kRestart,
                   CUZK_FIELD(http.body_bytes_max), kKiB, 2 * kGiB),
          duration_key("http.read_timeout", "Longest silence within a request.", kRestart,
                       CUZK_FIELD(http.read_timeout), milliseconds(100), kHour),
          duration_key("http.request_timeout", "Longest arrival of a whole request.", kRestart,
                       CUZK_FIELD(http.request_timeout), milliseconds(100), kDay),
          duration_key("http.keep_alive", "How long an idle connection is kept.", kRestart,
                       CUZK_FIELD(http.keep_alive), kNone, kHour),
          flag_key("http.dashboard", "The page at /.", kRestart, CUZK_FIELD(http.dashboard)),
          allowed_hosts_key()};
}

// Kept as text, since what "auto" is depends on the machine: memory_budget_bytes() says it there. A
// size is kept in its shortest spelling, so that two of one value are no change.
ConfigKey budget_key() {
  const auto parse = [](const ConfigValue& value) -> base::Result<std::string> {
    const auto* text = std::get_if<std::string>(&value.content);
    if (text && (*text == "auto" || *text == "none")) return *text;
    CUZK_TRY(const std::uint64_t bytes, read_size(value));
    if (bytes < 64 * kMiB || bytes > 1024 * kTiB) {
      return value_fault(
          fmt::format("{} is outside 64 MiB to 1 PiB; \"auto\" takes what the "
                      "machine gives, \"none\" sets no budget",
                      base::format_byte_count(bytes)));
    }
    const std::string shown = show_size(bytes);
    return shown.substr(1, shown.size() - 2);
  };
  return make_key("memory.total_budget",
                  "Most memory for keys and proofs: a size, \"auto\" or \"none\".", kRestart,
                  CUZK_FIELD(memory.total_budget), parse,
                  [](const std::string& text) { return quote_toml(text); });
}

// Not set has no spelling; it is shown as a comment.
ConfigKey margin_key() {
  using Maybe = std::optional<std::uint64_t>;
  const auto parse = [](const ConfigValue& value) -> base::Result<Maybe> {
    CUZK_TRY(const std::uint64_t bytes, read_size(value));
    if (bytes > 1024 * kTiB) return value_fault("the margin is above 1 PiB");
    return Maybe(bytes);
  };
  return make_key("memory.safety_margin",
                  "With \"auto\": memory left to the rest; not set: a sixteenth, 512 MiB at least.",
                  kRestart, CUZK_FIELD(memory.safety_margin_bytes), parse,
                  [](const Maybe& bytes) { return bytes ? show_size(*bytes) : std::string(); });
}

// A reserve of none is 0; "auto" is chosen from the parameters that are there.
ConfigKey reserve_key() {
  using Maybe = std::optional<std::uint64_t>;
  const auto parse = [](const ConfigValue& value) -> base::Result<Maybe> {
    const auto* text = std::get_if<std::string>(&value.content);
    if (text && *text == "auto") return Maybe();
    CUZK_TRY(const std::uint64_t bytes, read_size(value));
    if (bytes > 1024 * kTiB) return value_fault("the reserve is above 1 PiB");
    return Maybe(bytes);
  };
  return make_key(
      "memory.critical_reserve",
      "Of the budget, kept for critical jobs: a size, or \"auto\": one winning PoSt.", kRestart,
      CUZK_FIELD(memory.critical_reserve_bytes), parse,
      [](const Maybe& bytes) { return bytes ? show_size(*bytes) : quote_toml("auto"); });
}

// Whether there is a card of a number is seen when it is opened, and said then.
ConfigKey devices_key() {
  using Devices = std::vector<std::uint32_t>;
  const auto one = [](const ConfigValue& value) -> base::Result<std::uint32_t> {
    CUZK_TRY(const std::int64_t index, value_as<std::int64_t>(value, "a device's number"));
    if (index < 0 || index > 255) return value_fault(fmt::format("{} is no device", index));
    return static_cast<std::uint32_t>(index);
  };
  return make_key(
      "gpus.devices", "Numbers of the GPUs to use; an empty list is all.", kRestart,
      CUZK_FIELD(gpus.devices),
      [one](const ConfigValue& value) -> base::Result<Devices> {
        CUZK_TRY(Devices all, read_list<std::uint32_t>(value, one));
        Devices sorted = all;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
          return value_fault("a device is named twice");
        }
        return all;
      },
      [](const Devices& all) {
        return show_list(all, [](std::uint32_t index) { return fmt::format("{}", index); });
      });
}

// Less than 256 MiB is a slip of the unit rather than a wish.
ConfigKey card_memory_key() {
  using Maybe = std::optional<std::uint64_t>;
  const auto parse = [](const ConfigValue& value) -> base::Result<Maybe> {
    const auto* text = std::get_if<std::string>(&value.content);
    if (text && *text == "auto") return Maybe();
    CUZK_TRY(const std::uint64_t bytes, read_size(value));
    if (bytes < 256 * kMiB || bytes > 1024 * kTiB) {
      return value_fault(fmt::format("{} is outside 256 MiB to 1 PiB; \"auto\" takes what is free",
                                     base::format_byte_count(bytes)));
    }
    return Maybe(bytes);
  };
  return make_key("gpus.memory_max", "Most memory on each GPU: a size, or \"auto\": what is free.",
                  kRestart, CUZK_FIELD(gpus.memory_bytes_max), parse, [](const Maybe& bytes) {
                    return bytes ? show_size(*bytes) : quote_toml("auto");
                  });
}

// Memory and devices.
Keys resource_keys() {
  return {budget_key(),
          margin_key(),
          reserve_key(),
          devices_key(),
          number_key("gpus.gpu_threads", "Workers that finish proofs; 0: chosen from the CPUs.",
                     kRestart, CUZK_FIELD(gpus.gpu_threads), 0, 4096),
          number_key("gpus.gpu_workers_per_device", "Workers of each GPU.", kRestart,
                     CUZK_FIELD(gpus.gpu_workers_per_device), 1, 16),
          card_memory_key(),
          flag_key("gpus.share_proofs",
                   "All GPUs make each proof together: one is there sooner, many later.", kRestart,
                   CUZK_FIELD(gpus.share_proofs)),
          word_key("gpus.cpu", "Proofs on the CPU: fallback (where no GPU can), never or only.",
                   kRestart, CUZK_FIELD(gpus.cpu),
                   std::vector<std::pair<std::string, CpuUse>>{{"fallback", CpuUse::kFallback},
                                                               {"never", CpuUse::kNever},
                                                               {"only", CpuUse::kOnly}})};
}

// 0 stands for "chosen here" or "no bound" only where a sentence says so.
Keys scheduler_keys() {
  return {
      number_key("scheduler.queue_max", "Unfinished jobs; more are refused. 0: no bound.", kRestart,
                 CUZK_FIELD(scheduler.queue_max), 0, 100'000'000),
      number_key("scheduler.jobs_in_flight_max",
                 "Jobs that are worked on at once; 0: chosen from the workers, 4 at least.",
                 kRestart, CUZK_FIELD(scheduler.jobs_in_flight_max), 0, 4096),
      number_key("scheduler.grouping_max",
                 "Grants in a row out of order for a key that a device has loaded.", kRestart,
                 CUZK_FIELD(scheduler.grouping_max), 0, 4096),
      duration_key("scheduler.ageing", "After this time without a grant a job is preferred.",
                   kRestart, CUZK_FIELD(scheduler.ageing), kSecond, kDay),
      number_key("scheduler.quarantine_failures",
                 "Failures in a row after which a device gets no more work.", kRestart,
                 CUZK_FIELD(scheduler.quarantine_failures), 1, 1000),
      number_key("scheduler.crashes_max", "Crashes of proving code after which a job is failed.",
                 kRestart, CUZK_FIELD(scheduler.crashes_max), 1, 1000),
      number_key("synthesis.threads", "Threads of all CPU work; 0: every CPU.", kRestart,
                 CUZK_FIELD(synthesis.threads), 0, 4096),
      number_key("pipeline.max_parallel_synthesis",
                 "Witnesses made at once; 0: chosen from CPUs and budget.", kRestart,
                 CUZK_FIELD(pipeline.max_parallel_synthesis), 0, 4096),
      flag_key("pipeline.worker_process",
               "Proving runs in a process of its own, whose crash loses no job.", kRestart,
               CUZK_FIELD(pipeline.worker_process))};
}

// Which circuits there are is not known here; an unknown one is refused at the start.
ConfigKey load_at_start_key() {
  using Names = std::vector<std::string>;
  const auto one = [](const ConfigValue& value) -> base::Result<std::string> {
    CUZK_TRY(std::string name, value_as<std::string>(value, "a circuit's name in quotes"));
    if (name.empty() || name.size() > 64) {
      return value_fault("a circuit's name has 1 to 64 characters");
    }
    return name;
  };
  return make_key(
      "srs.load_at_start", "Circuits whose keys are loaded at start, e.g. [\"porep-32g\"].",
      kRestart, CUZK_FIELD(srs.load_at_start),
      [one](const ConfigValue& value) { return read_list<std::string>(value, one); },
      [](const Names& all) { return show_list(all, quote_toml); });
}

// Keys to prove with, and the journal.
Keys storage_keys() {
  return {path_key("srs.param_cache",
                   "Folder of parameter files; empty: $FIL_PROOFS_PARAMETER_CACHE or "
                   "/var/tmp/filecoin-proof-parameters.",
                   kRestart, CUZK_FIELD(srs.param_cache)),
          load_at_start_key(),
          path_key("journal.folder",
                   "Folder of accepted jobs and results; empty: $STATE_DIRECTORY or "
                   "~/.local/state/cuzk.",
                   kRestart, CUZK_FIELD(journal.folder)),
          duration_key("journal.retention_age", "Results older than this are removed.", kRestart,
                       CUZK_FIELD(journal.retention_age), kSecond, 3650 * kDay),
          size_key("journal.retention_size", "Results above this are removed, the oldest first.",
                   kRestart, CUZK_FIELD(journal.retention_bytes), kMiB, 1024 * kTiB)};
}

// The later words are those of the Rust daemon; shown are the first.
Keys logging_keys() {
  using base::LogLevel;
  return {
      word_key("logging.level", "debug, info, warn, error or off.", kLive,
               CUZK_FIELD(logging.level),
               std::vector<std::pair<std::string, LogLevel>>{{"debug", LogLevel::kDebug},
                                                             {"info", LogLevel::kInfo},
                                                             {"warn", LogLevel::kWarning},
                                                             {"error", LogLevel::kError},
                                                             {"off", LogLevel::kOff},
                                                             {"trace", LogLevel::kDebug},
                                                             {"warning", LogLevel::kWarning}}),
      word_key("logging.format", "text, json (an object a line) or journald (with its levels).",
               kLive, CUZK_FIELD(logging.format),
               std::vector<std::pair<std::string, LogFormat>>{{"text", LogFormat::kText},
                                                              {"json", LogFormat::kJson},
                                                              {"journald", LogFormat::kJournald},
                                                              {"none", LogFormat::kText}})};
}

#undef CUZK_FIELD

// In this order they are shown.
Keys make_config_keys() {
  Keys keys;
  for (Keys (*const section)() : {daemon_keys, access_keys, http_keys, resource_keys,
                                  scheduler_keys, storage_keys, logging_keys}) {
    append(keys, section());
  }
  for (const ConfigKey& key : keys) {
    CUZK_ASSERT(key.read != nullptr && key.show != nullptr && key.copy != nullptr);
    CUZK_ASSERT(key.name.find('.') != std::string::npos && !key.note.empty());
  }
  return keys;
}

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  static const Keys keys = make_config_keys();
  return keys;
}

// The reasons name the key that does the same here, where there is one.
const std::vector<RetiredKey>& retired_keys() {
  static const std::vector<RetiredKey> keys = {
      {"daemon.grpc_threads", "ignored: gRPC chooses its threads from the CPUs", "0"},
      {"memory.eviction_min_idle",
       "ignored: of the keys that no proof uses, the one used longest ago goes first, when its "
       "room "
       "is needed",
       "5m"},
      {"memory.pinned_budget", "deprecated and ignored: memory.total_budget bounds all memory", ""},
      {"memory.working_memory_budget",
       "deprecated and ignored: memory.total_budget bounds all memory", ""},
      {"synthesis.partition_workers",
       "deprecated and ignored: pipeline.max_parallel_synthesis bounds witnesses made at once", ""},
      {"srs.preload",
       "deprecated and ignored: keys are loaded when first needed, or at start by "
       "srs.load_at_start",
       ""},
      {"scheduler.max_batch_size",
       "ignored: partitions of all jobs share the devices without batches", "1"},
      {"scheduler.max_batch_wait_ms", "ignored: there are no batches to wait for", "10000"},
      {"scheduler.sort_by_type",
       "ignored: scheduler.grouping_max says how long a device stays "
       "with its key",
       "true"},
      {"pipeline.enabled", "ignored: proofs always go through the pipeline", "true"},
      {"pipeline.synthesis_lookahead",
       "ignored: pipeline.max_parallel_synthesis bounds witnesses made at once", "1"},
      {"pipeline.synthesis_concurrency",
       "ignored: scheduler.jobs_in_flight_max bounds jobs worked on at once", "1"},
      {"pipeline.slot_size", "ignored: partitions are always proved one by one", "0"},
      {"pipeline.max_gpu_queue_depth",
       "ignored: what waits for a device is bounded by pipeline.max_parallel_synthesis", "0"},
  };
  return keys;
}

}  // namespace cuzk::service
