// The prover against its definition, and prove-then-verify over every kind of small circuit.
#include "groth16/prove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ledger.h"
#include "groth16/groth16_naive.h"
#include "groth16/test_circuits.h"
#include "groth16/verify.h"

namespace cuzk::groth16 {
namespace {

using testing::Circuit;
using ::testing::HasSubstr;
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

// Rows around a power of two: the domain just fits, is just too small, is exactly full.
TYPED_TEST(ProveTest, EqualsTheDefinitionAtTheBordersOfTheDomain) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  for (const std::size_t rows : {3, 4, 5, 15, 16, 17, 31, 33}) {
    SCOPED_TRACE(rows);
    this->expect_equals_naive(testing::squarings<Fr>(rows - 2), testing::test_blinding<C>());
  }
}

TYPED_TEST(ProveTest, EqualsTheDefinitionWithoutBlinding) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  const auto circuit = testing::mixed<Fr>(12, 3);
  const auto [r, s] = testing::test_blinding<C>();
  this->expect_equals_naive(circuit, {Fr::zero(), s});
  this->expect_equals_naive(circuit, {r, Fr::zero()});
  this->expect_equals_naive(circuit, {Fr::zero(), Fr::zero()});
}

TYPED_TEST(ProveTest, AcceptsShapesThatAlreadyHaveInputRows) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  auto circuit = testing::mixed<Fr>(6, 5);
  circuit.enforce({{kOne, Fr::one()}}, {}, {});
  circuit.enforce({{Variable{true, 1}, Fr::one()}}, {}, {});
  circuit.enforce({{Variable{true, 2}, Fr::one()}}, {}, {});
  const auto shape = circuit.shape();
  shape->has_input_rows = true;
  const auto waste = testing::test_waste<C>();
  const ProveInputs<C> inputs{setup<C>(*shape, waste, TypeParam::kConvention).value(), shape,
                              circuit.assignment()};
  const auto blinding = testing::test_blinding<C>();
  const auto backend = make_cpu_backend<C>();
  const auto proof = prove_with_blinding(*backend, inputs, blinding);
  ASSERT_TRUE(proof.ok()) << proof.error().message;
  EXPECT_EQ(*proof,
            naive_proof<C>(*shape, *inputs.assignment, waste, TypeParam::kConvention, blinding));
}

TYPED_TEST(ProveTest, DrawsNewBlindingForEveryProof) {
  using C = typename TestFixture::C;
  const auto inputs = this->inputs_for(testing::mixed<typename TestFixture::Fr>(4, 1));
  const auto backend = make_cpu_backend<C>();
  const auto first = prove(*backend, inputs), second = prove(*backend, inputs);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->a, second->a);
  EXPECT_NE(first->b, second->b);
  EXPECT_NE(first->c, second->c);
}

TYPED_TEST(ProveTest, NamesTheConstraintThatAWitnessBreaks) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  auto circuit = testing::squarings<Fr>(10);
  circuit.set(Variable{false, 6}, Fr::from_u64(5));
  const auto inputs = this->inputs_for(circuit);
  const auto backend = make_cpu_backend<C>();
  const auto proof = prove(*backend, inputs);
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.error().kind, base::ErrorKind::kUnsatisfied);
  EXPECT_THAT(proof.error().message, HasSubstr("constraint 6"));
}

// A key that carries no C (a zkey) cannot tell the two apart, and says so.
TYPED_TEST(ProveTest, NamesBothSuspectsWhenTheShapeHasNoC) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  auto circuit = testing::squarings<Fr>(10);
  circuit.set(Variable{false, 6}, Fr::from_u64(5));
  auto inputs = this->inputs_for(circuit);
  auto shape = circuit.shape();
  shape->has_c = false;
  shape->c = {};
  inputs.shape = shape;
  const auto backend = make_cpu_backend<C>();
  const auto proof = prove(*backend, inputs);
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.error().kind, base::ErrorKind::kVerificationFailed);
  EXPECT_THAT(proof.error().message, HasSubstr("witness"));
  EXPECT_THAT(proof.error().message, HasSubstr("key"));
}

TYPED_TEST(ProveTest, SuspectsTheKeyWhenTheWitnessIsGood) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  auto inputs = this->inputs_for(testing::squarings<Fr>(10));
  ProvingKey<C> damaged = *inputs.key;
  std::vector<typename C::G1Affine> h(inputs.key->h.size());
  inputs.key->h.decode(0, h);
  std::swap(h[1], h[2]);
  damaged.h = msm::PointSource<typename C::G1>(std::span<const typename C::G1Affine>(h));
  inputs.key = std::make_shared<const ProvingKey<C>>(damaged);
  const auto backend = make_cpu_backend<C>();
  const auto proof = prove(*backend, inputs);
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.error().kind, base::ErrorKind::kVerificationFailed);
  EXPECT_THAT(proof.error().message, HasSubstr("the key is suspect"));
  EXPECT_THAT(proof.error().message, HasSubstr("convention"));
}

