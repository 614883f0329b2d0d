// Transforms in two passes over memory: columns, then rows, then the bit reversal.
//
// With m = R C, i = r C + c and k = k1 + R k2,
//
//   X[k] = sum_c omega^(c k1) (omega^R)^(c k2) sum_r x[r C + c] (omega^C)^(r k1):
//
// transforms of size R down the columns, the twist omega^(c k1), transforms of size C along the
// rows (D. H. Bailey, "FFTs in external or hierarchical memory", 1990). Each leaves its result
// bit-reversed, and the place rev(k1) C + rev(k2) is the bit-reversed k. A coset shift s enters as
// s^(r C) on the rows and s^c in the twist, on the way back as s^-k1 in the twist and s^(-R k2) on
// the columns; the division by m is in the twist, too.
#include "poly/domain.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/scratch.h"
#include "base/threads.h"
#include "poly/bit_reversal.h"
#include "poly/kernels/ntt_kernel.h"

namespace cuzk::poly {
namespace {

// Below this size a transform is a few microseconds, and rows are too short for eight lanes.
constexpr std::size_t kTwoPassLog2Min = 6;
static_assert(std::size_t{1} << kTwoPassLog2Min / 2 >= kLaneCount, "rows come in whole groups");

// Ranges of a parallel pass per thread: enough to even out, few enough to share their set-up.
constexpr std::size_t kRangesPerThread = 4;
// Elements of a range at most, some tens of milliseconds, so that a checkpoint is asked in time.
constexpr std::size_t kRangeElementsMax = std::size_t{1} << 19;

// scale * ratio^i for i below `count`.
template <class F>
std::vector<F> powers(const F& ratio, std::size_t count, const F& scale) {
  std::vector<F> out(count);
  F power = scale;
  for (F& x : out) {
    x = power;
    power *= ratio;
  }
  return out;
}

// Where value k lies after a sub-transform.
std::vector<std::uint32_t> bit_reversed_order(std::size_t log2) {
  CUZK_ASSERT(log2 < 32);  // rows are the square root of a domain, whose size is below 2^33
  std::vector<std::uint32_t> out(std::size_t{1} << log2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint32_t>(reverse_bits(i, log2));
  }
  return out;
}

base::ScratchBuffer pass_scratch(std::size_t bytes) {
  return {bytes, base::MemoryCategory::kMsmScratch, "transform"};
}

// Calls body(first, count) for runs of whole lane groups, each of `count` lines of `length`. False
// where the checkpoint said no.
template <class Body>
bool for_lane_groups(std::size_t count, std::size_t length, base::Checkpoint* checkpoint,
                     const Body& body) {
  CUZK_ASSERT(count % kLaneCount == 0 && length > 0);
  const std::size_t groups = count / kLaneCount;
  const std::size_t grain_max = std::max<std::size_t>(1, kRangeElementsMax / length / kLaneCount);
  const std::size_t grain =
      std::clamp<std::size_t>(groups / (kRangesPerThread * base::thread_count()), 1, grain_max);
  return base::parallel_tasks((groups + grain - 1) / grain, checkpoint, [&](std::size_t range) {
    const std::size_t first = range * grain, last = std::min(first + grain, groups);
    body(first * kLaneCount, (last - first) * kLaneCount);
  });
}

// How the passes of one transform differ from those of another; all without the kernel's scale.
template <class F>
struct Direction {
  F omega;                         // or its inverse
  const std::vector<F>* twiddles;  // of size C, scaled
  F start = F::one();              // factor of the whole result
  F column_ratio = F::one();       // start(c) = start * column_ratio^c
  F index_ratio = F::one();        // ratio(c) = index_ratio * omega^c
  std::vector<F> row_factors;      // scaled; empty for none
  std::vector<F> column_factors;   // by position, scaled; empty for none
};

// The twist's factors of `count` columns from `first` on. The lanes of a vector hold neighbouring
// columns, so the first kLaneCount are made here and the kernel steps from group to group by a
// multiplication. All are scaled, as every constant of a kernel is.
template <class F>
ColumnRun<F> column_run(const Direction<F>& direction, const F& scale, std::size_t first,
                        std::size_t count) {
  CUZK_ASSERT(first % kLaneCount == 0 && count % kLaneCount == 0);
  ColumnRun<F> run;
  run.first = first;
  run.count = count;
  F start = direction.start * direction.column_ratio.pow(first) * scale;
  F ratio = direction.index_ratio * direction.omega.pow(first) * scale;
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    run.start[i] = start;
    run.ratio[i] = ratio;
    start *= direction.column_ratio;
    ratio *= direction.omega;
  }
  run.start_step = direction.column_ratio.pow(kLaneCount) * scale;
  run.ratio_step = direction.omega.pow(kLaneCount) * scale;
  return run;
}

// The two passes and the reversal. Where the checkpoint says no it returns early, with values that
// mean nothing. R is 2^row_log2, C is 2^column_log2: equal, or C is twice R, since then one table
// of twiddles serves both passes.
template <class F>
void transform(std::span<F> values, std::size_t log2, const NttKernel<F>& kernel,
               const Direction<F>& direction, base::Checkpoint* checkpoint) {
  const std::size_t row_log2 = log2 / 2, column_log2 = log2 - row_log2;
  CUZK_ASSERT(log2 >= kTwoPassLog2Min && values.size() == std::size_t{1} << log2);
  CUZK_ASSERT(direction.twiddles->size() == std::size_t{1} << (column_log2 - 1));
  const std::vector<std::uint32_t> order = bit_reversed_order(row_log2);
  ColumnPass<F> columns;
  columns.values = values.data();
  columns.column_count = std::size_t{1} << column_log2;
  // The table holds powers of omega^R. A column's transform is over omega^C, every (C / R)-th.
  columns.transform = {row_log2, direction.twiddles->data(),
                       std::size_t{1} << (column_log2 - row_log2), order.data()};
  if (!direction.row_factors.empty()) columns.row_factors = direction.row_factors.data();
  const F scale = F::from_u64(kernel.constant_scale);
  const std::size_t row_count = std::size_t{1} << row_log2;
  CUZK_ASSERT(direction.row_factors.empty() || direction.row_factors.size() == row_count);
  CUZK_ASSERT(direction.column_factors.empty() ||
              direction.column_factors.size() == columns.column_count);
  const auto column_range = [&](std::size_t first, std::size_t count) {
    auto scratch = pass_scratch(kernel.scratch_bytes(row_log2));
    kernel.columns(columns, column_run(direction, scale, first, count), scratch.data());
  };
  if (!for_lane_groups(columns.column_count, row_count, checkpoint, column_range)) return;
  RowPass<F> rows;
  rows.values = values.data();
  rows.transform = {column_log2, direction.twiddles->data(), 1, nullptr};
  if (!direction.column_factors.empty()) rows.column_factors = direction.column_factors.data();
  const auto row_range = [&](std::size_t first, std::size_t count) {
    auto scratch = pass_scratch(kernel.scratch_bytes(column_log2));
    kernel.rows(rows, first, count, scratch.data());
  };
  if (!for_lane_groups(row_count, columns.column_count, checkpoint, row_range)) return;
  bit_reverse(values, log2);
}

// For small sizes: scaling, radix-2 levels with running twiddles, scaling.
template <class F>
void transform_small(std::span<F> values, std::size_t log2, const F& omega) {
  bit_reverse(values, log2);
  for (std::size_t half = 1; half < values.size(); half *= 2) {
    const F root = omega.pow(values.size() / 2 / half);
    for (std::size_t base = 0; base < values.size(); base += 2 * half) {
      F w = F::one();
      for (std::size_t j = base; j < base + half; ++j, w *= root) {
        const F t = values[j + half] * w;
        values[j + half] = values[j] - t;
        values[j] += t;
      }
    }
  }
}

// values[i] *= factor * ratio^i.
template <class F>
void scale_by_powers(std::span<F> values, F factor, const F& ratio) {
  for (F& value : values) {
    value *= factor;
    factor *= ratio;
  }
}

template <class F>
base::Error no_such_domain(std::size_t size_log2) {
  return {base::ErrorKind::kInvalidArgument,
          "a domain of 2^" + std::to_string(size_log2) + " elements does not exist in " +
              F::Params::kName + ", the largest is 2^" + std::to_string(F::kTwoAdicity)};
}

}  // namespace

