// How long the lists of a plan can become: host arithmetic behind the sizes of its scratch.
//
// Real lists depend on the scalars, which are not known when memory is planned; these are bounds
// for all of them, so that no kernel writes past its array whatever the digits are.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "cuda/msm/msm.h"

namespace cuzk::cuda::msm {

// The most entries a window's lists can hold after a round: an output for each pair, and one for
// the odd entry of each bucket.
inline std::size_t halved(std::size_t entries, std::size_t bucket_count) {
  return (entries + std::min(entries, bucket_count) + 1) / 2;
}

// The heads of a set that holds `entries` entries before its rounds.
inline std::size_t head_count(std::size_t entries, std::size_t bucket_count, MsmPlan::Steps steps) {
  CUZK_ASSERT(steps.affine_rounds >= 0 && steps.run_length >= 1);
  for (int i = 0; i < steps.affine_rounds; ++i) entries = halved(entries, bucket_count);
  return (entries + steps.run_length - 1) / steps.run_length;
}

// The most heads of a set, for any part up to the largest: that of the largest, of the largest that
// takes fewer rounds, and of those whose runs are shortened until threads_wanted threads have work.
// A late round is missed by other conditions than an early one: there the bound is the largest part
// without it.
inline std::size_t head_count_max(const MsmPlan& plan) {
  const std::size_t bucket_count = plan.layout.bucket_count_max();
  const std::size_t entries = plan.entry_count_max();
  std::size_t most = head_count(entries, bucket_count, plan.steps_of(plan.part_count_max));
  // At once there is one length only; parts may be shorter than the largest.
  if (!plan.is_in_parts) return most;
  CUZK_ASSERT(plan.layout.window_count > 0 && plan.policy.run_length_min > 0);
  for (int rounds = 0; rounds < plan.affine_rounds; ++rounds) {
    const double full = plan.policy.affine_entries_min * static_cast<double>(bucket_count);
    const std::size_t below =
        rounds >= plan.policy.affine_rounds_max
            ? entries
            : std::max(plan.affine_entry_min,
                       static_cast<std::size_t>(full * static_cast<double>(1 << rounds)));
    const MsmPlan::Steps steps = {rounds, plan.run_length_max};
    most = std::max(most, head_count(std::min(entries, below), bucket_count, steps));
  }
  const std::size_t shortened =
      2 * static_cast<std::size_t>(plan.policy.threads_wanted) *
          static_cast<std::size_t>(plan.layout.table_count) /
          static_cast<std::size_t>(plan.layout.window_count) +
      bucket_count / static_cast<std::size_t>(plan.policy.run_length_min) + 2;
  const MsmPlan::Steps shortest = {0, plan.policy.run_length_min};
  return std::max(most, std::min(shortened, head_count(entries, bucket_count, shortest)));
}

}  // namespace cuzk::cuda::msm
