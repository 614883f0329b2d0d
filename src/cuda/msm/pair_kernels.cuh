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

// Walks outputs of a window with the entries they come from. What a bucket's outputs share is kept,
// so that a step inside a bucket loads nothing.
template <class T>
struct PairWalker {
  const std::uint32_t *in_offsets, *out_offsets;
  std::size_t bucket_count;
  std::uint32_t bucket, output;
  std::uint32_t out_begin, out_end, in_begin, in_end;  // of the bucket

  __device__ PairWalker(const PairRound<T>& round, int w, std::size_t at)
      : in_offsets(round.in.offsets(w)),
        out_offsets(round.out_offsets(w)),
        bucket_count(round.in.bucket_count),
        output(static_cast<std::uint32_t>(at)) {
    enter(bucket_at(out_offsets, bucket_count, output));
  }
  __device__ std::uint32_t first_entry() const { return in_begin + 2 * (output - out_begin); }
  __device__ bool is_pair() const { return first_entry() + 1 < in_end; }
  // The output after, which must exist.
  __device__ void next() {
    ++output;
    if (output >= out_end) enter(bucket_after(out_offsets, bucket_count, bucket, output));
  }
  // The output before, which must exist.
  __device__ void previous() {
    --output;
    if (output >= out_begin) return;
    const std::uint32_t before = bucket - 1;
    const bool is_there = out_offsets[before] <= output && output < out_offsets[bucket];
    enter(is_there ? before : bucket_at(out_offsets, bucket_count, output));
  }

 private:
  __device__ void enter(std::uint32_t into) {
    bucket = into;
    out_begin = out_offsets[bucket];
    out_end = out_offsets[bucket + 1];
    in_begin = in_offsets[bucket];
    in_end = in_offsets[bucket + 1];
  }
};

// The x of the two entries of an output, read ahead of their use.
template <class T>
struct PairAhead {
  T first, second;
  std::uint32_t entry;
  bool is_pair;

  __device__ void read(const WindowList<T>& list, const PairWalker<T>& walker) {
    is_pair = walker.is_pair();
    entry = walker.first_entry();
    if (!is_pair) return;
    first = list.bases[list.index_of(entry) & ~kSignBit].x;
    second = list.bases[list.index_of(entry + 1) & ~kSignBit].x;
  }
  // pair_denominator; reads y only where x does not decide.
  __device__ bool denominator(const WindowList<T>& list, T& out) const {
    if (!is_pair) return false;
    out = second - first;
    if (!out.is_zero() && !first.is_zero() && !second.is_zero()) return true;
    return pair_denominator(list.entry(entry), list.entry(entry + 1), out);
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
    const WindowList<T> list = round.in.window(w);
    T* partial = round.partial_of(w, thread, 0);
    PairWalker<T> walker(round, w, first);
    PairAhead<T> pair;
    pair.read(list, walker);
    for (int k = 0; k < here; ++k, partial += round.thread_count) {
      T denominator;
      const bool has_slope = pair.denominator(list, denominator);
      if (k + 1 < here) {
        walker.next();
        pair.read(list, walker);
      }
      *partial = product;
      if (has_slope) product = product.times(denominator);
    }
  }
  round.total[w * round.thread_count + thread] = product;
}

// A thread's place in shared memory for the two points of a pair and a partial product, filled
// behind its back: an odd number of 16-byte pieces, so that neighbours meet no common banks.
template <class T>
inline constexpr int kPairSlotBytes = (2 * sizeof(AffinePoint<T>) + sizeof(T)) / 16 % 2 == 1
                                          ? 2 * sizeof(AffinePoint<T>) + sizeof(T)
                                          : 2 * sizeof(AffinePoint<T>) + sizeof(T) + 16;

