// Launches of the sum by bitmap for one group; instantiated beside the bucket sums.
//
// Indices of set bits are listed first, which evens out the work however bits cluster; then the
// list is summed as the one bucket of one window, by the kernels that sum buckets. A point costs
// one mixed addition, or less in rounds of batched affine ones.
#pragma once

#include "cuda/msm/bitmap_sum.h"
#include "cuda/msm/window_sums_impl.cuh"

namespace cuzk::cuda::msm {
namespace {

constexpr int kBitmapThreads = 256;
static_assert(kBitmapThreads % 32 == 0 && kBitmapThreads <= 1024, "as block_exclusive_sum wants");

// Appends the indices of set bits to `list`, whose length `*length` begins as zero. Their order is
// that in which blocks come.
__global__ void __launch_bounds__(kBitmapThreads)
    list_bits_kernel(const std::uint64_t* bitmap, std::size_t count, std::uint32_t* list,
                     std::uint32_t* length) {
  __shared__ std::uint32_t base;
  const std::size_t word = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  std::uint64_t bits = 64 * word < count ? bitmap[word] : 0;
  if (64 * word + 64 > count && 64 * word < count) {
    bits &= (std::uint64_t{1} << (count - 64 * word)) - 1;
  }
  std::uint32_t total;
  const std::uint32_t offset =
      block_exclusive_sum(static_cast<std::uint32_t>(__popcll(bits)), total);
  if (threadIdx.x == 0) base = atomicAdd(length, total);
  __syncthreads();
  std::uint32_t at = base + offset;
  for (; bits != 0; bits &= bits - 1) {
    list[at++] = static_cast<std::uint32_t>(64 * word + __ffsll(static_cast<long long>(bits)) - 1);
  }
}

// The list as one window with one bucket: more rounds than a bucket of a window gets, as the list
// is long, and short runs, as all threads share one bucket and its heads are merged in levels.
inline MsmPlan bitmap_plan(std::size_t count) {
  constexpr int kRoundsMax = 6;
  constexpr double kWorthARound = 1 << 18;
  MsmPlan plan;
  plan.count = plan.part_count_max = count;
  plan.layout = WindowLayout::of(1, 1);
  plan.run_length_max = plan.policy.run_length_min = 16;
  plan.merge_run = 16;
  plan.policy.affine_entries_min = kWorthARound;  // of the one bucket
  plan.affine_rounds = plan.policy.affine_rounds_max = kRoundsMax;
  return plan;
}

}  // namespace

template <class G>
std::uint64_t bitmap_scratch_bytes(std::size_t count) {
  if (count == 0) return 0;
  device::Arena arena;
  WindowArrays<curve::Coordinate<G>> arrays(arena, bitmap_plan(count));
  return arena.used_bytes();
}

template <class G>
base::Status sum_listed_bits(const device::Stream& stream,
                             device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
                             device::DeviceSpan<const std::uint64_t> bitmap,
                             device::DeviceSpan<std::byte> scratch,
                             device::DeviceSpan<std::byte> sum) {
  using T = curve::Coordinate<G>;
  const MsmPlan plan = bitmap_plan(bases.size);
  device::Arena arena(scratch);
  WindowArrays<T> arrays(arena, plan);
  auto* bucket = reinterpret_cast<XyzzPoint<T>*>(sum.data);
  // The two offsets of the one bucket: 0, and the list's length, which the kernel counts up.
  std::uint32_t* offsets = arrays.sorted.bucket_offset;
  CUZK_TRY_STATUS(device::fill_bytes(stream, offsets, 0, 2 * sizeof(std::uint32_t)));
  // With no bit set no bucket is written: cleared, it is infinity.
  CUZK_TRY_STATUS(device::fill_bytes(stream, bucket, 0, sizeof(XyzzPoint<T>)));
  const std::size_t words = (bases.size + 63) / 64;
  list_bits_kernel<<<static_cast<unsigned>((words + kBitmapThreads - 1) / kBitmapThreads),
                     kBitmapThreads, 0, stream.handle()>>>(bitmap.data, bases.size,
                                                           arrays.sorted.points, offsets + 1);
  CUZK_TRY_STATUS(device::launched("list_bits_kernel"));
  const EntryLists<T> listed = {reinterpret_cast<const AffinePoint<T>*>(bases.data),
                                arrays.sorted.points, offsets, plan.count, 1};
  const MsmPlan::Steps steps = plan.steps_of(plan.count);
  // Bits are listed nearly in their order, so that points that are fetched together lie together.
  CUZK_TRY(const EntryLists<T> lists,
           add_pairs<T>(stream, plan, arrays.pairs, listed, plan.count, 0, steps, 1));
  sum_runs_kernel<<<sum_blocks(arrays.heads.count), kSumThreads, 0, stream.handle()>>>(
      lists, steps.run_length, false, bucket, arrays.heads);
  CUZK_TRY_STATUS(device::launched("sum_runs_kernel"));
  return merge_heads(stream, arrays, bucket, 1, plan.merge_run);
}

}  // namespace cuzk::cuda::msm

// The functions of bitmap_sum.h for one group.
#define CUZK_CUDA_BITMAP(G)                                                     \
  template std::uint64_t cuzk::cuda::msm::bitmap_scratch_bytes<G>(std::size_t); \
  template cuzk::base::Status cuzk::cuda::msm::sum_listed_bits<G>(              \
      const cuzk::cuda::device::Stream&,                                        \
      cuzk::cuda::device::DeviceSpan<const cuzk::curve::Affine<G>>,             \
      cuzk::cuda::device::DeviceSpan<const std::uint64_t>,                      \
      cuzk::cuda::device::DeviceSpan<std::byte>, cuzk::cuda::device::DeviceSpan<std::byte>);
