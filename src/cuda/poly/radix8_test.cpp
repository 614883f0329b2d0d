// Transforms of eight values against their definition, in the words that a device uses.
//
// Inputs are lazy (below twice the modulus) at the borders, as a pass leaves them between rounds.
#include "cuda/poly/radix8.h"

#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/field/samples.h"
#include "cuda/field/word_field.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::cuda::poly {
namespace {

template <class F>
class RadixEight : public testing::Test {
 public:
  using T = field::WordField<typename F::Params>;

  static F root() {
    F w = F::two_adic_root();
    for (std::size_t i = 3; i < F::kTwoAdicity; ++i) w = w.squared();
    return w;
  }
  static T word(const F& x) { return std::bit_cast<T>(x); }
  static F host(const T& x) { return std::bit_cast<F>(x.normalised()); }
  static int reversed(int t) { return (t & 1) << 2 | (t & 2) | t >> 2; }
};
using Scalars = testing::Types<cuzk::field::bls12_381::Fr, cuzk::field::bn254::Fr>;
TYPED_TEST_SUITE(RadixEight, Scalars);

TYPED_TEST(RadixEight, ConstantsGiveTheRootBack) {
  using F = TypeParam;
  using Self = RadixEight<F>;
  const F w = Self::root();
  const auto roots = EighthRoots<typename Self::T>::of(Self::word(w));
  EXPECT_EQ(Self::host(roots.i), w * w);
  EXPECT_EQ(Self::host(roots.c) + Self::host(roots.s), w);
  EXPECT_EQ(Self::host(roots.s) - Self::host(roots.c), w * w * w);
}

TYPED_TEST(RadixEight, EqualsTheDefinitionBothWays) {
  using F = TypeParam;
  using Self = RadixEight<F>;
  using T = typename Self::T;
  for (const F& w : {Self::root(), Self::root().inverse()}) {
    const auto roots = EighthRoots<T>::of(Self::word(w));
    const std::vector<F> samples = cuzk::cuda::field::field_samples<F>(40, 4);
    for (std::size_t first = 0; first + 8 <= samples.size(); ++first) {
      T to[8], from[8];
      for (int j = 0; j < 8; ++j) {
        to[j] = Self::word(samples[first + j]);
        from[Self::reversed(j)] = to[j];
      }
      eight_to_reversed(to, roots);
      eight_from_reversed(from, roots);
      for (int f = 0; f < 8; ++f) {
        F sum = F::zero();
        for (int j = 0; j < 8; ++j) sum += samples[first + j] * w.pow(std::uint64_t(j * f % 8));
        ASSERT_EQ(Self::host(to[Self::reversed(f)]), sum) << f;
        ASSERT_EQ(Self::host(from[f]), sum) << f;
      }
    }
  }
}

// Twice in a row: what one round leaves, not normalised, is what the next one takes.
TYPED_TEST(RadixEight, TakesWhatItLeaves) {
  using F = TypeParam;
  using Self = RadixEight<F>;
  using T = typename Self::T;
  const auto roots = EighthRoots<T>::of(Self::word(Self::root()));
  const auto back = EighthRoots<T>::of(Self::word(Self::root().inverse()));
  const std::vector<F> samples = cuzk::cuda::field::field_samples<F>(20, 5);
  for (std::size_t first = 0; first + 8 <= samples.size(); ++first) {
    T v[8];
    for (int j = 0; j < 8; ++j) v[j] = Self::word(samples[first + j]);
    eight_to_reversed(v, roots);
    eight_from_reversed(v, back);
    for (int j = 0; j < 8; ++j) {
      ASSERT_EQ(Self::host(v[j]), samples[first + j] * F::from_u64(8));
    }
  }
}

}  // namespace
}  // namespace cuzk::cuda::poly
