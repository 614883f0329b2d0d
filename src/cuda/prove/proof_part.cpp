// Costs in additions of G1, as fitted to stage times of an H200 (docs/cuda.md). They decide who
// does what, never what comes out.
//
// Work is taken from the front of the line by one device after the other, each its share by speed
// of what is left, so that what one cannot hold goes on to those after it. Cuts are found by
// halving, since cost and bytes grow along the line; the last device takes the rest whatever it
// costs.
#include "cuda/prove/proof_part.h"

#include <algorithm>

#include "base/check.h"

namespace cuzk::cuda::prove {
namespace {

// All six transforms, for each element and level.
constexpr double kTransformCost = 0.2;
constexpr double kQuotientPointCost = 14;  // a bucket addition for each window
constexpr double kScalarCost = 30;         // the same in shorter sums, whose windows are smaller
constexpr double kPointCost = 0.6;         // half the points are ones of a bitmap
constexpr double kG2Factor = 2.4;
// A sum takes about 5 ms however short it is: the depth of its reductions.
constexpr double kSumCost = 12e6;

// Of a sum that is begun, of a point in it, and of a scalar among its points.
struct Costs {
  double sum, point, scalar;
};
// H has no ones and so no scalars apart: all its points weigh the same, and its sum is long enough
// that beginning it is no matter.
Costs costs_of(int query, bool cuts_finely) {
  if (query == kQueryH) return {0, kQuotientPointCost, 0};
  const double factor = query == kQueryB2 ? kG2Factor : 1;
  return {cuts_finely ? 0 : factor * kSumCost, factor * kPointCost, factor * kScalarCost};
}

// The line of work, taken from its beginning. query_ and next_unit_ say where it stands: all before
// is somebody's, nothing after is. left_ is what the rest costs; a cut adds to it, as a sum in two
// parts costs its own depth twice.
class Line {
 public:
  Line(const SharedWork& work, bool cuts_finely) : work_(work), cuts_finely_(cuts_finely) {
    CUZK_ASSERT(work.layouts != nullptr && work.domain_log2 < 64);
    transform_cost_ = kTransformCost * work.domain_log2 *
                      static_cast<double>(std::uint64_t{1} << work.domain_log2);
    left_ = transform_cost_;
    for (int q = 0; q < kQueryCount; ++q) {
      const double cost = cost_of(q, 0, unit_count(q));
      if (q != kQueryB2 || work.b_g2_on_device) left_ += cost;
    }
  }
  double left() const { return left_; }
  double transform_cost() const { return transform_cost_; }
  void take_transforms() { left_ -= transform_cost_; }

  // Takes work of at most about `cost` and at most `bytes` of points, or all of it.
  void take(double cost, std::uint64_t bytes, bool all, ProofPart& part) {
    while (query_ < kQueryCount) {
      if (query_ == kQueryB2 && !work_.b_g2_on_device) return;
      const std::size_t units = unit_count(query_);
      const double rest = cost_of(query_, next_unit_, units);
      std::size_t end = units;
      // Half a sum's own cost is not worth a cut that costs as much again.
      const double slack = cuts_finely_ ? 0 : kSumCost / 2;
      if (!all && (rest > cost + slack || bytes_of(next_unit_, units) > bytes)) {
        end = unit_at(cost, bytes);
        if (!cuts_finely_ && cost_of(query_, next_unit_, end) < kSumCost) end = next_unit_;
      }
      const bool is_cut = end < units;
      take_units(end, part);
      if (is_cut) return;
      cost -= rest;
      bytes -= std::min(bytes, last_bytes_);
      ++query_;
      next_unit_ = 0;
      if (!all && cost <= 0) return;
    }
  }

