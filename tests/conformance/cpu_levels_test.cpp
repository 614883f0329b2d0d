// The code paths of every CPU level that this machine has give the same key and the same proof.
//
// A machine with IFMA never takes the portable path of its own accord, so the levels are forced one
// after the other. The circuits are large enough for the vector code of sums and transforms.
#include <gtest/gtest.h>

#include "base/cpu.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"

namespace cuzk::conformance {
namespace {

using base::CpuLevel;
using groth16::QapConvention;

// Gives the level in use back when the test ends.
class LevelGuard {
 public:
  LevelGuard() : before_(base::cpu_level()) {}
  LevelGuard(const LevelGuard&) = delete;
  LevelGuard& operator=(const LevelGuard&) = delete;
  ~LevelGuard() { base::force_cpu_level(before_); }

 private:
  CpuLevel before_;
};

template <class C>
class CpuLevels : public ::testing::Test {};
using Curves = ::testing::Types<curve::Bls12_381, curve::Bn254>;
TYPED_TEST_SUITE(CpuLevels, Curves);

template <class C>
groth16::Proof<C> prove_at(CpuLevel level, const groth16::testing::Circuit<typename C::Fr>& circuit,
                           QapConvention convention, groth16::VerifyingKey<C>& vk) {
  base::force_cpu_level(level);
  EXPECT_EQ(base::cpu_level(), level);
  const auto shape = circuit.shape();
  const auto key = groth16::setup<C>(*shape, groth16::testing::test_waste<C>(), convention);
  if (!key.ok()) {
    ADD_FAILURE() << key.error().message;
    return {};
  }
  vk = (*key)->vk;
  const auto backend = groth16::make_cpu_backend<C>();
  const auto proof = groth16::prove_with_blinding<C>(*backend, {*key, shape, circuit.assignment()},
                                                     groth16::testing::test_blinding<C>());
  if (!proof.ok()) {
    ADD_FAILURE() << proof.error().message;
    return {};
  }
  return *proof;
}

TYPED_TEST(CpuLevels, GiveTheSameKeyAndProof) {
  using C = TypeParam;
  using Fr = typename C::Fr;
  if (base::machine_cpu_level() == CpuLevel::kPortable) {
    GTEST_SKIP() << "this machine has the portable level only";
  }
  const LevelGuard guard;
  const std::vector<groth16::testing::Circuit<Fr>> circuits = {
      groth16::testing::squarings<Fr>(3000), groth16::testing::mixed<Fr>(400, 7)};
  for (const auto& circuit : circuits) {
    for (const auto convention : {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange}) {
      groth16::VerifyingKey<C> expected_vk;
      const auto expected = prove_at<C>(CpuLevel::kPortable, circuit, convention, expected_vk);
      for (const CpuLevel level : {CpuLevel::kAdx, CpuLevel::kIfma}) {
        if (level > base::machine_cpu_level()) continue;
        SCOPED_TRACE(base::to_string(level));
        groth16::VerifyingKey<C> vk;
        EXPECT_EQ(prove_at<C>(level, circuit, convention, vk), expected);
        EXPECT_EQ(vk, expected_vk);
      }
    }
  }
}

}  // namespace
}  // namespace cuzk::conformance
