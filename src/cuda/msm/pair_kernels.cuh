// Rounds of batched affine additions: each round halves the lists of all buckets.
//
// Output i of a bucket is the sum of its entries 2 i and 2 i + 1, or entry 2 i alone at the end. A
// thread takes a run of neighbouring outputs. The forward kernel multiplies the denominators of the
// run and keeps the partial products; the products of all threads are inverted together; the
// backward kernel walks the run from its end and finishes the sums. An addition costs five products
// and a square, against eight and two in XYZZ coordinates (docs/math/cuda_msm.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/msm/block_scan.cuh"
#include "cuda/msm/bucket_kernels.cuh"
#include "cuda/msm/pairs.h"

namespace cuzk::cuda::msm {

inline constexpr int kPairThreads = 128;
// Blocks a multiprocessor that leave enough registers to hold two points and the work on them.
template <class T>
inline constexpr int kPairBlocks = sizeof(T) > 48 ? 2 : 4;

// Lists in and out; out.indices is null and out.bases is written.
template <class T>
struct PairRound {
  EntryLists<T> in;
  AffinePoint<T>* out;              // [window][out_stride]
  const std::uint32_t* out_offset;  // [window][bucket_count + 1]
  std::size_t out_stride;
  T* partial;                // [window][run_length][thread_count]: partial products
  T* total;                  // [window][thread_count]: products, then their inverses
  std::size_t thread_count;  // a window
  int run_length;

  __device__ const std::uint32_t* out_offsets(int w) const {
    return out_offset + w * (in.bucket_count + 1);
  }
  // Partial products of neighbouring threads lie together.
  __device__ T* partial_of(int w, std::size_t thread, int k) const {
    return partial + (std::size_t{static_cast<unsigned>(w)} * run_length + k) * thread_count +
           thread;
  }
};

// Walks outputs of a window with the entries they come from.
template <class T>
struct PairWalker {
  const std::uint32_t *in_offsets, *out_offsets;
  std::size_t bucket_count;
  std::uint32_t bucket, output;

  __device__ PairWalker(const PairRound<T>& round, int w, std::size_t at)
      : in_offsets(round.in.offsets(w)),
        out_offsets(round.out_offsets(w)),
        bucket_count(round.in.bucket_count),
        bucket(bucket_at(out_offsets, bucket_count, static_cast<std::uint32_t>(at))),
        output(static_cast<std::uint32_t>(at)) {}
  __device__ std::uint32_t first_entry() const {
    return in_offsets[bucket] + 2 * (output - out_offsets[bucket]);
  }
  __device__ bool is_pair() const { return first_entry() + 1 < in_offsets[bucket + 1]; }
  // The output after, which must exist.
  __device__ void next() {
    ++output;
    if (output >= out_offsets[bucket + 1]) {
      bucket = bucket_after(out_offsets, bucket_count, bucket, output);
    }
  }
  // The output before, which must exist.
  __device__ void previous() {
    --output;
    if (output >= out_offsets[bucket]) return;
    --bucket;
    if (out_offsets[bucket] > output || out_offsets[bucket + 1] <= output) {
      bucket = bucket_at(out_offsets, bucket_count, output);
    }
  }
};

// The x of the two entries of an output, read ahead of their use.
template <class T>
struct PairAhead {
  T first, second;
  std::uint32_t entry;
  bool is_pair;

