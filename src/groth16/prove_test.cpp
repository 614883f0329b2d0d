// The prover against its definition, and prove-then-verify over every kind of small circuit.
#include "groth16/prove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "groth16/groth16_naive.h"
#include "groth16/test_circuits.h"
#include "groth16/verify.h"

namespace cuzk::groth16 {
namespace {

using ::testing::HasSubstr;
using testing::Circuit;
using testing::kOne;
using testing::Variable;

template <class Curve, QapConvention kConventionValue>
struct Setting {
  using C = Curve;
  static constexpr QapConvention kConvention = kConventionValue;
};

template <class S>
class ProveTest : public ::testing::Test {
 public:
  using C = typename S::C;
  using Fr = typename C::Fr;

  static ProveInputs<C> inputs_for(const Circuit<Fr>& circuit) {
    const auto shape = circuit.shape();
    const auto key = setup<C>(*shape, testing::test_waste<C>(), S::kConvention);
    if (!key.ok()) ADD_FAILURE() << key.error().message;
    return {key.value(), shape, circuit.assignment()};
  }
  static void expect_equals_naive(const Circuit<Fr>& circuit, const Blinding<C>& blinding) {
    const auto inputs = inputs_for(circuit);
    const auto backend = make_cpu_backend<C>();
    const auto proof = prove_with_blinding(*backend, inputs, blinding);
    ASSERT_TRUE(proof.ok()) << proof.error().message;
    const auto expected = naive_proof<C>(*inputs.shape, *inputs.assignment,
                                         testing::test_waste<C>(), S::kConvention, blinding);
    EXPECT_EQ(proof.value(), expected);
  }
};

using Settings = ::testing::Types<Setting<curve::Bls12_381, QapConvention::kCoefficients>,
                                  Setting<curve::Bls12_381, QapConvention::kOddCosetLagrange>,
                                  Setting<curve::Bn254, QapConvention::kCoefficients>,
                                  Setting<curve::Bn254, QapConvention::kOddCosetLagrange>>;
TYPED_TEST_SUITE(ProveTest, Settings);

TYPED_TEST(ProveTest, EqualsTheDefinitionOnMixedCircuits) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  for (const std::size_t bits : {0, 1, 5, 63, 64, 90}) {
    SCOPED_TRACE(bits);
    this->expect_equals_naive(testing::mixed<Fr>(bits, 7 + bits), testing::test_blinding<C>());
  }
}

}  // namespace
}  // namespace cuzk::groth16
