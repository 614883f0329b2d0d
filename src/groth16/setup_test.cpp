// The queries against their definition, one multiple of the generator a point.
#include "groth16/setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ledger.h"
#include "groth16/groth16_naive.h"
#include "groth16/prove.h"
#include "groth16/test_circuits.h"

namespace cuzk::groth16 {
namespace {

using ::testing::HasSubstr;

template <class C>
class SetupTest : public ::testing::Test {
 public:
  using Fr = typename C::Fr;

  template <class G>
  static curve::Affine<G> multiple(const Fr& k) {
    const auto g = curve::Jacobian<G>::from_affine(G::generator());
    return g.scaled(k.to_canonical().value).to_affine();
  }
  // The points are the multiples of the generator by `scalars`, those that are zero left out when
  // `is_dense`.
  template <class G>
  static void expect_query(const msm::PointSource<G>& query, const std::vector<Fr>& scalars,
                           bool is_dense) {
    std::size_t next = 0;
    for (const Fr& scalar : scalars) {
      if (is_dense && scalar.is_zero()) continue;
      ASSERT_LT(next, query.size());
      EXPECT_EQ(query.at(next++), multiple<G>(scalar));
    }
    EXPECT_EQ(next, query.size());
  }
};
using Curves = ::testing::Types<curve::Bls12_381, curve::Bn254>;
TYPED_TEST_SUITE(SetupTest, Curves);

// Counts what it is asked for; fails from call number `fails_from` on.
template <class C>
class NaiveMultiplier : public GeneratorMultiplier<C> {
 public:
  std::size_t call_count = 0, product_count = 0;
  std::size_t fails_from = ~std::size_t{0};

  base::Status multiply(std::span<const typename C::FrCanonical> scalars,
                        std::span<typename C::G1Affine> out) override {
    return multiply_naively<typename C::G1>(scalars, out);
  }
  base::Status multiply(std::span<const typename C::FrCanonical> scalars,
                        std::span<typename C::G2Affine> out) override {
    return multiply_naively<typename C::G2>(scalars, out);
  }

 private:
  template <class G>
  base::Status multiply_naively(std::span<const typename C::FrCanonical> scalars,
                                std::span<curve::Affine<G>> out) {
    if (call_count++ >= fails_from) {
      return base::Error{base::ErrorKind::kUnavailable, "the multiplier is gone"};
    }
    EXPECT_EQ(scalars.size(), out.size());
    product_count += scalars.size();
    const auto g = curve::Jacobian<G>::from_affine(G::generator());
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = g.scaled(scalars[i].value).to_affine();
    }
    return base::ok_status();
  }
};

TYPED_TEST(SetupTest, AForeignMultiplierMakesTheSameKey) {
  using C = TypeParam;
  const auto shape = testing::mixed<typename C::Fr>(21, 9).shape();
  const auto waste = testing::test_waste<C>();
  for (const auto convention : {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange}) {
    NaiveMultiplier<C> multiplier;
    const auto own = setup<C>(*shape, waste, convention);
    const auto foreign = setup<C>(*shape, waste, convention, {}, &multiplier);
    ASSERT_TRUE(own.ok() && foreign.ok());
    const auto expect_equal = [](const auto& a, const auto& b) {
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a.at(i), b.at(i));
    };
    expect_equal((*own)->h, (*foreign)->h);
    expect_equal((*own)->l, (*foreign)->l);
    expect_equal((*own)->a, (*foreign)->a);
    expect_equal((*own)->b_g1, (*foreign)->b_g1);
    expect_equal((*own)->b_g2, (*foreign)->b_g2);
    EXPECT_EQ((*own)->vk, (*foreign)->vk);
    EXPECT_GE(multiplier.product_count, (*own)->h.size() + (*own)->l.size());
  }
}

