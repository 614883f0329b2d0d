// The frame of the command line: parse, run, print, exit code.
//
// An answer or an error leaves the process here, as text or JSON, and an answer that could not be
// written whole is an error. A library's exceptions end here too. Sub-commands are in cmd_*.cpp.
#include "apps/cuzk/command_line.h"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/cuzk/answer.h"
#include "apps/cuzk/commands.h"
#include "apps/cuzk/daemon_executor.h"
#include "base/cpu.h"
#include "base/interrupt.h"
#include "base/ledger.h"
#include "base/memory_limits.h"
#include "base/threads.h"

namespace cuzk::apps {
namespace {

constexpr char kDescription[] =
    "cuzk makes and checks Groth16 proofs: of circom circuits (BN254, BLS12-381) and of Filecoin\n"
    "sectors (BLS12-381).";
constexpr char kFooter[] =
    "Exit codes: 0 done or valid, 1 not valid, 2 error, 3 not over yet, 130 interrupted.\n"
    "With --json the answer, or the error, is one JSON object on standard output.\n"
    "`cuzk COMMAND --help` shows a command's options and an example.";

static_assert(kExitYes == 0 && kExitNo == 1 && kExitError == 2 &&
              base::kInterruptedExitCode == 130);  // as the footer tells users

// Whether all of it left the process.
bool print(std::FILE* stream, const std::string& text) {
  CUZK_ASSERT(stream != nullptr);
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  return std::fflush(stream) == 0 && written;
}

// The error for people on standard error; under --json also as JSON where the answer would be. An
// error that came of Ctrl-C has the exit code of that, whatever its kind.
int report_error(const base::Error& error, bool json) {
  if (json) print(stdout, error_json(error));  // what fails here is told by the exit code anyway
  print(stderr, "error: " + printable(error.message) + "\n");
  return base::interrupted() ? base::kInterruptedExitCode : kExitError;
}

// An answer that did not arrive is no answer: `exit_code` counts only when it did.
int answer_with(const std::string& text, int exit_code) {
  if (print(stdout, text)) return exit_code;
  return report_error({base::ErrorKind::kIo, "the answer cannot be written to standard output"},
                      false);
}

// Asked before parsing, for errors of parsing have to be told in the wanted form too.
bool asks_for(int count, char** arguments, std::string_view flag) {
  for (int i = 1; i < count; ++i) {
    if (arguments[i] == flag) return true;
  }
  return false;
}

// The library's message as one sentence.
base::Error usage_error(const CLI::ParseError& error) {
  std::string sentence = error.what();
  for (char& c : sentence) {
    if (c == '\n') c = ' ';
  }
  while (!sentence.empty() && (sentence.back() == ' ' || sentence.back() == '.')) {
    sentence.pop_back();
  }
  return {base::ErrorKind::kInvalidArgument, sentence + "; see --help"};
}

// The library reads -1 as 2^64 - 1 and 010 as eight: a proof for the wrong sector. Empty when fine.
std::string check_whole_number(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed == std::errc() && stop == end && (text.size() == 1 || text.front() != '0')) return {};
  return fmt::format("expected a whole number from 0 to {}, found '{}'",
                     std::numeric_limits<std::uint64_t>::max(), printable(text));
}

// Miners are known by their addresses: f01000 (t01000 on test networks) is the id 1000.
std::string strip_id_prefix(std::string& text) {
  const bool prefixed = text.size() > 2 && (text[0] == 'f' || text[0] == 't') && text[1] == '0';
  if (prefixed && check_whole_number(text.substr(2)).empty()) text.erase(0, 2);
  return {};
}

// Every option of `app` and of its subcommands that takes an unsigned number takes decimal ones.
void demand_whole_numbers(CLI::App& app) {
  // By the type's name, which the library derives from the variable that the option fills.
  for (CLI::Option* const option : app.get_options()) {
    if (option->get_type_name().starts_with("UINT")) {
      option->check(CLI::Validator(check_whole_number, ""));
      if (option->check_name("--miner-id")) {
        option->transform(CLI::Validator(strip_id_prefix, ""));  // before the check
      }
    }
  }
  for (CLI::App* const command : app.get_subcommands([](CLI::App*) { return true; })) {
    demand_whole_numbers(*command);
  }
}

// The library only says that a command is missing. Empty when each word names one.
std::optional<base::Error> unknown_command(const CLI::App& app, int argument_count,
                                           char** arguments) {
  // Walks down the words as the parser would, but stops at the first command that needs no other.
  const CLI::App* current = &app;
  std::string path = app.get_name();
  for (int i = 1; i < argument_count && current->get_require_subcommand_min() > 0; ++i) {
    const std::string word = arguments[i];
    if (word == "--help" || word == "-h" || word == "--version") break;  // answered first
    if (word.starts_with('-')) continue;
    const auto named = current->get_subcommands(
        [&word](const CLI::App* command) { return command->check_name(word); });
    if (named.empty()) {
      return base::Error{
          base::ErrorKind::kInvalidArgument,
          fmt::format("'{} {}' is no command; see {} --help", path, printable(word), path)};
    }
    CUZK_ASSERT(named.size() == 1);  // the library refuses to add a name twice
    path += " " + word;
    current = named.front();
  }
  return std::nullopt;
}

// Where an exception of a library or of the allocator ends, should one get this far.
base::Result<Answer> run_guarded(const Action& action, Session& session) {
  try {
    return action(session);
  } catch (const std::bad_alloc&) {
    return base::Error{base::ErrorKind::kResourceExhausted, "not enough memory for this work"};
  } catch (const std::exception& error) {
    return base::Error{base::ErrorKind::kInternal, std::string("unexpected: ") + error.what()};
  }
}

// Without --memory what the machine gives: work beyond it is refused with its arithmetic instead of
// being killed half-way. A machine that does not tell its memory has no budget then.
base::Status set_memory_budget(const std::string& text) {
  const auto limits = base::detect_memory_limits();
  if (text.empty() && !limits.ok()) return base::ok_status();
  if (!limits.ok()) return limits.error();
  const auto budget = base::resolve_budget(text.empty() ? "auto" : text, *limits);
  if (!budget.ok()) return base::Error(budget.error()).within("--memory");
  base::Ledger::process().set_budget(*budget);
  return base::ok_status();
}

// The settings that concern the whole process come before any work: a CPU level that was asked for
// and is not there is an error, not a slower run.
int run_action(const Invocation& invocation) {
  CUZK_ASSERT(invocation.action != nullptr);  // the parser demands a sub-command
  if (const base::Status level = base::cpu_level_request(); !level.ok()) {
    return report_error(level.error(), invocation.common.json);
  }
  if (const base::Status budget = set_memory_budget(invocation.common.memory); !budget.ok()) {
    return report_error(budget.error(), invocation.common.json);
  }
  base::set_thread_count(invocation.common.threads);
  Session session(invocation.common);
  const base::Result<Answer> answer = run_guarded(invocation.action, session);
  // Before anything is printed: the progress line would stand in the midst of it.
  session.end_progress();
  if (!answer.ok()) return report_error(answer.error(), invocation.common.json);
  return answer_with(invocation.common.json ? answer->to_json() : answer->to_text(),
                     answer->exit_code());
}

}  // namespace