TYPED_TEST(ProveTest, StopsBeforeItsNextStageWhenAsked) {
  using C = typename TestFixture::C;
  auto inputs = this->inputs_for(testing::mixed<typename TestFixture::Fr>(8, 2));
  std::stop_source source;
  inputs.control.cancel = source.get_token();
  const auto backend = make_cpu_backend<C>();
  const auto pending = backend->start(inputs, testing::test_blinding<C>());
  ASSERT_TRUE(pending.ok());
  source.request_stop();
  const auto finished = (*pending)->finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().kind, base::ErrorKind::kCancelled);
  const auto restarted = backend->start(inputs, testing::test_blinding<C>());
  ASSERT_FALSE(restarted.ok());
  EXPECT_EQ(restarted.error().kind, base::ErrorKind::kCancelled);
}

class RecordingProgress final : public base::ProgressSink {
 public:
  void begin_stage(std::string_view name, std::uint64_t total_units) override {
    EXPECT_EQ(done_, total_) << "stage before " << name;
    stages_.emplace_back(name);
    total_ = total_units;
    done_ = 0;
  }
  void advance(std::uint64_t units) override { done_ += units; }
  std::vector<std::string> stages_;
  std::uint64_t total_ = 0, done_ = 0;
};

TYPED_TEST(ProveTest, ReportsEveryStageToItsEnd) {
  using C = typename TestFixture::C;
  auto inputs = this->inputs_for(testing::mixed<typename TestFixture::Fr>(8, 2));
  RecordingProgress progress;
  inputs.control.progress = &progress;
  const auto backend = make_cpu_backend<C>();
  ASSERT_TRUE(prove(*backend, inputs).ok());
  EXPECT_EQ(progress.done_, progress.total_);
  EXPECT_THAT(progress.stages_,
              ::testing::ElementsAre("evaluation and transforms", "H query", "L query", "A query",
                                     "B query in G1", "B query in G2"));
}

// What finish needs lives in the pending proof; the rest may go.
TYPED_TEST(ProveTest, FinishesAfterItsInputsAreGoneAndOnlyOnce) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  auto inputs = this->inputs_for(testing::mixed<Fr>(20, 2));
  const auto backend = make_cpu_backend<C>();
  const auto expected = prove_with_blinding(*backend, inputs, testing::test_blinding<C>());
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  const std::weak_ptr<const r1cs::Assignment<Fr>> assignment = inputs.assignment;
  const std::weak_ptr<const r1cs::Shape<Fr>> shape = inputs.shape;
  const std::weak_ptr<const ProvingKey<C>> key = inputs.key;
  auto pending = backend->start(inputs, testing::test_blinding<C>()).value();
  inputs = {};
  EXPECT_TRUE(assignment.expired());
  EXPECT_TRUE(shape.expired());
  EXPECT_FALSE(key.expired());
  const auto proof = pending->finish();
  ASSERT_TRUE(proof.ok()) << proof.error().message;
  EXPECT_EQ(*proof, *expected);
  EXPECT_TRUE(key.expired());
  const auto again = pending->finish();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, base::ErrorKind::kInternal);
}

TYPED_TEST(ProveTest, PlansWhatItThenHolds) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  const auto inputs = this->inputs_for(testing::mixed<Fr>(200, 2));
  const auto backend = make_cpu_backend<C>();
  const auto bound = backend->plan(*inputs.key, *inputs.shape).value();
  const auto exact = backend->plan(*inputs.key, *inputs.shape, inputs.assignment.get()).value();
  EXPECT_LE(exact.pending_bytes, bound.pending_bytes);
  EXPECT_LE(exact.msm_scratch_bytes, bound.msm_scratch_bytes);
  EXPECT_EQ(exact.evaluation_bytes, bound.evaluation_bytes);
  EXPECT_EQ(exact.evaluation_bytes, 2 * sizeof(Fr) << inputs.key->domain_log2);
  auto& ledger = base::Ledger::process();
  const auto before = ledger.snapshot();
  const auto pending = backend->start(inputs, testing::test_blinding<C>()).value();
  EXPECT_EQ(pending->byte_count(), exact.pending_bytes);
  const auto after = ledger.snapshot();
  constexpr auto kEvaluation = base::MemoryCategory::kEvaluation;
  EXPECT_EQ(after.of(kEvaluation).used_bytes, before.of(kEvaluation).used_bytes);
}

}  // namespace
}  // namespace cuzk::groth16