template <class F>
base::Result<Domain<F>> Domain<F>::create(std::size_t size_log2) {
  if (size_log2 > F::kTwoAdicity) return no_such_domain<F>(size_log2);
  F omega = F::two_adic_root();
  for (std::size_t i = size_log2; i < F::kTwoAdicity; ++i) omega = omega.squared();
  return create(size_log2, omega);
}

template <class F>
base::Result<Domain<F>> Domain<F>::create(std::size_t size_log2, const F& omega) {
  if (size_log2 > F::kTwoAdicity) return no_such_domain<F>(size_log2);
  // Exact order: omega^(m / 2) is -1, or omega is 1 when m is 1.
  F half_power = omega;
  for (std::size_t i = 1; i < size_log2; ++i) half_power = half_power.squared();
  if (half_power != (size_log2 == 0 ? F::one() : -F::one())) {
    return base::Error{base::ErrorKind::kInvalidArgument, "the generator given for a domain of 2^" +
                                                              std::to_string(size_log2) +
                                                              " elements has another order"};
  }
  Domain domain;
  domain.size_log2_ = size_log2;
  domain.omega_ = omega;
  domain.omega_inverse_ = omega.inverse();
  domain.size_inverse_ = F::from_u64(domain.size()).inverse();  // m divides r - 1, so m != 0 mod r
  if (size_log2 < kTwoPassLog2Min) return domain;
  domain.kernel_ = &ntt_kernel<F>();
  const std::size_t row_count = std::size_t{1} << (size_log2 / 2);
  const std::size_t column_count = domain.size() / row_count;
  const F scale = F::from_u64(domain.kernel_->constant_scale);
  domain.twiddles_ = powers(omega.pow(row_count), column_count / 2, scale);
  domain.inverse_twiddles_ = powers(domain.omega_inverse_.pow(row_count), column_count / 2, scale);
  return domain;
}

