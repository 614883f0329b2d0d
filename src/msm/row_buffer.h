// Memory for point rows and the lists beside them: scratch that the ledger counts for this room.
//
// Rows are read at random, so large buffers are pages that ask the kernel for huge ones: with 4 KiB
// pages, misses of the address translation cost as much as the additions.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "base/scratch.h"

namespace cuzk::msm {

inline constexpr base::MemoryCategory kScratchCategory = base::MemoryCategory::kMsmScratch;
inline constexpr std::string_view kScratchOwner = "multi-scalar multiplication";

// `size_bytes` bytes at a 64-byte boundary, their content anything. Throws base::OutOfMemory.
class RowBuffer : public base::ScratchBuffer {
 public:
  RowBuffer() = default;
  explicit RowBuffer(std::size_t size_bytes)
      : ScratchBuffer(size_bytes, kScratchCategory, kScratchOwner) {}
};

// `count` elements, not initialised. Throws base::OutOfMemory.
template <class T>
class ScratchList : public base::ScratchArray<T> {
 public:
  explicit ScratchList(std::size_t count)
      : base::ScratchArray<T>(count, kScratchCategory, kScratchOwner) {}
};

// Whether a row is infinity. Almost every other row is told from it by its first word.
inline bool row_is_zero(const std::uint8_t* row, std::size_t row_bytes) {
  CUZK_DEBUG_ASSERT(row_bytes % 8 == 0);
  for (std::size_t i = 0; i < row_bytes; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, row + i, sizeof word);
    if (word != 0) return false;
  }
  return true;
}

}  // namespace cuzk::msm
