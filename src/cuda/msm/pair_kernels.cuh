// Rounds of batched affine additions: each round halves the lists of all buckets.
//
// Output i of a bucket is the sum of its entries 2 i and 2 i + 1, or entry 2 i alone at the end. A
// thread takes a run of neighbouring outputs. The forward kernel multiplies the denominators of the
// run and keeps the partial products; the products of all threads are inverted together; a backward
// kernel walks the run from its end and finishes the sums. An addition costs five products and a
// square, against eight and two in XYZZ coordinates (docs/math/cuda_msm.md).
//
// There are two backward kernels. In one each thread fetches its own points; in the other the warp
// fetches together, which costs instructions and saves requests to memory. The second wins where
// points are gathered from many gigabytes, the first everywhere else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/msm/block_scan.cuh"
#include "cuda/msm/bucket_kernels.cuh"
#include "cuda/msm/pair_copies.cuh"
#include "cuda/msm/pairs.h"

namespace cuzk::cuda::msm {

inline constexpr int kPairThreads = 128;
static_assert(kPairThreads % 32 == 0, "warps share their lanes' copies");
// Blocks a multiprocessor that leave enough registers for the products on the way forth, and to
// hold two points and the work on them on the way back.
template <class T>
inline constexpr int kForwardBlocks = sizeof(T) > 48 ? 3 : 5;
template <class T>
inline constexpr int kBackwardBlocks = sizeof(T) > 48 ? 2 : 4;

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
  const PairRound<T>& round;
  int window;
  std::uint32_t bucket, output;
  std::uint32_t out_begin, out_end, in_begin, in_end;  // of the bucket

  __device__ PairWalker(const PairRound<T>& of, int w, std::uint32_t at)
      : round(of), window(w), output(at) {
    enter(bucket_at(round.out_offsets(window), round.in.bucket_count, output));
  }
  __device__ std::uint32_t first_entry() const { return in_begin + 2 * (output - out_begin); }
  __device__ bool is_pair() const { return first_entry() + 1 < in_end; }
  // The output after, which must exist.
  __device__ void next() {
    ++output;
    if (output < out_end) return;
    enter(bucket_after(round.out_offsets(window), round.in.bucket_count, bucket, output));
  }
  // The output before, which must exist.
  __device__ void previous() {
    --output;
    if (output >= out_begin) return;
    const std::uint32_t* offsets = round.out_offsets(window);
    const std::uint32_t before = bucket - 1;
    const bool is_there = offsets[before] <= output && output < offsets[bucket];
    enter(is_there ? before : bucket_at(offsets, round.in.bucket_count, output));
  }

 private:
  __device__ void enter(std::uint32_t into) {
    const std::uint32_t* out_offsets = round.out_offsets(window) + into;
    const std::uint32_t* in_offsets = round.in.offsets(window) + into;
    bucket = into;
    out_begin = out_offsets[0];
    out_end = out_offsets[1];
    in_begin = in_offsets[0];
    in_end = in_offsets[1];
  }
};

// The outputs of one thread, of its warp and of its block in a round.
struct PairRun {
  std::uint32_t thread;       // of the window
  std::uint32_t warp_thread;  // the first of the warp
  std::uint32_t first;        // output
  // Outputs of the thread, and of the first threads of warp and block, which have the most.
  int here, steps, block_steps;

  // Threads past the last have none; all lanes of a warp must be there.
  template <class T>
  __device__ PairRun(const PairRound<T>& round, int w, unsigned block) {
    thread = block * kPairThreads + threadIdx.x;
    warp_thread = thread - threadIdx.x % 32;
    const std::uint32_t count = round.out_offsets(w)[round.in.bucket_count];
    const std::uint32_t length = static_cast<std::uint32_t>(round.run_length);
    first = thread * length;
    here = outputs_from(first, length, count);
    steps = __shfl_sync(0xffffffff, here, 0);
    block_steps = outputs_from(block * kPairThreads * length, length, count);
  }
  __device__ static int outputs_from(std::uint32_t at, std::uint32_t length, std::uint32_t count) {
    return at < count ? static_cast<int>(min(length, count - at)) : 0;
  }
  // Lanes of the warp that have an output k.
  __device__ int lanes_at(int k) const { return __popc(__ballot_sync(0xffffffff, k < here)); }
};

