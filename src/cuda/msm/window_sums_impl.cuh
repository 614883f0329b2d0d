// Launches of the bucket kernels for one group; instantiated by one .cu file a group.
//
// For each group of windows: sort, rounds of batched affine additions, runs of mixed additions,
// merging of runs, reduction of buckets. All arrays come from the caller's scratch in one order,
// which planning repeats without a buffer to count bytes; nothing is allocated here on the device.
#pragma once

#include <algorithm>
#include <vector>

#include "cuda/device/error.h"
#include "cuda/msm/bucket_kernels.cuh"
#include "cuda/msm/pair_kernels.cuh"
#include "cuda/msm/sort.h"
#include "cuda/msm/window_sums.h"

namespace cuzk::cuda::msm {
namespace {

// Blocks for so many threads of the summing kernels.
unsigned sum_blocks(std::size_t threads) {
  return static_cast<unsigned>((threads + kSumThreads - 1) / kSumThreads);
}

// The most entries a window's lists can hold after a round: an output for each pair, and one for
// the odd entry of each bucket.
inline std::size_t halved(std::size_t entries, std::size_t bucket_count) {
  return (entries + std::min(entries, bucket_count) + 1) / 2;
}

// What the rounds of batched additions need. Points of one round are read by the next.
template <class T>
struct PairArrays {
  AffinePoint<T>* points[2] = {};
  std::uint32_t* offsets[2] = {};
  std::uint32_t* block_sums = nullptr;
  T *partial = nullptr, *total = nullptr, *total_scratch = nullptr;

  void take(device::Arena& arena, const MsmPlan& plan) {
    if (plan.affine_rounds == 0) return;
    const std::size_t windows = static_cast<std::size_t>(plan.windows_at_once);
    const std::size_t bucket_count = plan.layout.bucket_count_max();
    const std::size_t first = halved(plan.count, bucket_count);
    const std::size_t second = halved(first, bucket_count);
    const std::size_t threads = threads_for(first, plan);
    points[0] = arena.take<AffinePoint<T>>(windows * first).data;
    points[1] = arena.take<AffinePoint<T>>(windows * second).data;
    for (auto& part : offsets) {
      part = arena.take<std::uint32_t>(windows * (bucket_count + 1)).data;
    }
    block_sums = arena.take<std::uint32_t>(windows * (bucket_count / kHalveBuckets + 1)).data;
    partial = arena.take<T>(windows * threads * plan.policy.pair_run_length).data;
    total = arena.take<T>(windows * threads).data;
    total_scratch = arena.take<T>(windows * threads).data;
  }
  static std::size_t threads_for(std::size_t outputs, const MsmPlan& plan) {
    return (outputs + plan.policy.pair_run_length - 1) / plan.policy.pair_run_length;
  }
};

// All arrays of one group of windows, taken from the scratch buffer.
template <class T>
struct WindowArrays {
  SortedWindows sorted;
  PairArrays<T> pairs;
  XyzzPoint<T>* buckets;
  RunHeads<T> heads, next_heads;
  XyzzPoint<T>*sums[2], *weighted[2];  // levels of the reduction, in turns
  const std::uint32_t* final_offsets =
      nullptr;  // of the lists that were summed: shows empty buckets

