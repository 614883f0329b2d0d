// Kernels of the two-level counting sort (sort.h), in the order in which they run.
//
// A record is four bytes of point index and sign and two of bucket in its bin. Ranks come from
// atomics in shared memory, so the order inside a bucket is not reproducible; sums do not depend on
// it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device/code.h"
#include "cuda/msm/block_scan.cuh"
#include "cuda/msm/digits.h"

namespace cuzk::cuda::msm {

inline constexpr int kDigitThreads = 512, kDigitsPerThread = 16;
inline constexpr int kPartitionThreads = 1024, kPartitionPerThread = 8;
inline constexpr int kPartitionTile = kPartitionThreads * kPartitionPerThread;
inline constexpr int kScanBucketThreads = 512;
inline constexpr int kPlaceThreads = 512;
inline constexpr int kPlacePerThread = 24;  // with counters below the 99 KiB of small cards
inline constexpr int kPlaceTile = kPlaceThreads * kPlacePerThread;
inline constexpr int kPlaceShared = kPlaceTile * 6;  // bytes: a point and a bucket each
static_assert(kPartitionThreads >= 1 << kCoarseBitsMax && kScanThreads >= 1 << kCoarseBitsMax,
              "a thread a bin");
static_assert(kPlaceShared + (8 << kFineBitsMax) <= 99 << 10,
              "place_points_kernel fits small cards");
static_assert(kPartitionTile * 8 + (12 << kCoarseBitsMax) <= 99 << 10, "partition_kernel does too");
static_assert(kFineBitsMax <= 16, "record_fine is of 16 bits");
static_assert(kDigitThreads % 32 == 0 && kPlaceThreads % 32 == 0 && kScanBucketThreads % 32 == 0,
              "as block_exclusive_sum wants");

// What all kernels of a sort are given, by value; pointers are those of SortedSets. `digits` and
// the sorted points are the same array: digits are read for the last time before points are
// written.
struct SortShape {
  std::size_t capacity, bucket_count;
  std::size_t scalar_count, count;  // entries a set: scalars times tables
  int coarse_bits, fine_bits;
  const std::uint32_t* indices;
  std::uint32_t index_first, base_first;
  std::size_t table_stride;
  std::uint32_t *digits, *record_point, *bucket_offset, *bucket_cursor, *coarse;
  std::uint16_t* record_fine;

