// Launches of the two-level counting sort, and the arrays it works in.
//
// Six kernels for all windows of a group at once; none waits for the host, so the sort only queues.
// Counters are cleared here, everything else is written before it is read.
#include "cuda/device/code.h"
#include "cuda/device/device.h"
#include "cuda/device/error.h"
#include "cuda/msm/sort.h"
#include "cuda/msm/sort_kernels.cuh"

namespace cuzk::cuda::msm {
namespace {

static_assert(kSortSetsMax * (sizeof(std::uint32_t) << kCoarseBitsMax) <= 99 << 10,
              "the counters of all sets fit a block of the smallest cards");

// log2, for powers of two.
int log2_of(std::size_t power) {
  int out = 0;
  while (power >> out > 1) ++out;
  return out;
}

// Blocks that cover `count` items.
unsigned blocks(std::size_t count, std::size_t per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

}  // namespace

SortedSets take_sorted_sets(device::Arena& arena, std::size_t capacity, std::size_t bucket_count,
                            int set_count) {
  const std::size_t sets = static_cast<std::size_t>(set_count);
  SortedSets out;
  out.capacity = capacity;
  out.bucket_count = bucket_count;
  out.points = arena.take<std::uint32_t>(sets * capacity).data;
  out.bucket_offset = arena.take<std::uint32_t>(sets * (bucket_count + 1)).data;
  out.bucket_cursor = arena.take<std::uint32_t>(sets * bucket_count).data;
  out.record_point = arena.take<std::uint32_t>(sets * capacity).data;
  out.record_fine = arena.take<std::uint16_t>(sets * capacity).data;
  out.coarse = arena.take<std::uint32_t>(sets * SortedSets::kCoarseWords).data;
  return out;
}

base::Status sort_sets(const device::Stream& stream, const SortedSets& sorted,
                       const WindowLayout& layout, const ScalarParams& params,
                       const SortedScalars& scalars) {
  // Few buckets need one level only: then fine_bits is 0 and each bin is a bucket.
  const int bucket_bits = log2_of(sorted.bucket_count), sets = sorted.set_count;
  SortShape shape = {};
  shape.capacity = sorted.capacity;
  shape.scalar_count = scalars.count;
  shape.count = scalars.count * static_cast<std::size_t>(layout.table_count);
  shape.bucket_count = sorted.bucket_count;
  shape.coarse_bits = bucket_bits < kCoarseBitsMax ? bucket_bits : kCoarseBitsMax;
  shape.fine_bits = bucket_bits - shape.coarse_bits;
  // A set's counters lie in shared memory, its entries in arrays of `capacity`.
  CUZK_ASSERT(shape.fine_bits <= kFineBitsMax && sets <= kSortSetsMax);
  CUZK_ASSERT(shape.count <= sorted.capacity);
  shape.indices = scalars.indices;
  shape.index_first = scalars.index_first;
  shape.base_first = scalars.base_first;
  shape.table_stride = scalars.table_stride;
  shape.digits = sorted.points;
  shape.record_point = sorted.record_point;
  shape.record_fine = sorted.record_fine;
  shape.bucket_offset = sorted.bucket_offset;
  shape.bucket_cursor = sorted.bucket_cursor;
  shape.coarse = sorted.coarse;
  const unsigned bins = 1u << shape.coarse_bits;
  CUstream_st* queue = stream.handle();
  CUZK_TRY_STATUS(device::fill_bytes(stream, sorted.coarse, 0,
                                     sets * SortedSets::kCoarseWords * sizeof(std::uint32_t)));
  CUZK_TRY_STATUS(device::fill_bytes(stream, sorted.bucket_cursor, 0,
                                     sets * sorted.bucket_count * sizeof(std::uint32_t)));
  // More than 48 KiB of shared memory is allowed kernel by kernel, for the most that any call
  // takes.
  const int histogram_bytes = sets * static_cast<int>(bins * sizeof(std::uint32_t));
  CUZK_TRY_STATUS(device::allow_shared_bytes(reinterpret_cast<const void*>(&extract_digits_kernel),
                                             kSortSetsMax * (4 << kCoarseBitsMax)));
  extract_digits_kernel<<<blocks(scalars.count, kDigitThreads * kDigitsPerThread), kDigitThreads,
                          histogram_bytes, queue>>>(shape, layout, sorted.first_set, sets, params,
                                                    scalars.form, scalars.words);
  CUZK_TRY_STATUS(device::launched("extract_digits_kernel"));
  scan_bins_kernel<<<sets, kScanThreads, 0, queue>>>(shape);
  CUZK_TRY_STATUS(device::launched("scan_bins_kernel"));
  constexpr int kTileBytes = kPartitionTile * 8;
  CUZK_TRY_STATUS(
      device::allow_shared_bytes(reinterpret_cast<const void*>(&partition_kernel), kTileBytes));
  const dim3 tiles(blocks(shape.count, kPartitionTile), sets);
  partition_kernel<<<tiles, kPartitionThreads, kTileBytes, queue>>>(shape);
  CUZK_TRY_STATUS(device::launched("partition_kernel"));
  // A bin's last tile may be short, so bins add up to one tile each to those that full ones would
  // take; blocks past the last tile return at once.
  const dim3 places(blocks(shape.count, kPlaceTile) + bins, sets);
  count_buckets_kernel<<<places, kPlaceThreads, 0, queue>>>(shape);
  CUZK_TRY_STATUS(device::launched("count_buckets_kernel"));
  scan_buckets_kernel<<<dim3(bins, sets), kScanBucketThreads, 0, queue>>>(shape);
  CUZK_TRY_STATUS(device::launched("scan_buckets_kernel"));
  CUZK_TRY_STATUS(device::allow_shared_bytes(reinterpret_cast<const void*>(&place_points_kernel),
                                             kPlaceShared));
  place_points_kernel<<<places, kPlaceThreads, kPlaceShared, queue>>>(shape);
  return device::launched("place_points_kernel");
}

}  // namespace cuzk::cuda::msm
