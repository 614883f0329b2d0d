// What the tower adds to the field laws: Frobenius, sparse products, cyclotomic squares.
//
// Each shortcut is compared with the general operation that it stands for, on the elements for
// which it is allowed.
#include "field/tower.h"

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "field/samples.h"

namespace cuzk::field {
namespace {

template <class Fp12>
class Tower : public ::testing::Test {
 protected:
  using Fp2 = typename Fp12::Fp2;
  using Fp6 = typename Fp12::Fp6;
  using Fp = typename Fp2::Base;
  SampleGenerator generator_{0x70e4};

  Fp12 next() { return generator_.template next<Fp12>(); }
  // x^((p^6 - 1)(p^2 + 1)): a random element of the cyclotomic subgroup.
  Fp12 next_cyclotomic() {
    const Fp12 x = next(), unitary = x.conjugate() * x.inverse();
    return unitary.frobenius().frobenius() * unitary;
  }
};

using Towers = ::testing::Types<bls12_381::Fp12, bn254::Fp12>;
TYPED_TEST_SUITE(Tower, Towers);

TYPED_TEST(Tower, FrobeniusIsThePthPower) {
  using Fp = typename TestFixture::Fp;
  const auto x = this->next();
  EXPECT_EQ(x.frobenius(), x.pow(Fp::Params::kModulus));
}

TYPED_TEST(Tower, SixFrobeniusAreConjugationAndTwelveNothing) {
  const auto x = this->next();
  auto y = x;
  for (int i = 0; i < 6; ++i) y = y.frobenius();
  EXPECT_EQ(y, x.conjugate());
  for (int i = 0; i < 6; ++i) y = y.frobenius();
  EXPECT_EQ(y, x);
}

// xi generates: it is neither a square nor a cube, so w^6 - xi has no root in Fp2.
TYPED_TEST(Tower, XiIsNeitherSquareNorCube) {
  using Fp12 = TypeParam;
  const auto& powers = Fp12::frobenius_powers();
  using Fp2 = typename TestFixture::Fp2;
  // powers[i] = xi^(i (p-1)/6); xi^((p^2-1)/k) is powers[6/k] times its conjugate.
  EXPECT_NE(powers[3] * powers[3].conjugate(), Fp2::one());
  EXPECT_NE(powers[2] * powers[2].conjugate(), Fp2::one());
}

TYPED_TEST(Tower, LineProductsAreProductsWithMostlyZeroElements) {
  using Fp12 = TypeParam;
  using Fp2 = typename TestFixture::Fp2;
  for (int i = 0; i < 8; ++i) {
    const Fp12 f = this->next();
    const Fp2 a = this->generator_.template next<Fp2>();
    const Fp2 b = i % 2 == 0 ? Fp2::zero() : this->generator_.template next<Fp2>();
    const Fp2 c = i % 4 == 0 ? Fp2::zero() : this->generator_.template next<Fp2>();
    EXPECT_EQ(f.times_line_023(a, b, c), f * (Fp12{{a, b, {}}, {{}, c, {}}}));
    EXPECT_EQ(f.times_line_013(a, b, c), f * (Fp12{{a, {}, {}}, {b, c, {}}}));
  }
}

TYPED_TEST(Tower, CyclotomicSquareIsTheSquareThere) {
  for (int i = 0; i < 4; ++i) {
    const auto x = this->next_cyclotomic();
    EXPECT_EQ(x.cyclotomic_squared(), x.squared());
    EXPECT_EQ(x * x.conjugate(), TypeParam::one());
  }
  // and not elsewhere, so the test above can fail
  const auto y = this->next();
  EXPECT_NE(y.cyclotomic_squared(), y.squared());
}

TYPED_TEST(Tower, CyclotomicPowerIsThePowerThere) {
  const auto x = this->next_cyclotomic();
  for (const std::uint64_t e : {0ULL, 1ULL, 2ULL, 0xd201000000010000ULL, ~0ULL}) {
    EXPECT_EQ(x.cyclotomic_pow(e), x.pow(Limbs<1>{{e}}));
  }
}

}  // namespace
}  // namespace cuzk::field
