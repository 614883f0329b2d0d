// Runs the built command as a user does and looks at all it says.
//
// Shared by the tests of this folder: what counts is exit code, standard output and one sentence on
// standard error. Nothing of src/ is linked for it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace cuzk::testing {

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
