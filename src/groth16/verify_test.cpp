// What must be accepted, what must be refused with false, and what is an error instead.
#include "groth16/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/heap.h"
#include "curve/subgroup.h"
#include "groth16/prove.h"
#include "groth16/test_circuits.h"

namespace cuzk::groth16 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class CurveType>
class VerifyTest : public ::testing::Test {
 public:
  using C = CurveType;
  using Fr = typename C::Fr;
  std::shared_ptr<const ProvingKey<C>> key;
  std::vector<std::vector<Fr>> inputs;
  std::vector<Proof<C>> proofs;

  // Proofs of one circuit for different witnesses.
  void SetUp() override {
    const auto backend = make_cpu_backend<C>();
    for (std::uint64_t i = 0; i < 5; ++i) {
      testing::Circuit<Fr> circuit;
      const auto sum = circuit.input(Fr::from_u64(2 * i));
      const auto product = circuit.input(Fr::from_u64(i * i));
      const auto x = circuit.aux(Fr::from_u64(i)), y = circuit.aux(Fr::from_u64(i));
      const Fr one = Fr::one();
      circuit.enforce({{x, one}}, {{y, one}}, {{product, one}});
      circuit.enforce({{x, one}, {y, one}}, {{testing::kOne, one}}, {{sum, one}});
      const auto shape = circuit.shape();
      if (key == nullptr) {
        key = setup<C>(*shape, testing::test_waste<C>(), QapConvention::kCoefficients).value();
      }
      const auto proof = prove(*backend, ProveInputs<C>{key, shape, circuit.assignment()});
      ASSERT_TRUE(proof.ok()) << proof.error().message;
      proofs.push_back(*proof);
      inputs.push_back(circuit.public_inputs());
    }
  }
  bool accepts(const Proof<C>& proof) const { return verify<C>(key->vk, inputs[0], proof).value(); }
  bool accepts_batch() const { return verify_batch<C>(key->vk, inputs, proofs).value(); }
};
using Curves = ::testing::Types<curve::Bls12_381, curve::Bn254>;
TYPED_TEST_SUITE(VerifyTest, Curves);

TYPED_TEST(VerifyTest, AcceptsEachProofForItsOwnInputsOnly) {
  using C = typename TestFixture::C;
  for (std::size_t i = 0; i < this->proofs.size(); ++i) {
    for (std::size_t j = 0; j < this->inputs.size(); ++j) {
      EXPECT_EQ(verify<C>(this->key->vk, this->inputs[j], this->proofs[i]).value(), i == j);
    }
  }
}

template <class G>
curve::Affine<G> doubled(const curve::Affine<G>& p) {
  return curve::Jacobian<G>::from_affine(p).doubled().to_affine();
}

TYPED_TEST(VerifyTest, RefusesAnyChangedPoint) {
  auto proof = this->proofs[0];
  proof.a = doubled(proof.a);
  EXPECT_FALSE(this->accepts(proof));
  proof = this->proofs[0];
  proof.b = -proof.b;
  EXPECT_FALSE(this->accepts(proof));
  proof = this->proofs[0];
  proof.c = -proof.c;
  EXPECT_FALSE(this->accepts(proof));
  std::swap(proof.a, proof.c);
  EXPECT_FALSE(this->accepts(proof));
}

TYPED_TEST(VerifyTest, RefusesInfinityAndPointsOffTheCurve) {
  for (int which = 0; which < 6; ++which) {
    auto proof = this->proofs[0];
    if (which == 0) proof.a = {};
    if (which == 1) proof.b = {};
    if (which == 2) proof.c = {};
    if (which == 3) proof.a.x += proof.a.y;
    if (which == 4) proof.b.x += proof.b.y;
    if (which == 5) proof.c.y += proof.c.x;
    EXPECT_FALSE(this->accepts(proof)) << which;
    this->proofs[0] = proof;
    EXPECT_FALSE(this->accepts_batch()) << which;
  }
}

// A point of the curve outside the subgroup: the first x whose x^3 + b is a square, by definition
// of the square root in a field of order 3 mod 4 (none exists on BN254 G1, whose cofactor is one).
TEST(Verify, RefusesPointsOutsideTheSubgroup) {
  using C = curve::Bls12_381;
  using Fp = C::Fp;
  const auto exponent = [] {
    auto e = Fp::Params::kModulus;  // (p + 1) / 4
    e = field::half(field::half(e));
    field::Limbs<6> one, out;
    one[0] = 1;
    field::add_carry(out, e, one);
    return out;
  }();
  C::G1Affine outside;
  for (std::uint64_t x = 1; outside.is_infinity(); ++x) {
    const Fp value = Fp::from_u64(x).pow(3) + Fp::from_u64(4);
    const Fp root = value.pow(exponent);
    if (root.squared() == value) outside = {Fp::from_u64(x), root};
  }
  ASSERT_TRUE(outside.is_on_curve());
  ASSERT_FALSE(curve::is_in_subgroup<C::G1>(outside));
  const auto circuit = testing::squarings<C::Fr>(2);
  const auto key =
      setup<C>(*circuit.shape(), testing::test_waste<C>(), QapConvention::kCoefficients).value();
  const auto backend = make_cpu_backend<C>();
  auto proof = prove(*backend, ProveInputs<C>{key, circuit.shape(), circuit.assignment()}).value();
  // A plus a point of small order would keep the equation true on some curves: it is refused
  // before.
  const auto good = proof.a;
  proof.a = (curve::Jacobian<C::G1>::from_affine(good) + outside).to_affine();
  EXPECT_FALSE(verify<C>(key->vk, circuit.public_inputs(), proof).value());
  proof.a = good;
  proof.c = outside;
  EXPECT_FALSE(verify<C>(key->vk, circuit.public_inputs(), proof).value());
}