TYPED_TEST(SetupTest, TheMultipliersErrorEndsTheSetUp) {
  using C = TypeParam;
  const auto shape = testing::mixed<typename C::Fr>(5, 3).shape();
  NaiveMultiplier<C> counted;
  ASSERT_TRUE(
      setup<C>(*shape, testing::test_waste<C>(), QapConvention::kCoefficients, {}, &counted).ok());
  for (std::size_t call = 0; call < counted.call_count; ++call) {
    NaiveMultiplier<C> multiplier;
    multiplier.fails_from = call;
    const auto made =
        setup<C>(*shape, testing::test_waste<C>(), QapConvention::kCoefficients, {}, &multiplier);
    ASSERT_FALSE(made.ok()) << call;
    EXPECT_EQ(made.error().kind, base::ErrorKind::kUnavailable);
    EXPECT_THAT(made.error().message, HasSubstr("the multiplier is gone"));
  }
}

TYPED_TEST(SetupTest, EveryQueryIsWhatItsDefinitionSays) {
  using C = TypeParam;
  using Fr = typename C::Fr;
  const auto shape = testing::mixed<Fr>(21, 9).shape();
  const auto waste = testing::test_waste<C>();
  for (const auto convention : {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange}) {
    const auto made = setup<C>(*shape, waste, convention);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const ProvingKey<C>& key = **made;
    const bool is_dense = convention == QapConvention::kCoefficients;
    EXPECT_EQ(key.has_dense_queries, is_dense);
    const std::size_t m = std::size_t{1} << key.domain_log2;
    EXPECT_GE(m, shape->qap_row_count());
    EXPECT_LT(m / 2, shape->qap_row_count());
    const auto points = naive_domain<Fr>(convention, m);
    const auto lagrange = naive_lagrange(points, waste.tau);
    auto u = naive_columns(*shape, shape->a, lagrange);
    const auto v = naive_columns(*shape, shape->b, lagrange);
    const auto w = naive_columns(*shape, shape->c, lagrange);
    for (std::size_t i = 0; i < shape->input_count; ++i) {
      u[i] += lagrange[shape->constraint_count() + i];
    }
    std::vector<Fr> l;
    for (std::size_t i = 0; i < shape->variable_count(); ++i) {
      const Fr sum = waste.beta * u[i] + waste.alpha * v[i] + w[i];
      if (i >= shape->input_count) {
        l.push_back(sum * waste.delta.inverse());
      } else {
        EXPECT_EQ(key.vk.ic.at(i),
                  (this->template multiple<typename C::G1>(sum * waste.gamma.inverse())));
      }
    }
    this->template expect_query<typename C::G1>(key.a, u, is_dense);
    this->template expect_query<typename C::G1>(key.b_g1, v, is_dense);
    this->template expect_query<typename C::G2>(key.b_g2, v, is_dense);
    this->template expect_query<typename C::G1>(key.l, l, false);
    const Fr z = waste.tau.pow(m) - Fr::one();
    std::vector<Fr> h;
    for (std::size_t i = 0; i + (is_dense ? 1 : 0) < m; ++i) {
      if (is_dense) {
        h.push_back(waste.tau.pow(i) * z * waste.delta.inverse());
      } else {
        // The Lagrange polynomial of point 2 i + 1 in the domain of twice the size.
        const auto twice = naive_domain<Fr>(convention, 2 * m);
        h.push_back(naive_lagrange(twice, waste.tau)[2 * i + 1] * waste.delta.inverse());
      }
      if (!is_dense && i == 5) break;
    }
    this->template expect_query<typename C::G1>(key.h.subset(0, h.size()), h, false);
    EXPECT_EQ(key.h.size(), is_dense ? m - 1 : m);
  }
}

