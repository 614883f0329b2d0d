// Prime fields against a slow twin that knows nothing of Montgomery form, and batch inversion.
//
// The twin adds and doubles plain integers. Laws alone would hold in a field with another modulus.
#include "field/prime_field.h"

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "field/samples.h"

namespace cuzk::field {
namespace {

// (a + b) mod p and (a b) mod p on plain integers, by addition and doubling alone.
template <class F>
struct SlowTwin {
  using Integer = Limbs<F::kLimbCount>;
  static Integer add(const Integer& a, const Integer& b) {
    Integer sum, reduced;
    const Limb carry = add_carry(sum, a, b);
    const Limb borrow = sub_borrow(reduced, sum, F::Params::kModulus);
    return carry != 0 || borrow == 0 ? reduced : sum;
  }
  static Integer multiply(const Integer& a, const Integer& b) {
    Integer out;
    for (std::size_t i = Integer::kBitCount; i > 0; --i) {
      out = add(out, out);
      if (b.bit(i - 1)) out = add(out, a);
    }
    return out;
  }
};

template <class F>
class PrimeFieldTwin : public ::testing::Test {
 protected:
  std::vector<F> elements() {
    auto out = edge_elements<F>();
    SampleGenerator generator(5);
    for (int i = 0; i < 20; ++i) out.push_back(generator.next<F>());
    return out;
  }
};
using Fields = ::testing::Types<bls12_381::Fp, bls12_381::Fr, bn254::Fp, bn254::Fr>;
TYPED_TEST_SUITE(PrimeFieldTwin, Fields);

TYPED_TEST(PrimeFieldTwin, SumsAndProductsAreThoseOfIntegers) {
  using Slow = SlowTwin<TypeParam>;
  for (const auto& a : this->elements()) {
    for (const auto& b : this->elements()) {
      const auto x = a.to_canonical().value, y = b.to_canonical().value;
      ASSERT_EQ((a + b).to_canonical().value, Slow::add(x, y));
      ASSERT_EQ((a * b).to_canonical().value, Slow::multiply(x, y));
      ASSERT_EQ(a - b + b, a);
    }
  }
}

TYPED_TEST(PrimeFieldTwin, ResultsAreFullyReduced) {
  const auto& p = TypeParam::Params::kModulus;
  for (const auto& a : this->elements()) {
    for (const auto& b : this->elements()) {
      ASSERT_TRUE(less((a + b).montgomery_limbs(), p));
      ASSERT_TRUE(less((a - b).montgomery_limbs(), p));
      ASSERT_TRUE(less((a * b).montgomery_limbs(), p));
    }
    ASSERT_TRUE(less((-a).montgomery_limbs(), p));
    ASSERT_TRUE(less(a.squared().montgomery_limbs(), p));
    ASSERT_TRUE(less(a.inverse().montgomery_limbs(), p));
  }
}

TYPED_TEST(PrimeFieldTwin, InverseAgreesWithFermat) {
  for (const auto& a : this->elements()) {
    EXPECT_EQ(a.inverse(), a.pow(TypeParam::Constants::modulus_minus(2)));
  }
}

TYPED_TEST(PrimeFieldTwin, CanonicalFormRoundTripsAndRefusesTheModulus) {
  using F = TypeParam;
  using Canonical = cuzk::field::Canonical<typename F::Params>;
  for (const auto& a : this->elements()) {
    EXPECT_EQ(F::from_canonical(a.to_canonical()), a);
    EXPECT_TRUE(less(a.to_canonical().value, F::Params::kModulus));
  }
  EXPECT_FALSE(Canonical::from_limbs(F::Params::kModulus).has_value());
  EXPECT_TRUE(Canonical::from_limbs(F::Constants::modulus_minus(1)).has_value());
  Limbs<F::kLimbCount> ones;
  for (auto& limb : ones.limb) limb = ~Limb{0};
  EXPECT_FALSE(Canonical::from_limbs(ones).has_value());
}

TYPED_TEST(PrimeFieldTwin, WorksAtCompileTime) {
  using F = TypeParam;
  constexpr F three = F::from_u64(3), third = three.inverse();
  static_assert(three * third == F::one());
  static_assert((three - F::from_u64(4)) == -F::one());
  // the same at run time, where faster paths are taken
  EXPECT_EQ(F::from_u64(3).inverse(), third);
}

TYPED_TEST(PrimeFieldTwin, BatchInverseIsInverseOfEach) {
  using F = TypeParam;
  for (const std::size_t size : {0, 1, 2, 3, 50}) {
    auto values = this->elements();
    values.resize(size);
    const auto before = values;
    std::vector<F> scratch(size);
    batch_inverse<F>(values, scratch);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(values[i], before[i].inverse());
  }
}

}  // namespace
}  // namespace cuzk::field