// One value too few and one too many are errors with both counts, not a "no".
TYPED_TEST(VerifyTest, WrongInputCountIsAnErrorWithBothCounts) {
  using C = typename TestFixture::C;
  for (const std::size_t count : {0, 1, 3}) {
    std::vector<typename C::Fr> inputs(count);
    const auto result = verify<C>(this->key->vk, inputs, this->proofs[0]);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, base::ErrorKind::kMismatch);
    EXPECT_THAT(result.error().message,
                AllOf(HasSubstr("there are " + std::to_string(count)), HasSubstr("expects 2")));
  }
  this->inputs[3].push_back(C::Fr::one());
  const auto result = verify_batch<C>(this->key->vk, this->inputs, this->proofs);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("proof 4 of 5"), HasSubstr("there are 3"), HasSubstr("expects 2")));
}

// Few inputs and many are summed in two ways.
TYPED_TEST(VerifyTest, AcceptsAndRefusesWithManyPublicInputs) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  for (const std::size_t count : {30, 31, 32, 33, 60}) {
    testing::Circuit<Fr> circuit;
    const Fr one = Fr::one();
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = circuit.aux(Fr::from_u64(7 * i + 2));
      const auto square = circuit.input(Fr::from_u64((7 * i + 2) * (7 * i + 2)));
      circuit.enforce({{x, one}}, {{x, one}}, {{square, one}});
    }
    const auto shape = circuit.shape();
    const auto many =
        setup<C>(*shape, testing::test_waste<C>(), QapConvention::kCoefficients).value();
    const auto backend = make_cpu_backend<C>();
    const auto proof = prove(*backend, ProveInputs<C>{many, shape, circuit.assignment()});
    ASSERT_TRUE(proof.ok()) << proof.error().message;
    auto values = circuit.public_inputs();
    EXPECT_TRUE(verify<C>(many->vk, values, *proof).value()) << count;
    values.back() += one;
    EXPECT_FALSE(verify<C>(many->vk, values, *proof).value()) << count;
  }
}

TYPED_TEST(VerifyTest, AKeyWithoutIcIsMalformed) {
  using C = typename TestFixture::C;
  auto vk = this->key->vk;
  vk.ic.clear();
  const auto result = verify<C>(vk, {}, this->proofs[0]);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, base::ErrorKind::kMalformed);
}

TYPED_TEST(VerifyTest, BatchAcceptsGoodProofsAndFindsOneBadAmongMany) {
  ASSERT_TRUE(this->accepts_batch());
  for (std::size_t bad = 0; bad < this->proofs.size(); ++bad) {
    const auto good = this->proofs[bad];
    this->proofs[bad].c = doubled(good.c);
    EXPECT_FALSE(this->accepts_batch()) << bad;
    this->proofs[bad] = good;
    this->inputs[bad][0] += TestFixture::Fr::one();
    EXPECT_FALSE(this->accepts_batch()) << bad;
    this->inputs[bad][0] -= TestFixture::Fr::one();
  }
  EXPECT_TRUE(this->accepts_batch());
}

// Errors that cancel in an unweighted sum: C_0 + D and C_1 - D.
TYPED_TEST(VerifyTest, BatchIsNotFooledByErrorsThatCancel) {
  using G1 = typename TestFixture::C::G1;
  const auto d = G1::generator();
  for (int round = 0; round < 8; ++round) {
    auto& first = this->proofs[0].c;
    auto& second = this->proofs[1].c;
    first = (curve::Jacobian<G1>::from_affine(first) + d).to_affine();
    second = (curve::Jacobian<G1>::from_affine(second) + (-d)).to_affine();
    EXPECT_FALSE(this->accepts_batch());
  }
}

TYPED_TEST(VerifyTest, BatchOfOneEqualsVerify) {
  this->proofs.resize(1);
  this->inputs.resize(1);
  EXPECT_TRUE(this->accepts_batch());
  this->inputs[0][1] += TestFixture::Fr::one();
  EXPECT_FALSE(this->accepts_batch());
}

TYPED_TEST(VerifyTest, BatchRefusesNothingAndListsOfDifferentLength) {
  using C = typename TestFixture::C;
  const auto none = verify_batch<C>(this->key->vk, {}, {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, base::ErrorKind::kInvalidArgument);
  this->inputs.pop_back();
  const auto uneven = verify_batch<C>(this->key->vk, this->inputs, this->proofs);
  ASSERT_FALSE(uneven.ok());
  EXPECT_THAT(uneven.error().message, AllOf(HasSubstr("4 lists"), HasSubstr("5 proofs")));
}

TYPED_TEST(VerifyTest, HoldsNoMemoryAfterManyVerifications) {
  using C = typename TestFixture::C;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory grows; its leak check does this test's work";
#endif
  const auto run = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      auto proof = this->proofs[0];
      if (i % 2 == 1) proof.c = -proof.c;
      ASSERT_EQ(verify<C>(this->key->vk, this->inputs[0], proof).value(), i % 2 == 0);
    }
  };
  run(50);
  const auto before = base::resident_bytes();
  if (!before) GTEST_SKIP() << "needs /proc/self/statm";
  run(400);
  // One leaked table a call would be above it.
  EXPECT_LE(base::resident_bytes().value(), *before + (2 << 20));
}

}  // namespace
}  // namespace cuzk::groth16
