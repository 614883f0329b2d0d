// Tables of multiples of the bases: with 2^(t shift) P at hand for every base P, windows share
// their buckets, so that few buckets are left to reduce and windows can be as wide as one set
// allows.
//
// A table holds table_count copies of the bases: base i of table t at [t stride + i]. It is made
// once for bases that many sums use; WindowLayout says which table a window takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/msm/msm.h"
#include "cuda/msm/pricing.h"
#include "curve/groups.h"

namespace cuzk::cuda::msm {

// Tables for sums of some terms, and what they are worth: counted in additions of the group.
struct TableChoice {
  int table_count = 1;  // 1: none
  double cost = 0;      // of a sum
  double saved = 0;     // of what one takes without
};

// Cost of a sum of `count` terms with so many tables, in additions of a round, and the rounds of
// affine additions it takes. An addition in a run costs a third more (0.39 for 0.29 ns), and each
// round leaves half as many to the runs.
struct TableCost {
  double additions = 0;
  int affine_rounds = 0;
};
template <class G>
TableCost table_cost(std::size_t count, int table_count, MsmPolicy policy) {
  policy.table_count = table_count;
  const MsmPolicy price = priced<G>(policy);
  MsmPlan plan;
  plan.count = plan.part_count_max = count;
  plan.policy = policy;
  plan.layout = choose_windows(static_cast<int>(G::Scalar::kBitCount), count, price);
  plan.affine_entry_min = affine_entry_min<G>(policy);
  plan.run_length_max = policy.run_length_max;
  plan.affine_rounds =
      policy.affine_rounds_max == 0 ? 0 : policy.affine_rounds_max + policy.late_rounds_max;
  const int rounds = plan.steps_of(count).affine_rounds;
  const double in_runs = static_cast<double>(plan.layout.window_count) *
                         static_cast<double>(count) / static_cast<double>(1 << rounds);
  constexpr double kRunMore = 0.35;
  return {window_layout_cost(plan.layout, count, price) + kRunMore * in_runs, rounds};
}

// The tables that make sums of `count` terms cheapest, at most table_count_max and of those for
// which fits(table_count) holds; none where they save less than the part `gain_min` of a sum. Each
// further table must save saved_per_table_min additions more.
// Wider windows with so few entries a bucket that rounds are lost are no gain, whatever they save
// in additions (measured: six tables at 2^22).
template <class G, class Fits>
TableChoice choose_tables(std::size_t count, int table_count_max, double gain_min,
                          double saved_per_table_min, const MsmPolicy& policy, const Fits& fits) {
  constexpr int kTablesMax = 16;
  static_assert(kTablesMax <= kWindowsMax);
  const TableCost without = table_cost<G>(count, 1, policy);
  TableChoice best = {1, without.additions, 0};
  for (int tables = 2; tables <= std::min(table_count_max, kTablesMax); ++tables) {
    if (count > kCountMax / static_cast<std::size_t>(tables)) break;
    const TableCost with = table_cost<G>(count, tables, policy);
    if (with.affine_rounds < without.affine_rounds) continue;
    const double more = best.cost - with.additions;
    if (more <= 0 || more < saved_per_table_min * (tables - best.table_count)) continue;
    if (!fits(tables)) continue;
    best = {tables, with.additions, without.additions - with.additions};
  }
  if (best.saved < gain_min * without.additions) return {1, without.additions, 0};
  return best;
}

// Doublings, which take as long as additions, that fill_table makes for each point.
template <class G>
double fill_cost(int table_count) {
  const int bits = static_cast<int>(G::Scalar::kBitCount);
  return (table_count - 1.0) * WindowLayout::shared(bits, table_count, 1).table_shift;
}

// Fills tables 1 ... table_count - 1 from table 0, the bases, which is there already. Table t holds
// 2^(t shift) times the bases, with the shift that WindowLayout has for `table_count`. table.size
// is a multiple of table_count. Complete for all points. Queued on the stream.
template <class G>
base::Status fill_table(const device::Stream& stream, int table_count,
                        device::DeviceSpan<cuzk::curve::Affine<G>> table);

}  // namespace cuzk::cuda::msm
