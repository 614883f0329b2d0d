// Plans and the host's end of a multiplication: windows joined by doublings.
//
// The device returns one pair of sums a set of buckets; joining them is some 255 doublings, too few
// and too serial to be worth a kernel. A plan picks windows by cost, then shortens runs until the
// device is full, then takes fewer sets at once until the scratch fits.
#include "cuda/msm/msm.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "cuda/msm/pricing.h"
#include "cuda/msm/sort.h"
#include "cuda/msm/window_sums.h"

namespace cuzk::cuda::msm {
namespace {

// Each part passes over the buckets that it touches, so none is cut smaller than this.
constexpr std::size_t kPartCountMin = std::size_t{1} << 14;

// Whether G's coordinates lie in Fp2.
template <class G>
ScalarParams params_of(const MsmPlan& plan) {
  return scalar_params(G::Scalar::Params::kModulus.limb, plan.layout);
}

// Indices of entries and the sign share 32 bits, so an entry's number has to stay below kCountMax.
base::Status check_count(std::size_t count, const MsmPolicy& policy) {
  const std::size_t tables = static_cast<std::size_t>(std::max(1, policy.table_count));
  if (count <= kCountMax / tables) return base::ok_status();
  return base::Error{
      base::ErrorKind::kUnsupported,
      "a multiplication of " + std::to_string(count) + " points with " + std::to_string(tables) +
          " tables of multiples; the most entries at once are " + std::to_string(kCountMax)};
}

// The most sets at once whose scratch fits the limit, or one, and the bytes that follow: one set
// may exceed the limit, and its bytes say so.
template <class G>
void choose_sets_at_once(MsmPlan& plan, std::uint64_t limit_bytes) {
  plan.sums_bytes = window_sums_bytes<G>(plan.layout);
  int least = 1, most = std::min(plan.layout.set_count, kSortSetsMax);
  const auto bytes_of = [&plan](int sets) {
    plan.sets_at_once = sets;
    return plan.scratch_bytes = window_scratch_bytes<G>(plan);
  };
  if (bytes_of(most) <= limit_bytes) return;
  --most;
  while (least < most) {
    const int middle = (least + most + 1) / 2;
    if (bytes_of(middle) <= limit_bytes) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  bytes_of(least);
  CUZK_ASSERT(plan.sets_at_once >= 1 && plan.sets_at_once <= kSortSetsMax);
}

// Rounds, runs and sets at once for the plan's layout and part size. Rounds keep their points:
// without them a sum takes a third of the scratch, so they are the first to go.
template <class G>
void choose_steps(MsmPlan& plan, std::uint64_t limit_bytes) {
  const MsmPolicy& policy = plan.policy;
  plan.affine_entry_min = affine_entry_min<G>(policy);
  plan.run_length_max = policy.run_length_max;
  plan.affine_rounds = policy.affine_rounds_max;
  if (plan.affine_rounds > 0) plan.affine_rounds += policy.late_rounds_max;
  // What the largest part takes; smaller ones take fewer rounds, never more.
  const MsmPlan::Steps steps = plan.steps_of(plan.part_count_max);
  plan.affine_rounds = steps.affine_rounds;
  CUZK_ASSERT(steps.run_length >= 1);
  const double heads = static_cast<double>(plan.part_count_max) * plan.layout.window_count /
                       (steps.run_length << steps.affine_rounds);
  plan.merge_run = heads / 32 < policy.threads_wanted / 16 ? 8 : 32;
  choose_sets_at_once<G>(plan, limit_bytes);
  if (plan.scratch_bytes <= limit_bytes || plan.affine_rounds == 0) return;
  plan.affine_rounds = 0;
  choose_sets_at_once<G>(plan, limit_bytes);
}

// What a plan in parts costs, in additions: each part also passes over the buckets that it touches,
// and each group of sets waits for its longest chains, in every part and when it is reduced.
double parts_cost(const MsmPlan& plan, const MsmPolicy& priced_policy) {
  // Fitted like the policy's costs (docs/math/cuda_msm.md): they choose, they do not decide
  // results.
  constexpr double kTouchCost = 0.5, kPartCost = 1e6, kReduceCost = 5e6;
  CUZK_ASSERT(plan.part_count_max > 0 && plan.sets_at_once > 0);
  double cost = window_layout_cost(plan.layout, plan.count, priced_policy);
  double touched = 0;
  for (int set = 0; set < plan.layout.set_count; ++set) {
    touched += static_cast<double>(std::min(plan.layout.bucket_count(set), plan.entry_count_max()));
  }
  const double parts =
      std::ceil(static_cast<double>(plan.count) / static_cast<double>(plan.part_count_max));
  const int groups = (plan.layout.set_count + plan.sets_at_once - 1) / plan.sets_at_once;
  return cost + parts * (kTouchCost * touched + groups * kPartCost) + groups * kReduceCost;
}

}  // namespace

// The cheapest windows first, then what fits beside them; sets at once give way before windows do,
// as fewer of them cost little until the device is no longer full.
template <class G>
base::Result<MsmPlan> plan_msm(std::size_t count, const MsmPolicy& policy) {
  CUZK_TRY_STATUS(check_count(count, policy));
  MsmPlan plan;
  plan.count = plan.part_count_max = count;
  plan.policy = policy;
  if (count == 0) return plan;
  plan.layout = choose_windows(static_cast<int>(G::Scalar::kBitCount), count, priced<G>(policy));
  choose_steps<G>(plan, policy.scratch_bytes_max);
  // One set at a time and no rounds, and still too much: smaller parts are what is left.
  if (plan.scratch_bytes > policy.scratch_bytes_max) return plan_parts<G>(count, count, policy);
  return plan;
}

// Prices at most kWindowsMax set counts times the halvings of a part down to kPartCountMin; each
// price is arithmetic over sizes.
template <class G>
base::Result<MsmPlan> plan_parts(std::size_t count, std::size_t part_count_max,
                                 const MsmPolicy& policy, std::uint64_t more_bytes_per_term) {
  CUZK_ASSERT(part_count_max > 0 || count == 0);
  CUZK_TRY_STATUS(check_count(std::min(count, part_count_max), policy));
  MsmPlan best;
  best.count = count;
  best.part_count_max = std::min(count, part_count_max);
  best.policy = policy;
  if (count == 0) return best;
  best.is_in_parts = true;
  const int bits = static_cast<int>(G::Scalar::kBitCount);
  const std::uint64_t limit_bytes = policy.scratch_bytes_max;
  const MsmPolicy price = priced<G>(policy);
  // Fewer buckets leave room for larger parts, smaller parts for more sets at once: all pairs are
  // priced that fit. When none fits the smallest stands, and its bytes say so.
  MsmPlan tried = best;
  tried.layout = choose_windows(bits, count, price);
  const int tables = tried.layout.table_count, fewest = tried.layout.set_count;
  const int most = policy.window_count != 0 ? fewest : std::max(fewest, kWindowsMax / tables);
  const std::size_t largest = best.part_count_max;
  double best_cost = 0;
  bool is_whole = false;
  for (int sets = fewest; sets <= most && !is_whole; ++sets) {
    tried.layout = WindowLayout::shared(bits, tables, sets);
    if (best_cost != 0 && window_layout_cost(tried.layout, count, price) > best_cost) break;
    for (std::size_t part = largest;; part = std::max(kPartCountMin, part / 2)) {
      tried.part_count_max = std::min(part, largest);
      const std::uint64_t more_bytes = more_bytes_per_term * tried.part_count_max;
      choose_steps<G>(tried, limit_bytes > more_bytes ? limit_bytes - more_bytes : 0);
      const bool fits = tried.scratch_bytes + more_bytes <= limit_bytes;
      const double cost = parts_cost(tried, price);
      if ((fits && (best_cost == 0 || cost < best_cost)) || (!fits && best_cost == 0)) {
        best = tried;
        best_cost = fits ? cost : 0;
      }
      // More sets or smaller parts would only cost more.
      is_whole = fits && tried.part_count_max == largest &&
                 tried.sets_at_once == std::min(sets, kSortSetsMax);
      if (is_whole || tried.part_count_max <= kPartCountMin) break;
    }
  }
  CUZK_ASSERT(best.scratch_bytes > 0 && best.part_count_max > 0);  // something was taken
  return best;
}

// At once by one call of the device's side; in parts the buckets are cleared first and reduced
// last.
template <class G>
base::Status queue_product(const device::Stream& stream, const MsmPlan& plan, const Terms<G>& terms,
                           device::DeviceSpan<std::byte> scratch,
                           device::DeviceSpan<std::byte> sums) {
  CUZK_ASSERT(terms.scalars.size == plan.count);
  CUZK_ASSERT(scratch.size >= plan.scratch_bytes && sums.size >= plan.sums_bytes);
  if (plan.count == 0) return base::ok_status();
  if (!plan.is_in_parts) {
    return sum_terms<G>(stream, plan, params_of<G>(plan), terms, scratch, sums);
  }
  CUZK_TRY_STATUS(begin_parts<G>(stream, plan, scratch));
  for (std::size_t first = 0; first < plan.count; first += plan.part_count_max) {
    const std::size_t count = std::min(plan.part_count_max, plan.count - first);
    CUZK_TRY_STATUS(add_part<G>(stream, plan, terms.subset(first, count), scratch));
  }
  return end_parts<G>(stream, plan, scratch, sums);
}

template <class G>
base::Status begin_parts(const device::Stream& stream, const MsmPlan& plan,
                         device::DeviceSpan<std::byte> scratch) {
  CUZK_ASSERT(scratch.size >= plan.scratch_bytes);
  if (plan.count == 0) return base::ok_status();
  CUZK_ASSERT(plan.is_in_parts);
  return clear_buckets<G>(stream, plan, scratch);
}

template <class G>
base::Status add_part(const device::Stream& stream, const MsmPlan& plan, const Terms<G>& terms,
                      device::DeviceSpan<std::byte> scratch) {
  CUZK_ASSERT(terms.scalars.size <= plan.part_count_max && scratch.size >= plan.scratch_bytes);
  if (terms.scalars.size == 0) return base::ok_status();
  return sum_terms<G>(stream, plan, params_of<G>(plan), terms, scratch, {});
}

template <class G>
std::uint64_t sorted_part_bytes(const MsmPlan& plan, std::size_t count) {
  return count == 0 ? 0 : kept_sort_bytes<G>(plan, count);
}

template <class G>
base::Status sort_part(const device::Stream& stream, const MsmPlan& plan, const Terms<G>& terms,
                       device::DeviceSpan<std::byte> scratch,
                       device::DeviceSpan<std::byte> sorted) {
  CUZK_ASSERT(terms.scalars.size <= plan.part_count_max && scratch.size >= plan.scratch_bytes);
  CUZK_ASSERT(sorted.size >= sorted_part_bytes<G>(plan, terms.scalars.size));
  if (terms.scalars.size == 0) return base::ok_status();
  return sort_terms<G>(stream, plan, params_of<G>(plan), terms, scratch, sorted);
}

template <class G>
base::Status add_sorted_part(const device::Stream& stream, const MsmPlan& plan,
                             const Terms<G>& terms, device::DeviceSpan<std::byte> scratch,
                             device::DeviceSpan<std::byte> sorted) {
  CUZK_ASSERT(terms.scalars.size <= plan.part_count_max && scratch.size >= plan.scratch_bytes);
  CUZK_ASSERT(sorted.size >= sorted_part_bytes<G>(plan, terms.scalars.size));
  if (terms.scalars.size == 0) return base::ok_status();
  return sum_terms<G>(stream, plan, params_of<G>(plan), terms, scratch, {}, sorted);
}

template <class G>
base::Status end_parts(const device::Stream& stream, const MsmPlan& plan,
                       device::DeviceSpan<std::byte> scratch, device::DeviceSpan<std::byte> sums) {
  CUZK_ASSERT(sums.size >= plan.sums_bytes && scratch.size >= plan.scratch_bytes);
  if (plan.count == 0) return base::ok_status();
  CUZK_ASSERT(plan.is_in_parts);
  return reduce_parts<G>(stream, plan, scratch, sums);
}

// The one wait of a sum: two points a set come down, some kilobytes.
template <class G>
base::Result<cuzk::curve::Jacobian<G>> collect_product(const device::Stream& stream,
                                                       const MsmPlan& plan,
                                                       device::DeviceSpan<std::byte> sums) {
  auto total = cuzk::curve::Jacobian<G>::infinity();
  if (plan.count == 0) return total;
  CUZK_ASSERT(sums.size >= plan.sums_bytes && plan.sums_bytes > 0);
  const std::size_t sets = static_cast<std::size_t>(plan.layout.set_count);
  std::vector<cuzk::curve::Xyzz<G>> host(2 * sets);
  CUZK_TRY_STATUS(device::copy_bytes_to_host(stream, host.data(), sums.data,
                                             window_sums_bytes<G>(plan.layout)));
  CUZK_TRY_STATUS(stream.synchronize());
  // Set s weighs 2^first_bit[s], the first bit of its lowest window. From the top down, so that
  // each doubling serves all sets above; the top set has none above and is not doubled first.
  for (std::size_t s = sets; s-- > 0;) {
    const int next = s + 1 < sets ? plan.layout.first_bit[s + 1] : plan.layout.first_bit[s];
    for (int i = plan.layout.first_bit[s]; i < next; ++i) total = total.doubled();
    cuzk::curve::Xyzz<G> set = host[s];
    set += host[sets + s];
    total += set.to_jacobian();
  }
  return total;
}

template <class G>
base::Result<cuzk::curve::Jacobian<G>> multiply(const device::Stream& stream, const MsmPlan& plan,
                                                const Terms<G>& terms,
                                                device::DeviceSpan<std::byte> scratch) {
  CUZK_ASSERT(scratch.size >= plan.scratch_bytes + plan.sums_bytes);
  const auto sums = scratch.subset(plan.scratch_bytes, plan.sums_bytes);
  CUZK_TRY_STATUS(queue_product<G>(stream, plan, terms, scratch.first(plan.scratch_bytes), sums));
  return collect_product<G>(stream, plan, sums);
}

CUZK_CUDA_MSM_FUNCTIONS(, cuzk::curve::Bls12_381::G1)
CUZK_CUDA_MSM_FUNCTIONS(, cuzk::curve::Bls12_381::G2)
CUZK_CUDA_MSM_FUNCTIONS(, cuzk::curve::Bn254::G1)
CUZK_CUDA_MSM_FUNCTIONS(, cuzk::curve::Bn254::G2)

}  // namespace cuzk::cuda::msm
