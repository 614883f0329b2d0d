// Batched affine additions, one at a time on the host, against curve/point.h.
//
// Infinity, equal and opposite points are paired with each other: the cases whose slope is special
// or missing. Sharing the inversion is the kernel's part and needs a device.
#include "cuda/msm/pairs.h"

#include <bit>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "curve/groups.h"

namespace cuzk::cuda::msm {
namespace {

template <class G>
class PairLaws : public testing::Test {
 protected:
  using Host = cuzk::curve::Affine<G>;
  using Point = curve::AffinePoint<curve::Coordinate<G>>;
  static Point word(const Host& p) {
    Point out;
    std::memcpy(static_cast<void*>(&out), &p, sizeof out);
    return out;
  }
  static Host host(const Point& p) {
    Host out;
    std::memcpy(static_cast<void*>(&out), &p, sizeof out);
    return out;
  }
};

using AllGroups = testing::Types<cuzk::curve::Bls12_381::G1, cuzk::curve::Bls12_381::G2,
                                 cuzk::curve::Bn254::G1, cuzk::curve::Bn254::G2>;
TYPED_TEST_SUITE(PairLaws, AllGroups);

TYPED_TEST(PairLaws, AddAllKindsOfPairs) {
  using T = curve::Coordinate<TypeParam>;
  const auto g = TypeParam::generator();
  const auto twice = cuzk::curve::Jacobian<TypeParam>::from_affine(g).doubled().to_affine();
  const std::vector<typename TestFixture::Host> points = {TestFixture::Host::infinity(), g, -g,
                                                          twice, -twice};
  for (const auto& p : points) {
    for (const auto& q : points) {
      const auto expected = (cuzk::curve::Jacobian<TypeParam>::from_affine(p) + q).to_affine();
      T denominator;
      const bool has_slope =
          pair_denominator(TestFixture::word(p), TestFixture::word(q), denominator);
      const T inverse = has_slope ? denominator.inverse() : T::zero();
      EXPECT_EQ(TestFixture::host(
                    pair_sum(TestFixture::word(p), TestFixture::word(q), has_slope, inverse)),
                expected);
    }
  }
}

// The way of almost every pair: lazy denominator, lazy inverse, signs as lazy negations.
TYPED_TEST(PairLaws, ChordsAddPointsOfUnlikeX) {
  using T = curve::Coordinate<TypeParam>;
  using Sum = cuzk::curve::Jacobian<TypeParam>;
  std::vector<typename TestFixture::Host> points;
  Sum next = Sum::from_affine(TypeParam::generator());
  for (int i = 0; i < 6; ++i, next = next.doubled() + TypeParam::generator()) {
    points.push_back(next.to_affine());
  }
  for (const auto& p : points) {
    for (const auto& q : points) {
      auto a = TestFixture::word(p), b = TestFixture::word(q);
      const T denominator = T::loose_difference(b.x, a.x);
      ASSERT_EQ(denominator.may_be_zero(), p == q);
      if (p == q) continue;
      // A product by one, so that what is not reduced stays so.
      const T inverse = denominator.inverse().lazy_times(T::one());
      EXPECT_EQ(TestFixture::host(chord_sum(a, b, inverse)), (Sum::from_affine(p) + q).to_affine());
      b.y = b.y.loose_negated();
      EXPECT_EQ(TestFixture::host(chord_sum(a, b, inverse)),
                (Sum::from_affine(p) + (-q)).to_affine());
      a.y = a.y.loose_negated();
      EXPECT_EQ(TestFixture::host(chord_sum(a, b, inverse)),
                (Sum::from_affine(-p) + (-q)).to_affine());
    }
  }
}

}  // namespace
}  // namespace cuzk::cuda::msm