  static std::size_t chunks(std::size_t count, int chunk_log2) {
    return std::max<std::size_t>(1, count >> chunk_log2);
  }
  WindowArrays(device::Arena& arena, const MsmPlan& plan) {
    const std::size_t windows = static_cast<std::size_t>(plan.windows_at_once);
    const std::size_t bucket_count = plan.layout.bucket_count_max();
    sorted = take_sorted_windows(arena, plan.count, bucket_count, plan.windows_at_once);
    pairs.take(arena, plan);
    buckets = arena.take<XyzzPoint<T>>(windows * bucket_count).data;
    std::size_t entries = plan.count;
    for (int i = 0; i < plan.affine_rounds; ++i) entries = halved(entries, bucket_count);
    heads.count = (entries + plan.run_length - 1) / plan.run_length;
    next_heads.count = (heads.count + kMergeRun - 1) / kMergeRun;
    for (RunHeads<T>* part : {&heads, &next_heads}) {
      part->points = arena.take<XyzzPoint<T>>(windows * part->count).data;
      part->buckets = arena.take<std::uint32_t>(windows * part->count).data;
    }
    const std::size_t chunk_count = chunks(bucket_count, plan.policy.reduce_chunk_log2);
    for (int i = 0; i < 2; ++i) {
      sums[i] = arena.take<XyzzPoint<T>>(windows * chunk_count).data;
      weighted[i] = arena.take<XyzzPoint<T>>(windows * chunk_count).data;
    }
  }
};

// The offsets of the lists after a round.
inline base::Status halve_offsets(const device::Stream& stream, const std::uint32_t* offsets,
                                  std::size_t bucket_count, int windows, std::uint32_t* block_sums,
                                  std::uint32_t* out) {
  const unsigned blocks = static_cast<unsigned>((bucket_count + kHalveBuckets - 1) / kHalveBuckets);
  CUZK_CHECK(blocks <= kScanThreads);
  CUstream_st* queue = stream.handle();
  sum_halves_kernel<<<dim3(blocks, windows), kHalveThreads, 0, queue>>>(offsets, bucket_count,
                                                                        block_sums);
  CUZK_TRY_STATUS(device::launched("sum_halves_kernel"));
  scan_halves_kernel<<<windows, kScanThreads, 0, queue>>>(block_sums, static_cast<int>(blocks));
  CUZK_TRY_STATUS(device::launched("scan_halves_kernel"));
  write_halves_kernel<<<dim3(blocks, windows), kHalveThreads, 0, queue>>>(offsets, bucket_count,
                                                                          block_sums, out);
  return device::launched("write_halves_kernel");
}

// Halves all lists plan.affine_rounds times.
template <class T>
base::Result<EntryLists<T>> add_pairs(const device::Stream& stream, const MsmPlan& plan,
                                      const PairArrays<T>& arrays, EntryLists<T> lists,
                                      int windows) {
  std::size_t entries = plan.count;
  for (int i = 0; i < plan.affine_rounds; ++i) {
    PairRound<T> round = {};
    round.in = lists;
    round.out = arrays.points[i % 2];
    round.out_offset = arrays.offsets[i % 2];
    round.out_stride = entries = halved(entries, lists.bucket_count);
    round.partial = arrays.partial;
    round.total = arrays.total;
    round.thread_count = PairArrays<T>::threads_for(entries, plan);
    round.run_length = plan.policy.pair_run_length;
    CUZK_TRY_STATUS(halve_offsets(stream, lists.bucket_offset, lists.bucket_count, windows,
                                  arrays.block_sums, arrays.offsets[i % 2]));
    const dim3 grid(static_cast<unsigned>((round.thread_count + kPairThreads - 1) / kPairThreads),
                    windows);
    pair_forward_kernel<<<grid, kPairThreads, 0, stream.handle()>>>(round);
    CUZK_TRY_STATUS(device::launched("pair_forward_kernel"));
    const std::size_t totals = round.thread_count * windows;
    const std::size_t inverters =
        std::min<std::size_t>(totals, static_cast<std::size_t>(plan.policy.invert_threads));
    invert_kernel<<<static_cast<unsigned>((inverters + kPairThreads - 1) / kPairThreads),
                    kPairThreads, 0, stream.handle()>>>(arrays.total, arrays.total_scratch, totals,
                                                        inverters);
    CUZK_TRY_STATUS(device::launched("invert_kernel"));
    pair_backward_kernel<<<grid, kPairThreads, 0, stream.handle()>>>(round);
    CUZK_TRY_STATUS(device::launched("pair_backward_kernel"));
    lists = {round.out, nullptr, round.out_offset, round.out_stride, lists.bucket_count};
  }
  return lists;
}

// Adds the heads of runs to their buckets, 32 to 1 a level, until one is left or none.
template <class T>
base::Status merge_heads(const device::Stream& stream, WindowArrays<T> arrays, int windows) {
  RunHeads<T> heads = arrays.heads, next = arrays.next_heads;
  while (heads.count > 1) {
    next.count = (heads.count + kMergeRun - 1) / kMergeRun;
    merge_heads_kernel<<<dim3(sum_blocks(next.count), windows), kSumThreads, 0, stream.handle()>>>(
        heads, next, arrays.buckets, arrays.sorted.bucket_count);
    CUZK_TRY_STATUS(device::launched("merge_heads_kernel"));
    std::swap(heads, next);
  }
  return base::ok_status();
}

// Where a reduction stands: arrays `turn` of the scratch hold `count` sums a window, whose weights
// count 2^shift.
struct ReduceState {
  std::size_t count = 0;
  int shift = 0, turn = 0;
};

// Levels of chunks until a scan is cheaper.
template <class T>
base::Result<ReduceState> reduce_by_chunks(const device::Stream& stream,
                                           const WindowArrays<T>& arrays, int windows,
                                           const MsmPolicy& policy) {
  ReduceLevel<T> level = {};
  level.sums = arrays.buckets;
  level.offsets = arrays.final_offsets;
  level.count = arrays.sorted.bucket_count;
  int turn = 1;
  do {
    turn = 1 - turn;
    level.chunk_log2 = policy.reduce_chunk_log2;
    while (level.count >> level.chunk_log2 == 0) --level.chunk_log2;
    level.sums_out = arrays.sums[turn];
    level.weighted_out = arrays.weighted[turn];
    const std::size_t count_out = level.count >> level.chunk_log2;
    reduce_buckets_kernel<<<dim3(sum_blocks(count_out), windows), kSumThreads, 0,
                            stream.handle()>>>(level);
    CUZK_TRY_STATUS(device::launched("reduce_buckets_kernel"));
    level.sums = level.sums_out;
    level.weighted = level.weighted_out;
    level.offsets = nullptr;
    level.count = count_out;
    level.shift += level.chunk_log2;
  } while (level.count > policy.scan_count_max);
  return ReduceState{level.count, level.shift, turn};
}

// Ends a reduction. The sum of window w is then sums[turn][w], with `turn` what is returned, and
// the weighted one weighted[1 - state.turn][w].
template <class T>
base::Result<int> reduce_by_scan(const device::Stream& stream, const WindowArrays<T>& arrays,
                                 int windows, const ReduceState& state) {
  CUstream_st* queue = stream.handle();
  const std::size_t count = state.count;
  int turn = state.turn;
  for (std::size_t stride = 1; stride < count; stride *= 2) {
    suffix_step_kernel<<<dim3(sum_blocks(count), windows), kSumThreads, 0, queue>>>(
        arrays.sums[turn], arrays.sums[1 - turn], count, stride);
    CUZK_TRY_STATUS(device::launched("suffix_step_kernel"));
    turn = 1 - turn;
  }
  XyzzPoint<T>* suffixes = arrays.sums[turn];
  XyzzPoint<T>* weighted = arrays.weighted[state.turn];
  take_first_kernel<<<windows, 1, 0, queue>>>(suffixes, count, arrays.sums[1 - turn]);
  CUZK_TRY_STATUS(device::launched("take_first_kernel"));
  for (std::size_t half = count / 2; half > 0; half /= 2) {
    fold_step_kernel<<<dim3(sum_blocks(half), windows, 2), kSumThreads, 0, queue>>>(
        suffixes, weighted, count, half);
    CUZK_TRY_STATUS(device::launched("fold_step_kernel"));
  }
  join_weighted_kernel<<<windows, 1, 0, queue>>>(suffixes, weighted, count, state.shift,
                                                 arrays.weighted[1 - state.turn]);
  CUZK_TRY_STATUS(device::launched("join_weighted_kernel"));
  return 1 - turn;
}

}  // namespace

// The same steps as sum_windows takes, over an arena that only counts.
template <class G>
std::uint64_t window_scratch_bytes(const MsmPlan& plan) {
  device::Arena arena;
  WindowArrays<curve::Coordinate<G>> arrays(arena, plan);
  return arena.used_bytes();
}

template <class G>
base::Result<std::vector<WindowSum<G>>> sum_windows(
    const device::Stream& stream, const MsmPlan& plan, const ScalarParams& params,
    device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
    device::DeviceSpan<const Scalar<G>> scalars, const device::Buffer& scratch) {
  using T = curve::Coordinate<G>;
  static_assert(sizeof(XyzzPoint<T>) == sizeof(cuzk::curve::Xyzz<G>));
  static_assert(sizeof(AffinePoint<T>) == sizeof(cuzk::curve::Affine<G>));
  device::Arena arena(scratch);
  WindowArrays<T> arrays(arena, plan);
  std::vector<WindowSum<G>> out(plan.layout.window_count);
  std::vector<cuzk::curve::Xyzz<G>> host(2 * static_cast<std::size_t>(plan.windows_at_once));
  for (int first = 0; first < plan.layout.window_count; first += plan.windows_at_once) {
    const int windows = std::min(plan.windows_at_once, plan.layout.window_count - first);
    arrays.sorted.first_window = first;
    arrays.sorted.window_count = windows;
    CUZK_TRY_STATUS(sort_windows(stream, arrays.sorted, plan.layout, params,
                                 reinterpret_cast<const std::uint64_t*>(scalars.data)));
    const EntryLists<T> sorted = {reinterpret_cast<const AffinePoint<T>*>(bases.data),
                                  arrays.sorted.points, arrays.sorted.bucket_offset, plan.count,
                                  arrays.sorted.bucket_count};
    CUZK_TRY(const EntryLists<T> lists, add_pairs<T>(stream, plan, arrays.pairs, sorted, windows));
    sum_runs_kernel<<<dim3(sum_blocks(arrays.heads.count), windows), kSumThreads, 0,
                      stream.handle()>>>(lists, plan.run_length, arrays.buckets, arrays.heads);
    CUZK_TRY_STATUS(device::launched("sum_runs_kernel"));
    CUZK_TRY_STATUS(merge_heads(stream, arrays, windows));
    arrays.final_offsets = lists.bucket_offset;
    CUZK_TRY(const ReduceState state, reduce_by_chunks(stream, arrays, windows, plan.policy));
    CUZK_TRY(const int turn, reduce_by_scan(stream, arrays, windows, state));
    const XyzzPoint<T>* sums = arrays.sums[turn];
    const XyzzPoint<T>* weighted = arrays.weighted[1 - state.turn];
    const std::size_t bytes = windows * sizeof(XyzzPoint<T>);
    CUZK_TRY_STATUS(device::copy_bytes_to_host(stream, host.data(), sums, bytes));
    CUZK_TRY_STATUS(device::copy_bytes_to_host(stream, host.data() + windows, weighted, bytes));
    CUZK_TRY_STATUS(stream.synchronize());
    for (int w = 0; w < windows; ++w) out[first + w] = {host[w], host[windows + w]};
  }
  return std::move(out);
}

}  // namespace cuzk::cuda::msm

// The functions of window_sums.h for one group.
#define CUZK_CUDA_WINDOW_SUMS(G)                                          \
  template std::uint64_t cuzk::cuda::msm::window_scratch_bytes<G>(        \
      const cuzk::cuda::msm::MsmPlan&);                                   \
  template cuzk::base::Result<std::vector<cuzk::cuda::msm::WindowSum<G>>> \
  cuzk::cuda::msm::sum_windows<G>(                                        \
      const cuzk::cuda::device::Stream&, const cuzk::cuda::msm::MsmPlan&, \
      const cuzk::cuda::msm::ScalarParams&,                               \
      cuzk::cuda::device::DeviceSpan<const cuzk::curve::Affine<G>>,       \
      cuzk::cuda::device::DeviceSpan<const cuzk::cuda::msm::Scalar<G>>,   \
      const cuzk::cuda::device::Buffer&);
