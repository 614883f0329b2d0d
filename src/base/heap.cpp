// Glibc's knobs, and what the kernel says of the process.
//
// What mallopt answers is not looked at: a heap that is not tuned is a little wasteful, never
// wrong. M_MMAP_THRESHOLD also ends glibc's habit of raising that border itself (mallopt(3)).
#include "base/heap.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace cuzk::base {

static_assert(kMappedBlockBytesMin <= std::numeric_limits<int>::max(), "mallopt takes an int");

void map_large_blocks() noexcept {
#if defined(__GLIBC__)
  (void)::mallopt(M_MMAP_THRESHOLD, static_cast<int>(kMappedBlockBytesMin));
#endif
}

void limit_arenas() noexcept {
#if defined(__GLIBC__)
  const unsigned cores = std::thread::hardware_concurrency();
  if (cores != 0) (void)::mallopt(M_ARENA_MAX, static_cast<int>(cores));
#endif
}

void trim_heap() noexcept {
#if defined(__GLIBC__)
  (void)::malloc_trim(0);
#endif
}

// By plain system calls into the stack: a stream would allocate, and change what is measured.
std::optional<std::uint64_t> resident_bytes() noexcept {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char line[128] = {};
  const ssize_t length = ::read(file, line, sizeof line - 1);
  ::close(file);
  unsigned long long size_pages = 0, resident_pages = 0;
  if (length <= 0 || std::sscanf(line, "%llu %llu", &size_pages, &resident_pages) != 2) {
    return std::nullopt;
  }
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace cuzk::base
