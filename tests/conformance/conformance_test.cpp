// Every case on every registered backend, both curves, both QAP conventions: the proof verifies and
// is the same as the first backend's for the same blinding.
#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/cases.h"

namespace cuzk::conformance {
namespace {

using groth16::Blinding;
using groth16::ProveInputs;
using groth16::QapConvention;
using groth16::testing::Circuit;

template <class Curve, QapConvention kConventionValue>
struct Setting {
  using C = Curve;
  static constexpr QapConvention kConvention = kConventionValue;
};
using Settings = ::testing::Types<Setting<curve::Bls12_381, QapConvention::kCoefficients>,
                                  Setting<curve::Bls12_381, QapConvention::kOddCosetLagrange>,
                                  Setting<curve::Bn254, QapConvention::kCoefficients>,
                                  Setting<curve::Bn254, QapConvention::kOddCosetLagrange>>;

template <class S>
class Conformance : public ::testing::Test {
 public:
  using C = typename S::C;
  using Fr = typename C::Fr;

  std::vector<std::unique_ptr<groth16::Backend<C>>> backends = registered_backends<C>();

  static ProveInputs<C> inputs_for(const Circuit<Fr>& circuit) {
    const auto shape = circuit.shape();
    const auto key = groth16::setup<C>(*shape, groth16::testing::test_waste<C>(), S::kConvention);
    if (!key.ok()) ADD_FAILURE() << key.error().message;
    return {key.value(), shape, circuit.assignment()};
  }

  // Proves on every backend; all proofs verify, by the verifier itself and not only by the prover's
  // own check, are refused for other public values, and are equal.
  void expect_proves(const std::string& name, const ProveInputs<C>& inputs,
                     const Blinding<C>& blinding = groth16::testing::test_blinding<C>()) {
    std::optional<groth16::Proof<C>> first;
    for (const auto& backend : backends) {
      SCOPED_TRACE(name + " on " + std::string(backend->name()));
      const auto proof = groth16::prove_with_blinding(*backend, inputs, blinding);
      ASSERT_TRUE(proof.ok()) << proof.error().message;
      if (!first) first = *proof;
      EXPECT_EQ(*proof, *first);
      std::vector<Fr> values(inputs.assignment->inputs.begin() + 1,
                             inputs.assignment->inputs.end());
      const auto verdict = groth16::verify<C>(inputs.key->vk, values, *proof);
      EXPECT_TRUE(verdict.ok() && *verdict);
      if (values.empty()) continue;
      values.back() += Fr::one();
      const auto other = groth16::verify<C>(inputs.key->vk, values, *proof);
      EXPECT_TRUE(other.ok() && !*other);
    }
  }
};
TYPED_TEST_SUITE(Conformance, Settings);

TYPED_TEST(Conformance, SmallAndDegenerateCircuits) {
  for (const auto& [name, circuit] : small_cases<typename TestFixture::Fr>()) {
    this->expect_proves(name, this->inputs_for(circuit));
  }
}

TYPED_TEST(Conformance, AWitnessThatBreaksAConstraintGivesNoProof) {
  const auto inputs = this->inputs_for(two_roots<typename TestFixture::Fr>(17));
  for (const auto& backend : this->backends) {
    const auto proof = groth16::prove(*backend, inputs);
    ASSERT_FALSE(proof.ok()) << backend->name();
    EXPECT_EQ(proof.error().kind, base::ErrorKind::kUnsatisfied);
  }
}

TYPED_TEST(Conformance, BlindingOfZeros) {
  using Fr = typename TestFixture::Fr;
  const auto inputs = this->inputs_for(groth16::testing::mixed<Fr>(40, 6));
  const auto [r, s] = groth16::testing::test_blinding<typename TestFixture::C>();
  this->expect_proves("r = 0", inputs, {Fr::zero(), s});
  this->expect_proves("s = 0", inputs, {r, Fr::zero()});
  this->expect_proves("both 0", inputs, {Fr::zero(), Fr::zero()});
}

// Rows (constraints, the input and the constant one) at the borders of domains; 1025 and 2049 are
// half of a domain and one.
TYPED_TEST(Conformance, RowCountsAroundThePowersOfTwo) {
  using Fr = typename TestFixture::Fr;
  for (const std::size_t rows : {1023, 1024, 1025, 2047, 2048, 2049}) {
    auto inputs = this->inputs_for(groth16::testing::squarings<Fr>(rows - 2));
    EXPECT_EQ(inputs.key->domain_log2, rows <= 1024 ? 10u : rows <= 2048 ? 11u : 12u);
    this->expect_proves(std::to_string(rows) + " rows", inputs);
    // An H query that is one point short is refused with both numbers.
    auto key = *inputs.key;
    const std::size_t size = key.h.size();
    key.h = key.h.subset(0, size - 1);
    inputs.key = std::make_shared<const groth16::ProvingKey<typename TestFixture::C>>(key);
    for (const auto& backend : this->backends) {
      const auto plan = backend->plan(*inputs.key, *inputs.shape);
      ASSERT_FALSE(plan.ok());
      EXPECT_EQ(plan.error().kind, base::ErrorKind::kMismatch);
      EXPECT_THAT(plan.error().message,
                  ::testing::AllOf(::testing::HasSubstr(std::to_string(size)),
                                   ::testing::HasSubstr(std::to_string(size - 1))));
      EXPECT_FALSE(groth16::prove(*backend, inputs).ok());
    }
  }
}

template <class S>
class ConformanceTiming : public ::testing::Test {};
TYPED_TEST_SUITE(ConformanceTiming, Settings);

// CPU seconds of a proof, the least of two: the machine may be busy.
template <class C>
double proof_cpu_seconds(groth16::Backend<C>& backend, const ProveInputs<C>& inputs) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2; ++i) {
    const std::clock_t begin = std::clock();
    const auto proof = groth16::prove(backend, inputs);
    best = std::min(best, double(std::clock() - begin) / CLOCKS_PER_SEC);
    EXPECT_TRUE(proof.ok()) << proof.error().message;
  }
  return best;
}

