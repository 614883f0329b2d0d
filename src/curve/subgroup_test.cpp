// Subgroup checks against the definition r P = infinity.
//
// Random points on the curve are nearly never of small order, so points of each prime order that
// divides the cofactor of BLS12-381 G1 are made on purpose: those a faulty check lets through.
#include "curve/subgroup.h"

#include <gtest/gtest.h>

#include "curve/endomorphism.h"
#include "curve/samples.h"

namespace cuzk::curve {
namespace {

template <class G>
bool is_in_subgroup_by_definition(const Affine<G>& p) {
  return Jacobian<G>::from_affine(p).scaled(G::Scalar::Params::kModulus).is_infinity();
}

template <class G>
class Subgroup : public ::testing::Test {};
using Groups = ::testing::Types<Bls12_381::G1, Bls12_381::G2, Bn254::G1, Bn254::G2>;
TYPED_TEST_SUITE(Subgroup, Groups);

TYPED_TEST(Subgroup, AcceptsMembers) {
  for (const auto& p : sample_members<TypeParam>(8)) {
    EXPECT_TRUE(is_in_subgroup(p));
    EXPECT_TRUE(is_in_subgroup_by_definition(p));
  }
}

TYPED_TEST(Subgroup, AgreesWithTheDefinitionAnywhereOnTheCurve) {
  using G = TypeParam;
  constexpr bool kIsWholeCurve = std::is_same_v<G, Bn254::G1>;
  field::SampleGenerator generator(6);
  int members = 0;
  for (int i = 0; i < 8; ++i) {
    const Affine<G> p = sample_curve_point<G>(generator);
    ASSERT_TRUE(p.is_on_curve());
    EXPECT_EQ(is_in_subgroup(p), is_in_subgroup_by_definition(p));
    members += is_in_subgroup(p) ? 1 : 0;
    // r P has an order that divides the cofactor; a member plus such a point is no member.
    const auto cofactor_point =
        Jacobian<G>::from_affine(p).scaled(G::Scalar::Params::kModulus).to_affine();
    EXPECT_EQ(is_in_subgroup(cofactor_point), cofactor_point.is_infinity());
    const auto mixed = (Jacobian<G>::from_affine(G::generator()) + cofactor_point).to_affine();
    EXPECT_EQ(is_in_subgroup(mixed), cofactor_point.is_infinity());
  }
  EXPECT_EQ(members, kIsWholeCurve ? 8 : 0);
}

// Points of small order are where endomorphism checks have been wrong before.
TEST(SubgroupOfBls12_381G1, RefusesPointsOfSmallOrder) {
  using G1 = Bls12_381::G1;
  using Fp = Bls12_381::Fp;
  // (0, 2) has order 3 and is fixed by phi.
  const Affine<G1> order3 = {Fp::zero(), Fp::from_u64(2)};
  ASSERT_TRUE(order3.is_on_curve());
  ASSERT_TRUE(Jacobian<G1>::from_affine(order3).scaled(field::Limbs<1>{{3}}).is_infinity());
  EXPECT_FALSE(is_in_subgroup(order3));
  EXPECT_FALSE(is_in_subgroup(-order3));

  // The cofactor (z - 1)^2 / 3 = 3 * 11^2 * 10177^2 * 859267^2 * 52437899^2, and z - 1 annihilates
  // each point of it, so multiples by (z - 1) / q have order q or 1.
  constexpr std::uint64_t kOneMinusZ = Bls12_381::kParameter + 1;
  field::SampleGenerator generator(7);
  for (const std::uint64_t q : {3ULL, 11ULL, 10177ULL, 859267ULL, 52437899ULL}) {
    ASSERT_EQ(kOneMinusZ % q, 0u);
    Jacobian<G1> p = Jacobian<G1>::infinity();
    for (int i = 0; i < 8 && p.is_infinity(); ++i) {
      p = Jacobian<G1>::from_affine(sample_curve_point<G1>(generator))
              .scaled(G1::Scalar::Params::kModulus)
              .scaled(field::Limbs<1>{{kOneMinusZ / q}});
    }
    ASSERT_FALSE(p.is_infinity()) << q;
    ASSERT_TRUE(p.scaled(field::Limbs<1>{{q}}).is_infinity()) << q;
    EXPECT_FALSE(is_in_subgroup(p.to_affine())) << q;
    EXPECT_FALSE(is_in_subgroup((p + G1::generator()).to_affine())) << q;
  }
}

template <class C>
class Endomorphisms : public ::testing::Test {};
using Curves = ::testing::Types<Bls12_381, Bn254>;
TYPED_TEST_SUITE(Endomorphisms, Curves);

TYPED_TEST(Endomorphisms, PhiSatisfiesItsEquationOnTheWholeCurve) {
  using G1 = typename TypeParam::G1;
  field::SampleGenerator generator(8);
  const auto& beta = cube_root_of_one<TypeParam>();
  EXPECT_FALSE(beta.is_one());
  EXPECT_TRUE((beta.squared() * beta).is_one());
  for (int i = 0; i < 3; ++i) {
    const auto p = sample_curve_point<G1>(generator);
    const auto once = phi(p, beta), twice = phi(once, beta);
    EXPECT_TRUE(once.is_on_curve());
    EXPECT_TRUE((Jacobian<G1>::from_affine(p) + once + twice).is_infinity());
  }
}

// psi^2 - t psi + p = 0, with t - 1 = z or 6 x^2 and p the modulus.
TYPED_TEST(Endomorphisms, PsiSatisfiesItsEquationOnTheWholeCurve) {
  using C = TypeParam;
  using G2 = typename C::G2;
  field::SampleGenerator generator(9);
  for (int i = 0; i < 3; ++i) {
    const auto q = sample_curve_point<G2>(generator);
    const auto once = psi<C>(q), twice = psi<C>(once);
    ASSERT_TRUE(once.is_on_curve());
    const auto psi_q = Jacobian<G2>::from_affine(once);
    Jacobian<G2> t_psi_q;
    if (C::kParameterIsNegative) {
      t_psi_q = -psi_q.scaled(field::Limbs<1>{{C::kParameter - 1}});
    } else {
      const auto t_minus_1 = field::WideLimb{C::kParameter} * C::kParameter * 6;
      t_psi_q = psi_q + psi_q.scaled(field::Limbs<2>{{static_cast<field::Limb>(t_minus_1),
                                                      static_cast<field::Limb>(t_minus_1 >> 64)}});
    }
    const auto p_q = Jacobian<G2>::from_affine(q).scaled(C::Fp::Params::kModulus);
    EXPECT_TRUE((Jacobian<G2>::from_affine(twice) + -t_psi_q + p_q).is_infinity());
  }
  EXPECT_TRUE(psi<C>(Affine<G2>::infinity()).is_infinity());
}

}  // namespace
}  // namespace cuzk::curve
