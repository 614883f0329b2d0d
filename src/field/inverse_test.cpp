// Division steps against the definition q x = k, for the curves' moduli and for awkward ones.
//
// Small moduli, composite ones too, are searched exhaustively: they reach the signs and ends of the
// loop that random large values never meet.
#include "field/inverse.h"

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "field/samples.h"

namespace cuzk::field {
namespace {

template <class F>
class Division : public ::testing::Test {};
using Fields = ::testing::Types<bls12_381::Fp, bls12_381::Fr, bn254::Fp, bn254::Fr>;
TYPED_TEST_SUITE(Division, Fields);

// As Montgomery products: divide(k, x) * x = k * 1 with one R on each side.
TYPED_TEST(Division, QuotientTimesDivisorIsTheDividend) {
  using F = TypeParam;
  constexpr std::size_t N = F::kLimbCount;
  auto x = edge_elements<F>();
  SampleGenerator generator(15);
  for (int i = 0; i < 300; ++i) x.push_back(generator.next<F>());
  // Small values, powers of two and values a few bits long make f and g meet early or late.
  for (std::size_t i = 0; i + 1 < F::kBitCount; ++i) {
    Limbs<N> power;
    power[i / 64] = Limb{1} << i % 64;
    x.push_back(F::from_montgomery(power));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const F& k = x[(i * 7 + 3) % x.size()];
    const auto q =
        DivisionSteps<N>::divide(k.montgomery_limbs(), x[i].montgomery_limbs(), F::kModulus);
    ASSERT_TRUE(less(q, F::Params::kModulus));
    if (x[i].is_zero()) {
      EXPECT_TRUE(q == Limbs<N>{}) << i;
      continue;
    }
    const F product = F::from_montgomery(q) * x[i];
    const F expected = k * F::from_montgomery(Limbs<N>{{1}});
    EXPECT_EQ(product, expected) << i;
  }
}

// Every unit modulo a small odd modulus, primes and not, by exhaustion.
TEST(DivisionBySmallModuli, FindsEveryInverse) {
  for (const Limb p : {3ULL, 5ULL, 9ULL, 15ULL, 101ULL, 255ULL}) {
    Limb inverse = p * 3 ^ 2;
    for (int i = 0; i < 5; ++i) inverse *= 2 - p * inverse;
    const Modulus<4> m = {{{p}}, ~inverse + 1};
    for (Limb x = 1; x < p; ++x) {
      Limb a = x, b = p;
      while (b != 0) {
        const Limb r = a % b;
        a = b;
        b = r;
      }
      if (a != 1) continue;
      const auto q = DivisionSteps<4>::divide(Limbs<4>{{1}}, Limbs<4>{{x}}, m);
      EXPECT_EQ(q[0] * x % p, 1u) << x << " mod " << p;
      EXPECT_LT(q[0], p);
    }
  }
}

}  // namespace
}  // namespace cuzk::field
