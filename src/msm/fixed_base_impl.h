// Bodies of FixedBase and to_affine; included by the instantiating files only.
//
// Table: for each window w of c bits the rows d 2^(c w) P, d = 1 ... 2^(c-1). A product is the sum
// of one row per non-zero signed digit: a segment (segments.h). Cost: W (2^(c-1) + n) additions for
// n products, so c grows with n until the table reaches kTableBytesMax.
#pragma once

#include "msm/bucket_sums.h"
#include "msm/msm.h"

namespace cuzk::msm {

inline constexpr std::size_t kTableBytesMax = std::size_t{40} << 20;
static_assert(kTableBytesMax / 64 < std::size_t{1} << 31, "a row's index fits an operand");
// Products that one task makes together.
inline constexpr std::size_t kFixedBaseBlock = 512;

// The window that costs least for `count` products.
inline std::size_t fixed_base_window_bits(std::size_t count, std::size_t scalar_bits,
                                          std::size_t row_bytes) {
  std::size_t best = 3;
  std::uint64_t best_cost = ~std::uint64_t{0};
  for (std::size_t c = 3; c <= 16; ++c) {
    const std::uint64_t windows = window_count(scalar_bits, c), rows = std::uint64_t{1} << (c - 1);
    if (windows * rows * row_bytes > kTableBytesMax) break;
    const std::uint64_t cost = windows * (rows + count);
    if (cost < best_cost) {
      best = c;
      best_cost = cost;
    }
  }
  return best;
}

// Fills rows d P, d = 2 ... count, from row P at rows[0], by doubling the filled part.
template <class G>
void fill_multiples(SegmentSummer<G>& summer, std::uint8_t* rows, std::size_t count) {
  // Once 1 ... k are there, k + d follows for d <= k: all pairs of a round are independent, and
  // only the last of them is a doubling.
  std::vector<AddPair> pairs;
  for (std::size_t k = 1; k < count; k *= 2) {
    pairs.clear();
    for (std::size_t d = 1; d <= k && k + d <= count; ++d) {
      pairs.push_back({operand(d - 1), operand(k - 1), static_cast<std::uint32_t>(k + d - 1)});
    }
    summer.add_pairs(rows, rows, rows, pairs);
  }
}

template <class G>
FixedBase<G>::FixedBase(const curve::Affine<G>& base, std::size_t expected_count)
    : kernel_(&point_kernel<G>()),
      window_bits_(
          fixed_base_window_bits(expected_count, G::Scalar::kBitCount, kernel_->row_bytes)) {
  const std::size_t windows = window_count(G::Scalar::kBitCount, window_bits_);
  const std::size_t rows = std::size_t{1} << (window_bits_ - 1);
  std::vector<curve::Jacobian<G>> powers;
  auto power = curve::Jacobian<G>::from_affine(base);
  for (std::size_t w = 0; w < windows; ++w) {
    powers.push_back(power);
    for (std::size_t i = 0; i < window_bits_; ++i) power = power.doubled();
  }
  CUZK_ASSERT(powers.size() == windows);
  std::vector<curve::Affine<G>> affine(windows);
  to_affine<G>(powers, affine);
  table_ = RowBuffer(windows * rows * kernel_->row_bytes);
  SummerPool<G> pool(*kernel_, 1);
  base::parallel_for(0, windows, 1, [&](std::size_t first, std::size_t last) {
    typename SummerPool<G>::Loan summer(pool);
    for (std::size_t w = first; w < last; ++w) {
      std::uint8_t* window = table_.data() + w * rows * kernel_->row_bytes;
      kernel_->pack(&affine[w], 1, window);
      fill_multiples(*summer, window, rows);
    }
  });
}

// One block of products: a segment of table rows each; a zero scalar has none.
template <class G>
void FixedBase<G>::multiply_block(
    SegmentSummer<G>& summer, std::span<const field::Canonical<typename G::Scalar::Params>> scalars,
    std::span<curve::Affine<G>> out) const {
  const std::size_t windows = window_count(G::Scalar::kBitCount, window_bits_);
  const std::size_t rows = std::size_t{1} << (window_bits_ - 1);
  const DigitReader<G::Scalar::kLimbCount> reader(window_bits_, windows);
  std::vector<std::uint32_t> entries, lengths;
  entries.reserve(scalars.size() * windows);
  for (const auto& scalar : scalars) {
    const std::size_t before = entries.size();
    const auto shifted = reader.shifted(scalar.value);
    for (std::size_t w = 0; w < windows; ++w) {
      const RawDigit raw = reader.raw_digit(shifted, w);
      if (raw == reader.zero()) continue;
      entries.push_back(operand(w * rows + reader.bucket(raw), reader.negative(raw)));
    }
    if (entries.size() != before) {
      lengths.push_back(static_cast<std::uint32_t>(entries.size() - before));
    }
  }
  // As many segments as scalars that are not zero: such a scalar has a digit that is not.
  CUZK_ASSERT(scalars.size() == out.size() && lengths.size() <= scalars.size());
  summer.sum(table_.data(), entries, lengths);
  unpack_segments(summer, scalars, out);
}

// Segment k is the product of the k-th non-zero scalar. Rows are collected by eights, which is what
// a kernel unpacks at once.
template <class G>
void FixedBase<G>::unpack_segments(
    SegmentSummer<G>& summer, std::span<const field::Canonical<typename G::Scalar::Params>> scalars,
    std::span<curve::Affine<G>> out) const {
  constexpr std::size_t kGroup = 8;
  const std::size_t row_bytes = kernel_->row_bytes;
  RowBuffer rows(kGroup * row_bytes);
  curve::Affine<G> points[kGroup];
  std::size_t places[kGroup], held = 0, segment = 0;
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    out[i] = curve::Affine<G>::infinity();
    if (!scalars[i].is_zero()) {
      kernel_->copy(summer.row(segment++), false, rows.data() + held * row_bytes);
      places[held++] = i;
    }
    if (held == kGroup || (held != 0 && i + 1 == scalars.size())) {
      kernel_->unpack(rows.data(), held, points);
      for (std::size_t j = 0; j < held; ++j) out[places[j]] = points[j];
      held = 0;
    }
  }
  CUZK_ASSERT(held == 0);
}

