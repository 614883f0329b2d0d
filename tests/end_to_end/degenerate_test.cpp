// Circuits at the edge of what is a circuit, through files and the command: r1cs and witness are
// written, a key is made, a proof is made and verified, and snarkjs takes it where it is installed.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "field/convert.h"
#include "formats/snarkjs/r1cs_file.h"
#include "formats/snarkjs/wtns.h"
#include "tests/conformance/cases.h"
#include "tests/end_to_end/command.h"

namespace cuzk::testing {
namespace {

using ::testing::HasSubstr;

template <class C>
class DegenerateCircuit : public ::testing::Test {
 protected:
  using Fr = typename C::Fr;
  using Circuit = groth16::testing::Circuit<Fr>;

  // Writes the circuit and makes its key.
  CommandResult set_up(const Circuit& circuit) const {
    EXPECT_TRUE(base::write_file(r1cs(), formats::encode_r1cs<C>(*circuit.shape())).ok());
    return run_cuzk({"setup", "--r1cs", r1cs(), "--zkey", zkey(), "--vkey", vkey(), "--force"});
  }
  CommandResult prove(const Circuit& circuit) const {
    EXPECT_TRUE(base::write_file(witness(), formats::encode_wtns<C>(*circuit.assignment())).ok());
    return run_cuzk({"prove", "--zkey", zkey(), "--witness", witness(), "--proof", proof(),
                     "--public", values(), "--check-key", "subgroup"});
  }
  CommandResult check(const std::string& flag, const std::string& circuit) const {
    return run_cuzk({"check", flag, circuit, "--witness", witness()});
  }
  void expect_proves(const Circuit& circuit, const nlohmann::json& public_values) const {
    const CommandResult proved = prove(circuit);
    ASSERT_EQ(proved.exit_code, 0) << proved.err;
    EXPECT_EQ(nlohmann::json::parse(read_text(values())), public_values);
    EXPECT_EQ(check("--r1cs", r1cs()).exit_code, 0);
    EXPECT_EQ(check("--zkey", zkey()).exit_code, 0);
    const CommandResult verdict =
        run_cuzk({"verify", "--vkey", vkey(), "--public", values(), "--proof", proof()});
    EXPECT_EQ(verdict.exit_code, 0) << verdict.out << verdict.err;
  }
  // Nothing to say where snarkjs is not installed.
  void expect_snarkjs_agrees() const {
    const auto snarkjs = find_snarkjs();
    if (!snarkjs || run_program("node", {"--version"}).exit_code != 0) return;
    const CommandResult verdict =
        run_program("node", {*snarkjs, "groth16", "verify", vkey(), values(), proof()});
    EXPECT_EQ(verdict.exit_code, 0) << verdict.out << verdict.err;
  }

  std::string r1cs() const { return scratch_.file("circuit.r1cs"); }
  std::string zkey() const { return scratch_.file("circuit.zkey"); }
  std::string vkey() const { return scratch_.file("verification_key.json"); }
  std::string witness() const { return scratch_.file("witness.wtns"); }
  std::string proof() const { return scratch_.file("proof.json"); }
  std::string values() const { return scratch_.file("public.json"); }
  TemporaryFolder scratch_;
};

using Curves = ::testing::Types<curve::Bn254, curve::Bls12_381>;
TYPED_TEST_SUITE(DegenerateCircuit, Curves);

TYPED_TEST(DegenerateCircuit, MayHaveNoPrivateWire) {
  using Fr = typename TestFixture::Fr;
  const auto circuit = conformance::all_public<Fr>();
  ASSERT_EQ(this->set_up(circuit).exit_code, 0);
  this->expect_proves(circuit, {"52"});
  this->expect_snarkjs_agrees();
}

TYPED_TEST(DegenerateCircuit, MayHaveNoConstraint) {
  using Fr = typename TestFixture::Fr;
  const auto circuit = conformance::no_constraints<Fr>();
  const CommandResult made = this->set_up(circuit);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  nlohmann::json expected = nlohmann::json::array();
  for (const Fr& value : circuit.public_inputs()) {
    const auto bytes = field::to_bytes_be(value);
    ASSERT_TRUE(std::all_of(bytes.begin(), bytes.end() - 1, [](auto byte) { return byte == 0; }));
    expected.push_back(std::to_string(bytes.back()));
  }
  this->expect_proves(circuit, expected);
  this->expect_snarkjs_agrees();
}

TYPED_TEST(DegenerateCircuit, MayHaveNothingPublicAndTwoWitnesses) {
  using Fr = typename TestFixture::Fr;
  ASSERT_EQ(this->set_up(conformance::two_roots<Fr>(15)).exit_code, 0);
  for (const std::uint64_t root : {15, 16}) {
    this->expect_proves(conformance::two_roots<Fr>(root), nlohmann::json::array());
    this->expect_snarkjs_agrees();
    fs::remove(this->proof());
    fs::remove(this->values());
  }
  const CommandResult bad = this->prove(conformance::two_roots<Fr>(17));
  expect_one_sentence(bad);
  EXPECT_FALSE(fs::exists(this->proof()));
  EXPECT_FALSE(fs::exists(this->values()));
  EXPECT_EQ(this->check("--r1cs", this->r1cs()).exit_code, 1);
  EXPECT_EQ(this->check("--zkey", this->zkey()).exit_code, 2);
}

}  // namespace
}  // namespace cuzk::testing
