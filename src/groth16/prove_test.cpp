// The prover against its definition, and prove-then-verify over every kind of small circuit.
#include "groth16/prove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ledger.h"
#include "groth16/groth16_naive.h"
#include "groth16/memory.h"
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

// The plan against the ledger's own account, stage by stage.
TYPED_TEST(ProveTest, PlansWhatTheLedgerThenSees) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  const auto inputs = this->inputs_for(testing::mixed<Fr>(20000, 2));
  const auto backend = make_cpu_backend<C>();
  const auto bound = backend->plan(*inputs.key, *inputs.shape).value();
  const auto exact = backend->plan(*inputs.key, *inputs.shape, inputs.assignment.get()).value();
  EXPECT_LT(exact.pending_bytes, bound.pending_bytes);
  EXPECT_LE(exact.msm_scratch_bytes, bound.msm_scratch_bytes);
  EXPECT_EQ(exact.evaluation_bytes, bound.evaluation_bytes);
  EXPECT_EQ(exact.density_bytes, bound.density_bytes);
  EXPECT_LE(bound.peak_bytes(), proving_bytes(*inputs.key));
  auto& ledger = base::Ledger::process();
  const auto before = ledger.snapshot();
  ledger.reset_peaks();
  const auto pending = backend->start(inputs, testing::test_blinding<C>()).value();
  const auto after = ledger.snapshot();
  const auto used = [&](base::MemoryCategory category) {
    return after.of(category).used_bytes - before.of(category).used_bytes;
  };
  const auto peak = [&](const base::LedgerSnapshot& now, base::MemoryCategory category) {
    return now.of(category).peak_bytes - before.of(category).used_bytes;
  };
  using enum base::MemoryCategory;
  EXPECT_EQ(used(kPending), exact.pending_bytes);
  EXPECT_EQ(pending->byte_count(), exact.pending_bytes);
  EXPECT_EQ(used(kMatrices), 0u);
  EXPECT_EQ(peak(after, kMatrices), exact.density_bytes);
  EXPECT_EQ(used(kEvaluation), 0u);
  EXPECT_EQ(used(kMsmScratch), 0u);
  EXPECT_EQ(peak(after, kEvaluation), exact.evaluation_bytes);
  EXPECT_LE(peak(after, kMsmScratch), exact.msm_scratch_bytes);
  EXPECT_GT(peak(after, kMsmScratch), exact.msm_scratch_bytes / 4);
  ASSERT_TRUE(pending->finish().ok());
  const auto finished = ledger.snapshot();
  EXPECT_EQ(finished.of(kPending).used_bytes, before.of(kPending).used_bytes);
  EXPECT_LE(peak(finished, kMsmScratch), exact.msm_scratch_bytes);
  EXPECT_LE(finished.total.peak_bytes - before.total.used_bytes, exact.peak_bytes());
}

// A density that comes with the inputs is used, and none is made.
TYPED_TEST(ProveTest, UsesTheDensityThatComesWithTheInputs) {
  using C = typename TestFixture::C;
  using Fr = typename TestFixture::Fr;
  auto inputs = this->inputs_for(testing::mixed<Fr>(300, 3));
  const auto backend = make_cpu_backend<C>();
  const auto expected = backend->start(inputs, testing::test_blinding<C>()).value()->finish();
  auto& ledger = base::Ledger::process();
  ledger.reset_peaks();
  const auto before = ledger.snapshot().of(base::MemoryCategory::kMatrices);
  inputs.density = std::make_shared<const r1cs::Density>(r1cs::density_of(*inputs.shape));
  const auto pending = backend->start(inputs, testing::test_blinding<C>()).value();
  EXPECT_EQ(ledger.snapshot().of(base::MemoryCategory::kMatrices).peak_bytes, before.used_bytes);
  EXPECT_EQ(pending->finish().value(), *expected);
}

// A budget of `bytes` above what is held, for as long as it lives.
class SmallBudget {
 public:
  explicit SmallBudget(std::uint64_t bytes) {
    auto& ledger = base::Ledger::process();
    ledger.set_budget(ledger.snapshot().total.used_bytes + bytes);
  }
  ~SmallBudget() { base::Ledger::process().set_budget(0); }
};

// Under every budget below its plan a proof is either made or refused with the kind that says why;
// nothing stays behind. With the whole plan it is made.
TYPED_TEST(ProveTest, RefusedMemoryIsAnErrorAtAnyPlace) {
  using C = typename TestFixture::C;
  const auto inputs = this->inputs_for(testing::mixed<typename TestFixture::Fr>(4000, 2));
  const auto blinding = testing::test_blinding<C>();
  const auto plan =
      make_cpu_backend<C>()->plan(*inputs.key, *inputs.shape, inputs.assignment.get());
  ASSERT_TRUE(plan.ok());
  auto& ledger = base::Ledger::process();
  const std::uint64_t before = ledger.snapshot().total.used_bytes;
  std::size_t refused_count = 0;
  constexpr std::uint64_t kSteps = 6;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    {
      const SmallBudget budget(plan->peak_bytes() * step / kSteps + 1);
      const auto backend = make_cpu_backend<C>();
      const auto proof = prove_with_blinding(*backend, inputs, blinding);
      if (!proof.ok()) {
        ++refused_count;
        EXPECT_EQ(proof.error().kind, base::ErrorKind::kResourceExhausted);
        EXPECT_THAT(proof.error().message, HasSubstr("needs"));
      }
    }
    EXPECT_EQ(ledger.snapshot().total.used_bytes, before);
  }
  EXPECT_GE(refused_count, 2u);
  const SmallBudget budget(plan->peak_bytes());
  const auto backend = make_cpu_backend<C>();
  const auto proof = prove_with_blinding(*backend, inputs, blinding);
  EXPECT_TRUE(proof.ok()) << proof.error().message;
}

// Refused only when finishing: the sum over B in G2.
TYPED_TEST(ProveTest, FinishMayBeRefusedToo) {
  using C = typename TestFixture::C;
  const auto inputs = this->inputs_for(testing::mixed<typename TestFixture::Fr>(4000, 2));
  const auto backend = make_cpu_backend<C>();
  auto pending = backend->start(inputs, testing::test_blinding<C>()).value();
  const SmallBudget none(1);
  const auto proof = pending->finish();
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.error().kind, base::ErrorKind::kResourceExhausted);
  EXPECT_THAT(proof.error().message, HasSubstr("finishing a proof: "));
}

TYPED_TEST(ProveTest, BlindingIsWipedWhenItDies) {
  using C = typename TestFixture::C;
  alignas(Blinding<C>) std::byte storage[sizeof(Blinding<C>)];
  auto* const blinding = new (storage) Blinding<C>(testing::test_blinding<C>());
  const volatile std::byte* const bytes = storage;
  const auto nonzero_count = [&] {
    std::size_t count = 0;
    for (std::size_t i = 0; i < sizeof storage; ++i) count += bytes[i] != std::byte{0};
    return count;
  };
  EXPECT_GT(nonzero_count(), sizeof storage / 2);
  blinding->~Blinding();
  EXPECT_EQ(nonzero_count(), 0u);
}

}  // namespace
}  // namespace cuzk::groth16
