// Every way to add, subtract and multiply gives the limbs of the portable way, in place and not.
//
// Paths are called by name too, as far as the machine has them, and forcing a level is shown to
// work.
#include "field/modular.h"

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "field/samples.h"

namespace cuzk::field {
namespace {

template <class F>
class ModularArithmetic : public ::testing::Test {
 protected:
  static constexpr std::size_t N = F::kLimbCount;
  static constexpr const Modulus<N>& kModulus = F::kModulus;

  std::vector<Limbs<N>> operands() {
    std::vector<Limbs<N>> out;
    for (const F& x : edge_elements<F>()) out.push_back(x.montgomery_limbs());
    SampleGenerator generator(12);
    for (int i = 0; i < 60; ++i) out.push_back(generator.next<F>().montgomery_limbs());
    return out;
  }

  using Fast = void (*)(Limbs<N>&, const Limbs<N>&, const Limbs<N>&, const Modulus<N>&);
  using Portable = Limbs<N> (*)(const Limbs<N>&, const Limbs<N>&, const Modulus<N>&);

  void expect_equal(Fast fast, Portable portable) {
    const auto x = operands();
    for (const auto& a : x) {
      for (const auto& b : x) {
        const Limbs<N> expected = portable(a, b, kModulus);
        Limbs<N> apart, first = a, second = b;
        fast(apart, a, b, kModulus);
        fast(first, first, b, kModulus);
        fast(second, a, second, kModulus);
        ASSERT_EQ(apart, expected);
        ASSERT_EQ(first, expected);
        ASSERT_EQ(second, expected);
        ASSERT_TRUE(less(apart, kModulus.p));
      }
      Limbs<N> all = a;
      fast(all, all, all, kModulus);
      ASSERT_EQ(all, portable(a, a, kModulus));
    }
  }
};
using Fields = ::testing::Types<bls12_381::Fp, bls12_381::Fr, bn254::Fp, bn254::Fr>;
TYPED_TEST_SUITE(ModularArithmetic, Fields);

TYPED_TEST(ModularArithmetic, InUseAgreesWithPortable) {
  constexpr std::size_t N = TypeParam::kLimbCount;
  this->expect_equal(add<N>, add_portable<N>);
  this->expect_equal(sub<N>, sub_portable<N>);
  this->expect_equal(multiply<N>, multiply_portable<N>);
}

#if defined(CUZK_FIELD_X64)
TYPED_TEST(ModularArithmetic, X64AgreesWithPortable) {
  constexpr std::size_t N = TypeParam::kLimbCount;
  this->expect_equal(
      [](auto& out, const auto& a, const auto& b, const auto& m) { x64::add(out, a, b, m); },
      add_portable<N>);
  this->expect_equal(
      [](auto& out, const auto& a, const auto& b, const auto& m) { x64::sub(out, a, b, m); },
      sub_portable<N>);
}

TYPED_TEST(ModularArithmetic, AdxAgreesWithPortable) {
  if (base::machine_cpu_level() < base::CpuLevel::kAdx) GTEST_SKIP() << "needs BMI2 and ADX";
  this->expect_equal([](auto& out, const auto& a, const auto& b,
                        const auto& m) { x64::multiply_adx(out, a, b, m); },
                     multiply_portable<TypeParam::kLimbCount>);
}

TYPED_TEST(ModularArithmetic, BothLevelsCanBeForced) {
  constexpr std::size_t N = TypeParam::kLimbCount;
  const base::CpuLevel before = base::cpu_level();
  for (const auto level : {base::CpuLevel::kPortable, base::CpuLevel::kAdx}) {
    base::force_cpu_level(level);
    this->expect_equal(multiply<N>, multiply_portable<N>);
  }
  base::force_cpu_level(before);
}
#endif

}  // namespace
}  // namespace cuzk::field
