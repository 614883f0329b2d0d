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

SortedWindows take_sorted_windows(device::Arena& arena, std::size_t count, std::size_t bucket_count,
                                  int window_count) {
  const std::size_t windows = static_cast<std::size_t>(window_count);
  SortedWindows out;
  out.count = count;
  out.bucket_count = bucket_count;
  out.points = arena.take<std::uint32_t>(windows * count).data;
  out.bucket_offset = arena.take<std::uint32_t>(windows * (bucket_count + 1)).data;
  out.bucket_cursor = arena.take<std::uint32_t>(windows * bucket_count).data;
  out.record_point = arena.take<std::uint32_t>(windows * count).data;
  out.record_fine = arena.take<std::uint16_t>(windows * count).data;
  out.coarse = arena.take<std::uint32_t>(windows * SortedWindows::kCoarseWords).data;
  return out;
}

base::Status sort_windows(const device::Stream& stream, const SortedWindows& sorted,
                          const WindowLayout& layout, const ScalarParams& params,
                          const std::uint64_t* scalars) {
  const int bucket_bits = log2_of(sorted.bucket_count), windows = sorted.window_count;
  SortShape shape = {};
  shape.count = sorted.count;
  shape.bucket_count = sorted.bucket_count;
  shape.coarse_bits = bucket_bits < kCoarseBitsMax ? bucket_bits : kCoarseBitsMax;
  shape.fine_bits = bucket_bits - shape.coarse_bits;
  CUZK_CHECK(shape.fine_bits <= kFineBitsMax && windows <= kSortWindowsMax);
  shape.digits = sorted.points;
  shape.record_point = sorted.record_point;
  shape.record_fine = sorted.record_fine;
  shape.bucket_offset = sorted.bucket_offset;
  shape.bucket_cursor = sorted.bucket_cursor;
  shape.coarse = sorted.coarse;
  const unsigned bins = 1u << shape.coarse_bits;
  const std::size_t count = sorted.count;
  CUstream_st* queue = stream.handle();
  CUZK_TRY_STATUS(device::fill_bytes(
      stream, sorted.coarse, 0, windows * SortedWindows::kCoarseWords * sizeof(std::uint32_t)));
  CUZK_TRY_STATUS(device::fill_bytes(stream, sorted.bucket_cursor, 0,
                                     windows * sorted.bucket_count * sizeof(std::uint32_t)));
  const int histogram_bytes = windows * static_cast<int>(bins * sizeof(std::uint32_t));
  CUZK_TRY_STATUS(device::allow_shared_bytes(reinterpret_cast<const void*>(&extract_digits_kernel),
                                             histogram_bytes));
  extract_digits_kernel<<<blocks(count, kDigitThreads * kDigitsPerThread), kDigitThreads,
                          histogram_bytes, queue>>>(shape, layout, sorted.first_window, windows,
                                                    params, scalars);
  CUZK_TRY_STATUS(device::launched("extract_digits_kernel"));
  scan_bins_kernel<<<windows, kScanThreads, 0, queue>>>(shape);
  CUZK_TRY_STATUS(device::launched("scan_bins_kernel"));
  constexpr int kTileBytes = kPartitionTile * 8;
  CUZK_TRY_STATUS(
      device::allow_shared_bytes(reinterpret_cast<const void*>(&partition_kernel), kTileBytes));
  const dim3 tiles(blocks(count, kPartitionTile), windows);
  partition_kernel<<<tiles, kPartitionThreads, kTileBytes, queue>>>(shape);
  CUZK_TRY_STATUS(device::launched("partition_kernel"));
  const dim3 places(blocks(count, kPlaceTile) + bins, windows);
  count_buckets_kernel<<<places, kPlaceThreads, 0, queue>>>(shape);
  CUZK_TRY_STATUS(device::launched("count_buckets_kernel"));
  scan_buckets_kernel<<<dim3(bins, windows), kScanBucketThreads, 0, queue>>>(shape);
  CUZK_TRY_STATUS(device::launched("scan_buckets_kernel"));
  CUZK_TRY_STATUS(device::allow_shared_bytes(reinterpret_cast<const void*>(&place_points_kernel),
                                             kPlaceShared));
  place_points_kernel<<<places, kPlaceThreads, kPlaceShared, queue>>>(shape);
  return device::launched("place_points_kernel");
}

}  // namespace cuzk::cuda::msm
