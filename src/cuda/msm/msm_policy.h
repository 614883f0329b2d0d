// Window layout and sizes of a multi-scalar multiplication on a device, chosen by a cost formula.
//
// Plain data and host arithmetic: it asks no device, so a choice can be tested and swept anywhere.
// docs/math/cuda_msm.md explains the formula and has the figures behind the defaults.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cuzk::cuda::msm {

inline constexpr int kWindowsMax = 64;
inline constexpr int kCoarseBitsMax = 10;  // first level of the sort: bins of a tile
inline constexpr int kFineBitsMax = 11;    // second level: counters of a bin in shared memory
inline constexpr int kWindowBitsMax = kCoarseBitsMax + kFineBitsMax + 1;
inline constexpr std::size_t kCountMax = std::size_t{1} << 30;

// The numbers that a plan is chosen by. They move time and memory, not results.
struct MsmPolicy {
  // Cost of handling a bucket in the reduction, in additions of the accumulation.
  double bucket_cost = 3.0;
  // Additions' worth of latency that each further window adds, whatever the count.
  double window_cost = 2000;
  // Rounds of batched affine additions before the runs in XYZZ coordinates, while the average
  // bucket holds at least affine_entries_min entries. Below affine_count_min points (over an
  // extension field, a sixteenth of that) the latency of the inversions is more than rounds save.
  std::size_t affine_count_min = std::size_t{6} << 20;
  int affine_rounds_max = 3;
  double affine_entries_min = 4;
  int pair_run_length = 64;    // outputs of one thread in a round
  int invert_threads = 16896;  // threads that share the inversions of a round
  int run_length_max = 64;     // additions of one thread in a row
  int run_length_min = 8;
  int threads_wanted = 200000;        // enough to fill a large device four times
  int reduce_chunk_log2 = 4;          // buckets of one thread in the reduction
  std::size_t scan_count_max = 4096;  // sums a window that the reduction ends by scanning
  int window_count = 0;               // 0: by cost
  std::uint64_t scratch_bytes_max = std::uint64_t{48} << 30;
};

// The cut of a scalar of `bit_count` bits into windows of signed digits. Window w covers
// bits [first_bit[w], first_bit[w] + bit_count[w]). With the scalar taken as min(k, r - k), the
// windows need only reach bit_count bits in all: then no digit carries out of the top window.
struct WindowLayout {
  int window_count = 0;
  int bit_count_max = 0;
  int first_bit[kWindowsMax] = {};
  int bit_count[kWindowsMax] = {};

  static WindowLayout of(int scalar_bits, int window_count) {
    WindowLayout out;
    out.window_count = window_count;
    int first = 0;
    for (int w = 0; w < window_count; ++w) {
      out.first_bit[w] = first;
      out.bit_count[w] = (scalar_bits + w) / window_count;
      out.bit_count_max = std::max(out.bit_count_max, out.bit_count[w]);
      first += out.bit_count[w];
    }
    return out;
  }
  std::size_t bucket_count(int w) const { return std::size_t{1} << (bit_count[w] - 1); }
  std::size_t bucket_count_max() const { return std::size_t{1} << (bit_count_max - 1); }
};

// In additions of the accumulation: each window takes every point once, and reduces its buckets.
inline double window_layout_cost(const WindowLayout& layout, std::size_t count,
                                 const MsmPolicy& policy) {
  double cost = 0;
  for (int w = 0; w < layout.window_count; ++w) {
    cost += static_cast<double>(count) + policy.window_cost +
            policy.bucket_cost * static_cast<double>(layout.bucket_count(w));
  }
  return cost;
}

// The cheapest layout whose windows fit the sort.
inline WindowLayout choose_windows(int scalar_bits, std::size_t count, const MsmPolicy& policy) {
  const int fewest = (scalar_bits + kWindowBitsMax - 1) / kWindowBitsMax;
  if (policy.window_count != 0) {
    return WindowLayout::of(scalar_bits, std::clamp(policy.window_count, fewest, kWindowsMax));
  }
  WindowLayout best = WindowLayout::of(scalar_bits, kWindowsMax);
  for (int windows = fewest; windows < kWindowsMax; ++windows) {
    const WindowLayout layout = WindowLayout::of(scalar_bits, windows);
    if (window_layout_cost(layout, count, policy) < window_layout_cost(best, count, policy)) {
      best = layout;
    }
  }
  return best;
}

}  // namespace cuzk::cuda::msm
