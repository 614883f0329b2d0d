// A sum over the threads of a block: warps by shuffles, then their sums by the first warp.
//
// Ten shuffles and three barriers, whatever the block's size. All threads of the block must call
// it; it may be called again at once.
#pragma once

#include <cstdint>

namespace cuzk::cuda::msm {

inline constexpr int kScanThreads = 1024;
static_assert(kScanThreads == 32 * 32, "the first warp sums the sums of at most 32 warps");

// Exclusive sum over the block of one value a thread; `total` gets the sum. blockDim is a multiple
// of 32, at most 1024.
__device__ inline std::uint32_t block_exclusive_sum(std::uint32_t value, std::uint32_t& total) {
  __shared__ std::uint32_t warp_sums[33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  std::uint32_t inclusive = value;
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(0xffffffff, inclusive, step);
    if (lane >= step) inclusive += other;
  }
  __syncthreads();  // a previous call may still be read
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  if (warp == 0) {
    std::uint32_t sum = lane < warps ? warp_sums[lane] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(0xffffffff, sum, step);
      if (lane >= step) sum += other;
    }
    warp_sums[lane] = sum;
  }
  __syncthreads();
  total = warp_sums[warps - 1];
  return inclusive - value + (warp == 0 ? 0 : warp_sums[warp - 1]);
}

}  // namespace cuzk::cuda::msm
