// The cost formula of plan.h, evaluated for every window size.
//
// Fourteen evaluations cost nothing beside one addition of points, so no closed form and no table
// of measured borders stands in for the formula; a change of the algorithm changes it there alone.
#include "msm/plan.h"

#include <algorithm>

#include "base/check.h"
#include "msm/digits.h"

namespace cuzk::msm {
namespace {

constexpr std::size_t kWindowBitsMin = 3, kWindowBitsMax = 16;
static_assert(kWindowBitsMax <= 8 * sizeof(RawDigit), "a raw digit holds a window");
// Enough to share an inversion well, few enough that a task ends within milliseconds.
constexpr std::size_t kTaskEntriesMin = 1024, kTaskEntriesMax = 16384;
// Tasks per thread, so that the last ones even out.
constexpr std::size_t kTasksPerThread = 8;
// A slice of a chunk is worth a histogram of its own only when it is much longer than that.
constexpr std::size_t kSlicePointsMin = 4096;

// The four terms of plan.h, the last two together.
std::uint64_t additions(std::size_t points, std::size_t chunks, std::size_t windows,
                        std::size_t buckets) {
  return std::uint64_t{windows} * (points + buckets * (chunks - 1) + 3 * buckets);
}

}  // namespace

MultiplyPlan plan_multiply(std::size_t point_count, const PlanInputs& inputs) {
  CUZK_ASSERT(inputs.chunk_points_max > 0 && inputs.thread_count > 0);
  MultiplyPlan plan;
  const std::size_t chunks = std::max<std::size_t>(
      1, (point_count + inputs.chunk_points_max - 1) / inputs.chunk_points_max);
  plan.chunk_points = std::max<std::size_t>(1, (point_count + chunks - 1) / chunks);
  for (std::size_t c = kWindowBitsMin; c <= kWindowBitsMax; ++c) {
    const std::size_t windows = window_count(inputs.scalar_bits, c);
    const std::size_t buckets = std::size_t{1} << (c - 1);
    const std::uint64_t cost = additions(point_count, chunks, windows, buckets);
    if (plan.window_bits != 0 && cost >= plan.addition_count) continue;
    plan.window_bits = c;
    plan.window_count = windows;
    plan.bucket_count = buckets;
    plan.addition_count = cost;
  }
  // The sort works on windows side by side. Where there are fewer than threads, windows are cut
  // into slices of points, about two a thread.
  const std::size_t slices_wanted =
      inputs.thread_count <= plan.window_count
          ? 1
          : (2 * inputs.thread_count + plan.window_count - 1) / plan.window_count;
  plan.slice_count = std::clamp<std::size_t>(plan.chunk_points / kSlicePointsMin, 1, slices_wanted);
  const std::size_t entries = plan.chunk_points * plan.window_count;
  plan.task_entries = std::clamp(entries / (kTasksPerThread * inputs.thread_count), kTaskEntriesMin,
                                 kTaskEntriesMax);
  CUZK_ASSERT(plan.chunk_points <= inputs.chunk_points_max);
  CUZK_ASSERT(plan.chunk_points * chunks >= point_count && plan.slice_count > 0);
  CUZK_ASSERT(plan.window_bits * plan.window_count > inputs.scalar_bits);
  return plan;
}

}  // namespace cuzk::msm
