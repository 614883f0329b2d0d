// Window layout and sizes of a multi-scalar multiplication on a device, chosen by a cost formula.
//
// Plain data and host arithmetic: it asks no device, so a choice can be tested and swept anywhere.
// docs/math/cuda_msm.md explains the formula and has the figures behind the defaults.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace cuzk::cuda::msm {

inline constexpr int kWindowsMax = 64;     // of a layout, over all tables
inline constexpr int kCoarseBitsMax = 10;  // first level of the sort: bins of a tile
inline constexpr int kFineBitsMax = 11;    // second level: counters of a bin in shared memory
inline constexpr int kWindowBitsMax = kCoarseBitsMax + kFineBitsMax + 1;
inline constexpr std::size_t kCountMax = std::size_t{1} << 30;  // entries of a set: terms x tables
static_assert(kWindowBitsMax <= 30, "a digit is an int");
static_assert(kWindowsMax * kWindowBitsMax >= 256, "some layout holds every scalar");

// The numbers that a plan is chosen by. They move time and memory, not results.
struct MsmPolicy {
  // Cost of handling a bucket in the reduction, in additions of the accumulation.
  double bucket_cost = 3.5;
  // Additions' worth of latency that each further window adds, whatever the count.
  double window_cost = 2000;
  // Rounds of batched affine additions before the runs in XYZZ coordinates, while the average
  // bucket holds at least affine_entries_min entries. Below affine_count_min entries of a set
  // (over an extension field, a sixteenth of that) the latency of three more kernels a round is
  // more than rounds save.
  std::size_t affine_count_min = std::size_t{3} << 20;
  int affine_rounds_max = 3;
  double affine_entries_min = 4;
  // More rounds after those where tables of multiples leave few and long lists: while the average
  // bucket holds twice that, and a round has late_pairs_min pairs to fill the device with.
  int late_rounds_max = 2;
  double late_pairs_min = 2e7;
  // Bytes of bases from which warps fetch points together in the first round: gathers over fewer
  // bytes are not what a round waits for.
  std::uint64_t wide_bytes_min = std::uint64_t{800} << 20;
  int invert_threads = 67584;  // threads that share the inversions of a round
  int run_length_max = 64;     // additions of one thread in a row
  int run_length_min = 8;
  int threads_wanted = 200000;        // enough to fill a large device four times
  int reduce_chunk_log2 = 4;          // buckets of one thread in the reduction, at most
  std::size_t scan_count_max = 4096;  // sums a window that the reduction ends by scanning
  int window_count = 0;               // 0: by cost
  // Tables of multiples of the bases that a plan may count on (multiples_table.h); 1: the bases.
  int table_count = 1;
  // The most scratch that a plan takes where it has a choice: fewer windows at once, smaller parts,
  // fewer buckets.
  std::uint64_t scratch_bytes_max = std::uint64_t{48} << 30;
};

// The cut of a scalar of `bit_count` bits into windows of signed digits. Window w covers
// bits [first_bit[w], first_bit[w] + bit_count[w]). With the scalar taken as min(k, r - k), the
// windows need only reach bit_count bits in all: then no digit carries out of the top window.
//
// With tables of multiples, table t holds 2^(t table_shift) times each base, and windows that are
// table_shift bits apart share one set of buckets: window w uses table w / set_count and set
// w % set_count. Without, every window has a set of its own.
struct WindowLayout {
  int window_count = 0;
  int set_count = 0;
  int table_count = 1, table_shift = 0;
  int bit_count_max = 0;
  int first_bit[kWindowsMax] = {};
  int bit_count[kWindowsMax] = {};

  static WindowLayout of(int scalar_bits, int window_count) {
    return shared(scalar_bits, 1, window_count);
  }
  // Sets have table_shift bits between them, unequal by at most one. The last table's windows may
  // reach past the scalar, but not past the 256 bits that hold it.
  static WindowLayout shared(int scalar_bits, int table_count, int set_count) {
    constexpr int kBitsMax = 256;
    CUZK_ASSERT(scalar_bits >= 1 && scalar_bits <= kBitsMax && table_count >= 1 && set_count >= 1);
    WindowLayout out;
    out.table_count = table_count;
    out.set_count = set_count;
    out.table_shift = (scalar_bits + table_count - 1) / table_count;
    CUZK_ASSERT(set_count <= out.table_shift);  // no window without a bit
    for (int first = 0; first < scalar_bits; ++out.window_count) {
      CUZK_ASSERT(out.window_count < kWindowsMax);
      const int w = out.window_count, width = (out.table_shift + w % set_count) / set_count;
      out.first_bit[w] = first;
      out.bit_count[w] = std::min(width, kBitsMax - first);
      out.bit_count_max = std::max(out.bit_count_max, out.bit_count[w]);
      first += width;
    }
    return out;
  }
  // Digits are signed, so a window of b bits has 2^(b - 1) buckets. Sets are as the first table's
  // windows, which are the widest of each set.
  std::size_t bucket_count(int set) const { return std::size_t{1} << (bit_count[set] - 1); }
  std::size_t bucket_count_max() const { return std::size_t{1} << (bit_count_max - 1); }
};

// In additions of the accumulation: each window takes every point once, each set of buckets is
// reduced once.
inline double window_layout_cost(const WindowLayout& layout, std::size_t count,
                                 const MsmPolicy& policy) {
  double cost = static_cast<double>(layout.window_count) * static_cast<double>(count);
  for (int set = 0; set < layout.set_count; ++set) {
    cost += policy.window_cost + policy.bucket_cost * static_cast<double>(layout.bucket_count(set));
  }
  return cost;
}

// The cheapest layout whose windows fit the sort, or with policy.window_count the nearest to it.
// Tries at most kWindowsMax layouts.
inline WindowLayout choose_windows(int scalar_bits, std::size_t count, const MsmPolicy& policy) {
  const int tables = std::clamp(policy.table_count, 1, kWindowsMax);
  const int bits = (scalar_bits + tables - 1) / tables;  // of one table
  const int fewest = (bits + kWindowBitsMax - 1) / kWindowBitsMax;
  const int most = std::max(fewest, kWindowsMax / tables);
  if (policy.window_count != 0) {
    const int sets = (policy.window_count + tables - 1) / tables;
    return WindowLayout::shared(scalar_bits, tables, std::clamp(sets, fewest, most));
  }
  WindowLayout best = WindowLayout::shared(scalar_bits, tables, fewest);
  for (int sets = fewest + 1; sets <= most; ++sets) {
    const WindowLayout layout = WindowLayout::shared(scalar_bits, tables, sets);
    if (window_layout_cost(layout, count, policy) < window_layout_cost(best, count, policy)) {
      best = layout;
    }
  }
  return best;
}

}  // namespace cuzk::cuda::msm
