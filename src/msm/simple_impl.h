// Windowed multi-scalar multiplication without batching; every operation of msm.h once.
#pragma once

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/threads.h"
#include "msm/msm.h"

namespace cuzk::msm {

template <class G>
curve::Jacobian<G> multiply_points(
    std::span<const curve::Affine<G>> bases,
    std::span<const field::Canonical<typename G::Scalar::Params>> scalars) {
  using Jacobian = curve::Jacobian<G>;
  const std::size_t n = bases.size();
  const std::size_t c = n < 32 ? 4 : n < 1024 ? 7 : n < 65536 ? 10 : 13;
  const std::size_t windows = (G::Scalar::kBitCount + c - 1) / c;
  std::vector<Jacobian> sums(windows, Jacobian::infinity());
  base::parallel_for(0, windows, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t w = first; w < last; ++w) {
      std::vector<curve::Xyzz<G>> buckets((std::size_t{1} << c) - 1);
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t digit = scalars[i].value.bits(w * c, c);
        if (digit != 0) buckets[digit - 1] += bases[i];
      }
      curve::Xyzz<G> running, sum;
      for (std::size_t b = buckets.size(); b > 0; --b) {
        running += buckets[b - 1];
        sum += running;
      }
      sums[w] = sum.to_jacobian();
    }
  });
  Jacobian out = Jacobian::infinity();
  for (std::size_t w = windows; w > 0; --w) {
    for (std::size_t i = 0; i < c; ++i) out = out.doubled();
    out += sums[w - 1];
  }
  return out;
}

template <class G>
curve::Jacobian<G> multiply(const PointSource<G>& bases,
                            std::span<const field::Canonical<typename G::Scalar::Params>> scalars) {
  CUZK_CHECK(bases.size() == scalars.size());
  std::vector<curve::Affine<G>> points(bases.size());
  bases.decode(0, points);
  return multiply_points<G>(points, scalars);
}

template <class G>
curve::Jacobian<G> multiply_indexed(
    const PointSource<G>& bases, std::span<const std::uint32_t> indices,
    std::span<const field::Canonical<typename G::Scalar::Params>> scalars) {
  CUZK_CHECK(indices.size() == scalars.size());
  std::vector<curve::Affine<G>> points(indices.size());
  bases.gather(indices, points);
  return multiply_points<G>(points, scalars);
}

template <class G>
curve::Jacobian<G> sum_by_bitmap(const PointSource<G>& bases,
                                 std::span<const std::uint64_t> bitmap) {
  CUZK_CHECK(bitmap.size() * 64 >= bases.size());
  const std::size_t pieces = (bases.size() + 4095) / 4096;
  std::vector<curve::Xyzz<G>> partial(pieces);
  base::parallel_for(0, pieces, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first * 4096; i < std::min(last * 4096, bases.size()); ++i) {
      if ((bitmap[i / 64] >> (i % 64)) & 1) partial[i / 4096] += bases.at(i);
    }
  });
  curve::Xyzz<G> sum;
  for (const auto& p : partial) sum += p;
  return sum.to_jacobian();
}

template <class G>
FixedBase<G>::FixedBase(const curve::Affine<G>& base, std::size_t expected_count)
    : window_bits_(expected_count < 256 ? 4 : 8) {
  const std::size_t windows = (G::Scalar::kBitCount + window_bits_ - 1) / window_bits_;
  const std::size_t entries = (std::size_t{1} << window_bits_) - 1;
  std::vector<curve::Jacobian<G>> table;
  auto power = curve::Jacobian<G>::from_affine(base);
  for (std::size_t w = 0; w < windows; ++w) {
    auto multiple = power;
    for (std::size_t d = 0; d < entries; ++d, multiple += power) table.push_back(multiple);
    power = multiple;
  }
  table_.resize(table.size());
  to_affine<G>(table, table_);
}

template <class G>
void FixedBase<G>::multiply(
    std::span<const field::Canonical<typename G::Scalar::Params>> scalars,
    std::span<curve::Affine<G>> out) const {
  CUZK_CHECK(scalars.size() == out.size());
  const std::size_t entries = (std::size_t{1} << window_bits_) - 1;
  base::parallel_for(0, scalars.size(), 256, [&](std::size_t first, std::size_t last) {
    std::vector<curve::Jacobian<G>> sums(last - first);
    for (std::size_t i = first; i < last; ++i) {
      curve::Xyzz<G> sum;
      for (std::size_t w = 0; w * window_bits_ < G::Scalar::kBitCount; ++w) {
        const std::uint64_t digit = scalars[i].value.bits(w * window_bits_, window_bits_);
        if (digit != 0) sum += table_[w * entries + digit - 1];
      }
      sums[i - first] = sum.to_jacobian();
    }
    to_affine<G>(sums, out.subspan(first, last - first));
  });
}

template <class G>
void to_affine(std::span<const curve::Jacobian<G>> points, std::span<curve::Affine<G>> out) {
  CUZK_CHECK(points.size() == out.size());
  using Field = typename G::Field;
  base::parallel_for(0, points.size(), 1024, [&](std::size_t first, std::size_t last) {
    std::vector<Field> z(last - first), scratch(last - first);
    for (std::size_t i = first; i < last; ++i) z[i - first] = points[i].z;
    field::batch_inverse<Field>(z, scratch);
    for (std::size_t i = first; i < last; ++i) {
      const Field inverse = z[i - first], square = inverse.squared();
      out[i] = {points[i].x * square, points[i].y * square * inverse};
    }
  });
}

#define CUZK_MSM_INSTANTIATE(G)                                                                  \
  template curve::Jacobian<G> multiply<G>(                                                       \
      const PointSource<G>&, std::span<const field::Canonical<G::Scalar::Params>>);              \
  template curve::Jacobian<G> multiply_indexed<G>(                                               \
      const PointSource<G>&, std::span<const std::uint32_t>,                                     \
      std::span<const field::Canonical<G::Scalar::Params>>);                                     \
  template curve::Jacobian<G> sum_by_bitmap<G>(const PointSource<G>&,                            \
                                               std::span<const std::uint64_t>);                  \
  template class FixedBase<G>;                                                                   \
  template void to_affine<G>(std::span<const curve::Jacobian<G>>, std::span<curve::Affine<G>>)

}  // namespace cuzk::msm