// The denominators of a run are multiplied; partial products are kept.
template <class T>
__global__ void __launch_bounds__(kPairThreads, kForwardBlocks<T>)
    pair_forward_kernel(const PairRound<T> round) {
  extern __shared__ __align__(16) std::byte slots[];
  constexpr int kSlot = kForwardSlotBytes<T>;
  const int w = blockIdx.y;
  std::byte* warp_slots = slots + threadIdx.x / 32 * 32 * kSlot;
  std::byte* slot = warp_slots + threadIdx.x % 32 * kSlot;
  const PairRun run(round, w, blockIdx.x);
  // One for threads without outputs too: invert_kernel takes all totals, and none may be zero.
  T product = T::one();
  if (run.steps > 0) {
    const WindowList<T> list = round.in.window(w);
    T* partial = round.partial_of(w, run.warp_thread, 0);
    PairWalker<T> walker(round, w, run.here > 0 ? run.first : 0);
    PairIndices<T> pair, after;
    if (run.here > 0) after.read(list, walker);
    after.template start_points<sizeof(T), kSlot>(list.bases, warp_slots);
    for (int k = 0; k < run.steps; ++k, partial += round.thread_count) {
      pair = after;
      after = {};
      if (k + 1 < run.here) {
        walker.next();
        after.read(list, walker);
      }
      wait_for_copies();
      const T p = reinterpret_cast<const T*>(slot)[0], q = reinterpret_cast<const T*>(slot)[1];
      T denominator = T::loose_difference(q, p);
      bool has_slope = pair.is_pair;
      // Only where x does not decide are y read.
      if (has_slope && (denominator.may_be_zero() || p.may_be_zero() || q.may_be_zero())) {
        has_slope = pair_denominator(list.at(pair.index[0]), list.at(pair.index[1]), denominator);
      }
      reinterpret_cast<T*>(slot)[2] = product;
      store_row<T, kSlot>(warp_slots + 2 * sizeof(T), partial, 1, 32);
      if (k + 1 < run.steps) {
        after.template start_points<sizeof(T), kSlot>(list.bases, warp_slots);
      }
      if (has_slope) product = product.lazy_times(denominator);
    }
  }
  round.total[w * round.thread_count + run.thread] = product;
}

// The sums of a run from its end, with the inverse of its product of denominators: while the sum of
// one output is finished, the points of the output before are copied to shared memory and the
// indices of the one before that are read.
template <class T>
__global__ void __launch_bounds__(kPairThreads, kBackwardBlocks<T>)
    pair_backward_kernel(const PairRound<T> round) {
  extern __shared__ __align__(16) std::byte slots[];
  std::byte* slot = slots + threadIdx.x * kAloneSlotBytes<T>;
  const std::size_t thread = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const int w = blockIdx.y;
  const std::size_t count = round.out_offsets(w)[round.in.bucket_count];
  const std::size_t first = thread * round.run_length;
  if (first >= count) return;
  const int here = static_cast<int>(min(std::size_t(round.run_length), count - first));
  // Pointers instead of indices: their products would take the multipliers' time.
  const WindowList<T> list = round.in.window(w);
  const T* partial = round.partial_of(w, thread, here - 1);
  AffinePoint<T>* out = round.out + w * round.out_stride + first + here - 1;
  PairWalker<T> walker(round, w, static_cast<std::uint32_t>(first) + here - 1);
  T inverse = round.total[w * round.thread_count + thread];
  PairIndices<T> pair, before;
  before.read(list, walker);
  before.start_own_points(list.bases, partial, slot);
  for (int k = here - 1; k >= 0; --k, --out) {
    pair = before;
    if (k > 0) {
      walker.previous();
      before.read(list, walker);
      partial -= round.thread_count;
    }
    wait_for_own_copies();
    T denominator, own_inverse;
    const PairKind kind = pair.denominator(slot, denominator);
    if (kind != PairKind::kNoSlope) {
      own_inverse = inverse.lazy_times(pair.partial(slot));
      inverse = inverse.lazy_times(denominator);
    }
    const AffinePoint<T> p = pair.raw_point(slot, 0), q = pair.raw_point(slot, 1);
    if (k > 0) before.start_own_points(list.bases, partial, slot);
    *out = pair.sum(kind, p, q, own_inverse);
  }
}

