// From a .params file to a proof, and from a file with one wrong bit to none.
#include <gtest/gtest.h>

#include "formats/bellperson/params.h"
#include "formats/test_support.h"
#include "groth16/prove.h"
#include "groth16/test_circuits.h"
#include "groth16/verify.h"

namespace cuzk::formats {
namespace {

using base::Bytes;
using base::ErrorKind;
using testing::accepted;
using testing::file_of;
using testing::refused;
using Bls = curve::Bls12_381;

class SuspectParams : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto circuit = groth16::testing::mixed<Bls::Fr>(50, 9);
    shape_ = circuit.shape();
    assignment_ = circuit.assignment();
    values_ = circuit.public_inputs();
    const auto key = groth16::setup<Bls>(*shape_, groth16::testing::test_waste<Bls>(),
                                         groth16::QapConvention::kCoefficients);
    ASSERT_TRUE(accepted(key));
    const auto keep = [&](base::ByteSpan bytes) {
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
      return base::ok_status();
    };
    ASSERT_TRUE(accepted(write_params(keep, "own.params", **key)));
  }
  base::Result<groth16::Proof<Bls>> prove_with(const LoadedParams& loaded) const {
    const auto backend = groth16::make_cpu_backend<Bls>();
    return groth16::prove<Bls>(*backend, {loaded.key, shape_, assignment_});
  }

  std::shared_ptr<const r1cs::Shape<Bls::Fr>> shape_;
  std::shared_ptr<const r1cs::Assignment<Bls::Fr>> assignment_;
  std::vector<Bls::Fr> values_;
  Bytes bytes_;
};

TEST_F(SuspectParams, UndamagedOnesProve) {
  const auto loaded = read_params(file_of(bytes_, "own.params"));
  ASSERT_TRUE(accepted(loaded));
  const auto proof = prove_with(*loaded);
  ASSERT_TRUE(accepted(proof));
  const auto verdict = groth16::verify<Bls>(loaded->key->vk, values_, *proof);
  ASSERT_TRUE(accepted(verdict));
  EXPECT_TRUE(*verdict);
}

// The first point of each query belongs to a variable that is not zero (the constant, an input, the
// first private value) or to a coefficient of the quotient, so that it counts.
TEST_F(SuspectParams, OneBitInAnyQueryYieldsNoProof) {
  const auto intact = read_params(file_of(bytes_, "own.params"));
  ASSERT_TRUE(accepted(intact));
  ASSERT_EQ(intact->sections.size(), 6u);
  for (std::size_t i = 1; i < intact->sections.size(); ++i) {
    const SectionFacts& section = intact->sections[i];
    SCOPED_TRACE(section.name);
    Bytes damaged = bytes_;
    damaged[section.offset_bytes + 4 + 47] ^= 2;  // behind the count: low byte of x, or of its c1
    const auto suspect = read_params(file_of(damaged, "suspect.params"));
    ASSERT_TRUE(accepted(suspect)) << "by default the points of queries are not looked at";
    EXPECT_TRUE(
        refused(prove_with(*suspect), ErrorKind::kVerificationFailed, {"suspect.params", "key"}));
    EXPECT_TRUE(
        refused(read_params(file_of(damaged, "suspect.params"), {.queries = KeyCheck::kOnCurve}),
                ErrorKind::kMalformed, {"suspect.params", section.name, "point 0"}));
  }
}

}  // namespace
}  // namespace cuzk::formats
