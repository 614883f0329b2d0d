// One multiplication spread over several devices: each takes a range of the terms, and the partial
// sums, one point a device, are added on the host.
//
// Nothing passes between devices: windows are reduced where they were summed, so what a device
// returns is a few kilobytes. Ranges are proportional to what devices get done, for unequal cards.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/check.h"

namespace cuzk::cuda::msm {

// Terms [first, first + count) of the whole sum.
struct TermRange {
  std::size_t first = 0, count = 0;
};

// Neighbouring ranges that cover `count` terms, in proportion to `rates` (at least one, none
// negative, one positive). A device whose rate is zero gets none.
inline std::vector<TermRange> split_terms(std::size_t count, std::span<const double> rates) {
  double total = 0;
  for (const double rate : rates) {
    CUZK_ASSERT(rate >= 0);
    total += rate;
  }
  CUZK_ASSERT(total > 0);
  std::vector<TermRange> out;
  double before = 0;
  std::size_t first = 0;
  std::size_t last_working = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i] > 0) last_working = i;
  }
  for (std::size_t i = 0; i < rates.size(); ++i) {
    before += rates[i];
    // Running sums instead of single shares: rounding then never leaves a gap or an overlap.
    auto end = static_cast<std::size_t>(static_cast<double>(count) * (before / total));
    if (i >= last_working || end > count) end = count;
    CUZK_ASSERT(end >= first);
    out.push_back({first, end - first});
    first = end;
  }
  CUZK_ASSERT(first == count);
  return out;
}

}  // namespace cuzk::cuda::msm
