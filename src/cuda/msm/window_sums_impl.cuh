// Launches of the bucket kernels for one group; instantiated by one .cu file a group.
//
// For each group of windows: sort, rounds of batched affine additions, runs of mixed additions,
// merging of runs, reduction of buckets. All arrays come from the caller's scratch in one order,
// which planning repeats without a buffer to count bytes; nothing is allocated here on the device.
#pragma once

#include <algorithm>
#include <vector>

#include "cuda/device/device.h"
#include "cuda/device/error.h"
#include "cuda/msm/bucket_kernels.cuh"
#include "cuda/msm/pair_kernels.cuh"
#include "cuda/msm/plan_sizes.h"
#include "cuda/msm/sort.h"
#include "cuda/msm/window_sums.h"

namespace cuzk::cuda::msm {
namespace {

static_assert(kSumThreads % 32 == 0);
static_assert(MsmPlan::kPairRunShort <= MsmPlan::kPairRunLong);

// Blocks for so many threads of the summing kernels.
unsigned sum_blocks(std::size_t threads) {
  return static_cast<unsigned>((threads + kSumThreads - 1) / kSumThreads);
}

// Buckets of one thread in the reduction: fewer where few buckets would leave the device idle.
inline int chunk_log2_of(const MsmPlan& plan) {
  const double buckets = static_cast<double>(plan.layout.bucket_count_max()) * plan.sets_at_once;
  int chunk_log2 = plan.policy.reduce_chunk_log2;
  while (chunk_log2 > 2 && buckets / (1 << chunk_log2) < plan.policy.threads_wanted / 8) {
    --chunk_log2;
  }
  return chunk_log2;
}

// What the rounds of batched additions need. Points of one round are read by the next: two arrays
// by turns, the second about half as long as the first, as every round halves.
template <class T>
struct PairArrays {
  AffinePoint<T>* points[2] = {};
  std::uint32_t* offsets[2] = {};
  std::uint32_t* block_sums = nullptr;
  T *partial = nullptr, *total = nullptr, *total_scratch = nullptr;

  void take(device::Arena& arena, const MsmPlan& plan) {
    if (plan.affine_rounds == 0) return;
    const std::size_t windows = static_cast<std::size_t>(plan.sets_at_once);
    const std::size_t bucket_count = plan.layout.bucket_count_max();
    const std::size_t first = halved(plan.entry_count_max(), bucket_count);
    const std::size_t second = halved(first, bucket_count);
    // Shorter runs need more totals, longer ones more room for partial products, by their padding.
    const std::size_t threads = threads_for(first, MsmPlan::kPairRunShort);
    const std::size_t outputs = threads_for(first, MsmPlan::kPairRunLong) * MsmPlan::kPairRunLong;
    points[0] = arena.take<AffinePoint<T>>(windows * first).data;
    points[1] = arena.take<AffinePoint<T>>(windows * second).data;
    for (auto& part : offsets) {
      part = arena.take<std::uint32_t>(windows * (bucket_count + 1)).data;
    }
    block_sums = arena.take<std::uint32_t>(windows * (bucket_count / kHalveBuckets + 1)).data;
    partial = arena.take<T>(windows * outputs).data;
    total = arena.take<T>(windows * threads).data;
    total_scratch = arena.take<T>(windows * threads).data;
  }
  // Threads of a set, in whole blocks.
  static std::size_t threads_for(std::size_t outputs, int run_length) {
    const std::size_t block = std::size_t{kPairThreads} * static_cast<std::size_t>(run_length);
    return (outputs + block - 1) / block * kPairThreads;
  }
};

// All arrays of one group of bucket sets, taken from the scratch buffer. Buckets of a sum in parts
// come first and are those of all sets.
template <class T>
struct WindowArrays {
  XyzzPoint<T>* buckets;
  SortedSets sorted;
  PairArrays<T> pairs;
  RunHeads<T> heads, next_heads;
  XyzzPoint<T>*sums[2], *weighted[2];  // levels of the reduction, in turns
  // Of the lists that were summed, to show empty buckets; null where buckets are cleared at first.
  const std::uint32_t* final_offsets = nullptr;