 private:
  // Units are points of H and words of the other queries.
  std::size_t unit_count(int query) const {
    return query == kQueryH ? work_.h_count : (*work_.layouts)[query].word_count();
  }
  std::size_t point_before(int query, std::size_t unit) const {
    return query == kQueryH ? unit : (*work_.layouts)[query].point_before(unit);
  }
  // Of units [first, last) as one sum; nothing for none.
  double cost_of(int query, std::size_t first, std::size_t last) const {
    if (first >= last) return 0;
    const Costs costs = costs_of(query, cuts_finely_);
    const auto points = static_cast<double>(point_before(query, last) - point_before(query, first));
    if (query == kQueryH) return costs.sum + costs.point * points;
    const auto scalars = static_cast<double>(
        selected_scalar_count((*work_.layouts)[query], work_.masks, {first, last}));
    return costs.sum + costs.point * points + costs.scalar * scalars;
  }
  std::uint64_t bytes_of(std::size_t first, std::size_t last) const {
    return (point_before(query_, last) - point_before(query_, first)) * work_.point_bytes[query_];
  }

  // The last unit up to which neither bound is passed.
  std::size_t unit_at(double cost, std::uint64_t bytes) const {
    std::size_t low = next_unit_, high = unit_count(query_);
    while (low < high) {
      const std::size_t middle = low + (high - low + 1) / 2;
      if (cost_of(query_, next_unit_, middle) <= cost && bytes_of(next_unit_, middle) <= bytes) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  // Gives units [next_unit_, end) of the query to the part, which has none of it yet.
  void take_units(std::size_t end, ProofPart& part) {
    CUZK_ASSERT(end >= next_unit_ && end <= unit_count(query_));
    QueryPart& out = part.queries[query_];
    last_bytes_ = bytes_of(next_unit_, end);
    left_ -= cost_of(query_, next_unit_, end);
    // What is left of a query that is cut is a sum of its own.
    if (end > next_unit_ && end < unit_count(query_)) left_ += costs_of(query_, cuts_finely_).sum;
    out.first_point = point_before(query_, next_unit_);
    out.point_count = point_before(query_, end) - out.first_point;
    if (query_ != kQueryH) out.words = {next_unit_, end};
    out.is_used = out.point_count > 0;
    next_unit_ = end;
  }

  const SharedWork& work_;
  const bool cuts_finely_;
  double transform_cost_ = 0, left_ = 0;
  int query_ = 0;
  std::size_t next_unit_ = 0;
  std::uint64_t last_bytes_ = 0;
};

// Sums nothing and forms nothing: where a division begins.
ProofPart empty_part() {
  ProofPart part;
  part.forms_quotient = false;
  for (QueryPart& query : part.queries) query.is_used = false;
  return part;
}

}  // namespace

// Not by a Line: every query that is summed on devices, from its first point to its last.
ProofPart whole_part(const SharedWork& work) {
  CUZK_ASSERT(work.layouts != nullptr);
  ProofPart part;
  for (int q = 0; q < kQueryCount; ++q) {
    QueryPart& query = part.queries[q];
    query.is_used = q != kQueryB2 || work.b_g2_on_device;
    query.words = {0, q == kQueryH ? 0 : (*work.layouts)[q].word_count()};
    query.point_count = q == kQueryH ? work.h_count : (*work.layouts)[q].point_count();
  }
  return part;
}

std::vector<ProofPart> share_proof(const SharedWork& work, std::span<const SharingDevice> devices,
                                   bool cuts_finely) {
  CUZK_ASSERT(!devices.empty());
  if (devices.size() == 1) return {whole_part(work)};
  double speed = 0;
  for (const SharingDevice& device : devices) {
    CUZK_ASSERT(device.speed >= 0);
    speed += device.speed;
  }
  Line line(work, cuts_finely);
  std::vector<ProofPart> parts;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    ProofPart part = empty_part();
    double target = line.left() * devices[i].speed / speed;
    if (i == 0) {
      part.forms_quotient = true;
      // Finely cut, every device has some of everything that can be shared.
      if (cuts_finely) {
        target = (line.left() - line.transform_cost()) * devices[i].speed / speed;
      } else {
        target -= line.transform_cost();
      }
      line.take_transforms();
    }
    const bool is_last = i + 1 == devices.size();
    if (is_last || target > 0) line.take(target, devices[i].point_bytes_max, is_last, part);
    speed -= devices[i].speed;
    parts.push_back(part);
  }
  CUZK_ASSERT(parts.size() == devices.size());
  return parts;
}

}  // namespace cuzk::cuda::prove
