// Host memory that is there when it is handed out: huge pages, brought in by several threads.
//
// Locking memory for a device costs by the page, and the driver's own allocation brings in small
// pages on one thread, which takes several times as long (docs/cuda.md, "Pinned memory"). Free of
// CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/result.h"

namespace cuzk::cuda::device {

// Whole pages of the process, zero at first, aligned to a huge page. Children do not inherit them:
// a page that a device writes to must never become a copy. Move-only.
class HostPages {
 public:
  static constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;

  HostPages() = default;
  HostPages(HostPages&& other) noexcept { swap(other); }
  HostPages& operator=(HostPages&& other) noexcept {
    HostPages taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~HostPages();

  // At least size_bytes > 0, resident, by up to `threads` threads, this one among them.
  // kResourceExhausted, with the size, when the kernel has no memory.
  static base::Result<HostPages> create(std::uint64_t size_bytes, unsigned threads);
  std::byte* data() const noexcept { return data_; }

 private:
  void swap(HostPages& other) noexcept {
    std::swap(mapping_, other.mapping_);
    std::swap(mapping_bytes_, other.mapping_bytes_);
    std::swap(data_, other.data_);
  }

  // All null, or data_ is the first huge page's boundary in the mapping.
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace cuzk::cuda::device
