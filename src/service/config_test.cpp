// The configuration: the Rust daemon's keys, refusals with line and hint, round trips, reload.
#include "service/config.h"

#include <map>

#include <gtest/gtest.h>

#include "base/file.h"
#include "service/config_keys.h"

namespace cuzk::service {
namespace {

using std::chrono::milliseconds;

Config read(std::string_view text) {
  auto loaded = parse_config(text, "cuzk.toml");
  EXPECT_TRUE(loaded.ok()) << text << "\n" << loaded.error().message;
  EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
  return loaded->config;
}

std::string refusal(std::string_view text) {
  const auto loaded = parse_config(text, "cuzk.toml");
  EXPECT_FALSE(loaded.ok()) << text;
  return loaded.ok() ? "" : loaded.error().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Config, AnEmptyFileIsTheDefaults) {
  const Config config = read("");
  EXPECT_EQ(to_toml(config), to_toml(Config()));
  ASSERT_EQ(config.daemon.listen.size(), 1U);
  EXPECT_TRUE(config.daemon.listen[0].is_local());
  EXPECT_EQ(to_toml(config, true), "");
}

TEST(Config, CardsHaveALimitAndMayShareProofs) {
  EXPECT_FALSE(read("").gpus.memory_bytes_max.has_value());
  EXPECT_FALSE(read("").gpus.share_proofs);
  const Config config = read("[gpus]\nmemory_max = \"8GiB\"\nshare_proofs = true");
  EXPECT_EQ(config.gpus.memory_bytes_max, std::uint64_t{8} << 30);
  EXPECT_TRUE(config.gpus.share_proofs);
  EXPECT_FALSE(read("[gpus]\nmemory_max = \"auto\"").gpus.memory_bytes_max.has_value());
}

// The example of the Rust daemon, with another address: its keys mean here what they meant there.
TEST(Config, TakesAFileOfTheRustDaemon) {
  const auto loaded = parse_config(R"(
[daemon]
listen = "unix:///run/curio/cuzk.sock"
status_listen = "127.0.0.1:9821"
[memory]
total_budget = "auto"
safety_margin = "5GiB"
eviction_min_idle = "5m"
pinned_budget = "50GiB"
[gpus]
devices = [0, 1]
gpu_threads = 32
gpu_workers_per_device = 2
[scheduler]
max_batch_size = 1
max_batch_wait_ms = 10000
sort_by_type = true
[synthesis]
threads = 0
partition_workers = 20
[pipeline]
enabled = true
synthesis_lookahead = 1
synthesis_concurrency = 4
max_parallel_synthesis = 18
[srs]
param_cache = "/data/zk/params"
preload = ["porep-32g"]
[logging]
level = "info"
format = "none"
)",
                                   "rust.toml");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Config& config = loaded->config;
  EXPECT_EQ(config.daemon.listen[0].to_string(), "unix:///run/curio/cuzk.sock");
  EXPECT_EQ(config.memory.safety_margin_bytes, std::uint64_t{5} << 30);
  EXPECT_EQ(config.gpus.devices, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(config.gpus.gpu_threads, 32U);
  EXPECT_EQ(config.pipeline.max_parallel_synthesis, 18U);
  EXPECT_EQ(config.param_cache(), "/data/zk/params");
  EXPECT_EQ(config.logging.format, LogFormat::kText);
  // Three that are deprecated, and one that has no effect and is not at its default.
  ASSERT_EQ(loaded->warnings.size(), 4U);
  EXPECT_TRUE(has(loaded->warnings[0], "rust.toml:9: memory.pinned_budget is deprecated"));
  EXPECT_TRUE(has(loaded->warnings[1], "synthesis.partition_workers is deprecated"));
  EXPECT_TRUE(has(loaded->warnings[2], "pipeline.synthesis_concurrency is ignored"));
  EXPECT_TRUE(has(loaded->warnings[3], "srs.preload is deprecated"));
}

TEST(Config, KeysWithoutEffectAreToldUnlessTheyAskForWhatIsDoneAnyway) {
  const auto warnings = [](const std::string& text) {
    const auto loaded = parse_config(text, "a.toml");
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return loaded->warnings;
  };
  EXPECT_TRUE(warnings("[memory]\neviction_min_idle = \"5m\"").empty());
  const auto idle = warnings("[memory]\neviction_min_idle = \"1h\"");
  ASSERT_EQ(idle.size(), 1U);
  EXPECT_TRUE(has(idle[0], "a.toml:2: memory.eviction_min_idle is ignored"));
  EXPECT_TRUE(warnings("[daemon]\ngrpc_threads = 0").empty());
  EXPECT_EQ(warnings("[daemon]\ngrpc_threads = 3").size(), 1U);
}

// In the file as with --status-listen: "off", or nothing at all.
TEST(Config, HttpIsTurnedOffInTheWordsOfTheFlag) {
  for (const char* word : {"off", ""}) {
    const auto loaded =
        parse_config(std::string("[daemon]\nstatus_listen = \"") + word + "\"", "a.toml");
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_FALSE(loaded->config.daemon.status_listen.has_value()) << word;
    EXPECT_TRUE(has(to_toml(loaded->config, true), "status_listen = \"off\""));
  }
  EXPECT_TRUE(has(refusal("[daemon]\nstatus_listen = \"of\""), "for none write off"));
}

// Sizes are bytes where they have no unit, as numbers, in quotes and as flags.
TEST(Config, ASizeWithoutAUnitIsBytes) {
  for (const char* text : {"1048576", "\"1048576\"", "\"1MiB\"", "\"1048576 B\""}) {
    const auto loaded = parse_config(std::string("[http]\nmax_body = ") + text, "a.toml");
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_EQ(loaded->config.http.body_bytes_max, 1U << 20) << text;
  }
}

// No key at its default.
constexpr char kEverythingChanged[] = R"(
circuits = [{name = "age", zkey = "/keys/a \"b\".zkey"}, {name = "vote-2", zkey = "v.zkey"}]
[daemon]
listen = ["127.0.0.1:1", "unix:///a"]
status_listen = "off"
socket_mode = "0600"
max_message = "100000000B"
on_disconnect = "cancel"
shutdown_grace = "1h1ms"
reflection = false
awaits_max = 7
await_max = "2d"
exit_when_unhealthy = true
[tls]
certificate = "c.pem"
key = "k.pem"
client_ca = "ca.pem"
[auth]
token_file = "tokens\u0007"
required = "always"
[http]
max_connections = 9
max_body = "1.5MiB"
read_timeout = "1s"
request_timeout = "2s"
keep_alive = "0s"
dashboard = false
allowed_hosts = ["prover.lan", "box"]
[memory]
total_budget = "48GiB"
safety_margin = "1GiB"
critical_reserve = "2GiB"
[gpus]
devices = [3]
gpu_threads = 5
gpu_workers_per_device = 4
memory_max = "12GiB"
share_proofs = true
cpu = "only"
[scheduler]
queue_max = 11
jobs_in_flight_max = 12
grouping_max = 13
ageing = "14s"
quarantine_failures = 15
crashes_max = 16
[synthesis]
threads = 17
[pipeline]
max_parallel_synthesis = 18
worker_process = false
[srs]
param_cache = "p"
load_at_start = ["porep-2k", "age"]
[journal]
folder = "j"
retention_age = "19s"
retention_size = "20MiB"
[logging]
level = "debug"
format = "json"
)";

TEST(Config, EveryKeyComesBackFromItsText) {
  const Config changed = read(kEverythingChanged);
  // Nothing was left at its default: a row that shows or reads another field would be seen.
  const Config defaults;
  for (const ConfigKey& key : config_keys()) {
    EXPECT_NE(key.show(changed), key.show(defaults)) << key.name;
  }
  const std::string text = to_toml(changed);
  const auto again = parse_config(text, "again.toml");
  ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
  EXPECT_EQ(to_toml(again->config), text);
  EXPECT_EQ(again->config.circuits, changed.circuits);
  EXPECT_EQ(again->config.auth.token_file, changed.auth.token_file);
}

TEST(Config, UnknownKeysAreRefusedWithLineAndHint) {
  EXPECT_EQ(refusal("[daemon]\n\nlistn = \"a:1\"\n"),
            "cuzk.toml:3: there is no key daemon.listn; did you mean daemon.listen?");
  EXPECT_TRUE(has(refusal("[memory]\nlisten = \"a:1\"\n"), "did you mean daemon.listen?"));
  EXPECT_TRUE(has(refusal("total_budget = \"1GiB\"\n"), "did you mean memory.total_budget?"));
  EXPECT_TRUE(has(refusal("[gpu]\ndevices = [0]\n"), "did you mean gpus.devices?"));
  EXPECT_TRUE(has(refusal("[http]\nthreads_max_of_all = 1\n"), "there is no key"));
  EXPECT_FALSE(has(refusal("[quux]\nzyzzyva = 1\n"), "did you mean"));
}

TEST(Config, AllThatIsWrongIsNamedAtOnce) {
  const std::string message =
      refusal("[daemon]\nlisten = 5\n[memory]\ntotal_budget = \"64G\"\nfoo = 1\n");
  EXPECT_TRUE(has(message,
                  "cuzk.toml:2: daemon.listen: an address in quotes was expected, found "
                  "an integer"));
  EXPECT_TRUE(has(message, "cuzk.toml:4: memory.total_budget: '64G' is not a size"));
  EXPECT_TRUE(has(message, "cuzk.toml:5: there is no key memory.foo"));
}

TEST(Config, NamesOfHostsAreComparedInLowerCase) {
  const auto loaded = parse_config("[http]\nallowed_hosts = [\"Prover.LAN\"]", "cuzk.toml");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.http.allowed_hosts, std::vector<std::string>{"prover.lan"});
  EXPECT_TRUE(has(refusal("[http]\nallowed_hosts = \"a:1\""),
                  "'a:1' is no host's name such as \"prover.lan\", without scheme and port"));
}