CLI::App* add_command(CLI::App& parent, Invocation& invocation, const std::string& name,
                      const std::string& description, const std::string& example) {
  CUZK_ASSERT(!name.empty() && !description.empty() && !example.empty());
  // The options of all commands are added to each, and not to the whole, so that they may stand
  // behind the command's name, where people write them.
  CLI::App* command = parent.add_subcommand(name, description);
  command->add_flag("--json", invocation.common.json, "Answer with one JSON object");
  command
      ->add_option("--threads", invocation.common.threads,
                   "Threads to use (default: every CPU of this process)")
      ->check(CLI::Range(1u, 4096u));
  command
      ->add_option("--memory", invocation.common.memory,
                   "Most memory for large buffers, e.g. 48GiB, or in bytes; none: no limit\n"
                   "(default: auto, what the machine gives)")
      ->check([](const std::string& size) {
        return size.empty() ? std::string("the size is empty") : std::string();
      })
      ->type_name("SIZE");
  command->footer("Example:\n  " + example);
  return command;
}

// By way of a function, because an empty path has to be refused when it is given and cannot be told
// from an option that was not.
CLI::Option* add_path(CLI::App& command, const std::string& flag, std::filesystem::path& target,
                      const std::string& description) {
  CUZK_ASSERT(!flag.empty());
  const auto set = [&target](const std::string& text) { target = text; };
  const auto check = [](const std::string& text) {
    if (text.empty()) return std::string("the path is empty");
    // Elsewhere it means standard input or output; a file of that name would be a surprise.
    if (text == "-") {
      return std::string("'-' is no file; write /dev/stdin, /dev/stdout, or ./- for such a name");
    }
    return std::string();
  };
  return command.add_option_function<std::string>(flag, set, description)
      ->check(check)
      ->type_name("FILE");
}

