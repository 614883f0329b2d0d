// Kernels that sum the points of each bucket, and then the buckets.
//
// Accumulation is cut by position, not by bucket: each thread adds a run of neighbouring entries of
// the sorted list, so all lanes do the same number of additions however long the buckets are. A
// bucket that begins in a thread's run is owned by it; what the run adds to a bucket that began
// earlier is a head, and heads are merged by the same rule, level by level.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/curve/word_point.h"
#include "cuda/msm/digits.h"

namespace cuzk::cuda::msm {

using curve::AffinePoint;
using curve::XyzzPoint;

inline constexpr std::uint32_t kNoBucket = 0xffffffff;
static_assert(kCountMax < kSignBit, "an index leaves the sign's bit free");
static_assert(std::uint64_t{1} << (kWindowBitsMax - 1) < kNoBucket);
inline constexpr int kSumThreads = 128;
// Blocks a multiprocessor in the accumulation: as many as leave the sum in registers.
template <class T>
inline constexpr int kSumBlocks = sizeof(T) > 48 ? 2 : 3;

// The entries of one window. With `indices`, entry i is the point bases[indices[i] & ~kSignBit],
// negated by kSignBit; without, it is bases[i].
template <class T>
struct WindowList {
  const AffinePoint<T>* bases;
  const std::uint32_t* indices;

  __device__ std::uint32_t index_of(std::uint32_t i) const {
    return indices == nullptr ? i : indices[i];
  }
  __device__ AffinePoint<T> entry(std::uint32_t i) const { return at(index_of(i)); }
  // The point that an index of the list stands for.
  __device__ AffinePoint<T> at(std::uint32_t index) const {
    AffinePoint<T> point = bases[index & ~kSignBit];
    if ((index & kSignBit) != 0) point.y = -point.y;
    return point;
  }
};

// The entries of a group of windows, by bucket: indices into common bases, or points of each
// window's own.
template <class T>
struct EntryLists {
  const AffinePoint<T>* bases;
  const std::uint32_t* indices;
  const std::uint32_t* bucket_offset;  // [window][bucket_count + 1]
  std::size_t window_stride;           // entries a window has room for
  std::size_t bucket_count;

