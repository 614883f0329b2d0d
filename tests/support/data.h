// Where tests find data made by others.
//
// tests/data travels with the repository; ../shared/data may lie beside it and holds more. A test
// that needs what only the latter has says so by name instead of passing silently.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk::testing {

// The file or folder `relative` under tests/data, else under ../shared/data, else nothing.
inline std::optional<std::filesystem::path> find_data(const std::string& relative) {
  for (const char* root : {CUZK_TEST_DATA, CUZK_SHARED_DATA}) {
    const std::filesystem::path path = std::filesystem::path(root) / relative;
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

inline std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace cuzk::testing

// Names `variable` as the path of a data file, or ends the test as skipped with the file's name.
#define CUZK_DATA_OR_SKIP(variable, relative)                                   \
  const auto variable##_found = ::cuzk::testing::find_data(relative);           \
  if (!variable##_found) GTEST_SKIP() << "needs ../shared/data/" << (relative); \
  const std::filesystem::path variable = *variable##_found
