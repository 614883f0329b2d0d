// Clearing secrets before their memory is given back.
//
// A compiler drops ordinary stores to an object that nobody reads again; these it must keep. Copies
// that it left in registers or in the stack frames of arithmetic are out of reach: the aim is that
// no secret stays in a live heap block or a core file of a long-running process as a whole.
#pragma once

#include <cstddef>
#include <cstring>

namespace cuzk::base {

// Sets `size_bytes` bytes to zero.
inline void wipe(void* bytes, std::size_t size_bytes) noexcept {
  std::memset(bytes, 0, size_bytes);
  asm volatile("" : : "r"(bytes) : "memory");  // whoever reads memory may read these
}

}  // namespace cuzk::base
