// Memory for point rows: aligned to cache lines, zero (that is, infinity everywhere) when asked.
//
// Rows are read at random, so large buffers ask the kernel for huge pages: with 4 KiB pages, misses
// of the address translation cost as much as the additions.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/check.h"

namespace cuzk::msm {

// Owns `size_bytes` bytes at a 64-byte boundary; movable, empty by default.
class RowBuffer {
 public:
  RowBuffer() = default;
  explicit RowBuffer(std::size_t size_bytes) {
    if (size_bytes == 0) return;
    const std::size_t alignment = alignment_for(size_bytes);
    size_bytes_ = rounded(size_bytes);
    bytes_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(alignment, size_bytes_)));
    CUZK_CHECK(bytes_ != nullptr);
#if defined(MADV_HUGEPAGE)
    // Advice only: without huge pages everything works, slower.
    if (alignment == kHugePageBytes) (void)::madvise(bytes_.get(), size_bytes_, MADV_HUGEPAGE);
#endif
  }

  // What a buffer of `size_bytes` really takes.
  static constexpr std::size_t rounded(std::size_t size_bytes) {
    const std::size_t alignment = alignment_for(size_bytes);
    return (size_bytes + alignment - 1) / alignment * alignment;
  }

  std::uint8_t* data() noexcept { return bytes_.get(); }
  const std::uint8_t* data() const noexcept { return bytes_.get(); }
  std::size_t size_bytes() const noexcept { return size_bytes_; }
  void fill_zero() {
    if (size_bytes_ != 0) std::memset(bytes_.get(), 0, size_bytes_);
  }

 private:
  static constexpr std::size_t kLineBytes = 64, kHugePageBytes = std::size_t{2} << 20;
  static constexpr std::size_t alignment_for(std::size_t size_bytes) {
    return size_bytes >= kHugePageBytes ? kHugePageBytes : kLineBytes;
  }

  struct Free {
    void operator()(std::uint8_t* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<std::uint8_t, Free> bytes_;
  std::size_t size_bytes_ = 0;
};

// Whether a row is infinity. Almost every other row is told from it by its first word.
inline bool row_is_zero(const std::uint8_t* row, std::size_t row_bytes) {
  for (std::size_t i = 0; i < row_bytes; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, row + i, sizeof word);
    if (word != 0) return false;
  }
  return true;
}

}  // namespace cuzk::msm
