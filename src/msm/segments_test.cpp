// Every point kernel against the group law, and segment sums of awkward lengths.
#include "msm/segments.h"

#include <random>

#include <gtest/gtest.h>

#include "curve/samples.h"

namespace cuzk::msm {
namespace {

using curve::Affine;
using curve::Jacobian;

template <class G>
std::vector<const PointKernel<G>*> point_kernels() {
  std::vector<const PointKernel<G>*> out = {&portable_point_kernel<G>()};
  if (const auto* ifma = ifma_point_kernel<G>()) out.push_back(ifma);
  return out;
}

// Few distinct points, so that equal, opposite and infinite operands meet often.
template <class G>
std::vector<Affine<G>> few_points(std::size_t count, std::size_t distinct, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<Affine<G>> choice;
  Jacobian<G> p = Jacobian<G>::from_affine(G::generator());
  for (std::size_t i = 0; i < distinct; ++i, p = p.doubled() + G::generator()) {
    choice.push_back(p.to_affine());
  }
  std::vector<Affine<G>> out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t kind = rng() % 8;
    const Affine<G>& q = choice[rng() % distinct];
    out.push_back(kind == 0 ? Affine<G>::infinity() : kind < 3 ? -q : q);
  }
  return out;
}

template <class G>
class KernelTest : public ::testing::Test {};
using Groups = ::testing::Types<curve::Bls12_381::G1, curve::Bls12_381::G2, curve::Bn254::G1,
                                curve::Bn254::G2>;
TYPED_TEST_SUITE(KernelTest, Groups);

TYPED_TEST(KernelTest, RowsRoundTripAndNegate) {
  using G = TypeParam;
  for (const auto* kernel : point_kernels<G>()) {
    const auto points = few_points<G>(37, 9, 1);
    RowBuffer rows(points.size() * kernel->row_bytes), one(kernel->row_bytes);
    kernel->pack(points.data(), points.size(), rows.data());
    std::vector<Affine<G>> back(points.size());
    kernel->unpack(rows.data(), points.size(), back.data());
    EXPECT_EQ(back, points) << kernel->name;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::uint8_t* row = rows.data() + i * kernel->row_bytes;
      EXPECT_EQ(row_is_zero(row, kernel->row_bytes), points[i].is_infinity());
      Affine<G> negated;
      kernel->copy(row, true, one.data());
      kernel->unpack(one.data(), 1, &negated);
      EXPECT_EQ(negated, -points[i]) << kernel->name;
    }
  }
}

TYPED_TEST(KernelTest, AddsEveryKindOfPair) {
  using G = TypeParam;
  for (const auto* kernel : point_kernels<G>()) {
    for (const std::size_t count : {0, 1, 7, 8, 9, 2047, 2048, 2500}) {
      const auto points = few_points<G>(64, count < 100 ? 3 : 40, count);
      RowBuffer rows(points.size() * kernel->row_bytes), out(count * kernel->row_bytes);
      RowBuffer scratch(kernel->scratch_bytes);
      kernel->pack(points.data(), points.size(), rows.data());
      std::mt19937_64 rng(count);
      std::vector<AddPair> pairs;
      for (std::size_t i = 0; i < count; ++i) {
        pairs.push_back({operand(rng() % 64, rng() % 2 != 0), operand(rng() % 64, rng() % 2 != 0),
                         static_cast<std::uint32_t>(count - 1 - i)});
      }
      kernel->add_pairs(rows.data(), rows.data(), out.data(), pairs.data(), count, scratch.data());
      std::vector<Affine<G>> sums(count);
      kernel->unpack(out.data(), count, sums.data());
      for (const AddPair& pair : pairs) {
        const auto p = points[pair.left >> 1], q = points[pair.right >> 1];
        const auto expected = (Jacobian<G>::from_affine((pair.left & 1) != 0 ? -p : p) +
                               ((pair.right & 1) != 0 ? -q : q))
                                  .to_affine();
        ASSERT_EQ(sums[pair.out], expected) << kernel->name << " " << count;
      }
    }
  }
}

template <class P>
std::vector<field::PrimeField<P>> extreme_elements(const field::PrimeField<P>*) {
  return field::edge_elements<field::PrimeField<P>>();
}
template <class F>
std::vector<field::Quadratic<F>> extreme_elements(const field::Quadratic<F>*) {
  const auto edges = field::edge_elements<F>();
  std::vector<field::Quadratic<F>> out;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    out.push_back({edges[i], edges[(i * 7 + 3) % edges.size()]});
    out.push_back({edges[i], edges[i]});
  }
  return out;
}

