// Starts programs of others and of ours, and looks at all they say.
//
// Without a shell, so that arguments arrive as they are; output goes through files, so that a
// program that says much on both streams cannot block on a full pipe.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
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

// Empty where the file is not there; the test that looks for words in it then fails.
inline std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// How a program ended and all that it wrote.
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

}  // namespace cuzk::testing
