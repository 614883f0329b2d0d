// The laws of a field as a test suite over any type with zero, one, +, -, *, inverse.
//
// Instantiate with INSTANTIATE_TYPED_TEST_SUITE_P(Name, FieldLaws, ::testing::Types<...>). For
// tests.
#pragma once

#include <gtest/gtest.h>

#include "field/samples.h"

namespace cuzk::field {

template <class F>
class FieldLaws : public ::testing::Test {
 protected:
  static constexpr int kRounds = 12;

  // Random elements with zero, one and minus one among them.
  std::vector<F> elements() {
    std::vector<F> out = {F::zero(), F::one(), -F::one(), F::one().doubled()};
    SampleGenerator generator(0xf1e1d);
    for (int i = 0; i < kRounds; ++i) out.push_back(generator.next<F>());
    return out;
  }
};

TYPED_TEST_SUITE_P(FieldLaws);

TYPED_TEST_P(FieldLaws, AdditionIsAnAbelianGroup) {
  const auto x = this->elements();
  for (const auto& a : x) {
    EXPECT_EQ(a + TypeParam::zero(), a);
    EXPECT_EQ(a + -a, TypeParam::zero());
    EXPECT_EQ(a - a, TypeParam::zero());
    EXPECT_EQ(-(-a), a);
    EXPECT_EQ(a + a, a.doubled());
    for (const auto& b : x) {
      EXPECT_EQ(a + b, b + a);
      EXPECT_EQ(a - b, a + -b);
      EXPECT_EQ((a + b) + x.back(), a + (b + x.back()));
    }
  }
}

TYPED_TEST_P(FieldLaws, MultiplicationIsAnAbelianGroupWithoutZero) {
  const auto x = this->elements();
  for (const auto& a : x) {
    EXPECT_EQ(a * TypeParam::one(), a);
    EXPECT_EQ(a * TypeParam::zero(), TypeParam::zero());
    EXPECT_EQ(a * a, a.squared());
    EXPECT_EQ(a * a.inverse(), a.is_zero() ? TypeParam::zero() : TypeParam::one());
    for (const auto& b : x) {
      EXPECT_EQ(a * b, b * a);
      EXPECT_EQ((a * b) * x.back(), a * (b * x.back()));
      EXPECT_EQ((a * b).is_zero(), a.is_zero() || b.is_zero());
    }
  }
}

TYPED_TEST_P(FieldLaws, MultiplicationDistributesOverAddition) {
  const auto x = this->elements();
  for (const auto& a : x) {
    for (const auto& b : x) {
      EXPECT_EQ((a + b) * x.back(), a * x.back() + b * x.back());
      EXPECT_EQ((a - b) * x.back(), a * x.back() - b * x.back());
      EXPECT_EQ((a + b).squared(), a.squared() + (a * b).doubled() + b.squared());
      EXPECT_EQ(-a * b, -(a * b));
    }
  }
}

TYPED_TEST_P(FieldLaws, WorksInPlace) {
  const auto x = this->elements();
  for (const auto& a : x) {
    for (const auto& b : x) {
      auto sum = a, difference = a, product = a;
      sum += b;
      difference -= b;
      product *= b;
      EXPECT_EQ(sum, a + b);
      EXPECT_EQ(difference, a - b);
      EXPECT_EQ(product, a * b);
    }
    auto doubled = a, none = a, square = a;
    doubled += doubled;
    const auto& itself = none;
    none -= itself;
    square *= square;
    EXPECT_EQ(doubled, a.doubled());
    EXPECT_TRUE(none.is_zero());
    EXPECT_EQ(square, a.squared());
  }
}

TYPED_TEST_P(FieldLaws, PowersAddTheirExponents) {
  for (const auto& a : this->elements()) {
    const Limbs<2> e = {{0xdeadbeefcafef00d, 0x1}}, f = {{0x0123456789abcdef}};
    Limbs<2> sum;
    add_carry(sum, e, f);
    EXPECT_EQ(a.pow(e) * a.pow(f), a.pow(sum));
    EXPECT_EQ(a.pow(Limbs<2>{}), TypeParam::one());
    EXPECT_EQ(a.pow(Limbs<2>{{3}}), a * a * a);
  }
}

REGISTER_TYPED_TEST_SUITE_P(FieldLaws, AdditionIsAnAbelianGroup,
                            MultiplicationIsAnAbelianGroupWithoutZero,
                            MultiplicationDistributesOverAddition, WorksInPlace,
                            PowersAddTheirExponents);

}  // namespace cuzk::field