  __device__ void read(const EntryLists<T>& lists, int w, const PairWalker<T>& walker) {
    is_pair = walker.is_pair();
    entry = walker.first_entry();
    if (!is_pair) return;
    first = lists.entry_x(w, entry);
    second = lists.entry_x(w, entry + 1);
  }
  // pair_denominator; reads y only where x does not decide.
  __device__ bool denominator(const EntryLists<T>& lists, int w, T& out) const {
    if (!is_pair) return false;
    out = second - first;
    if (!out.is_zero() && !first.is_zero() && !second.is_zero()) return true;
    return pair_denominator(lists.entry(w, entry), lists.entry(w, entry + 1), out);
  }
};

template <class T>
__global__ void __launch_bounds__(kPairThreads, kPairBlocks<T>)
    pair_forward_kernel(const PairRound<T> round) {
  const std::size_t thread = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const int w = blockIdx.y;
  if (thread >= round.thread_count) return;
  const std::size_t count = round.out_offsets(w)[round.in.bucket_count];
  const std::size_t first = thread * round.run_length;
  T product = T::one();
  if (first < count) {
    const int here = static_cast<int>(min(std::size_t(round.run_length), count - first));
    PairWalker<T> walker(round, w, first);
    PairAhead<T> pair;
    pair.read(round.in, w, walker);
    for (int k = 0; k < here; ++k) {
      T denominator;
      const bool has_slope = pair.denominator(round.in, w, denominator);
      if (k + 1 < here) {
        walker.next();
        pair.read(round.in, w, walker);
      }
      *round.partial_of(w, thread, k) = product;
      if (has_slope) product = product.times(denominator);
    }
  }
  round.total[w * round.thread_count + thread] = product;
}

template <class T>
__global__ void __launch_bounds__(kPairThreads, kPairBlocks<T>)
    pair_backward_kernel(const PairRound<T> round) {
  const std::size_t thread = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const int w = blockIdx.y;
  if (thread >= round.thread_count) return;
  const std::size_t count = round.out_offsets(w)[round.in.bucket_count];
  const std::size_t first = thread * round.run_length;
  if (first >= count) return;
  const int here = static_cast<int>(min(std::size_t(round.run_length), count - first));
  PairWalker<T> walker(round, w, first + here - 1);
  T inverse = round.total[w * round.thread_count + thread];
  for (int k = here - 1; k >= 0; --k) {
    const std::uint32_t entry = walker.first_entry();
    AffinePoint<T> sum = round.in.entry(w, entry);
    if (walker.is_pair()) {
      const AffinePoint<T> q = round.in.entry(w, entry + 1);
      T denominator, own_inverse;
      const bool has_slope = pair_denominator(sum, q, denominator);
      if (has_slope) {
        own_inverse = inverse.times(*round.partial_of(w, thread, k));
        inverse = inverse.times(denominator);
      }
      sum = pair_sum(sum, q, has_slope, own_inverse);
    }
    round.out[w * round.out_stride + first + k] = sum;
    if (k > 0) walker.previous();
  }
}

// Replaces `count` non-zero values by their inverses, with one inversion for each thread's share,
// which is every thread_count-th value. `scratch` has as many elements.
template <class T>
__global__ void __launch_bounds__(kPairThreads)
    invert_kernel(T* values, T* scratch, std::size_t count, std::size_t thread_count) {
  const std::size_t thread = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (thread >= thread_count || thread >= count) return;
  T product = T::one();
  std::size_t i = thread;
  for (; i < count; i += thread_count) {
    scratch[i] = product;
    product = product * values[i];
  }
  T inverse = product.inverse();
  while (i >= thread_count) {
    i -= thread_count;
    const T value = values[i];
    values[i] = inverse * scratch[i];
    inverse = inverse * value;
  }
}

// Offsets of the lists after a round. One block takes kHalveBuckets buckets; the first kernel sums
// their outputs, the second turns the sums of a window into offsets, the third writes.
inline constexpr int kHalveThreads = 256, kHalvePerThread = 16;
inline constexpr std::size_t kHalveBuckets = std::size_t{kHalveThreads} * kHalvePerThread;

__device__ inline std::uint32_t outputs_of(const std::uint32_t* offsets, std::size_t bucket) {
  return (offsets[bucket + 1] - offsets[bucket] + 1) / 2;
}

static __global__ void __launch_bounds__(kHalveThreads)
    sum_halves_kernel(const std::uint32_t* offset, std::size_t bucket_count,
                      std::uint32_t* block_sum) {
  const int w = blockIdx.y;
  const std::uint32_t* offsets = offset + w * (bucket_count + 1);
  std::uint32_t sum = 0;
  for (int k = 0; k < kHalvePerThread; ++k) {
    const std::size_t bucket = blockIdx.x * kHalveBuckets + k * kHalveThreads + threadIdx.x;
    if (bucket < bucket_count) sum += outputs_of(offsets, bucket);
  }
  std::uint32_t total;
  block_exclusive_sum(sum, total);
  if (threadIdx.x == 0) block_sum[w * gridDim.x + blockIdx.x] = total;
}

// In place, one block a window; at most kScanThreads sums a window.
static __global__ void __launch_bounds__(kScanThreads)
    scan_halves_kernel(std::uint32_t* block_sum, int count) {
  std::uint32_t* sums = block_sum + blockIdx.x * static_cast<std::size_t>(count);
  const int i = threadIdx.x;
  std::uint32_t total;
  const std::uint32_t before = block_exclusive_sum(i < count ? sums[i] : 0, total);
  if (i < count) sums[i] = before;
}

static __global__ void __launch_bounds__(kHalveThreads)
    write_halves_kernel(const std::uint32_t* offset, std::size_t bucket_count,
                        const std::uint32_t* block_offset, std::uint32_t* out) {
  const int w = blockIdx.y;
  const std::uint32_t* offsets = offset + w * (bucket_count + 1);
  std::uint32_t* to = out + w * (bucket_count + 1);
  std::uint32_t running = block_offset[w * gridDim.x + blockIdx.x];
  for (int k = 0; k < kHalvePerThread; ++k) {
    const std::size_t bucket = blockIdx.x * kHalveBuckets + k * kHalveThreads + threadIdx.x;
    const std::uint32_t mine = bucket < bucket_count ? outputs_of(offsets, bucket) : 0;
    std::uint32_t total;
    const std::uint32_t before = running + block_exclusive_sum(mine, total);
    if (bucket < bucket_count) to[bucket] = before;
    if (bucket + 1 == bucket_count) to[bucket_count] = before + mine;
    running += total;
  }
}

}  // namespace cuzk::cuda::msm
