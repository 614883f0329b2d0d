// Glibc's knobs.
#include "base/heap.h"

#include <cstdlib>
#include <thread>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace cuzk::base {

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

}  // namespace cuzk::base