template <class G>
void FixedBase<G>::multiply(std::span<const field::Canonical<typename G::Scalar::Params>> scalars,
                            std::span<curve::Affine<G>> out) const {
  CUZK_ASSERT(scalars.size() == out.size());
  const std::size_t windows = window_count(G::Scalar::kBitCount, window_bits_);
  const std::size_t blocks = (scalars.size() + kFixedBaseBlock - 1) / kFixedBaseBlock;
  SummerPool<G> pool(*kernel_, kFixedBaseBlock * windows);
  base::parallel_for(0, blocks, 1, [&](std::size_t first, std::size_t last) {
    typename SummerPool<G>::Loan summer(pool);
    for (std::size_t block = first; block < last; ++block) {
      const std::size_t from = block * kFixedBaseBlock;
      const std::size_t size = std::min(kFixedBaseBlock, scalars.size() - from);
      multiply_block(*summer, scalars.subspan(from, size), out.subspan(from, size));
    }
  });
}

template <class G>
void to_affine(std::span<const curve::Jacobian<G>> points, std::span<curve::Affine<G>> out) {
  CUZK_ASSERT(points.size() == out.size());
  using Field = typename G::Field;
  base::parallel_for(0, points.size(), 1024, [&](std::size_t first, std::size_t last) {
    std::vector<Field> z(last - first), scratch(last - first);
    for (std::size_t i = first; i < last; ++i) z[i - first] = points[i].z;
    field::batch_inverse<Field>(z, scratch);
    for (std::size_t i = first; i < last; ++i) {
      // Zero for infinity, whose affine form is all zero.
      const Field inverse = z[i - first], square = inverse.squared();
      out[i] = {points[i].x * square, points[i].y * square * inverse};
    }
  });
}

}  // namespace cuzk::msm
