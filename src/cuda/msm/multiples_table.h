// Tables of multiples of the bases: with 2^(t shift) P at hand for every base P, windows share
// their buckets, so that few buckets are left to reduce and windows can be as wide as one set
// allows.
//
// A table holds table_count copies of the bases: base i of table t at [t stride + i]. It is made
// once for bases that many sums use; WindowLayout says which table a window takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/msm/msm_policy.h"
#include "curve/groups.h"

namespace cuzk::cuda::msm {

// How many tables make sums of `count` terms cheapest among those whose bytes fit
// `table_bytes_max`; 1 where none fits or none is worth its bytes.
template <class G>
int choose_table_count(std::size_t count, std::uint64_t table_bytes_max,
                       const MsmPolicy& policy = {}) {
  constexpr double kWorthMore = 0.98;  // what a larger table must gain over a smaller one
  constexpr int kTablesMax = 16;
  static_assert(kTablesMax <= kWindowsMax);
  const int bits = static_cast<int>(G::Scalar::kBitCount);
  // One table, the bases alone, is always there to be compared with.
  MsmPolicy tried = policy;
  int best = 1;
  double best_cost = 0;
  for (int tables = 1; tables <= kTablesMax; ++tables) {
    const std::uint64_t bytes =
        count * static_cast<std::uint64_t>(tables) * sizeof(cuzk::curve::Affine<G>);
    const bool fits =
        bytes <= table_bytes_max && count * static_cast<std::size_t>(tables) <= kCountMax;
    if (tables > 1 && !fits) break;
    tried.table_count = tables;
    const double cost = window_layout_cost(choose_windows(bits, count, tried), count, tried);
    if (tables > 1 && cost > kWorthMore * best_cost) continue;
    best = tables;
    best_cost = cost;
  }
  return best;
}

// Fills tables 1 ... table_count - 1 from table 0, the bases, which is there already. Table t holds
// 2^(t shift) times the bases, with the shift that WindowLayout has for `table_count`. table.size
// is a multiple of table_count. Complete for all points. Queued on the stream.
template <class G>
base::Status fill_table(const device::Stream& stream, int table_count,
                        device::DeviceSpan<cuzk::curve::Affine<G>> table);

}  // namespace cuzk::cuda::msm