TYPED_TEST(SetupTest, VerifyingKeyHoldsTheSecretsMultiples) {
  using C = TypeParam;
  using G1 = typename C::G1;
  using G2 = typename C::G2;
  const auto waste = testing::test_waste<C>();
  const auto shape = testing::squarings<typename C::Fr>(3).shape();
  const auto key = setup<C>(*shape, waste, QapConvention::kCoefficients).value();
  EXPECT_EQ(key->vk.alpha_g1, this->template multiple<G1>(waste.alpha));
  EXPECT_EQ(key->vk.beta_g1, this->template multiple<G1>(waste.beta));
  EXPECT_EQ(key->vk.beta_g2, this->template multiple<G2>(waste.beta));
  EXPECT_EQ(key->vk.gamma_g2, this->template multiple<G2>(waste.gamma));
  EXPECT_EQ(key->vk.delta_g1, this->template multiple<G1>(waste.delta));
  EXPECT_EQ(key->vk.delta_g2, this->template multiple<G2>(waste.delta));
  EXPECT_THAT(key->name, HasSubstr("insecure"));
}

TYPED_TEST(SetupTest, RefusesTauInTheDomainOrItsCoset) {
  using C = TypeParam;
  using Fr = typename C::Fr;
  const auto shape = testing::squarings<Fr>(6).shape();  // 8 rows
  auto waste = testing::test_waste<C>();
  for (const auto convention : {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange}) {
    const auto qap = make_qap_domain<Fr>(convention, 3).value();
    waste.tau = qap.domain.omega().pow(5);
    const auto inside = setup<C>(*shape, waste, convention);
    ASSERT_FALSE(inside.ok());
    EXPECT_EQ(inside.error().kind, base::ErrorKind::kInvalidArgument);
    EXPECT_THAT(inside.error().message, HasSubstr("tau"));
  }
  const auto odd = make_qap_domain<Fr>(QapConvention::kOddCosetLagrange, 3).value();
  waste.tau = odd.shift * odd.domain.omega();
  EXPECT_FALSE(setup<C>(*shape, waste, QapConvention::kOddCosetLagrange).ok());
}

TYPED_TEST(SetupTest, RefusesAZeroSecret) {
  using C = TypeParam;
  const auto shape = testing::squarings<typename C::Fr>(2).shape();
  for (int which = 0; which < 5; ++which) {
    auto waste = testing::test_waste<C>();
    typename C::Fr* const secrets[] = {&waste.alpha, &waste.beta, &waste.gamma, &waste.delta,
                                       &waste.tau};
    *secrets[which] = C::Fr::zero();
    const auto made = setup<C>(*shape, waste, QapConvention::kCoefficients);
    ASSERT_FALSE(made.ok()) << which;
    EXPECT_THAT(made.error().message, HasSubstr("zero"));
  }
}

// bellman cannot write the point at infinity; snarkjs can.
TYPED_TEST(SetupTest, RefusesAnUnconstrainedVariableWhereItCannotBeWritten) {
  using C = TypeParam;
  using Fr = typename C::Fr;
  auto circuit = testing::squarings<Fr>(2);
  circuit.aux(Fr::from_u64(9));
  const auto shape = circuit.shape();
  const auto waste = testing::test_waste<C>();
  const auto made = setup<C>(*shape, waste, QapConvention::kCoefficients);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("private variable 2"));
  const auto other = setup<C>(*shape, waste, QapConvention::kOddCosetLagrange);
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_TRUE((*other)->l.at(2).is_infinity());
}

TYPED_TEST(SetupTest, RefusesAShapeWithoutC) {
  using C = TypeParam;
  const auto shape = testing::squarings<typename C::Fr>(2).shape();
  shape->has_c = false;
  const auto made = setup<C>(*shape, testing::test_waste<C>(), QapConvention::kCoefficients);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("C matrix"));
}

TYPED_TEST(SetupTest, StopsWhenAsked) {
  using C = TypeParam;
  std::stop_source source;
  source.request_stop();
  const auto shape = testing::squarings<typename C::Fr>(2).shape();
  const auto made = setup<C>(*shape, testing::test_waste<C>(), QapConvention::kCoefficients,
                             Control{nullptr, source.get_token()});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, base::ErrorKind::kCancelled);
}