// Points whose x, and the differences of whose x, sit at the borders of limbs and of the modulus.
TYPED_TEST(KernelTest, AddsPointsWithExtremeCoordinates) {
  using G = TypeParam;
  using Field = typename G::Field;
  std::vector<Affine<G>> points;
  for (const Field& x : extreme_elements(static_cast<const Field*>(nullptr))) {
    if (const auto y = field::square_root(x.squared() * x + G::b())) points.push_back({x, *y});
  }
  ASSERT_GT(points.size(), 8u);
  const std::size_t n = std::min<std::size_t>(points.size(), 24);
  for (const auto* kernel : point_kernels<G>()) {
    RowBuffer rows(n * kernel->row_bytes), out(2 * n * n * kernel->row_bytes);
    RowBuffer scratch(kernel->scratch_bytes);
    kernel->pack(points.data(), n, rows.data());
    std::vector<AddPair> pairs;
    for (std::size_t i = 0; i < 2 * n * n; ++i) {
      pairs.push_back(
          {operand(i / 2 / n), operand(i / 2 % n, i % 2 != 0), static_cast<std::uint32_t>(i)});
    }
    kernel->add_pairs(rows.data(), rows.data(), out.data(), pairs.data(), pairs.size(),
                      scratch.data());
    std::vector<Affine<G>> sums(pairs.size());
    kernel->unpack(out.data(), sums.size(), sums.data());
    for (const AddPair& pair : pairs) {
      const auto p = points[pair.left >> 1], q = points[pair.right >> 1];
      const auto sum = Jacobian<G>::from_affine(sums[pair.out]);
      ASSERT_EQ(sum, Jacobian<G>::from_affine(p) + ((pair.right & 1) != 0 ? -q : q))
          << kernel->name << " " << pair.out;
    }
  }
}

// Long chains of additions in place keep rows inside the bounds the vector kernel relies on.
TYPED_TEST(KernelTest, ChainsInPlaceStayExact) {
  using G = TypeParam;
  for (const auto* kernel : point_kernels<G>()) {
    const auto points = few_points<G>(16, 16, 5);
    RowBuffer rows(16 * kernel->row_bytes), scratch(kernel->scratch_bytes);
    kernel->pack(points.data(), 16, rows.data());
    std::vector<Jacobian<G>> expected;
    for (const auto& p : points) expected.push_back(Jacobian<G>::from_affine(p));
    for (std::size_t round = 0; round < 200; ++round) {
      const bool negated = round % 3 == 0;
      std::vector<AddPair> pairs;
      for (std::uint32_t i = 0; i < 16; i += 2) {
        pairs.push_back({operand(i, negated), operand(i + 1), i + (round & 1 ? 1u : 0u)});
      }
      kernel->add_pairs(rows.data(), rows.data(), rows.data(), pairs.data(), pairs.size(),
                        scratch.data());
      for (const AddPair& pair : pairs) {
        auto& left = expected[pair.left >> 1];
        const auto sum = (negated ? -left : left) + expected[pair.right >> 1];
        expected[pair.out] = sum;
      }
    }
    std::vector<Affine<G>> result(16);
    kernel->unpack(rows.data(), 16, result.data());
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(result[i], expected[i].to_affine()) << kernel->name;
    }
  }
}

TYPED_TEST(KernelTest, SegmentsOfAllLengths) {
  using G = TypeParam;
  for (const auto* kernel : point_kernels<G>()) {
    const auto points = few_points<G>(300, 200, 3);
    RowBuffer rows(points.size() * kernel->row_bytes);
    kernel->pack(points.data(), points.size(), rows.data());
    std::mt19937_64 rng(8);
    std::vector<std::uint32_t> lengths, entries;
    std::vector<Jacobian<G>> expected;
    for (const std::uint32_t length : {1u, 2u, 3u, 64u, 5u, 1u, 33u, 100u, 4u}) {
      lengths.push_back(length);
      auto sum = Jacobian<G>::infinity();
      for (std::uint32_t j = 0; j < length; ++j) {
        const std::size_t index = rng() % points.size();
        const bool negated = rng() % 2 != 0;
        entries.push_back(operand(index, negated));
        sum += negated ? -points[index] : points[index];
      }
      expected.push_back(sum);
    }
    SegmentSummer<G> summer(*kernel, 400);
    summer.sum(rows.data(), entries, lengths);
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      Affine<G> sum;
      kernel->unpack(summer.row(k), 1, &sum);
      EXPECT_EQ(sum, expected[k].to_affine()) << kernel->name << " " << k;
    }
  }
}

}  // namespace
}  // namespace cuzk::msm
