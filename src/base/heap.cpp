// Glibc's knobs.
#include "base/heap.h"

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace cuzk::base {

void map_large_blocks() noexcept {
#if defined(__GLIBC__)
  (void)::mallopt(M_MMAP_THRESHOLD, static_cast<int>(kMappedBlockBytesMin));
#endif
}

void trim_heap() noexcept {
#if defined(__GLIBC__)
  (void)::malloc_trim(0);
#endif
}

}  // namespace cuzk::base
