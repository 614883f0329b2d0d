// Points of a multi-scalar multiplication sorted by bucket: a counting sort in two levels.
//
// For each window: digits, coarse bins (at most 1024, partitioned through shared memory so that
// writes are runs), then a counting sort of each bin in tiles. No step depends on how the digits
// are spread: a bin of any size is shared by as many tiles as it needs, and equal digits cost no
// more than different ones. docs/math/cuda_msm.md counts the bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/msm/digits.h"

namespace cuzk::cuda::msm {

// Arrays of the windows of one group, window after window.
struct SortedWindows {
  std::size_t count = 0;         // scalars
  std::size_t bucket_count = 0;  // buckets a window has room for, a power of two
  int first_window = 0, window_count = 0;
  std::uint32_t* points = nullptr;         // [window][count]: index | kSignBit, by bucket
  std::uint32_t* bucket_offset = nullptr;  // [window][bucket_count + 1] into `points`
  std::uint32_t* bucket_cursor = nullptr;  // [window][bucket_count], scratch
  std::uint32_t* record_point = nullptr;   // [window][count], scratch
  std::uint16_t* record_fine = nullptr;    // [window][count], scratch
  std::uint32_t* coarse = nullptr;         // [window][kCoarseWords], scratch

  static constexpr std::size_t kCoarseWords = 4 * ((std::size_t{1} << kCoarseBitsMax) + 1);
};

// Takes the arrays for `window_count` windows of `count` scalars.
SortedWindows take_sorted_windows(device::Arena& arena, std::size_t count, std::size_t bucket_count,
                                  int window_count);

// Windows that one call may sort: their counters share one block's memory.
inline constexpr int kSortWindowsMax = 24;

// Sorts windows [first_window, first_window + window_count) of `layout`. `scalars` are canonical,
// four limbs each, on the device. Queued on the stream.
base::Status sort_windows(const device::Stream& stream, const SortedWindows& sorted,
                          const WindowLayout& layout, const ScalarParams& params,
                          const std::uint64_t* scalars);

}  // namespace cuzk::cuda::msm