// The same with the warp fetching and storing together. The warps of a block stay at the same
// output: a step is longer than what a multiprocessor keeps of code, and they read it once for all.
template <class T>
__global__ void __launch_bounds__(kPairThreads, kBackwardBlocks<T>)
    pair_backward_together_kernel(const PairRound<T> round) {
  extern __shared__ __align__(16) std::byte slots[];
  using Point = AffinePoint<T>;
  const int w = blockIdx.y;
  constexpr int kSlot = kTogetherSlotBytes<T>;
  constexpr int kPartialAt = 2 * sizeof(Point), kSumAt = kPartialAt + sizeof(T);
  std::byte* warp_slots = slots + threadIdx.x / 32 * 32 * kSlot;
  std::byte* slot = warp_slots + threadIdx.x % 32 * kSlot;
  const PairRun run(round, w, blockIdx.x);
  // Pointers instead of indices: their products would take the multipliers' time.
  const WindowList<T> list = round.in.window(w);
  const T* partial = round.partial_of(w, run.warp_thread, run.steps - 1);
  Point* out =
      round.out + w * round.out_stride + run.warp_thread * round.run_length + run.steps - 1;
  PairWalker<T> walker(round, w, run.here > 0 ? run.first + run.here - 1 : 0);
  T inverse = round.total[w * round.thread_count + run.thread];
  PairIndices<T> pair, before;
  if (run.steps > 0) {
    if (run.here == run.steps) before.read(list, walker);
    before.template start_points<sizeof(Point), kSlot>(list.bases, warp_slots);
    start_row<T, kSlot>(warp_slots + kPartialAt, partial);
  }
  for (int k = run.block_steps - 1; k >= 0; --k) {
    __syncthreads();
    if (k >= run.steps) continue;
    pair = before;
    if (k > 0 && k <= run.here) {
      if (k < run.here) walker.previous();
      before.read(list, walker);
    }
    partial -= round.thread_count;
    wait_for_copies();
    T denominator, own_inverse;
    const PairKind kind = pair.denominator(slot, denominator);
    if (kind != PairKind::kNoSlope) {
      own_inverse = inverse.lazy_times(pair.partial(slot));
      inverse = inverse.lazy_times(denominator);
    }
    const Point p = pair.raw_point(slot, 0), q = pair.raw_point(slot, 1);
    __syncwarp();  // all lanes have read
    if (k > 0) {
      before.template start_points<sizeof(Point), kSlot>(list.bases, warp_slots);
      start_row<T, kSlot>(warp_slots + kPartialAt, partial);
    }
    *reinterpret_cast<Point*>(slot + kSumAt) = pair.sum(kind, p, q, own_inverse);
    store_row<Point, kSlot>(warp_slots + kSumAt, out, round.run_length, run.lanes_at(k));
    --out;
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
static_assert(kHalveBuckets * kScanThreads >= std::size_t{1} << (kWindowBitsMax - 1),
              "one block scans the sums of the widest window");
static_assert(kHalveThreads % 32 == 0 && kHalveThreads <= kScanThreads);

// Of a bucket's entries: one for each pair, and one for the odd entry at the end.
__device__ inline std::uint32_t outputs_of(const std::uint32_t* offsets, std::size_t bucket) {
  return (offsets[bucket + 1] - offsets[bucket] + 1) / 2;
}

// The outputs of a block's buckets.
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

// Offsets from the block's own on; the last bucket's thread also writes the end of the list.
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
