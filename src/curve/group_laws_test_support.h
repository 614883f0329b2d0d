// The laws of a group of points, in every coordinate system, as a suite over any group description.
//
// Instantiate with INSTANTIATE_TYPED_TEST_SUITE_P(Name, GroupLaws, ::testing::Types<...>). For
// tests. Operands include infinity, equal and opposite points, the cases in which formulas divide
// by zero.
#pragma once

#include <gtest/gtest.h>

#include "curve/samples.h"

namespace cuzk::curve {

template <class G>
class GroupLaws : public ::testing::Test {
 protected:
  static constexpr std::size_t kRandomPoints = 3;
  std::vector<Affine<G>> points_ = sample_members<G>(kRandomPoints);

  static Jacobian<G> jacobian(const Affine<G>& p) { return Jacobian<G>::from_affine(p); }
  // The same point with another Z.
  static Jacobian<G> rescaled(const Affine<G>& p) {
    const auto k = G::Field::one().doubled() + G::Field::one();
    Jacobian<G> out = jacobian(p);
    out.x *= k.squared();
    out.y *= k.squared() * k;
    out.z *= k;
    return out;
  }
  // The chord-and-tangent rule in affine coordinates, as in a textbook.
  static Affine<G> textbook_sum(const Affine<G>& p, const Affine<G>& q) {
    if (p.is_infinity()) return q;
    if (q.is_infinity()) return p;
    if (p.x == q.x && p.y != q.y) return Affine<G>::infinity();
    const auto xx = p.x.squared();
    const auto slope = p.x == q.x ? (xx.doubled() + xx) * p.y.doubled().inverse()
                                  : (q.y - p.y) * (q.x - p.x).inverse();
    const auto x = slope.squared() - p.x - q.x;
    return {x, slope * (p.x - x) - p.y};
  }
};

TYPED_TEST_SUITE_P(GroupLaws);

TYPED_TEST_P(GroupLaws, GeneratorIsOnTheCurveAndHasOrderR) {
  using G = TypeParam;
  const auto g = Jacobian<G>::from_affine(G::generator());
  EXPECT_TRUE(G::generator().is_on_curve());
  EXPECT_FALSE(g.is_infinity());
  EXPECT_TRUE(g.scaled(G::Scalar::Params::kModulus).is_infinity());
}

TYPED_TEST_P(GroupLaws, EveryAdditionAgreesWithTheTextbook) {
  using G = TypeParam;
  for (const auto& p : this->points_) {
    for (const auto& q : this->points_) {
      const Affine<G> expected = this->textbook_sum(p, q);
      ASSERT_TRUE(expected.is_on_curve());
      EXPECT_EQ((this->jacobian(p) + q).to_affine(), expected);
      EXPECT_EQ((this->rescaled(p) + q).to_affine(), expected);
      EXPECT_EQ((this->jacobian(p) + this->rescaled(q)).to_affine(), expected);
      EXPECT_EQ((this->rescaled(p) + this->rescaled(q)).to_affine(), expected);
      Xyzz<G> mixed = Xyzz<G>::from_affine(p), full = mixed;
      mixed += q;
      full += Xyzz<G>::from_affine(q);
      EXPECT_EQ(mixed.to_jacobian().to_affine(), expected);
      EXPECT_EQ(full.to_jacobian().to_affine(), expected);
    }
  }
}

TYPED_TEST_P(GroupLaws, DoublingIsAddingToItself) {
  using G = TypeParam;
  for (const auto& p : this->points_) {
    const Affine<G> expected = this->textbook_sum(p, p);
    EXPECT_EQ(this->jacobian(p).doubled().to_affine(), expected);
    EXPECT_EQ(this->rescaled(p).doubled().to_affine(), expected);
    EXPECT_EQ(Xyzz<G>::from_affine(p).doubled().to_jacobian().to_affine(), expected);
    auto in_place = this->rescaled(p);
    in_place += in_place;
    EXPECT_EQ(in_place.to_affine(), expected);
    auto xyzz = Xyzz<G>::from_affine(p);
    xyzz += xyzz;
    EXPECT_EQ(xyzz.to_jacobian().to_affine(), expected);
  }
}

// Long chains keep XYZZ's invariant and pass through sums whose Z is not one.
TYPED_TEST_P(GroupLaws, CoordinateSystemsAgreeAlongAChain) {
  using G = TypeParam;
  auto jacobian = Jacobian<G>::infinity();
  auto xyzz = Xyzz<G>::infinity(), pairs = Xyzz<G>::infinity();
  Affine<G> affine = Affine<G>::infinity();
  for (int round = 0; round < 3; ++round) {
    for (const auto& p : this->points_) {
      jacobian += p;
      xyzz += p;
      affine = this->textbook_sum(affine, p);
      pairs += xyzz;
      EXPECT_EQ(jacobian.to_affine(), affine);
      EXPECT_EQ(xyzz.to_jacobian(), jacobian);
      EXPECT_EQ(xyzz.zz.squared() * xyzz.zz, xyzz.zzz.squared());
      EXPECT_EQ(pairs.zz.squared() * pairs.zz, pairs.zzz.squared());
    }
  }
}

TYPED_TEST_P(GroupLaws, AdditionIsAssociativeAndCommutative) {
  using G = TypeParam;
  for (const auto& p : this->points_) {
    for (const auto& q : this->points_) {
      const auto& s = this->points_.back();
      const Jacobian<G> a = this->jacobian(p), b = this->rescaled(q), c = this->jacobian(s);
      EXPECT_EQ((a + b) + c, a + (b + c));
      EXPECT_EQ(a + b, b + a);
      EXPECT_TRUE((a + -a).is_infinity());
      EXPECT_EQ((a + b) == a, b.is_infinity());
    }
  }
}

TYPED_TEST_P(GroupLaws, ScalingIsRepeatedAdditionAndDistributes) {
  using G = TypeParam;
  const auto p = this->jacobian(this->points_.back());
  auto sum = Jacobian<G>::infinity();
  for (std::uint64_t k = 0; k < 20; ++k) {
    EXPECT_EQ(p.scaled(field::Limbs<1>{{k}}), sum);
    sum += p;
  }
  const field::Limbs<2> a = {{0xfedcba9876543210, 7}}, b = {{0x8000000000000001, 1}};
  field::Limbs<2> total;
  add_carry(total, a, b);
  EXPECT_EQ(p.scaled(a) + p.scaled(b), p.scaled(total));
}

REGISTER_TYPED_TEST_SUITE_P(GroupLaws, GeneratorIsOnTheCurveAndHasOrderR,
                            EveryAdditionAgreesWithTheTextbook, DoublingIsAddingToItself,
                            CoordinateSystemsAgreeAlongAChain, AdditionIsAssociativeAndCommutative,
                            ScalingIsRepeatedAdditionAndDistributes);

}  // namespace cuzk::curve
