// How the bases of a streamed sum are cut into chunks: host arithmetic, tested without a device.
//
// A geometric row of sizes: the sum over a chunk must last as long as the upload of the next. The
// figures behind it are in docs/math/cuda_msm.md (Streamed).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/check.h"

namespace cuzk::cuda::msm {

// Below this many terms a sum is over before cutting it would pay: one chunk, if it fits.
inline constexpr std::size_t kWorthCutting = std::size_t{1} << 20;

// Sizes of the chunks of `count` bases, none above chunk_count_max, in their order. The upload of a
// chunk hides behind the sum of the one before, which takes `growth` times as long a base as an
// upload does (at least twice as long is reckoned with); so each chunk is `growth` times the one
// before, up to the largest. Only the first upload hides behind no sum: its chunk has at most
// first_count_max bases, or one. Chunks are as few as these bounds allow, since each of them passes
// over all buckets.
inline std::vector<std::size_t> chunk_schedule(std::size_t count, std::size_t chunk_count_max,
                                               double growth, std::size_t first_count_max) {
  CUZK_ASSERT((chunk_count_max > 0 || count == 0) && growth >= 0);  // an empty sum has no chunks
  if (count == 0) return {};
  if (count < kWorthCutting) first_count_max = count;
  const double ratio = std::max(2.0, growth), largest = static_cast<double>(chunk_count_max);
  const double wanted = static_cast<double>(count);
  const double first_most = std::max(1.0, std::min(largest, static_cast<double>(first_count_max)));
  // How many chunks it takes from the largest first one, then the smallest first one that does.
  std::size_t chunks = 0;
  double sum = 0;
  for (double size = first_most; sum < wanted; size = std::min(largest, size * ratio)) {
    sum += size;
    ++chunks;
  }
  const auto sum_from = [&](double first) {
    double total = 0, size = first;
    for (std::size_t i = 0; i < chunks; ++i, size = std::min(largest, size * ratio)) total += size;
    return total;
  };
  // By halving, as the cap on later chunks leaves no closed form; `high` always does.
  double low = 0, high = first_most;
  constexpr int kHalvings = 50;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (sum_from(middle) < wanted ? low : high) = middle;
  }
  std::vector<std::size_t> sizes;
  std::size_t left = count;
  for (double size = high; left > 0; size = std::min(largest, size * ratio)) {
    const std::size_t rounded = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(size)));
    sizes.push_back(std::min({rounded, left, chunk_count_max}));
    CUZK_ASSERT(sizes.back() > 0);  // else this would not end
    left -= sizes.back();
  }
  return sizes;
}

}  // namespace cuzk::cuda::msm
