// The device's point formulas, run on the host, against curve/point.h.
//
// All cases of an addition are met: infinity, equal and opposite points, and sums that are not
// affine. The device's own arithmetic is tested by the suite that needs one.
#include "cuda/curve/word_point.h"

#include <bit>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "curve/groups.h"

namespace cuzk::cuda::curve {
namespace {

template <class G>
class WordPointLaws : public testing::Test {
 protected:
  using Host = cuzk::curve::Affine<G>;
  using HostSum = cuzk::curve::Xyzz<G>;
  using T = Coordinate<G>;

  static AffinePoint<T> word(const Host& p) { return convert<AffinePoint<T>>(p); }
  static XyzzPoint<T> word(const HostSum& p) { return convert<XyzzPoint<T>>(p); }
  static Host affine(const XyzzPoint<T>& p) {
    return convert<HostSum>(p).to_jacobian().to_affine();
  }
  // Infinity, G, 2 G, 3 G, -G, -2 G.
  static std::vector<Host> points() {
    const Host g = G::generator();
    const auto j = cuzk::curve::Jacobian<G>::from_affine(g);
    const Host two = j.doubled().to_affine(), three = (j.doubled() + g).to_affine();
    return {Host::infinity(), g, two, three, -g, -two};
  }
  // The same point with another zz.
  static HostSum unnormalised(const Host& p, const Host& by) {
    HostSum sum = HostSum::from_affine(p);
    sum += by;
    sum += -by;
    return sum;
  }

 private:
  template <class To, class From>
  static To convert(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(static_cast<void*>(&to), &from, sizeof to);
    return to;
  }
};

using AllGroups = testing::Types<cuzk::curve::Bls12_381::G1, cuzk::curve::Bls12_381::G2,
                                 cuzk::curve::Bn254::G1, cuzk::curve::Bn254::G2>;
TYPED_TEST_SUITE(WordPointLaws, AllGroups);

TYPED_TEST(WordPointLaws, AddsAffinePointsInAllCases) {
  const auto points = TestFixture::points();
  for (const auto& p : points) {
    for (const auto& q : points) {
      const auto start = TestFixture::unnormalised(p, points[3]);
      auto expected = start;
      expected += q;
      auto sum = TestFixture::word(start);
      add_point(sum, TestFixture::word(q));
      EXPECT_EQ(TestFixture::affine(sum), expected.to_jacobian().to_affine());
    }
  }
}

TYPED_TEST(WordPointLaws, AddsSumsInAllCases) {
  const auto points = TestFixture::points();
  for (const auto& p : points) {
    for (const auto& q : points) {
      const auto left = TestFixture::unnormalised(p, points[3]);
      const auto right = TestFixture::unnormalised(q, points[2]);
      auto expected = left;
      expected += right;
      auto sum = TestFixture::word(left);
      add_point(sum, TestFixture::word(right));
      EXPECT_EQ(TestFixture::affine(sum), expected.to_jacobian().to_affine());
    }
  }
}

TYPED_TEST(WordPointLaws, DoublesThroughAddingItself) {
  for (const auto& p : TestFixture::points()) {
    auto sum = TestFixture::word(TestFixture::unnormalised(p, TestFixture::points()[3]));
    add_point(sum, sum);
    auto doubled = TestFixture::unnormalised(p, TestFixture::points()[3]);
    EXPECT_EQ(TestFixture::affine(sum), doubled.doubled().to_jacobian().to_affine());
  }
}

TYPED_TEST(WordPointLaws, InvertsCoordinates) {
  const auto g = TestFixture::word(TypeParam::generator());
  EXPECT_TRUE(g.x * g.x.inverse() == TestFixture::T::one());
  EXPECT_TRUE(g.y.squared() == g.y * g.y);
}

}  // namespace
}  // namespace cuzk::cuda::curve
