// The device's field formulas, run on the host, against field/prime_field.h.
//
// The portable twin of the device code has the same words and carries, so a wrong formula shows
// here, in any build; what only the device's instructions could get wrong does not.
#include "cuda/field/word_field.h"

#include <bit>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/field/samples.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::cuda::field {
namespace {

template <class P>
class WordFieldLaws : public testing::Test {
 protected:
  using Host = cuzk::field::PrimeField<P>;
  using Word = WordField<P>;
  static Word word(const Host& x) { return std::bit_cast<Word>(x); }
  static Host host(const Word& x) { return std::bit_cast<Host>(x); }
};

using AllFields = testing::Types<cuzk::field::bls12_381::FpParams, cuzk::field::bls12_381::FrParams,
                                 cuzk::field::bn254::FpParams, cuzk::field::bn254::FrParams>;
TYPED_TEST_SUITE(WordFieldLaws, AllFields);

TYPED_TEST(WordFieldLaws, AgreesWithTheHostFieldOnAllPairsOfSamples) {
  const auto samples = field_samples<typename TestFixture::Host>(40, 1);
  for (const auto& a : samples) {
    EXPECT_EQ(TestFixture::host(TestFixture::word(a).squared()), a.squared());
    EXPECT_EQ(TestFixture::host(-TestFixture::word(a)), -a);
    for (const auto& b : samples) {
      const auto x = TestFixture::word(a), y = TestFixture::word(b);
      ASSERT_EQ(TestFixture::host(x * y), a * b);
      ASSERT_EQ(TestFixture::host(x + y), a + b);
      ASSERT_EQ(TestFixture::host(x - y), a - b);
    }
  }
}

TYPED_TEST(WordFieldLaws, SumsTwoProductsWithOneReduction) {
  if constexpr (TestFixture::Word::Constants::kSumsTwoProducts) {
    const auto samples = field_samples<typename TestFixture::Host>(12, 2);
    for (const auto& a : samples) {
      for (const auto& b : samples) {
        for (const auto& c : samples) {
          const auto x = TestFixture::word(a), y = TestFixture::word(b), z = TestFixture::word(c);
          ASSERT_EQ(TestFixture::host(TestFixture::Word::sum_of_products(x, y, z, x)),
                    a * b + c * a);
        }
      }
    }
  }
}

TYPED_TEST(WordFieldLaws, SquaresLikeProductsOnManyRandomElements) {
  for (const auto& a : field_samples<typename TestFixture::Host>(20000, 3)) {
    ASSERT_EQ(TestFixture::host(TestFixture::word(a).squared()), a.squared());
  }
}

// x and, where it stays below 2 p, x + p: both stand for the same residue.
template <class Word, class Host>
std::vector<Word> lazy_forms(const Host& x) {
  cuzk::field::Limbs<Host::kLimbCount> raised;
  cuzk::field::add_carry(raised, x.montgomery_limbs(), Host::Params::kModulus);
  return {std::bit_cast<Word>(x), std::bit_cast<Word>(raised)};
}

TYPED_TEST(WordFieldLaws, KeepsLazyValuesBelowTwiceTheModulus) {
  using Host = typename TestFixture::Host;
  using Word = typename TestFixture::Word;
  const auto samples = field_samples<Host>(12, 5);
  const auto expect = [](const Word& lazy, const Host& expected) {
    const Word normal = lazy.normalised();
    ASSERT_EQ(TestFixture::host(normal), expected);
    ASSERT_TRUE(
        cuzk::field::less(TestFixture::host(normal).montgomery_limbs(), Host::Params::kModulus));
  };
  for (const Host& a : samples) {
    for (const Host& b : samples) {
      for (const Word& y : lazy_forms<Word>(b)) {
        expect(Word::called_lazy_product(TestFixture::word(a), y), a * b);
        for (const Word& x : lazy_forms<Word>(a)) {
          expect(Word::lazy_sum(x, y), a + b);
          expect(Word::lazy_difference(x, y), a - b);
        }
      }
    }
  }
}

// Fields with room for 4 p: both operands may be lazy, and differences skip their masks.
TYPED_TEST(WordFieldLaws, MultipliesLazyByLazyWhereThereIsRoom) {
  using Host = typename TestFixture::Host;
  using Word = typename TestFixture::Word;
  if constexpr (Word::Constants::kSumsTwoProducts) {
    const auto expect = [](const Word& lazy, const Host& expected) {
      ASSERT_EQ(TestFixture::host(lazy.normalised()), expected);  // so it was below 2 p
    };
    const auto samples = field_samples<Host>(12, 6);
    for (const Host& a : samples) {
      for (const Word& x : lazy_forms<Word>(a)) {
        expect(x.lazy_squared(), a.squared());
        EXPECT_TRUE(!a.is_zero() || x.may_be_zero());
      }
      expect(TestFixture::word(a).loose_negated(), -a);
      EXPECT_TRUE(Word::loose_difference(TestFixture::word(a), TestFixture::word(a)).may_be_zero());
      for (const Host& b : samples) {
        expect(Word::loose_sum(TestFixture::word(a), TestFixture::word(b)), a + b);
        const Word difference = Word::loose_difference(TestFixture::word(a), TestFixture::word(b));
        if (a == b) continue;  // p itself
        expect(difference, a - b);
        // Wrongly only by the low word: that of 0 or of p.
        const auto low = difference.word[0];
        EXPECT_EQ(difference.may_be_zero(), low == 0 || low == Word::Constants::modulus(0));
        for (const Word& x : lazy_forms<Word>(a)) {
          for (const Word& y : lazy_forms<Word>(b)) expect(x.lazy_times(y), a * b);
        }
      }
    }
  }
}

TYPED_TEST(WordFieldLaws, ConvertsInvertsAndRaises) {
  using Host = typename TestFixture::Host;
  using Word = typename TestFixture::Word;
  EXPECT_EQ(TestFixture::host(Word::one()), Host::one());
  EXPECT_TRUE(Word::zero().inverse().is_zero());
  for (const auto& a : field_samples<Host>(3, 4)) {
    const auto x = TestFixture::word(a);
    EXPECT_EQ(TestFixture::host(x.inverse()), a.inverse());
    EXPECT_EQ(TestFixture::host(x.pow(0x1234567)), a.pow(0x1234567));
    EXPECT_EQ(std::bit_cast<cuzk::field::Limbs<Host::kLimbCount>>(x.from_montgomery()),
              a.to_canonical().value);
    EXPECT_TRUE(x.from_montgomery().to_montgomery() == x);
  }
  EXPECT_EQ(TestFixture::host(Word::from_u32(77)), Host::from_u64(77));
}

}  // namespace
}  // namespace cuzk::cuda::field