TEST(Config, WrongValuesAreRefused) {
  for (const char* text :
       {"[memory]\ntotal_budget = \"1.5GiBs\"",
        "[memory]\ntotal_budget = -1",
        "[memory]\ntotal_budget = \"1MiB\"",
        "[scheduler]\nageing = \"5\u00a0m\"",
        "[scheduler]\nageing = 1.5",
        "[memory]\ntotal_budget = 2020-01-01",
        "[gpus]\ndevices = [0, 0]",
        "[gpus]\ndevices = [-1]",
        "[gpus]\ndevices = \"0\"",
        "[gpus]\ngpu_workers_per_device = 0",
        "[gpus]\ngpu_workers_per_device = 99",
        "[gpus]\ngpu_threads = 9223372036854775807",
        "[gpus]\ncpu = \"maybe\"",
        "[gpus]\nmemory_max = \"1MiB\"",
        "[gpus]\nshare_proofs = 1",
        "[daemon]\nsocket_mode = \"0999\"",
        "[daemon]\nsocket_mode = 438",
        "[daemon]\nsocket_mode = \"7777\"",
        "[daemon]\nlisten = []",
        "[daemon]\nlisten = [[\"a:1\"]]",
        "[daemon]\nmax_message = \"3GiB\"",
        "[logging]\nlevel = \"info,cuzk=debug\"",
        "[logging]\nlevel = \"INFO\"",
        "[srs]\nload_at_start = [\"\"]",
        "[http]\nallowed_hosts = [\"\"]",
        "[http]\nallowed_hosts = [\"prover.lan:9821\"]",
        "[http]\nallowed_hosts = [\"http://prover.lan\"]",
        "[http]\nallowed_hosts = [\"*\"]",
        "[journal]\nretention_age = \"0s\"",
        "circuits = 5",
        "circuits = [5]",
        "[[circuits]]\nname = \"a\"",
        "[[circuits]]\nzkey = \"a\"",
        "[[circuits]]\nname = \"a/b\"\nzkey = \"a\"",
        "[[circuits]]\nname = \"a\"\nzkey = \"a\"\nvkey = \"a\"",
        "[[circuits]]\nname = \"a\"\nzkey = \"a\"\n[[circuits]]\nname = \"a\"\nzkey = \"b\"",
        "daemon = 5",
        "[[daemon]]\nlisten = \"a:1\"",
        "[auth]\ntoken_file = \"a\\u0000b\""}) {
    EXPECT_TRUE(has(refusal(text), "cuzk.toml:")) << text;
  }
}

