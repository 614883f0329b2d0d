// The sub-commands. Each adds itself to the parser and, when it is the chosen one, sets the action.
//
// Parsing and work are apart: a cmd_*.cpp knows CLI11 and fills a request, a job_*.cpp takes the
// request and knows no command line. Requests are shared pointers held by the closures, because the
// parser writes into them after the function that made them has returned.
#pragma once

#include <filesystem>
#include <string>

#include "apps/cuzk/session.h"
#include "formats/key_check.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cuzk::apps {

// What the parser fills: the options of every sub-command and the chosen action, which is empty
// until a sub-command was recognised. It outlives the parser's callbacks, which refer to it.
struct Invocation {
  CommonOptions common;
  Action action;
};

void add_prove_command(CLI::App& app, Invocation& invocation);
void add_verify_command(CLI::App& app, Invocation& invocation);
void add_setup_command(CLI::App& app, Invocation& invocation);
void add_check_command(CLI::App& app, Invocation& invocation);
void add_inspect_command(CLI::App& app, Invocation& invocation);
void add_devices_command(CLI::App& app, Invocation& invocation);

// The group `cuzk filecoin ...`. It has no action of its own: each of its commands has one, and the
// parser demands that one is named. So it is with the other groups.
void add_filecoin_commands(CLI::App& app, Invocation& invocation);
void add_filecoin_seal_command(CLI::App& group, Invocation& invocation);
void add_filecoin_params_command(CLI::App& group, Invocation& invocation);
void add_filecoin_c1_command(CLI::App& group, Invocation& invocation);
void add_filecoin_prove_command(CLI::App& group, Invocation& invocation);
void add_filecoin_verify_command(CLI::App& group, Invocation& invocation);

void add_daemon_command(CLI::App& app, Invocation& invocation);
// submit, await, cancel, status, jobs, preload, evict and top: what talks to a daemon.
void add_client_commands(CLI::App& app, Invocation& invocation);
// The group `cuzk config ...`.
void add_config_commands(CLI::App& app, Invocation& invocation);

// The group `cuzk bench ...`.
void add_bench_commands(CLI::App& app, Invocation& invocation);
void add_engine_bench_command(CLI::App& group, Invocation& invocation);
void add_measure_commands(CLI::App& group, Invocation& invocation);
void add_load_command(CLI::App& group, Invocation& invocation);

// Adds a sub-command with the options that all take. `example` is shown under its help.
CLI::App* add_command(CLI::App& parent, Invocation& invocation, const std::string& name,
                      const std::string& description, const std::string& example);

// An option that takes a path, which may not be empty. `target` has to outlive the parsing, as it
// does inside a request.
CLI::Option* add_path(CLI::App& command, const std::string& flag, std::filesystem::path& target,
                      const std::string& description);

// --check-key: how far the query points of a proving key are checked before they are used.
void add_key_check_option(CLI::App& command, formats::KeyCheck& target);

// "cuzk 0.1.0 ..." with commit, compiler, build type, sanitizers and the CPU level in use; as lines
// without the last line end, and as one JSON object with it.
std::string version_text();
std::string version_json();

}  // namespace cuzk::apps
