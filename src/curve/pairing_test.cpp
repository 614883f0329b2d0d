// Laws of the pairing on both curves, and its textbook twin.
//
// Bilinearity alone would accept any power of the pairing, hence the comparison with
// pairing_naive.h. Points outside the subgroup may give any value but must not crash.
#include "curve/pairing.h"

#include <gtest/gtest.h>

#include "curve/pairing_naive.h"
#include "curve/samples.h"

namespace cuzk::curve {
namespace {

template <class C>
class PairingLaws : public ::testing::Test {
 protected:
  using G1 = typename C::G1;
  using G2 = typename C::G2;
  using Fr = typename C::Fr;
  field::SampleGenerator generator_{19};

  Fr next_scalar() { return generator_.template next<Fr>(); }
  static Affine<G1> g1(const Fr& k) { return scaled(G1::generator(), k); }
  static Affine<G2> g2(const Fr& k) { return scaled(G2::generator(), k); }
  template <class G>
  static Affine<G> scaled(const Affine<G>& p, const Fr& k) {
    return Jacobian<G>::from_affine(p).scaled(k.to_canonical().value).to_affine();
  }
  static Gt<C> generator_value() { return pairing<C>(G1::generator(), G2::generator()); }
};

using Curves = ::testing::Types<Bls12_381, Bn254>;
TYPED_TEST_SUITE(PairingLaws, Curves);

TYPED_TEST(PairingLaws, AgreesWithTheTextbook) {
  using C = TypeParam;
  const auto p = this->g1(this->next_scalar());
  const auto q = this->g2(this->next_scalar());
  EXPECT_EQ(pairing<C>(p, q), NaivePairing<C>::evaluate(p, q));
}

TYPED_TEST(PairingLaws, IsNotDegenerateAndHasOrderR) {
  const auto e = this->generator_value();
  EXPECT_FALSE(e.is_one());
  EXPECT_TRUE(e.pow(TypeParam::Fr::Params::kModulus).is_one());
}

TYPED_TEST(PairingLaws, IsBilinear) {
  using C = TypeParam;
  const auto e = this->generator_value();
  for (int i = 0; i < 4; ++i) {
    const auto a = this->next_scalar(), b = this->next_scalar();
    const auto expected = e.pow((a * b).to_canonical().value);
    EXPECT_EQ(pairing<C>(this->g1(a), this->g2(b)), expected);
    EXPECT_EQ(pairing<C>(this->g1(a * b), C::G2::generator()), expected);
    EXPECT_EQ(pairing<C>(C::G1::generator(), this->g2(a * b)), expected);
  }
}

TYPED_TEST(PairingLaws, IsAdditiveInEachArgument) {
  using C = TypeParam;
  const auto a = this->next_scalar(), b = this->next_scalar(), c = this->next_scalar();
  EXPECT_EQ(pairing<C>(this->g1(a + b), this->g2(c)),
            pairing<C>(this->g1(a), this->g2(c)) * pairing<C>(this->g1(b), this->g2(c)));
  EXPECT_EQ(pairing<C>(this->g1(c), this->g2(a + b)),
            pairing<C>(this->g1(c), this->g2(a)) * pairing<C>(this->g1(c), this->g2(b)));
  EXPECT_TRUE(
      (pairing<C>(this->g1(a), this->g2(c)) * pairing<C>(-this->g1(a), this->g2(c))).is_one());
  EXPECT_EQ(pairing<C>(-this->g1(a), this->g2(c)), pairing<C>(this->g1(a), -this->g2(c)));
}

TYPED_TEST(PairingLaws, InfinityPairsToOne) {
  using C = TypeParam;
  const typename C::G1Affine no_p{};
  const typename C::G2Affine no_q{};
  EXPECT_TRUE(pairing<C>(no_p, C::G2::generator()).is_one());
  EXPECT_TRUE(pairing<C>(C::G1::generator(), no_q).is_one());
  EXPECT_TRUE(pairing<C>(no_p, no_q).is_one());
  EXPECT_TRUE(PreparedG2<C>(no_q).is_infinity());
  EXPECT_FALSE(PreparedG2<C>(C::G2::generator()).is_infinity());
}

TYPED_TEST(PairingLaws, ProductsShareOneLoop) {
  using C = TypeParam;
  using Input = PairingInput<C>;
  EXPECT_TRUE(pairing_product_is_one<C>(std::span<const Input>{}));
  const auto a = this->next_scalar(), b = this->next_scalar(), c = this->next_scalar();
  const typename C::G1Affine no_p{};
  // a b + c - (a b + c) = 0 in the exponent, with a pair that contributes one in between
  std::vector<Input> pairs = {{this->g1(a), this->g2(b)},
                              {no_p, this->g2(a)},
                              {this->g1(c), C::G2::generator()},
                              {-this->g1(a * b + c), C::G2::generator()}};
  EXPECT_TRUE(pairing_product_is_one<C>(pairs));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto wrong = pairs;
    wrong[i].p = wrong[i].p.is_infinity() ? C::G1::generator() : -wrong[i].p;
    EXPECT_FALSE(pairing_product_is_one<C>(wrong)) << i;
  }
}

TYPED_TEST(PairingLaws, MillerValuesMultiplyBeforeTheFinalPower) {
  using C = TypeParam;
  const PreparedG2<C> q1(this->g2(this->next_scalar())), q2(this->g2(this->next_scalar()));
  const PairingTerm<C> terms[] = {{this->g1(this->next_scalar()), &q1},
                                  {this->g1(this->next_scalar()), &q2}};
  const auto apart = miller_loop<C>({&terms[0], 1}) * miller_loop<C>({&terms[1], 1});
  EXPECT_EQ(final_exponentiation<C>(apart), pairing_product<C>(terms));
}

// Hostile input: the answer has no meaning, but it is "no", and nothing breaks.
TYPED_TEST(PairingLaws, PointsOutsideTheSubgroupBreakNothing) {
  using C = TypeParam;
  const auto q = sample_curve_point<typename C::G2>(this->generator_);
  const PairingInput<C> alone[] = {{C::G1::generator(), q}};
  EXPECT_FALSE(pairing_product_is_one<C>(alone));
  EXPECT_TRUE(final_exponentiation<C>(Gt<C>::zero()).is_zero());
}

}  // namespace
}  // namespace cuzk::curve