  // Sums of a set after the first level of the reduction, the one with the most.
  static std::size_t chunks(std::size_t count, int chunk_log2) {
    return std::max<std::size_t>(1, count >> chunk_log2);
  }
  // The order of taking is the layout: planning and running come by here with the same plan.
  WindowArrays(device::Arena& arena, const MsmPlan& plan) {
    const std::size_t sets = static_cast<std::size_t>(plan.sets_at_once);
    const std::size_t bucket_count = plan.layout.bucket_count_max();
    const std::size_t kept =
        plan.is_in_parts ? static_cast<std::size_t>(plan.layout.set_count) : sets;
    buckets = arena.take<XyzzPoint<T>>(kept * bucket_count).data;
    sorted = take_sorted_sets(arena, plan.entry_count_max(), bucket_count, plan.sets_at_once);
    pairs.take(arena, plan);
    heads.count = head_count_max(plan);
    next_heads.count = (heads.count + plan.merge_run - 1) / plan.merge_run;
    for (RunHeads<T>* part : {&heads, &next_heads}) {
      part->points = arena.take<XyzzPoint<T>>(sets * part->count).data;
      part->buckets = arena.take<std::uint32_t>(sets * part->count).data;
    }
    const std::size_t chunk_count = chunks(bucket_count, chunk_log2_of(plan));
    for (int i = 0; i < 2; ++i) {
      sums[i] = arena.take<XyzzPoint<T>>(sets * chunk_count).data;
      weighted[i] = arena.take<XyzzPoint<T>>(sets * chunk_count).data;
    }
  }
};

// The sorted entries of all sets of one part, kept from its sort to its sum.
struct KeptSort {
  std::uint32_t *points, *offsets;
  std::size_t entries;