  __device__ const std::uint32_t* offsets(int w) const {
    return bucket_offset + w * (bucket_count + 1);
  }
  __device__ WindowList<T> window(int w) const {
    if (indices == nullptr) return {bases + w * window_stride, nullptr};
    return {bases, indices + w * window_stride};
  }
};

// The last bucket whose offset is not above `position`, which is below the last offset: the bucket
// that holds the entry there.
__device__ inline std::uint32_t bucket_at(const std::uint32_t* offsets, std::size_t bucket_count,
                                          std::uint32_t position) {
  std::size_t low = 0, high = bucket_count;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    if (offsets[middle] <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return static_cast<std::uint32_t>(low);
}

// The bucket of the entry at `position`, the first one after bucket `before`.
__device__ inline std::uint32_t bucket_after(const std::uint32_t* offsets, std::size_t bucket_count,
                                             std::uint32_t before, std::uint32_t position) {
  if (offsets[before + 2] > position) return before + 1;
  return bucket_at(offsets, bucket_count, position);
}

// What runs add to buckets that began before them: at most one head a run.
template <class T>
struct RunHeads {
  XyzzPoint<T>* points;    // [window][count]
  std::uint32_t* buckets;  // [window][count], kNoBucket where there is no head
  std::size_t count;
};

// Sums runs of `run_length` entries into buckets [window][bucket_count] and heads. With `continues`
// the buckets hold sums already, to which these are added: a run begins from the bucket's sum.
template <class T>
__global__ void __launch_bounds__(kSumThreads, kSumBlocks<T>)
    sum_runs_kernel(const EntryLists<T> lists, int run_length, bool continues,
                    XyzzPoint<T>* buckets, RunHeads<T> heads) {
  const std::size_t thread = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const int w = blockIdx.y;
  if (thread >= heads.count) return;
  const std::uint32_t* offsets = lists.offsets(w);
  const std::size_t total = offsets[lists.bucket_count];
  const std::size_t first = thread * run_length, last = min(first + run_length, total);
  std::uint32_t* head_bucket = &heads.buckets[w * heads.count + thread];
  if (first >= total) {
    *head_bucket = kNoBucket;
    return;
  }
  std::uint32_t bucket = bucket_at(offsets, lists.bucket_count, first);
  bool is_head = offsets[bucket] < first;
  *head_bucket = is_head ? bucket : kNoBucket;
  XyzzPoint<T>* head = &heads.points[w * heads.count + thread];
  XyzzPoint<T>* own = buckets + w * lists.bucket_count;
  const WindowList<T> list = lists.window(w);
  std::size_t end = offsets[bucket + 1];
  XyzzPoint<T> sum = XyzzPoint<T>::infinity();
  // A head is added to its bucket by merge_heads_kernel, which finds the old sum there.
  if (continues && !is_head) sum = own[bucket];
  for (std::size_t i = first; i < last; ++i) {
    if (i == end) {
      *(is_head ? head : own + bucket) = sum;
      sum = XyzzPoint<T>::infinity();
      is_head = false;
      bucket = bucket_after(offsets, lists.bucket_count, bucket, static_cast<std::uint32_t>(i));
      end = offsets[bucket + 1];
      if (continues) sum = own[bucket];
    }
    const AffinePoint<T> point = list.entry(static_cast<std::uint32_t>(i));
    if (point.is_infinity()) continue;
    if (sum.is_infinity()) {
      sum = XyzzPoint<T>::from_affine(point);
    } else {
      add_finite(sum, point);
    }
  }
  *(is_head ? head : own + bucket) = sum;
}

// Adds heads to their buckets. A run of equal heads that begins in a thread's share belongs to
// the thread; what continues an earlier thread's run becomes a head of the next level.
template <class T>
__global__ void __launch_bounds__(kSumThreads)
    merge_heads_kernel(RunHeads<T> heads, RunHeads<T> next, int merge_run, XyzzPoint<T>* buckets,
                       std::size_t bucket_count) {
  const std::size_t thread = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const int w = blockIdx.y;
  if (thread >= next.count) return;
  const std::uint32_t* ids = heads.buckets + w * heads.count;
  const XyzzPoint<T>* points = heads.points + w * heads.count;
  XyzzPoint<T>* own = buckets + w * bucket_count;
  const std::size_t first = thread * merge_run, last = min(first + merge_run, heads.count);
  std::uint32_t continued = kNoBucket;
  XyzzPoint<T> sum = XyzzPoint<T>::infinity();
  for (std::size_t i = first; i < last;) {
    const std::uint32_t bucket = ids[i];
    if (bucket == kNoBucket) {
      ++i;
      continue;
    }
    const bool begins_earlier = i == first && i > 0 && ids[i - 1] == bucket;
    sum = points[i];
    for (++i; i < last && ids[i] == bucket; ++i) add_point(sum, points[i]);
    if (begins_earlier) {
      continued = bucket;
      next.points[w * next.count + thread] = sum;
    } else {
      add_point(own[bucket], sum);
    }
  }
  next.buckets[w * next.count + thread] = continued;
}

// One level of sum_i i V_i: a thread takes 2^chunk_log2 neighbours and gives their sum and their
// sum weighted from zero, so that sum_i i V_i = sum_t weighted_t + 2^chunk_log2 sum_t t sum_t.
// Weighted sums of the levels below are added on the way; `shift` is how many doublings this
// level's weigh.
template <class T>
struct ReduceLevel {
  const XyzzPoint<T>* sums;      // [window][count]
  const XyzzPoint<T>* weighted;  // [window][count], null at the lowest level
  const std::uint32_t* offsets;  // at the lowest level: where a bucket is empty; else null
  XyzzPoint<T>* sums_out;        // [window][count >> chunk_log2]
  XyzzPoint<T>* weighted_out;
  std::size_t count;
  int chunk_log2, shift;
};

// From the chunk's end: `sum` runs from the top down and is added to `weighted` once a step, so
// each V_k is counted k times without a product. What is empty by its offsets was never written.
template <class T>
__global__ void __launch_bounds__(kSumThreads) reduce_buckets_kernel(const ReduceLevel<T> level) {
  const std::size_t thread = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const int w = blockIdx.y;
  const std::size_t count_out = level.count >> level.chunk_log2;
  if (thread >= count_out) return;
  const std::uint32_t* offsets =
      level.offsets == nullptr ? nullptr : level.offsets + w * (level.count + 1);
  XyzzPoint<T> sum = XyzzPoint<T>::infinity(), weighted = XyzzPoint<T>::infinity();
  const std::size_t first = thread << level.chunk_log2;
  for (int k = (1 << level.chunk_log2) - 1; k >= 0; --k) {
    const std::size_t i = first + k;
    if (offsets == nullptr || offsets[i] != offsets[i + 1]) {
      add_point(sum, level.sums[w * level.count + i]);
    }
    if (k > 0) add_point(weighted, sum);
  }
  if (!weighted.is_infinity()) {
    for (int k = 0; k < level.shift; ++k) double_point(weighted);
  }
  if (level.weighted != nullptr) {
    for (int k = 0; k < 1 << level.chunk_log2; ++k) {
      add_point(weighted, level.weighted[w * level.count + first + k]);
    }
  }
  level.sums_out[w * count_out + thread] = sum;
  level.weighted_out[w * count_out + thread] = weighted;
}

// The last levels by scanning, where few chunks would leave the device idle: with the suffix sums
// S_i = sum_{j >= i} V_j, sum_i i V_i = sum_{i >= 1} S_i. Each step is one addition deep.
// out[i] = in[i] + in[i + stride], for each window.
template <class T>
__global__ void __launch_bounds__(kSumThreads)
    suffix_step_kernel(const XyzzPoint<T>* in, XyzzPoint<T>* out, std::size_t count,
                       std::size_t stride) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  const std::size_t at = blockIdx.y * count + i;
  XyzzPoint<T> sum = in[at];
  if (i + stride < count) add_point(sum, in[at + stride]);
  out[at] = sum;
}

// Puts each window's S_0, the plain sum, aside and clears it, for it weighs nothing.
template <class T>
__global__ void take_first_kernel(XyzzPoint<T>* suffixes, std::size_t count,
                                  XyzzPoint<T>* sums_out) {
  const std::size_t w = blockIdx.x;
  sums_out[w] = suffixes[w * count];
  suffixes[w * count] = XyzzPoint<T>::infinity();
}

// Folds the upper half of every window of the two arrays (blockIdx.z) onto the lower.
template <class T>
__global__ void __launch_bounds__(kSumThreads)
    fold_step_kernel(XyzzPoint<T>* suffixes, XyzzPoint<T>* weighted, std::size_t count,
                     std::size_t half) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= half) return;
  XyzzPoint<T>* values = (blockIdx.z == 0 ? suffixes : weighted) + blockIdx.y * count;
  XyzzPoint<T> sum = values[i];
  add_point(sum, values[i + half]);
  values[i] = sum;
}

// weighted_out[w] = 2^shift sum_i S_i + the weighted sums of the levels below.
template <class T>
__global__ void join_weighted_kernel(const XyzzPoint<T>* suffixes, const XyzzPoint<T>* weighted,
                                     std::size_t count, int shift, XyzzPoint<T>* weighted_out) {
  const std::size_t w = blockIdx.x;
  XyzzPoint<T> sum = suffixes[w * count];
  for (int k = 0; k < shift; ++k) double_point(sum);
  add_point(sum, weighted[w * count]);
  weighted_out[w] = sum;
}

}  // namespace cuzk::cuda::msm
