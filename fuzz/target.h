// What a fuzz target provides and what it may use. One target a file, fuzz/<format>_fuzz.cpp.
//
// A target calls a parser with hostile bytes and demands more than that it does not crash: what is
// accepted has to come back the same through the writer, where there is one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/bytes.h"

// One run. Called by libFuzzer, or by fuzz/driver.cpp, in one thread. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace cuzk::fuzz {

// Valid inputs to start from, at least one. Small ones: a run should take microseconds.
std::vector<base::Bytes> seeds();

// The file `relative` of tests/data, which travels with the repository.
inline base::Bytes data_file(const std::string& relative) {
  base::Bytes bytes;
  const std::string path = std::string(CUZK_TEST_DATA) + "/" + relative;
  if (std::FILE* file = std::fopen(path.c_str(), "rb")) {
    std::uint8_t piece[4096];
    for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, file)) > 0;) {
      bytes.insert(bytes.end(), piece, piece + n);
    }
    std::fclose(file);
  }
  return bytes;
}

}  // namespace cuzk::fuzz

// Ends the run as a finding when what a parser promises does not hold.
#define CUZK_FUZZ_REQUIRE(condition)                                                      \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)
