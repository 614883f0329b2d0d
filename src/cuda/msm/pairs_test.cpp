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

}  // namespace
}  // namespace cuzk::cuda::msm
