// A folder of the running test, gone when the test ends.
//
// Named by mkdtemp, so tests of one binary may run at once and two runs on one machine do not meet.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk::testing {

class TemporaryFolder {
 public:
  // kMemory: where the system has such a place; for tests that sync thousands of times and prove
  // nothing about the disk.
  enum class Place { kDisk, kMemory };

  explicit TemporaryFolder(Place place = Place::kDisk) {
    const bool in_memory = place == Place::kMemory && ::access("/dev/shm", W_OK) == 0;
    std::string pattern = (in_memory ? "/dev/shm/" : ::testing::TempDir()) + "cuzk_test_XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      // Going on would write into whatever folder the process runs in.
      std::perror(("cannot make " + pattern).c_str());
      std::abort();
    }
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace cuzk::testing
