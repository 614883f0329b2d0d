// What the journal's tests share: a folder that goes away, a clock that stands still, and jobs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "engine/journal.h"
#include "tests/support/temporary_folder.h"

namespace cuzk::engine::testing_support {

// In memory where the system has a place for that: these tests sync thousands of times, and what
// they prove does not depend on the disk.
class TemporaryFolder : public testing::TemporaryFolder {
 public:
  TemporaryFolder() : testing::TemporaryFolder(Place::kMemory) {}
};

inline constexpr std::int64_t kStartMs = 1'700'000'000'000;

// Options whose clock reads *now_ms. The small reserve keeps the tests' folders small.
inline JournalOptions options_in(const std::filesystem::path& folder,
                                 std::shared_ptr<std::int64_t> now_ms) {
  JournalOptions options;
  options.folder = folder;
  options.now_ms = [now_ms = std::move(now_ms)] { return *now_ms; };
  options.reserve_bytes = 64 << 10;
  return options;
}

inline JournalOptions options_in(const std::filesystem::path& folder) {
  return options_in(folder, std::make_shared<std::int64_t>(kStartMs));
}

// Opens, or fails the test and ends it.
inline std::unique_ptr<Journal> open_or_die(JournalOptions options) {
  auto journal = Journal::open(std::move(options));
  if (!journal.ok()) ADD_FAILURE() << journal.error().message;
  return std::move(journal).value();
}

// The value, or a test failure and an empty one.
template <class T>
T value_of(base::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  ADD_FAILURE() << result.error().message;
  return T();
}

// `size` bytes that depend on the seed, without a short period.
inline base::Bytes test_bytes(std::size_t size, std::uint64_t seed) {
  base::Bytes bytes(size);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (std::uint8_t& byte : bytes) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  return bytes;
}

// Borrows the input.
inline JobSubmission submission_of(std::string request_id, base::ByteSpan input,
                                   std::uint32_t partition_count = 1) {
  JobSubmission submission;
  submission.request_id = std::move(request_id);
  submission.kind = "porep-2kib";
  submission.partition_count = partition_count;
  submission.input = input;
  return submission;
}

inline base::Bytes read_whole(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline void write_whole(const std::filesystem::path& path, base::ByteSpan bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

}  // namespace cuzk::engine::testing_support