TYPED_TEST(SetupTest, FreesItsScalarsAndKeepsItsPoints) {
  using C = TypeParam;
  auto& ledger = base::Ledger::process();
  const auto before = ledger.snapshot();
  {
    const auto shape = testing::squarings<typename C::Fr>(100).shape();
    const auto key =
        setup<C>(*shape, testing::test_waste<C>(), QapConvention::kCoefficients).value();
    const auto held = ledger.snapshot();
    EXPECT_EQ(held.of(base::MemoryCategory::kOther).used_bytes,
              before.of(base::MemoryCategory::kOther).used_bytes);
    EXPECT_GT(held.of(base::MemoryCategory::kSrs).used_bytes,
              before.of(base::MemoryCategory::kSrs).used_bytes);
  }
  EXPECT_EQ(ledger.snapshot().total.used_bytes, before.total.used_bytes);
}

// More variables than one piece of scalars holds: any seam in a query would break the proof.
TEST(Setup, PiecesOfLargeQueriesJoin) {
  using C = curve::Bn254;
  const auto circuit = testing::squarings<C::Fr>((std::size_t{1} << 17) + 50);
  const auto shape = circuit.shape();
  const auto key = setup<C>(*shape, testing::test_waste<C>(), QapConvention::kCoefficients);
  ASSERT_TRUE(key.ok()) << key.error().message;
  const auto backend = make_cpu_backend<C>();
  const auto proof = prove(*backend, ProveInputs<C>{*key, shape, circuit.assignment()});
  EXPECT_TRUE(proof.ok()) << proof.error().message;
}

TYPED_TEST(SetupTest, RandomSecretsDifferAndWork) {
  using C = TypeParam;
  const auto first = random_toxic_waste<C>().value(), second = random_toxic_waste<C>().value();
  EXPECT_NE(first.alpha, second.alpha);
  EXPECT_NE(first.tau, second.tau);
  for (const auto& secret : {first.alpha, first.beta, first.gamma, first.delta, first.tau}) {
    EXPECT_FALSE(secret.is_zero());
  }
  const auto shape = testing::squarings<typename C::Fr>(2).shape();
  EXPECT_TRUE(setup<C>(*shape, first, QapConvention::kOddCosetLagrange).ok());
}

// Tables of multiples and working memory come out of the budget; refused, nothing stays behind.
TEST(SetupMemory, RefusalIsAnErrorAtAnyPlace) {
  using C = curve::Bn254;
  const auto circuit = testing::mixed<C::Fr>(2000, 3);
  const auto shape = circuit.shape();
  const auto waste = testing::test_waste<C>();
  auto& ledger = base::Ledger::process();
  const std::uint64_t before = ledger.snapshot().total.used_bytes;
  ledger.reset_peaks();
  ASSERT_TRUE(setup<C>(*shape, waste, QapConvention::kCoefficients).ok());
  const std::uint64_t peak = ledger.snapshot().total.peak_bytes - before;
  for (const std::uint64_t percent : {1, 20, 50, 80, 95}) {
    ledger.set_budget(before + peak * percent / 100);
    const auto key = setup<C>(*shape, waste, QapConvention::kCoefficients);
    ledger.set_budget(0);
    ASSERT_FALSE(key.ok()) << percent;
    EXPECT_EQ(key.error().kind, base::ErrorKind::kResourceExhausted);
    EXPECT_EQ(ledger.snapshot().total.used_bytes, before);
  }
}

TEST(SetupMemory, SecretsAreWipedWhenTheyDie) {
  using Waste = ToxicWaste<curve::Bls12_381>;
  alignas(Waste) std::byte storage[sizeof(Waste)];
  auto* const waste = new (storage) Waste(testing::test_waste<curve::Bls12_381>());
  const volatile std::byte* const bytes = storage;
  std::size_t nonzero_before = 0, nonzero_after = 0;
  for (std::size_t i = 0; i < sizeof storage; ++i) nonzero_before += bytes[i] != std::byte{0};
  waste->~Waste();
  for (std::size_t i = 0; i < sizeof storage; ++i) nonzero_after += bytes[i] != std::byte{0};
  EXPECT_GT(nonzero_before, sizeof storage / 2);
  EXPECT_EQ(nonzero_after, 0u);
}

}  // namespace
}  // namespace cuzk::groth16
