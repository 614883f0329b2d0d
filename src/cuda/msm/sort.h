// Points of a multi-scalar multiplication sorted by bucket: a counting sort in two levels.
//
// For each set of buckets: digits, coarse bins (at most 1024, partitioned through shared memory so
// that writes are runs), then a counting sort of each bin in tiles. No step depends on how the
// digits are spread: a bin of any size is shared by as many tiles as it needs, and equal digits
// cost no more than different ones. docs/math/cuda_msm.md counts the bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/msm/digits.h"

namespace cuzk::cuda::msm {

// The scalars of one call and which bases they multiply: scalar i takes base indices[i] -
// index_first of each table, or base base_first + i where `indices` is null.
struct SortedScalars {
  const std::uint64_t* words = nullptr;  // four limbs each
  ScalarForm form = ScalarForm::kCanonical;
  std::size_t count = 0;
  const std::uint32_t* indices = nullptr;
  std::uint32_t index_first = 0, base_first = 0;
  std::size_t table_stride = 0;  // bases from one table of multiples to the next
};

// Arrays of the bucket sets of one group, set after set. A set holds an entry for each scalar and
// each window that uses it.
struct SortedSets {
  std::size_t capacity = 0;      // entries a set has room for
  std::size_t bucket_count = 0;  // buckets a set has room for, a power of two
  int first_set = 0, set_count = 0;
  std::uint32_t* points = nullptr;         // [set][capacity]: base | kSignBit, by bucket
  std::uint32_t* bucket_offset = nullptr;  // [set][bucket_count + 1] into `points`
  std::uint32_t* bucket_cursor = nullptr;  // [set][bucket_count], scratch
  std::uint32_t* record_point = nullptr;   // [set][capacity], scratch
  std::uint16_t* record_fine = nullptr;    // [set][capacity], scratch
  std::uint32_t* coarse = nullptr;         // [set][kCoarseWords], scratch

  // Counts, offsets, cursors and first tiles of the bins, each with room for an end.
  static constexpr std::size_t kCoarseWords = 4 * ((std::size_t{1} << kCoarseBitsMax) + 1);
};

// Takes the arrays for `set_count` sets of `capacity` entries. bucket_count is a power of two. 10
// bytes an entry and 8 a bucket, of which points and bucket_offset are what a sort leaves.
SortedSets take_sorted_sets(device::Arena& arena, std::size_t capacity, std::size_t bucket_count,
                            int set_count);

// Sets that one call may sort: their counters share one block's memory.
inline constexpr int kSortSetsMax = 24;

// Sorts sets [first_set, first_set + set_count) of `layout`. Queued on the stream. Entries whose
// digit is zero are left out, so a set's last offset says how many there are. The order inside a
// bucket is not the same from run to run.
base::Status sort_sets(const device::Stream& stream, const SortedSets& sorted,
                       const WindowLayout& layout, const ScalarParams& params,
                       const SortedScalars& scalars);

}  // namespace cuzk::cuda::msm
