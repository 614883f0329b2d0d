// From buckets to the sum: sum_b (b + 1) S_b for each window, all in batched additions.
//
// Pairwise: with T_k = S_2k + S_2k+1, sum_b b S_b = 2 sum_k k T_k + sum_k S_2k+1. Repeating this on
// T leaves, for each bit l, the sum O_l of the right-hand partners of level l, and the total:
//
//     sum_b (b + 1) S_b = total + sum_l 2^l O_l.
//
// In place: level l adds row b + 2^l to row b for each b = 0 mod 2^(l+1); the partner keeps its
// value, so O_l is the sum of the rows with b = 2^l mod 2^(l+1), a segment. In all 2 B additions a
// window, as many as the running sum needs, but independent of each other.
#pragma once

#include "msm/segments.h"

namespace cuzk::msm {

// The parts of one window's sum: O_0 ... O_(levels-1), then the total.
template <class G>
using WindowParts = std::vector<curve::Affine<G>>;

// `buckets` holds bucket_count rows (a power of two) and is overwritten.
template <class G>
WindowParts<G> reduce_window(SegmentSummer<G>& summer, std::uint8_t* buckets,
                             std::size_t bucket_count) {
  CUZK_ASSERT(bucket_count > 0 && (bucket_count & (bucket_count - 1)) == 0);
  const PointKernel<G>& kernel = summer.kernel();
  const std::size_t row_bytes = kernel.row_bytes;
  const auto is_zero = [&](std::size_t b) {
    return row_is_zero(buckets + b * row_bytes, row_bytes);
  };
  std::vector<AddPair> pairs;
  pairs.reserve(bucket_count / 2);
  for (std::size_t stride = 1; stride < bucket_count; stride *= 2) {
    pairs.clear();
    for (std::size_t b = 0; b < bucket_count; b += 2 * stride) {
      if (is_zero(b + stride)) continue;
      if (is_zero(b)) {
        kernel.copy(buckets + (b + stride) * row_bytes, false, buckets + b * row_bytes);
      } else {
        pairs.push_back({operand(b), operand(b + stride), static_cast<std::uint32_t>(b)});
      }
    }
    summer.add_pairs(buckets, buckets, buckets, pairs);
  }
  // Row 0 holds the total. Each other row belongs to one level: that of its lowest set bit.
  std::vector<std::uint32_t> entries, lengths;
  std::vector<std::size_t> levels;
  std::size_t level = 0;
  for (std::size_t bit = 1; bit < bucket_count; bit *= 2, ++level) {
    const std::size_t before = entries.size();
    for (std::size_t b = bit; b < bucket_count; b += 2 * bit) {
      if (!is_zero(b)) entries.push_back(operand(b));
    }
    if (entries.size() == before) continue;
    lengths.push_back(static_cast<std::uint32_t>(entries.size() - before));
    levels.push_back(level);
  }
  summer.sum(buckets, entries, lengths);
  WindowParts<G> parts(level + 1, curve::Affine<G>::infinity());
  for (std::size_t k = 0; k < levels.size(); ++k) {
    kernel.unpack(summer.row(k), 1, &parts[levels[k]]);
  }
  kernel.unpack(buckets, 1, &parts.back());
  CUZK_ASSERT(std::size_t{1} << (parts.size() - 1) == bucket_count);
  return parts;
}

// sum_w 2^(c w) (total_w + sum_l 2^l O_(w,l)), one doubling a bit.
template <class G>
curve::Jacobian<G> combine_windows(std::span<const WindowParts<G>> windows,
                                   std::size_t window_bits) {
  auto sum = curve::Jacobian<G>::infinity();
  for (std::size_t w = windows.size(); w > 0; --w) {
    const WindowParts<G>& parts = windows[w - 1];
    CUZK_ASSERT(!parts.empty() && parts.size() <= window_bits);
    for (std::size_t bit = window_bits; bit > 0; --bit) {
      sum = sum.doubled();
      if (bit < parts.size()) sum += parts[bit - 1];
    }
    sum += parts.back();
  }
  return sum;
}

}  // namespace cuzk::msm