TEST(Config, WhatIsNoTomlIsRefusedWithItsLine) {
  EXPECT_TRUE(has(refusal("[daemon]\nlisten = \n"), "cuzk.toml:2: not TOML"));
  EXPECT_TRUE(has(refusal("[daemon]\nlisten = \"a:1\"\nlisten = \"b:1\"\n"), "not TOML"));
  EXPECT_TRUE(has(refusal("a = \"\xff\xfe\""), "not TOML"));
  EXPECT_TRUE(has(refusal(std::string(100'000, '[')), "cuzk.toml:1"));
  EXPECT_TRUE(has(refusal("a = " + std::string(100'000, '[')), "cuzk.toml:1"));
  EXPECT_TRUE(has(refusal(std::string((1 << 20) + 1, '#')), "too many"));
  EXPECT_TRUE(has(refusal(std::string("a\0b", 3)), "not TOML"));
}

TEST(Config, ThousandsOfWrongKeysMakeAShortMessage) {
  std::string text = "[daemon]\n";
  for (int i = 0; i < 3000; ++i) text += "k" + std::to_string(i) + " = 1\n";
  const std::string message = refusal(text);
  EXPECT_TRUE(has(message, "and 2980 more"));
  EXPECT_LT(message.size(), 4000U);
}

TEST(Config, WhatMustGoTogetherIsChecked) {
  EXPECT_TRUE(has(refusal("[tls]\ncertificate = \"c\""), "certificate and key go together"));
  EXPECT_TRUE(has(refusal("[tls]\nclient_ca = \"c\""), "tls.client_ca needs"));
  EXPECT_TRUE(has(refusal("[auth]\nrequired = \"always\""), "auth.token_file is not set"));
  EXPECT_TRUE(has(refusal("[daemon]\nlisten = [\"a:1\", \"a:1\"]\n[auth]\nrequired = \"never\""),
                  "a:1 is listened on twice"));
  EXPECT_TRUE(has(refusal("[daemon]\nlisten = \"0.0.0.0:9820\""), "without a token"));
  EXPECT_TRUE(has(refusal("[daemon]\nstatus_listen = \":80\""), "without a token"));
  read("[daemon]\nlisten = \"0.0.0.0:9820\"\n[auth]\nrequired = \"never\"");
  read("[daemon]\nlisten = \"0.0.0.0:9820\"\n[auth]\ntoken_file = \"t\"");
  read("[daemon]\nlisten = [\"127.0.0.1:0\", \"127.0.0.1:0\"]");
}

// A value beside its border is not rounded to it.
TEST(Config, ARangeOfSizesShowsWhatIsOutsideToTheByte) {
  EXPECT_TRUE(
      has(refusal("[memory]\ntotal_budget = 67108863\n"), "67108863 B is outside 64 MiB to 1 PiB"));
  EXPECT_TRUE(has(refusal("[gpus]\nmemory_max = \"262143KiB\"\n"),
                  "262143 KiB is outside 256 MiB to 1 PiB"));
  EXPECT_TRUE(has(refusal("[http]\nmax_body = 1023\n"), "1023 B is outside 1 KiB to 2 GiB"));
  EXPECT_TRUE(
      has(refusal("[daemon]\nmax_message = \"2GiB\"\n"), "2 GiB is outside 1 MiB to 2147483647 B"));
}

TEST(Config, SizesAndTimesOfTheRustDaemonMeanTheSame) {
  EXPECT_EQ(read("[memory]\ntotal_budget = \"107374182400\"").memory.total_budget, "100GiB");
  EXPECT_EQ(read("[memory]\ntotal_budget = 107374182400").memory.total_budget, "100GiB");
  EXPECT_EQ(read("[memory]\ntotal_budget = \"1.5TiB\"").memory.total_budget, "1536GiB");
  EXPECT_EQ(read("[scheduler]\nageing = \"90\"").scheduler.ageing, milliseconds(90'000));
  EXPECT_EQ(read("[scheduler]\nageing = 90").scheduler.ageing, milliseconds(90'000));
  EXPECT_EQ(read("[scheduler]\nageing = \"1h\"").scheduler.ageing, milliseconds(3'600'000));
}

TEST(Config, TheReserveForCriticalJobsIsASizeOrAuto) {
  EXPECT_EQ(Config().memory.critical_reserve_bytes, std::nullopt);
  EXPECT_EQ(read("[memory]\ncritical_reserve = \"auto\"").memory.critical_reserve_bytes,
            std::nullopt);
  EXPECT_EQ(read("[memory]\ncritical_reserve = 0").memory.critical_reserve_bytes, 0U);
  const Config config = read("[memory]\ncritical_reserve = \"2GiB\"");
  EXPECT_EQ(config.memory.critical_reserve_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(read(to_toml(config, true)).memory.critical_reserve_bytes, std::uint64_t{2} << 30);
  EXPECT_TRUE(has(refusal("[memory]\ncritical_reserve = \"some\""), "memory.critical_reserve"));
}

TEST(Config, TheBudgetFollowsTheMachine) {
  base::MemoryLimits limits;
  limits.ram_bytes = std::uint64_t{64} << 30;
  Config config;
  EXPECT_EQ(memory_budget_bytes(config, limits).value(), std::uint64_t{60} << 30);
  config.memory.safety_margin_bytes = std::uint64_t{5} << 30;
  EXPECT_EQ(memory_budget_bytes(config, limits).value(), std::uint64_t{59} << 30);
  config.memory.safety_margin_bytes = std::uint64_t{64} << 30;
  EXPECT_FALSE(memory_budget_bytes(config, limits).ok());
  config.memory.total_budget = "none";
  EXPECT_EQ(memory_budget_bytes(config, limits).value(), 0U);
  config.memory.total_budget = "65GiB";
  const auto refused = memory_budget_bytes(config, limits);
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(has(refused.error().message, "memory.total_budget"));
}

TEST(Config, ReloadTakesWhatCanChangeAndNamesWhatCannot) {
  const Config running = read("[daemon]\nlisten = \"127.0.0.1:1\"\n[logging]\nlevel = \"info\"\n");
  const Config wanted = read(
      "[daemon]\nlisten = \"127.0.0.1:2\"\nshutdown_grace = \"5s\"\n[logging]\nlevel = \"debug\"\n"
      "[auth]\ntoken_file = \"t\"\n[[circuits]]\nname = \"a\"\nzkey = \"a\"\n");
  const ReloadPlan plan = plan_reload(running, wanted);
  EXPECT_EQ(plan.changed, (std::vector<std::string>{"daemon.shutdown_grace", "auth.token_file",
                                                    "logging.level"}));
  EXPECT_EQ(plan.restart, (std::vector<std::string>{"daemon.listen", "circuits"}));
  EXPECT_EQ(plan.config.logging.level, base::LogLevel::kDebug);
  EXPECT_EQ(plan.config.daemon.shutdown_grace, milliseconds(5000));
  EXPECT_EQ(plan.config.auth.token_file, "t");
  EXPECT_EQ(plan.config.daemon.listen[0].port, 1);
  EXPECT_TRUE(plan.config.circuits.empty());
  const ReloadPlan none = plan_reload(running, running);
  EXPECT_TRUE(none.changed.empty());
  EXPECT_TRUE(none.restart.empty());
}

TEST(Config, EveryKeyIsExplained) {
  for (const ConfigKey& key : config_keys()) {
    EXPECT_GT(key.note.size(), 10U) << key.name;
    EXPECT_EQ(key.note.back(), '.') << key.name;
  }
}

TEST(Config, TheExampleHasEveryKeyAtItsDefault) {
  const auto loaded = load_config(CUZK_TEST_DATA "/../../contrib/cuzk.toml");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_TRUE(loaded->warnings.empty());
  EXPECT_EQ(to_toml(loaded->config), to_toml({}));
  const auto bytes = base::read_file(CUZK_TEST_DATA "/../../contrib/cuzk.toml", 1 << 20);
  ASSERT_TRUE(bytes.ok());
  const std::string text(bytes->begin(), bytes->end());
  // What it says of each key is what the table says today.
  EXPECT_NE(text.find(to_toml({})), std::string::npos);
}

TEST(Config, ThePageForOperatorsHasEveryKey) {
  const auto bytes = base::read_file(CUZK_TEST_DATA "/../../docs/operate.md", 1 << 20);
  ASSERT_TRUE(bytes.ok());
  const std::string page(bytes->begin(), bytes->end());
  const Config defaults;
  for (const ConfigKey& key : config_keys()) {
    const std::string value = key.show(defaults);
    const std::string row = "| `" + key.name + "` | " +
                            (value.empty() ? "not set" : "`" + value + "`") + " | " +
                            (key.live ? "yes" : "") + " | " + key.note + " |";
    EXPECT_TRUE(has(page, row)) << row;
  }
}

TEST(Config, TheExampleForContainersIsFine) {
  EXPECT_TRUE(load_config(CUZK_TEST_DATA "/../../contrib/container/cuzk.toml").ok());
}

TEST(Config, TheJournalStandsWhereTheEnvironmentSays) {
  std::map<std::string, std::string> set;
  const auto environment = [&](const char* name) { return set[name]; };
  EXPECT_EQ(default_journal_folder(environment), "/var/lib/cuzk");
  set["HOME"] = "/srv/a";
  EXPECT_EQ(default_journal_folder(environment), "/srv/a/.local/state/cuzk");
  set["XDG_STATE_HOME"] = "relative";
  EXPECT_EQ(default_journal_folder(environment), "/srv/a/.local/state/cuzk");
  set["XDG_STATE_HOME"] = "/x";
  EXPECT_EQ(default_journal_folder(environment), "/x/cuzk");
  set["STATE_DIRECTORY"] = "/var/lib/prover:/var/lib/other";
  EXPECT_EQ(default_journal_folder(environment), "/var/lib/prover");
  Config config;
  config.journal.folder = "/j";
  EXPECT_EQ(config.journal_folder(), "/j");
}

}  // namespace
}  // namespace cuzk::service
