// Reads a gzip file whole. Test data of others is kept as it came, and some of it came packed.
//
// By zlib and into memory: the files are of some megabytes, and what a test compares is their text.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

namespace cuzk::testing {

// The unpacked bytes; records a test failure when the file is missing, damaged or cut.
inline std::string read_gzip(const std::filesystem::path& path) {
  constexpr unsigned kChunkBytes = 1 << 16;
  std::string out;
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    ADD_FAILURE() << "cannot open " << path;
    return out;
  }
  int count = 0;
  do {
    const std::size_t before = out.size();
    out.resize(before + kChunkBytes);
    count = gzread(file, out.data() + before, kChunkBytes);
    out.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
  } while (count > 0);
  const bool is_whole = count == 0 && gzclose(file) == Z_OK;
  EXPECT_TRUE(is_whole) << path << " is damaged or cut";
  return out;
}

}  // namespace cuzk::testing
