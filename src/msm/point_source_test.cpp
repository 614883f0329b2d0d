// Both layouts, at every alignment, against the encoder of the curve room.
#include "msm/point_source.h"

#include <cstring>

#include <gtest/gtest.h>

#include "curve/encoding.h"
#include "curve/samples.h"

namespace cuzk::msm {
namespace {

using curve::Affine;

template <class G>
void expect_reads(const PointSource<G>& source, const std::vector<Affine<G>>& points) {
  ASSERT_EQ(source.size(), points.size());
  std::vector<Affine<G>> out(points.size());
  source.decode(0, out);
  EXPECT_EQ(out, points);
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(source.at(i), points[i]);

  std::vector<std::uint32_t> indices = {3, 0, 3, static_cast<std::uint32_t>(points.size() - 1)};
  std::vector<Affine<G>> gathered(indices.size());
  source.gather(indices, gathered);
  for (std::size_t i = 0; i < indices.size(); ++i) EXPECT_EQ(gathered[i], points[indices[i]]);

  std::vector<Affine<G>> middle(3);
  source.decode(2, middle);
  const auto subset = source.subset(2, 3);
  ASSERT_EQ(subset.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(middle[i], points[2 + i]);
    EXPECT_EQ(subset.at(i), points[2 + i]);
  }
}

template <class G>
class PointSourceTest : public ::testing::Test {};
using Groups = ::testing::Types<curve::Bls12_381::G1, curve::Bls12_381::G2, curve::Bn254::G1,
                                curve::Bn254::G2>;
TYPED_TEST_SUITE(PointSourceTest, Groups);

TYPED_TEST(PointSourceTest, ReadsNativePointsAtAnyAlignment) {
  using G = TypeParam;
  const auto points = curve::sample_members<G>(4);
  expect_reads(PointSource<G>(points), points);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::vector<std::uint8_t> bytes(points.size() * sizeof(Affine<G>) + shift);
    std::memcpy(bytes.data() + shift, static_cast<const void*>(points.data()),
                points.size() * sizeof(Affine<G>));
    expect_reads(PointSource<G>(bytes.data() + shift, points.size(), PointLayout::kNative), points);
  }
}

TYPED_TEST(PointSourceTest, EmptySourceDecodesNothing) {
  using G = TypeParam;
  const PointSource<G> source;
  EXPECT_EQ(source.size(), 0u);
  source.decode(0, {});
  EXPECT_EQ(source.subset(0, 0).size(), 0u);
}

template <class G>
void reads_zcash_points() {
  const auto points = curve::sample_members<G>(5);
  constexpr std::size_t kBytes = PointSource<G>::kPointBytes;
  std::vector<std::uint8_t> bytes(1 + points.size() * kBytes);
  for (std::size_t i = 0; i < points.size(); ++i) {
    curve::encode_uncompressed(points[i], std::span(bytes).subspan(1 + i * kBytes, kBytes));
  }
  expect_reads(PointSource<G>(bytes.data() + 1, points.size(), PointLayout::kZcashUncompressed),
               points);
}

TEST(PointSource, ReadsZcashG1) { reads_zcash_points<curve::Bls12_381::G1>(); }
TEST(PointSource, ReadsZcashG2) { reads_zcash_points<curve::Bls12_381::G2>(); }

TEST(PointSourceDeathTest, StopsOnReadsPastTheEnd) {
  using G = curve::Bn254::G1;
  const auto points = curve::sample_members<G>(1);
  const PointSource<G> source{std::span<const Affine<G>>(points)};
  std::vector<Affine<G>> out(2);
  EXPECT_DEATH(source.decode(points.size() - 1, out), "check failed");
  EXPECT_DEATH((void)source.at(points.size()), "check failed");
}

}  // namespace
}  // namespace cuzk::msm
