// Runs the built command as a user does and looks at all it says.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

extern char** environ;

namespace cuzk::testing {

namespace fs = std::filesystem;

inline std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

struct CommandResult {
  int exit_code = -1;  // -1: ended by a signal or not started
  std::string out, err;

  // Standard output as JSON; a test failure when it is none.
  nlohmann::json json() const {
    if (!nlohmann::json::accept(out)) {
      ADD_FAILURE() << "not JSON: " << out << err;
      return {};
    }
    return nlohmann::json::parse(out);
  }
};

// Starts `program` (found by PATH) and waits for its end.
inline CommandResult run_program(const std::string& program, std::vector<std::string> arguments) {
  const TemporaryFolder scratch;
  const std::string out = scratch.file("out"), err = scratch.file("err");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<char*> raw;
  arguments.insert(arguments.begin(), program);
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  CommandResult result;
  if (failed != 0) return result;
  int status = 0;
  if (::waitpid(child, &status, 0) == child && WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  }
  result.out = read_text(out);
  result.err = read_text(err);
  return result;
}

inline CommandResult run_cuzk(std::vector<std::string> arguments) {
  return run_program(CUZK_COMMAND, std::move(arguments));
}

// One error, one sentence on one line, no code of ours in it.
inline void expect_one_sentence(const CommandResult& result) {
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  EXPECT_TRUE(result.err.starts_with("error: ")) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.err.find(".cpp"), std::string::npos) << result.err;
}

// Command file of snarkjs: CUZK_SNARKJS, or where tools/setup_snarkjs.sh puts it.
inline std::optional<std::string> find_snarkjs() {
  std::vector<fs::path> places;
  if (const char* given = std::getenv("CUZK_SNARKJS")) places.emplace_back(given);
  if (const char* home = std::getenv("HOME")) {
    places.push_back(fs::path(home) /
                     ".cache/cuzk/snarkjs-0.7.6/node_modules/snarkjs/build/cli.cjs");
  }
  for (const fs::path& place : places) {
    if (fs::exists(place)) return place.string();
  }
  return std::nullopt;
}

}  // namespace cuzk::testing

#define CUZK_SNARKJS_OR_SKIP(variable)                                                           \
  const auto variable##_found = ::cuzk::testing::find_snarkjs();                                 \
  if (!variable##_found || ::cuzk::testing::run_program("node", {"--version"}).exit_code != 0) { \
    GTEST_SKIP() << "needs node and snarkjs 0.7.6 (tools/setup_snarkjs.sh)";                     \
  }                                                                                              \
  const std::string variable = *variable##_found