// Witnesses whose scalars are all alike must not be slower than random ones: no bucket pile-up.
TYPED_TEST(ConformanceTiming, UniformWitnessesProveInTheTimeOfRandomOnes) {
  using C = typename TypeParam::C;
  using Fr = typename C::Fr;
  constexpr std::size_t kWires = 5000;
  groth16::testing::Random random(8);
  const auto any = [&](std::size_t) { return random.element<Fr>(); };
  const auto circuit = free_variables<Fr>(kWires, any);
  const auto shape = circuit.shape();
  const auto key =
      groth16::setup<C>(*shape, groth16::testing::test_waste<C>(), TypeParam::kConvention);
  ASSERT_TRUE(key.ok()) << key.error().message;
  for (const auto& backend : registered_backends<C>()) {
    ProveInputs<C> inputs{*key, shape, circuit.assignment()};
    const double random_seconds = proof_cpu_seconds(*backend, inputs);
    const auto expect_not_slower = [&](const std::string& name, const auto& value) {
      SCOPED_TRACE(name + " on " + std::string(backend->name()));
      inputs.assignment = free_variables<Fr>(kWires, value).assignment();
      EXPECT_LE(proof_cpu_seconds(*backend, inputs), 2 * random_seconds + 0.02);
    };
    expect_not_slower("all zero", [](std::size_t) { return Fr::zero(); });
    expect_not_slower("all one", [](std::size_t) { return Fr::one(); });
    expect_not_slower("zeros and ones", [](std::size_t i) { return Fr::from_u64(i / 3 % 2); });
    expect_not_slower("all r - 1", [](std::size_t) { return -Fr::one(); });
  }
}

}  // namespace
}  // namespace cuzk::conformance
