// What is to lie in one stretch of device memory, put together from arrays of the host: whole, or a
// piece at a time when there is too little memory for copies to hold it all.
//
// So a witness is packed once, into memory that the card reads at full speed, and its device form
// is nowhere else on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace cuzk::cuda::prove {

// Views: the arrays must outlive it. Filled by one thread; write() then changes nothing and may be
// called for any pieces in any order.
class HostImage {
 public:
  // Writes elements [first, first + size) of an array to memory that is aligned for them.
  using WriteWords = std::function<void(std::size_t first, std::span<std::uint32_t> out)>;

  // `values` lie at byte `offset`. Parts do not overlap; between them may be anything.
  template <class T>
  void add(std::uint64_t offset, std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    CUZK_DEBUG_ASSERT(values.empty() || is_free(offset, values.size_bytes()));
    if (!values.empty()) parts_.push_back({offset, std::as_bytes(values), values.size_bytes(), {}});
  }
  // The same for `count` words that are made when they are written, by several threads at once.
  // `offset` is a multiple of four, and so is each end of what write() is asked for.
  void add_words(std::uint64_t offset, std::size_t count, WriteWords make) {
    CUZK_ASSERT(offset % sizeof(std::uint32_t) == 0 && (make || count == 0));
    CUZK_DEBUG_ASSERT(count == 0 || is_free(offset, count * sizeof(std::uint32_t)));
    if (count != 0) parts_.push_back({offset, {}, count * sizeof(std::uint32_t), std::move(make)});
  }

  // The bytes at [first, first + out.size()), on all processors: one of them cannot keep up with
  // the link to a device. What belongs to no part is left as it is.
  void write(std::uint64_t first, std::span<std::byte> out) const;

 private:
  struct Part {
    std::uint64_t offset = 0;
    std::span<const std::byte> bytes;  // none: made
    std::uint64_t size_bytes = 0;
    WriteWords make;
  };
  bool is_free(std::uint64_t offset, std::uint64_t size_bytes) const {
    for (const Part& part : parts_) {
      if (offset < part.offset + part.size_bytes && part.offset < offset + size_bytes) return false;
    }
    return true;
  }
  std::vector<Part> parts_;
};

}  // namespace cuzk::cuda::prove