void add_key_check_option(CLI::App& command, formats::KeyCheck& target) {
  // Each level includes those before it.
  static const std::map<std::string, formats::KeyCheck> kLevels = {
      {"none", formats::KeyCheck::kNone},
      {"canonical", formats::KeyCheck::kCanonical},
      {"curve", formats::KeyCheck::kOnCurve},
      {"subgroup", formats::KeyCheck::kSubgroup}};
  const auto set = [&target](const std::string& level) { target = kLevels.at(level); };
  const auto check = [](const std::string& level) {
    if (kLevels.contains(level)) return std::string();
    return fmt::format("expected none, canonical, curve or subgroup, found '{}'", printable(level));
  };
  command
      .add_option_function<std::string>(
          "--check-key", set, "Check the key's points first: none, canonical, curve or subgroup")
      ->check(check)
      ->type_name("LEVEL")
      ->default_str("none");
}

int run_command_line(int argument_count, char** arguments) {
  // Not for people: how the daemon starts the process that proves.
  if (argument_count == 2 && std::string_view(arguments[1]) == kEngineWorkerArgument) {
    return run_engine_worker();
  }
  // The daemon takes the signals over later, with handlers of its own.
  base::install_interrupt_handlers();
  const bool json = asks_for(argument_count, arguments, "--json");
  Invocation invocation;
  CLI::App app(kDescription, "cuzk");
  app.footer(kFooter);
  app.add_flag("--json", invocation.common.json, "With --version: as one JSON object");
  app.set_version_flag(
      "--version", [json] { return json ? version_json() : version_text(); },
      "Version, commit, compiler, build type and CPU level");
  app.require_subcommand(1);
  add_prove_command(app, invocation);
  add_verify_command(app, invocation);
  add_setup_command(app, invocation);
  add_check_command(app, invocation);
  add_inspect_command(app, invocation);
  add_devices_command(app, invocation);
  add_filecoin_commands(app, invocation);
  add_daemon_command(app, invocation);
  add_client_commands(app, invocation);
  add_config_commands(app, invocation);
  add_bench_commands(app, invocation);
  // After all commands are there, for it goes through their options.
  demand_whole_numbers(app);
  // Before the parser, whose sentence for a mistyped command names none.
  if (const auto error = unknown_command(app, argument_count, arguments)) {
    return report_error(*error, json);
  }
  try {
    app.parse(argument_count, arguments);
    // The library tells success by exceptions; help and version are answers, not errors.
  } catch (const CLI::CallForHelp&) {
    return answer_with(app.help(), kExitYes);
  } catch (const CLI::Success& asked) {  // version
    return answer_with(std::string(asked.what()) + (json ? "" : "\n"), kExitYes);
  } catch (const CLI::ParseError& error) {
    return report_error(usage_error(error), json);
  }
  return run_action(invocation);
}

}  // namespace cuzk::apps