  // The base that entry i of a set stands for: entries are the scalars, table after table.
  __device__ std::uint32_t base_of(std::size_t i) const {
    if (count == scalar_count && indices == nullptr) {
      return static_cast<std::uint32_t>(base_first + i);
    }
    const std::size_t table = i / scalar_count, scalar = i - table * scalar_count;
    const std::size_t base =
        indices == nullptr ? base_first + scalar : indices[scalar] - index_first;
    return static_cast<std::uint32_t>(table * table_stride + base);
  }
  // Parts of a window's coarse words.
  __device__ std::uint32_t* coarse_words(int w, int part) const {
    constexpr std::size_t kPart = (std::size_t{1} << kCoarseBitsMax) + 1;
    return coarse + (std::size_t{4} * w + part) * kPart;
  }
  __device__ std::uint32_t* coarse_count(int w) const { return coarse_words(w, 0); }
  __device__ std::uint32_t* coarse_offset(int w) const { return coarse_words(w, 1); }
  __device__ std::uint32_t* coarse_cursor(int w) const { return coarse_words(w, 2); }
  __device__ std::uint32_t* tile_offset(int w) const { return coarse_words(w, 3); }
};

// Digits of all windows of the group's sets, and how many fall in each coarse bin.
static __global__ void __launch_bounds__(kDigitThreads)
    extract_digits_kernel(SortShape shape, WindowLayout layout, int first_set, int set_count,
                          ScalarParams params, ScalarForm form, const std::uint64_t* scalars) {
  extern __shared__ std::uint32_t histogram[];
  const int bins = 1 << shape.coarse_bits;
  for (int i = threadIdx.x; i < bins * set_count; i += blockDim.x) histogram[i] = 0;
  __syncthreads();
  const std::size_t first = std::size_t{blockIdx.x} * kDigitThreads * kDigitsPerThread;
  for (int k = 0; k < kDigitsPerThread; ++k) {
    const std::size_t i = first + k * kDigitThreads + threadIdx.x;
    if (i >= shape.scalar_count) break;
    // Two loads of 16 bytes a scalar; its digits are all cut while it is in registers.
    const ulonglong2* words = reinterpret_cast<const ulonglong2*>(scalars) + 2 * i;
    const ulonglong2 low = words[0], high = words[1];
    std::uint64_t scalar[4] = {low.x, low.y, high.x, high.y};
    if (form == ScalarForm::kMontgomery) from_montgomery(scalar, params);
    const RecodedScalar recoded = recode(scalar, params);
    for (int set = 0; set < set_count; ++set) {
      for (int table = 0; table < layout.table_count; ++table) {
        const int window = table * layout.set_count + first_set + set;
        std::uint32_t digit = kNoDigit;
        if (window < layout.window_count) {
          digit = digit_at(recoded, layout.first_bit[window], layout.bit_count[window]);
        }
        shape.digits[set * shape.capacity + table * shape.scalar_count + i] = digit;
        if (digit != kNoDigit) {
          atomicAdd(&histogram[set * bins + ((digit & ~kSignBit) >> shape.fine_bits)], 1);
        }
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins * set_count; i += blockDim.x) {
    if (histogram[i] != 0) atomicAdd(&shape.coarse_count(i / bins)[i % bins], histogram[i]);
  }
}

// Where each bin and each bin's tiles begin. One block a window.
static __global__ void __launch_bounds__(kScanThreads) scan_bins_kernel(SortShape shape) {
  const int w = blockIdx.x, bins = 1 << shape.coarse_bits, bin = threadIdx.x;
  const std::uint32_t count = bin < bins ? shape.coarse_count(w)[bin] : 0;
  std::uint32_t total, tile_total;
  const std::uint32_t offset = block_exclusive_sum(count, total);
  const std::uint32_t tiles =
      block_exclusive_sum((count + kPlaceTile - 1) / kPlaceTile, tile_total);
  if (bin < bins) {
    shape.coarse_offset(w)[bin] = offset;
    shape.coarse_cursor(w)[bin] = offset;
    shape.tile_offset(w)[bin] = tiles;
  }
  if (bin == 0) {
    shape.coarse_offset(w)[bins] = total;
    shape.tile_offset(w)[bins] = tile_total;
  }
}

// Moves each record to its bin: ranks inside the tile, one reservation a bin and tile, and writes
// in the order of the bins.
static __global__ void __launch_bounds__(kPartitionThreads) partition_kernel(SortShape shape) {
  extern __shared__ std::uint32_t tile_point[];
  std::uint32_t* tile_bucket = tile_point + kPartitionTile;
  __shared__ std::uint32_t count[1 << kCoarseBitsMax], start[1 << kCoarseBitsMax];
  __shared__ std::uint32_t base[1 << kCoarseBitsMax];
  const int w = blockIdx.y, bins = 1 << shape.coarse_bits;
  for (int i = threadIdx.x; i < bins; i += blockDim.x) count[i] = 0;
  __syncthreads();
  const std::size_t first = std::size_t{blockIdx.x} * kPartitionTile;
  // Two loops, so that the loads are all on their way before the first atomic waits for one.
  std::uint32_t digit[kPartitionPerThread], rank[kPartitionPerThread];
  CUZK_UNROLL for (int k = 0; k < kPartitionPerThread; ++k) {
    const std::size_t i = first + k * kPartitionThreads + threadIdx.x;
    digit[k] = i < shape.count ? shape.digits[w * shape.capacity + i] : kNoDigit;
  }
  CUZK_UNROLL for (int k = 0; k < kPartitionPerThread; ++k) {
    if (digit[k] == kNoDigit) continue;
    rank[k] = atomicAdd(&count[(digit[k] & ~kSignBit) >> shape.fine_bits], 1);
  }
  __syncthreads();
  const int bin = threadIdx.x;
  std::uint32_t total;
  const std::uint32_t mine = bin < bins ? count[bin] : 0;
  const std::uint32_t offset = block_exclusive_sum(mine, total);
  // `base` leads from a place in the tile to one in the bin: a bin's records of a tile stay
  // together.
  if (bin < bins) {
    start[bin] = offset;
    base[bin] = mine == 0 ? 0 : atomicAdd(&shape.coarse_cursor(w)[bin], mine) - offset;
  }
  __syncthreads();
  CUZK_UNROLL for (int k = 0; k < kPartitionPerThread; ++k) {
    if (digit[k] == kNoDigit) continue;
    const std::uint32_t bucket = digit[k] & ~kSignBit;
    const std::uint32_t own_bin = bucket >> shape.fine_bits;
    const std::uint32_t place = start[own_bin] + rank[k];
    const std::size_t entry = first + k * kPartitionThreads + threadIdx.x;
    tile_point[place] = shape.base_of(entry) | (digit[k] & kSignBit);
    tile_bucket[place] = bucket;
  }
  __syncthreads();
  const std::uint32_t fine_mask = (1u << shape.fine_bits) - 1;
  for (std::uint32_t place = threadIdx.x; place < total; place += blockDim.x) {
    const std::uint32_t bucket = tile_bucket[place];
    const std::size_t to = w * shape.capacity + (base[bucket >> shape.fine_bits] + place);
    shape.record_point[to] = tile_point[place];
    shape.record_fine[to] = static_cast<std::uint16_t>(bucket & fine_mask);
  }
}

// The bin and the records of a tile of the second level. False past the last tile.
struct PlaceTile {
  int bin;
  std::size_t first, last;
};
// By halving over the bins' first tiles: blocks are not told which bin is theirs, as the host does
// not know how long bins are.
__device__ inline bool find_place_tile(const SortShape& shape, int w, PlaceTile& tile) {
  const std::uint32_t* tiles = shape.tile_offset(w);
  const int bins = 1 << shape.coarse_bits;
  if (blockIdx.x >= tiles[bins]) return false;
  int low = 0, high = bins;  // the last bin whose first tile is not after ours
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (tiles[middle] <= blockIdx.x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  tile.bin = low;
  tile.first = shape.coarse_offset(w)[low] + std::size_t{blockIdx.x - tiles[low]} * kPlaceTile;
  tile.last = min(tile.first + kPlaceTile, std::size_t{shape.coarse_offset(w)[low + 1]});
  return true;
}

// How many records of the tile go to each bucket of its bin.
__device__ inline void count_tile(const SortShape& shape, int w, const PlaceTile& tile,
                                  std::uint32_t* counter) {
  for (int i = threadIdx.x; i < 1 << shape.fine_bits; i += blockDim.x) counter[i] = 0;
  __syncthreads();
  for (std::size_t i = tile.first + threadIdx.x; i < tile.last; i += blockDim.x) {
    atomicAdd(&counter[shape.record_fine[w * shape.capacity + i]], 1);
  }
  __syncthreads();
}

// Adds the tile's counts to bucket_cursor, which begins as zeros.
static __global__ void __launch_bounds__(kPlaceThreads) count_buckets_kernel(SortShape shape) {
  __shared__ std::uint32_t counter[1 << kFineBitsMax];
  const int w = blockIdx.y;
  PlaceTile tile;
  if (!find_place_tile(shape, w, tile)) return;
  count_tile(shape, w, tile, counter);
  std::uint32_t* counts =
      shape.bucket_cursor + w * shape.bucket_count + (std::size_t{1} << shape.fine_bits) * tile.bin;
  for (int i = threadIdx.x; i < 1 << shape.fine_bits; i += blockDim.x) {
    if (counter[i] != 0) atomicAdd(&counts[i], counter[i]);
  }
}

// Counts to offsets, one block a bin and window; leaves the offsets in bucket_cursor as well.
static __global__ void __launch_bounds__(kScanBucketThreads) scan_buckets_kernel(SortShape shape) {
  const int bin = blockIdx.x, w = blockIdx.y, fine = 1 << shape.fine_bits;
  std::uint32_t* cursor =
      shape.bucket_cursor + w * shape.bucket_count + std::size_t{1} * fine * bin;
  std::uint32_t* offsets =
      shape.bucket_offset + w * (shape.bucket_count + 1) + std::size_t{1} * fine * bin;
  std::uint32_t running = shape.coarse_offset(w)[bin];
  for (int first = 0; first < fine; first += blockDim.x) {
    const int i = first + threadIdx.x;
    std::uint32_t total;
    const std::uint32_t before = block_exclusive_sum(i < fine ? cursor[i] : 0, total);
    if (i < fine) {
      cursor[i] = running + before;
      offsets[i] = running + before;
    }
    running += total;
  }
  if (bin + 1 == 1 << shape.coarse_bits && threadIdx.x == 0) offsets[fine] = running;
}

// Exclusive offsets of the counters inside the tile.
__device__ inline void scan_tile(const SortShape& shape, const std::uint32_t* counter,
                                 std::uint32_t* start) {
  const int fine = 1 << shape.fine_bits;
  std::uint32_t running = 0;
  for (int first = 0; first < fine; first += blockDim.x) {
    const int i = first + threadIdx.x;
    std::uint32_t total;
    const std::uint32_t before = block_exclusive_sum(i < fine ? counter[i] : 0, total);
    if (i < fine) start[i] = running + before;
    running += total;
  }
  __syncthreads();
}

// Writes the points of a tile to their buckets: sorted in shared memory first, so that what goes to
// one bucket is written as a run. A thread keeps the buckets of its records and their ranks among
// the tile's, so that each is read and counted once. `digits` is free by now and takes them.
static __global__ void __launch_bounds__(kPlaceThreads, 2) place_points_kernel(SortShape shape) {
  extern __shared__ std::uint32_t tile_point[];
  std::uint16_t* tile_fine = reinterpret_cast<std::uint16_t*>(tile_point + kPlaceTile);
  // Where each bucket begins in the tile; its count, then what leads from the tile to the bucket.
  __shared__ std::uint32_t start[1 << kFineBitsMax], shift[1 << kFineBitsMax];
  const int w = blockIdx.y, fine = 1 << shape.fine_bits;
  PlaceTile tile;
  if (!find_place_tile(shape, w, tile)) return;
  constexpr std::uint32_t kNone = 0xffffffff, kRankShift = 16;
  static_assert(kFineBitsMax <= kRankShift && kPlaceTile < 1 << kRankShift);
  std::uint32_t record[kPlacePerThread];  // bucket, and from bit kRankShift on the rank
  CUZK_UNROLL for (int k = 0; k < kPlacePerThread; ++k) {
    const std::size_t i = tile.first + k * kPlaceThreads + threadIdx.x;
    record[k] = i < tile.last ? shape.record_fine[w * shape.capacity + i] : kNone;
  }
  for (int i = threadIdx.x; i < fine; i += blockDim.x) shift[i] = 0;
  __syncthreads();
  CUZK_UNROLL for (int k = 0; k < kPlacePerThread; ++k) {
    if (record[k] != kNone) record[k] |= atomicAdd(&shift[record[k]], 1) << kRankShift;
  }
  __syncthreads();
  scan_tile(shape, shift, start);
  std::uint32_t* next =
      shape.bucket_cursor + w * shape.bucket_count + std::size_t{1} * fine * tile.bin;
  for (int i = threadIdx.x; i < fine; i += blockDim.x) {
    if (shift[i] != 0) shift[i] = atomicAdd(&next[i], shift[i]) - start[i];
  }
  __syncthreads();
  CUZK_UNROLL for (int k = 0; k < kPlacePerThread; ++k) {
    if (record[k] == kNone) continue;
    const std::size_t i = tile.first + k * kPlaceThreads + threadIdx.x;
    const std::uint32_t bucket = record[k] & ((1u << kRankShift) - 1);
    const std::uint32_t place = start[bucket] + (record[k] >> kRankShift);
    tile_point[place] = shape.record_point[w * shape.capacity + i];
    tile_fine[place] = static_cast<std::uint16_t>(bucket);
  }
  __syncthreads();
  const std::uint32_t count = static_cast<std::uint32_t>(tile.last - tile.first);
  for (std::uint32_t place = threadIdx.x; place < count; place += blockDim.x) {
    shape.digits[w * shape.capacity + (shift[tile_fine[place]] + place)] = tile_point[place];
  }
}

}  // namespace cuzk::cuda::msm
