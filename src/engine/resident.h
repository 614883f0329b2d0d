// What the kernel says this process holds: memory in RAM by kind, threads, descriptors.
//
// Beside the ledger, which counts what was asked for, this is what the machine really gave. Reading
// it costs some ten microseconds and no memory, so that the reader does not change what it reads.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace cuzk::engine {

struct Resident {
  std::uint64_t anonymous_bytes = 0;  // heap, stacks, the ledger's pages
  std::uint64_t file_bytes = 0;       // mapped files: keys, the program itself
  std::uint64_t shared_bytes = 0;
  std::uint64_t peak_bytes = 0;  // of the sum, since the process began or reset_peak_resident()
  std::uint64_t thread_count = 0;

  std::uint64_t total_bytes() const { return anonymous_bytes + file_bytes + shared_bytes; }
};

// Error kUnsupported where /proc/self/status cannot be read or lacks a line.
base::Result<Resident> read_resident();
// The same from the text of such a file.
base::Result<Resident> parse_resident(std::string_view status);

// Makes the peak what is resident now. False where the kernel does not allow it.
bool reset_peak_resident();

// Descriptors that are open; 0 where the kernel does not tell.
std::uint64_t open_descriptor_count();

}  // namespace cuzk::engine