template <class F>
void Domain<F>::forward(std::span<F> values, base::Checkpoint* checkpoint) const {
  forward_coset(values, F::one(), checkpoint);
}

template <class F>
void Domain<F>::inverse(std::span<F> values, base::Checkpoint* checkpoint) const {
  inverse_coset(values, F::one(), checkpoint);
}

template <class F>
void Domain<F>::forward_coset(std::span<F> values, const F& shift,
                              base::Checkpoint* checkpoint) const {
  CUZK_ASSERT(values.size() == size());
  const bool has_shift = !shift.is_one();
  if (kernel_ == nullptr) {
    if (has_shift) scale_by_powers(values, F::one(), shift);
    return transform_small(values, size_log2_, omega_);
  }
  Direction<F> direction{.omega = omega_, .twiddles = &twiddles_};
  if (has_shift) {
    const std::size_t row_count = std::size_t{1} << (size_log2_ / 2);
    direction.column_ratio = shift;
    direction.row_factors =
        powers(shift.pow(size() / row_count), row_count, F::from_u64(kernel_->constant_scale));
  }
  transform(values, size_log2_, *kernel_, direction, checkpoint);
}

template <class F>
void Domain<F>::inverse_coset(std::span<F> values, const F& shift,
                              base::Checkpoint* checkpoint) const {
  CUZK_ASSERT(values.size() == size());
  CUZK_ASSERT(!shift.is_zero());  // zero times the domain is no coset
  const F ratio = shift.is_one() ? F::one() : shift.inverse();
  if (kernel_ == nullptr) {
    transform_small(values, size_log2_, omega_inverse_);
    return scale_by_powers(values, size_inverse_, ratio);
  }
  Direction<F> direction{.omega = omega_inverse_, .twiddles = &inverse_twiddles_};
  direction.start = size_inverse_;
  direction.index_ratio = ratio;
  if (!shift.is_one()) {
    const std::size_t row_log2 = size_log2_ / 2, column_log2 = size_log2_ - row_log2;
    direction.column_factors =
        powers(ratio.pow(std::size_t{1} << row_log2), std::size_t{1} << column_log2,
               F::from_u64(kernel_->constant_scale));
    bit_reverse<F>(direction.column_factors, column_log2);
  }
  transform(values, size_log2_, *kernel_, direction, checkpoint);
}

template <class F>
F Domain<F>::vanishing_at(const F& x) const {
  F power = x;
  for (std::size_t i = 0; i < size_log2_; ++i) power = power.squared();
  return power - F::one();
}

template <class F>
std::uint64_t transform_scratch_bytes(std::size_t size_log2) {
  if (size_log2 < kTwoPassLog2Min) return 0;
  const std::size_t longer_log2 = size_log2 - size_log2 / 2;
  return base::thread_count() *
         base::ScratchBuffer::rounded(ntt_kernel<F>().scratch_bytes(longer_log2));
}

std::size_t domain_size_log2(std::size_t count) {
  return count <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(count - 1));
}

template std::uint64_t transform_scratch_bytes<field::bls12_381::Fr>(std::size_t);
template std::uint64_t transform_scratch_bytes<field::bn254::Fr>(std::size_t);
template class Domain<field::bls12_381::Fr>;
template class Domain<field::bn254::Fr>;

}  // namespace cuzk::poly