  KeptSort(device::Arena& arena, const MsmPlan& plan, std::size_t count)
      : entries(plan.entries_of(count)) {
    const std::size_t sets = static_cast<std::size_t>(plan.layout.set_count);
    points = arena.take<std::uint32_t>(sets * entries).data;
    offsets = arena.take<std::uint32_t>(sets * (plan.layout.bucket_count_max() + 1)).data;
  }
  // Makes sets from `first` on the ones that `sorted` is about.
  void put_into(SortedSets& sorted, int first) const {
    sorted.capacity = entries;
    sorted.points = points + first * entries;
    sorted.bucket_offset = offsets + first * (sorted.bucket_count + 1);
  }
};

// The offsets of the lists after a round.
inline base::Status halve_offsets(const device::Stream& stream, const std::uint32_t* offsets,
                                  std::size_t bucket_count, int windows, std::uint32_t* block_sums,
                                  std::uint32_t* out) {
  // Blocks first sum, then one block a window turns the sums into offsets, then blocks write.
  const unsigned blocks = static_cast<unsigned>((bucket_count + kHalveBuckets - 1) / kHalveBuckets);
  CUZK_ASSERT(blocks <= kScanThreads);
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

// Finishes the sums of a round. `is_wide`: the points are gathered from so many bytes that the
// warps should fetch them together.
template <class T>
base::Status finish_pairs(const device::Stream& stream, const PairRound<T>& round, bool is_wide,
                          int windows) {
  constexpr int kAloneBytes = kPairThreads * kAloneSlotBytes<T>;
  constexpr int kTogetherBytes = kPairThreads * kTogetherSlotBytes<T>;
  const dim3 grid(static_cast<unsigned>(round.thread_count / kPairThreads), windows);
  if (is_wide) {
    CUZK_TRY_STATUS(device::allow_shared_bytes(
        reinterpret_cast<const void*>(&pair_backward_together_kernel<T>), kTogetherBytes));
    pair_backward_together_kernel<<<grid, kPairThreads, kTogetherBytes, stream.handle()>>>(round);
    return device::launched("pair_backward_together_kernel");
  }
  CUZK_TRY_STATUS(device::allow_shared_bytes(
      reinterpret_cast<const void*>(&pair_backward_kernel<T>), kAloneBytes));
  pair_backward_kernel<<<grid, kPairThreads, kAloneBytes, stream.handle()>>>(round);
  return device::launched("pair_backward_kernel");
}

// Halves all lists, of at most `entries` entries, `steps.affine_rounds` times. The first lists hold
// points out of base_bytes.
template <class T>
base::Result<EntryLists<T>> add_pairs(const device::Stream& stream, const MsmPlan& plan,
                                      const PairArrays<T>& arrays, EntryLists<T> lists,
                                      std::size_t entries, std::uint64_t base_bytes,
                                      const MsmPlan::Steps& steps, int windows) {
  constexpr int kForwardBytes = kPairThreads * kForwardSlotBytes<T>;
  CUZK_TRY_STATUS(device::allow_shared_bytes(reinterpret_cast<const void*>(&pair_forward_kernel<T>),
                                             kForwardBytes));
  for (int i = 0; i < steps.affine_rounds; ++i) {
    PairRound<T> round = {};
    round.in = lists;
    round.out = arrays.points[i % 2];
    round.out_offset = arrays.offsets[i % 2];
    round.out_stride = entries = halved(entries, lists.bucket_count);
    round.partial = arrays.partial;
    round.total = arrays.total;
    round.thread_count = PairArrays<T>::threads_for(entries, steps.pair_run_length);
    round.run_length = steps.pair_run_length;
    CUZK_TRY_STATUS(halve_offsets(stream, lists.bucket_offset, lists.bucket_count, windows,
                                  arrays.block_sums, arrays.offsets[i % 2]));
    const dim3 grid(static_cast<unsigned>(round.thread_count / kPairThreads), windows);
    pair_forward_kernel<<<grid, kPairThreads, kForwardBytes, stream.handle()>>>(round);
    CUZK_TRY_STATUS(device::launched("pair_forward_kernel"));
    // Fewer threads than totals: each inverts once for its share, so inversions are few.
    const std::size_t totals = round.thread_count * static_cast<std::size_t>(windows);
    const std::size_t inverters =
        std::min<std::size_t>(totals, static_cast<std::size_t>(plan.policy.invert_threads));
    invert_kernel<<<static_cast<unsigned>((inverters + kPairThreads - 1) / kPairThreads),
                    kPairThreads, 0, stream.handle()>>>(arrays.total, arrays.total_scratch, totals,
                                                        inverters);
    CUZK_TRY_STATUS(device::launched("invert_kernel"));
    const bool is_wide = i == 0 && base_bytes >= plan.policy.wide_bytes_min;
    CUZK_TRY_STATUS(finish_pairs(stream, round, is_wide, windows));
    // From here on a list is points in the order of their buckets, without indices.
    lists = {round.out, nullptr, round.out_offset, round.out_stride, lists.bucket_count};
  }
  return lists;
}

// Adds the heads of runs to their buckets, merge_run to 1 a level, until one is left or none.
template <class T>
base::Status merge_heads(const device::Stream& stream, const WindowArrays<T>& arrays,
                         XyzzPoint<T>* buckets, int sets, int merge_run) {
  RunHeads<T> heads = arrays.heads, next = arrays.next_heads;
  while (heads.count > 1) {
    next.count = (heads.count + merge_run - 1) / merge_run;
    merge_heads_kernel<<<dim3(sum_blocks(next.count), sets), kSumThreads, 0, stream.handle()>>>(
        heads, next, merge_run, buckets, arrays.sorted.bucket_count);
    CUZK_TRY_STATUS(device::launched("merge_heads_kernel"));
    std::swap(heads, next);
  }
  return base::ok_status();
}

// Where a reduction stands: arrays `turn` of the scratch hold `count` sums a set, whose weights
// count 2^shift.
struct ReduceState {
  std::size_t count = 0;
  int shift = 0, turn = 0;
};

// Levels of chunks until a scan is cheaper.
template <class T>
base::Result<ReduceState> reduce_by_chunks(const device::Stream& stream, const MsmPlan& plan,
                                           const WindowArrays<T>& arrays,
                                           const XyzzPoint<T>* buckets, int sets) {
  // Each level reads the other's arrays: turns change before every launch.
  ReduceLevel<T> level = {};
  level.sums = buckets;
  level.offsets = arrays.final_offsets;
  level.count = arrays.sorted.bucket_count;
  int turn = 1;
  do {
    turn = 1 - turn;
    level.chunk_log2 = chunk_log2_of(plan);
    // Few sums: shorter chains keep more threads busy. What comes out fits as long as it is fewer.
    while (level.weighted != nullptr && level.chunk_log2 > 2 &&
           static_cast<double>(level.count >> level.chunk_log2) * sets <
               plan.policy.threads_wanted / 4) {
      --level.chunk_log2;
    }
    while (level.count >> level.chunk_log2 == 0) --level.chunk_log2;
    level.sums_out = arrays.sums[turn];
    level.weighted_out = arrays.weighted[turn];
    const std::size_t count_out = level.count >> level.chunk_log2;
    reduce_buckets_kernel<<<dim3(sum_blocks(count_out), sets), kSumThreads, 0, stream.handle()>>>(
        level);
    CUZK_TRY_STATUS(device::launched("reduce_buckets_kernel"));
    level.sums = level.sums_out;
    level.weighted = level.weighted_out;
    level.offsets = nullptr;
    level.count = count_out;
    level.shift += level.chunk_log2;
  } while (level.count > plan.policy.scan_count_max);
  return ReduceState{level.count, level.shift, turn};
}

// Ends a reduction: the plain and the weighted sum of each set.
template <class T>
base::Status reduce_by_scan(const device::Stream& stream, const WindowArrays<T>& arrays, int sets,
                            const ReduceState& state, XyzzPoint<T>* sums_out,
                            XyzzPoint<T>* weighted_out) {
  // log2(count) steps one addition deep make suffix sums, as many again fold them together.
  CUstream_st* queue = stream.handle();
  const std::size_t count = state.count;
  int turn = state.turn;
  for (std::size_t stride = 1; stride < count; stride *= 2) {
    suffix_step_kernel<<<dim3(sum_blocks(count), sets), kSumThreads, 0, queue>>>(
        arrays.sums[turn], arrays.sums[1 - turn], count, stride);
    CUZK_TRY_STATUS(device::launched("suffix_step_kernel"));
    turn = 1 - turn;
  }
  XyzzPoint<T>* suffixes = arrays.sums[turn];
  XyzzPoint<T>* weighted = arrays.weighted[state.turn];
  take_first_kernel<<<sets, 1, 0, queue>>>(suffixes, count, sums_out);
  CUZK_TRY_STATUS(device::launched("take_first_kernel"));
  for (std::size_t half = count / 2; half > 0; half /= 2) {
    fold_step_kernel<<<dim3(sum_blocks(half), sets, 2), kSumThreads, 0, queue>>>(suffixes, weighted,
                                                                                 count, half);
    CUZK_TRY_STATUS(device::launched("fold_step_kernel"));
  }
  join_weighted_kernel<<<sets, 1, 0, queue>>>(suffixes, weighted, count, state.shift, weighted_out);
  return device::launched("join_weighted_kernel");
}

// Reduces the buckets of `sets` sets into the places of sets first_set and after.
template <class T>
base::Status reduce_sets(const device::Stream& stream, const MsmPlan& plan,
                         const WindowArrays<T>& arrays, const XyzzPoint<T>* buckets, int first_set,
                         int sets, XyzzPoint<T>* sums) {
  CUZK_TRY(const ReduceState state, reduce_by_chunks(stream, plan, arrays, buckets, sets));
  return reduce_by_scan(stream, arrays, sets, state, sums + first_set,
                        sums + plan.layout.set_count + first_set);
}

// What the sort reads of the terms.
template <class G>
SortedScalars sorted_scalars(const MsmPlan& plan, const Terms<G>& terms) {
  SortedScalars out;
  out.words = reinterpret_cast<const std::uint64_t*>(terms.scalars.data);
  out.form = terms.form;
  out.count = terms.scalars.size;
  out.indices = terms.indices.size == 0 ? nullptr : terms.indices.data;
  out.index_first = terms.index_first;
  out.base_first = terms.base_first;
  out.table_stride = terms.bases.size / static_cast<std::size_t>(plan.layout.table_count);
  CUZK_ASSERT(terms.indices.size == 0 || terms.indices.size == out.count);
  CUZK_ASSERT(terms.indices.size != 0 || terms.base_first + out.count <= out.table_stride);
  CUZK_ASSERT(terms.bases.size < kSignBit);
  return out;
}

}  // namespace

// The same steps as sum_terms takes, over an arena that only counts: what is planned is what is
// taken.
template <class G>
std::uint64_t window_scratch_bytes(const MsmPlan& plan) {
  device::Arena arena;
  WindowArrays<curve::Coordinate<G>> arrays(arena, plan);
  return arena.used_bytes();
}

// Zero bytes are infinity, so a memset empties them. Those of all sets: parts add to all.
template <class G>
base::Status clear_buckets(const device::Stream& stream, const MsmPlan& plan,
                           device::DeviceSpan<std::byte> scratch) {
  using T = curve::Coordinate<G>;
  device::Arena arena(scratch);
  WindowArrays<T> arrays(arena, plan);
  const std::size_t sets = static_cast<std::size_t>(plan.layout.set_count);
  return device::fill_bytes(stream, arrays.buckets, 0,
                            sets * plan.layout.bucket_count_max() * sizeof(XyzzPoint<T>));
}

template <class G>
std::uint64_t kept_sort_bytes(const MsmPlan& plan, std::size_t count) {
  device::Arena arena;
  KeptSort kept(arena, plan, count);
  return arena.used_bytes();
}

// Group after group into the kept lists; the group's own arrays are scratch for each.
template <class G>
base::Status sort_terms(const device::Stream& stream, const MsmPlan& plan,
                        const ScalarParams& params, const Terms<G>& terms,
                        device::DeviceSpan<std::byte> scratch, device::DeviceSpan<std::byte> kept) {
  device::Arena arena(scratch), kept_arena(kept);
  WindowArrays<curve::Coordinate<G>> arrays(arena, plan);
  const SortedScalars scalars = sorted_scalars<G>(plan, terms);
  const KeptSort lists(kept_arena, plan, scalars.count);
  for (int first = 0; first < plan.layout.set_count; first += plan.sets_at_once) {
    arrays.sorted.first_set = first;
    arrays.sorted.set_count = std::min(plan.sets_at_once, plan.layout.set_count - first);
    lists.put_into(arrays.sorted, first);
    CUZK_TRY_STATUS(sort_sets(stream, arrays.sorted, plan.layout, params, scalars));
  }
  return base::ok_status();
}

// Group after group of sets, all in the same arrays: a group's kernels are queued behind those of
// the group before. Whether in parts or not, runs add to buckets; in parts they begin from what is
// there and the reduction is left to reduce_parts.
template <class G>
base::Status sum_terms(const device::Stream& stream, const MsmPlan& plan,
                       const ScalarParams& params, const Terms<G>& terms,
                       device::DeviceSpan<std::byte> scratch, device::DeviceSpan<std::byte> sums,
                       device::DeviceSpan<std::byte> kept) {
  using T = curve::Coordinate<G>;
  static_assert(sizeof(XyzzPoint<T>) == sizeof(cuzk::curve::Xyzz<G>));
  static_assert(sizeof(AffinePoint<T>) == sizeof(cuzk::curve::Affine<G>));
  device::Arena arena(scratch);
  WindowArrays<T> arrays(arena, plan);
  const SortedScalars scalars = sorted_scalars<G>(plan, terms);
  const MsmPlan::Steps steps = plan.steps_of(scalars.count);
  const std::size_t entries = plan.entries_of(scalars.count), room = arrays.heads.count;
  arrays.heads.count = head_count(entries, arrays.sorted.bucket_count, steps);
  CUZK_ASSERT(arrays.heads.count <= room);
  for (int first = 0; first < plan.layout.set_count; first += plan.sets_at_once) {
    const int sets = std::min(plan.sets_at_once, plan.layout.set_count - first);
    arrays.sorted.first_set = first;
    arrays.sorted.set_count = sets;
    if (kept.size != 0) {
      device::Arena kept_arena(kept);
      KeptSort(kept_arena, plan, scalars.count).put_into(arrays.sorted, first);
    } else {
      CUZK_TRY_STATUS(sort_sets(stream, arrays.sorted, plan.layout, params, scalars));
    }
    const EntryLists<T> sorted = {reinterpret_cast<const AffinePoint<T>*>(terms.bases.data),
                                  arrays.sorted.points, arrays.sorted.bucket_offset,
                                  arrays.sorted.capacity, arrays.sorted.bucket_count};
    CUZK_TRY(const EntryLists<T> lists,
             add_pairs<T>(stream, plan, arrays.pairs, sorted, entries,
                          terms.bases.size * sizeof(AffinePoint<T>), steps, sets));
    XyzzPoint<T>* buckets =
        arrays.buckets + (plan.is_in_parts ? first * arrays.sorted.bucket_count : 0);
    sum_runs_kernel<<<dim3(sum_blocks(arrays.heads.count), sets), kSumThreads, 0,
                      stream.handle()>>>(lists, steps.run_length, plan.is_in_parts, buckets,
                                         arrays.heads);
    CUZK_TRY_STATUS(device::launched("sum_runs_kernel"));
    CUZK_TRY_STATUS(merge_heads(stream, arrays, buckets, sets, plan.merge_run));
    if (plan.is_in_parts) continue;
    arrays.final_offsets = lists.bucket_offset;
    CUZK_TRY_STATUS(reduce_sets(stream, plan, arrays, buckets, first, sets,
                                reinterpret_cast<XyzzPoint<T>*>(sums.data)));
  }
  return base::ok_status();
}

// final_offsets stays null: over several parts no list says which buckets are empty, and those that
// are hold infinity since clear_buckets.
template <class G>
base::Status reduce_parts(const device::Stream& stream, const MsmPlan& plan,
                          device::DeviceSpan<std::byte> scratch,
                          device::DeviceSpan<std::byte> sums) {
  using T = curve::Coordinate<G>;
  device::Arena arena(scratch);
  WindowArrays<T> arrays(arena, plan);
  for (int first = 0; first < plan.layout.set_count; first += plan.sets_at_once) {
    const int sets = std::min(plan.sets_at_once, plan.layout.set_count - first);
    CUZK_TRY_STATUS(reduce_sets(stream, plan, arrays,
                                arrays.buckets + first * arrays.sorted.bucket_count, first, sets,
                                reinterpret_cast<XyzzPoint<T>*>(sums.data)));
  }
  return base::ok_status();
}

}  // namespace cuzk::cuda::msm

// The functions of window_sums.h for one group.
#define CUZK_CUDA_WINDOW_SUMS(G)                                                              \
  template std::uint64_t cuzk::cuda::msm::window_scratch_bytes<G>(                            \
      const cuzk::cuda::msm::MsmPlan&);                                                       \
  template cuzk::base::Status cuzk::cuda::msm::clear_buckets<G>(                              \
      const cuzk::cuda::device::Stream&, const cuzk::cuda::msm::MsmPlan&,                     \
      cuzk::cuda::device::DeviceSpan<std::byte>);                                             \
  template std::uint64_t cuzk::cuda::msm::kept_sort_bytes<G>(const cuzk::cuda::msm::MsmPlan&, \
                                                             std::size_t);                    \
  template cuzk::base::Status cuzk::cuda::msm::sort_terms<G>(                                 \
      const cuzk::cuda::device::Stream&, const cuzk::cuda::msm::MsmPlan&,                     \
      const cuzk::cuda::msm::ScalarParams&, const cuzk::cuda::msm::Terms<G>&,                 \
      cuzk::cuda::device::DeviceSpan<std::byte>, cuzk::cuda::device::DeviceSpan<std::byte>);  \
  template cuzk::base::Status cuzk::cuda::msm::sum_terms<G>(                                  \
      const cuzk::cuda::device::Stream&, const cuzk::cuda::msm::MsmPlan&,                     \
      const cuzk::cuda::msm::ScalarParams&, const cuzk::cuda::msm::Terms<G>&,                 \
      cuzk::cuda::device::DeviceSpan<std::byte>, cuzk::cuda::device::DeviceSpan<std::byte>,   \
      cuzk::cuda::device::DeviceSpan<std::byte>);                                             \
  template cuzk::base::Status cuzk::cuda::msm::reduce_parts<G>(                               \
      const cuzk::cuda::device::Stream&, const cuzk::cuda::msm::MsmPlan&,                     \
      cuzk::cuda::device::DeviceSpan<std::byte>, cuzk::cuda::device::DeviceSpan<std::byte>);