// 16 bytes from global to shared memory, not through registers; wait_for_copies() sees them come.
__device__ inline void start_copy(void* shared, const void* global) {
#if CUZK_DEVICE_CODE
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
#endif
}
__device__ inline void wait_for_copies() {
#if CUZK_DEVICE_CODE
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// The entries of one output on their way: first their indices, then the points.
template <class T>
struct PairInFlight {
  std::uint32_t index[2];
  bool is_pair;

  __device__ void read_indices(const WindowList<T>& list, const PairWalker<T>& walker) {
    is_pair = walker.is_pair();
    const std::uint32_t entry = walker.first_entry();
    index[0] = list.index_of(entry);
    index[1] = is_pair ? list.index_of(entry + 1) : 0;
  }
  template <class V>
  __device__ static void start(std::byte* to, const V* from) {
    CUZK_UNROLL for (std::size_t byte = 0; byte < sizeof(V); byte += 16) {
      start_copy(to + byte, reinterpret_cast<const std::byte*>(from) + byte);
    }
  }
  __device__ void start_points(const WindowList<T>& list, const T* partial, std::byte* slot) const {
    start(slot, list.bases + (index[0] & ~kSignBit));
    if (!is_pair) return;
    start(slot + sizeof(AffinePoint<T>), list.bases + (index[1] & ~kSignBit));
    start(slot + 2 * sizeof(AffinePoint<T>), partial);
  }
  __device__ AffinePoint<T> point(const std::byte* slot, int i) const {
    AffinePoint<T> out = reinterpret_cast<const AffinePoint<T>*>(slot)[i];
    if ((index[i] & kSignBit) != 0) out.y = -out.y;
    return out;
  }
  // pair_denominator; reads y only where x does not decide.
  __device__ bool denominator(const std::byte* slot, T& out) const {
    const auto* points = reinterpret_cast<const AffinePoint<T>*>(slot);
    const T p = points[0].x, q = points[1].x;
    out = q - p;
    if (!out.is_zero() && !p.is_zero() && !q.is_zero()) return true;
    return pair_denominator(point(slot, 0), point(slot, 1), out);
  }
  __device__ static T partial(const std::byte* slot) {
    return *reinterpret_cast<const T*>(slot + 2 * sizeof(AffinePoint<T>));
  }
};

// Walks backward: while the sum of one output is finished, the points of the output before are
// copied to shared memory and the indices of the one before that are read.
template <class T>
__global__ void __launch_bounds__(kPairThreads, kPairBlocks<T>)
    pair_backward_kernel(const PairRound<T> round) {
  extern __shared__ std::byte slots[];
  std::byte* slot = slots + threadIdx.x * kPairSlotBytes<T>;
  const std::size_t thread = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const int w = blockIdx.y;
  if (thread >= round.thread_count) return;
  const std::size_t count = round.out_offsets(w)[round.in.bucket_count];
  const std::size_t first = thread * round.run_length;
  if (first >= count) return;
  const int here = static_cast<int>(min(std::size_t(round.run_length), count - first));
  // Pointers instead of indices: their products would take the multipliers' time.
  const WindowList<T> list = round.in.window(w);
  const T* partial = round.partial_of(w, thread, here - 1);
  AffinePoint<T>* out = round.out + w * round.out_stride + first + here - 1;
  PairWalker<T> walker(round, w, first + here - 1);
  T inverse = round.total[w * round.thread_count + thread];
  PairInFlight<T> pair, before;
  before.read_indices(list, walker);
  before.start_points(list, partial, slot);
  for (int k = here - 1; k >= 0; --k, --out) {
    pair = before;
    if (k > 0) {
      walker.previous();
      before.read_indices(list, walker);
      partial -= round.thread_count;
    }
    wait_for_copies();
    T denominator, own_inverse;
    const bool has_slope = pair.is_pair && pair.denominator(slot, denominator);
    if (has_slope) {
      own_inverse = inverse.times(pair.partial(slot));
      inverse = inverse.times(denominator);
    }
    AffinePoint<T> sum = pair.point(slot, 0), q;
    if (pair.is_pair) q = pair.point(slot, 1);
    if (k > 0) before.start_points(list, partial, slot);
    if (pair.is_pair) sum = pair_sum(sum, q, has_slope, own_inverse);
    *out = sum;
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
