// circom circuits: a real one against its own witness, round trips, and damage.
#include "formats/snarkjs/r1cs_file.h"

#include <gtest/gtest.h>

#include "formats/snarkjs/wtns.h"
#include "formats/test_support.h"
#include "groth16/test_circuits.h"

namespace cuzk::formats {
namespace {

using base::Bytes;
using base::ErrorKind;
using testing::accepted;
using testing::Container;
using testing::refused;
using Bls = curve::Bls12_381;
using Bn = curve::Bn254;

// Offsets inside the header section: width 4, prime 32, then the counts.
constexpr std::size_t kWiresAt = 36, kOutputsAt = 40, kPublicInputsAt = 44;
constexpr std::size_t kPrivateInputsAt = 48, kConstraintsAt = 60;

template <class F>
F evaluate(const r1cs::Shape<F>& shape, const r1cs::SparseMatrix& matrix, std::size_t row,
           const r1cs::Assignment<F>& z) {
  F sum = F::zero();
  for (const r1cs::Term term : matrix.row(row)) {
    const F value = term.column < shape.input_count ? z.inputs[term.column]
                                                    : z.aux.value(term.column - shape.input_count);
    sum += shape.coefficients[term.coefficient] * value;
  }
  return sum;
}

template <class F>
std::size_t broken_rows(const r1cs::Shape<F>& shape, const r1cs::Assignment<F>& z) {
  std::size_t broken = 0;
  for (std::size_t row = 0; row < shape.constraint_count(); ++row) {
    const F product = evaluate(shape, shape.a, row, z) * evaluate(shape, shape.b, row, z);
    broken += !(product == evaluate(shape, shape.c, row, z));
  }
  return broken;
}

template <class C>
void expect_witness_fits(const char* folder) {
  CUZK_DATA_OR_SKIP(circuit_path, std::string(folder) + "/circuit.r1cs");
  const auto file = base::MappedFile::open(circuit_path);
  ASSERT_TRUE(accepted(file));
  const auto header = read_r1cs_header((*file)->bytes(), "circuit.r1cs");
  ASSERT_TRUE(accepted(header));
  EXPECT_EQ(header->curve, kCurveId<C>);
  const auto shape = open_r1cs<C>(circuit_path);
  ASSERT_TRUE(accepted(shape));
  EXPECT_EQ((*shape)->constraint_count(), header->constraint_count);
  EXPECT_EQ((*shape)->input_count, header->public_count() + 1);
  EXPECT_EQ((*shape)->variable_count(), header->wire_count);
  EXPECT_TRUE((*shape)->has_c);
  EXPECT_FALSE((*shape)->has_input_rows);
  const auto witness = open_wtns<C>(circuit_path.parent_path() / "witness.wtns",
                                    {"circuit.r1cs", header->wire_count, header->public_count()});
  ASSERT_TRUE(accepted(witness));
  EXPECT_EQ(broken_rows(**shape, **witness), 0u);
  auto changed = **witness;
  changed.inputs[1] += C::Fr::one();
  EXPECT_GT(broken_rows(**shape, changed), 0u);
}

// circom writes wires in ascending order, which is how rows are kept.
TEST(R1csFile, OfCircomKeepsItsConstraintsToTheByte) {
  CUZK_DATA_OR_SKIP(path, "circom/mul1000-bn128/circuit.r1cs");
  const auto shape = open_r1cs<Bn>(path);
  ASSERT_TRUE(accepted(shape));
  Container theirs = Container::parse(cuzk::testing::read_bytes(path));
  Container ours = Container::parse(encode_r1cs<Bn>(**shape));
  EXPECT_EQ(ours.section(2), theirs.section(2));
}

TEST(R1csFile, IsSatisfiedByItsWitnessOnBothCurves) {
  expect_witness_fits<Bn>("circom/mul1000-bn128");
  expect_witness_fits<Bls>("circom/mul1000-bls12381");
}

template <class C>
void expect_round_trip() {
  const auto shape = groth16::testing::mixed<typename C::Fr>(40, 3).shape();
  const Bytes bytes = encode_r1cs<C>(*shape);
  const auto again = read_r1cs<C>(bytes, "again.r1cs");
  ASSERT_TRUE(accepted(again));
  EXPECT_EQ((*again)->input_count, shape->input_count);
  EXPECT_EQ((*again)->aux_count, shape->aux_count);
  EXPECT_EQ((*again)->a.terms.size(), shape->a.terms.size());
  // What was read has its rows in order, which this circuit did not, and comes back to the byte.
  const Bytes ordered = encode_r1cs<C>(**again);
  const auto third = read_r1cs<C>(ordered, "third.r1cs");
  ASSERT_TRUE(accepted(third));
  EXPECT_EQ(encode_r1cs<C>(**third), ordered);
  EXPECT_EQ(ordered.size(), bytes.size());
  const auto assignment = groth16::testing::mixed<typename C::Fr>(40, 3).assignment();
  EXPECT_EQ(broken_rows(**again, *assignment), 0u);
}

TEST(R1csFile, RoundTripsThroughItsWriter) {
  expect_round_trip<Bn>();
  expect_round_trip<Bls>();
}

TEST(R1csFile, MayBeEmpty) {
  r1cs::Shape<Bn::Fr> shape;
  shape.input_count = 1;
  const auto again = read_r1cs<Bn>(encode_r1cs<Bn>(shape), "empty.r1cs");
  ASSERT_TRUE(accepted(again));
  EXPECT_EQ((*again)->constraint_count(), 0u);
  EXPECT_EQ((*again)->variable_count(), 1u);
}

class DamagedR1cs : public ::testing::Test {
 protected:
  void SetUp() override {
    // (1 + 2 x) * y = 3: constraint 0 of a circuit with wires 1, x, y.
    groth16::testing::Circuit<Bn::Fr> circuit;
    using groth16::testing::kOne;
    const auto one = Bn::Fr::one();
    const auto x = circuit.input(one), y = circuit.aux(one);
    circuit.enforce({{kOne, one}, {x, one.doubled()}}, {{y, one}}, {{kOne, one.doubled() + one}});
    container_ = Container::parse(encode_r1cs<Bn>(*circuit.shape()));
  }
  auto read() const { return read_r1cs<Bn>(container_.encode(), "a.r1cs"); }
  void put_head(std::size_t at, std::uint32_t value) {
    base::store_u32_le(container_.section(1).data() + at, value);
  }
  Container container_;
};

TEST_F(DamagedR1cs, BaseCaseIsAccepted) {
  const auto shape = read();
  ASSERT_TRUE(accepted(shape));
  EXPECT_EQ((*shape)->a.terms.size(), 2u);
}

TEST_F(DamagedR1cs, CustomGatesAreRefusedUnlessTheListIsEmpty) {
  container_.sections.push_back({4, {0, 0, 0, 0}});
  container_.sections.push_back({5, {0, 0, 0, 0}});
  EXPECT_TRUE(accepted(read()));
  container_.section(4)[0] = 2;
  EXPECT_TRUE(refused(read(), ErrorKind::kUnsupported,
                      {"a.r1cs", "custom gates", "2 entries", "Groth16 cannot prove"}));
}

TEST_F(DamagedR1cs, CustomGateSectionsMayHaveNoBytes) {
  container_.sections.push_back({4, {}});
  container_.sections.push_back({5, {}});
  EXPECT_TRUE(accepted(read()));
}

// circom's simplification drops private inputs that no constraint uses, and counts them all the
// same: a template with eleven, ten of them unused, has these counts.
TEST_F(DamagedR1cs, MoreMayBePrivateThanThereAreWires) {
  put_head(kPrivateInputsAt, 11);
  const auto shape = read();
  ASSERT_TRUE(accepted(shape));
  EXPECT_EQ((*shape)->variable_count(), 3u);
  EXPECT_EQ(read_r1cs_header(container_.encode(), "a.r1cs")->private_input_count, 11u);
}

TEST_F(DamagedR1cs, CountsOfWiresMustAddUp) {
  put_head(kWiresAt, 1);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"nWires is 1, expected at least 2"}));
  SetUp();
  put_head(kOutputsAt, 0xffffffff);
  put_head(kPublicInputsAt, 0xffffffff);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"expected at least 8589934591"}));
  SetUp();
  put_head(kWiresAt, 4);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"wire labels", "expected 32 for 4 wires"}));
  SetUp();
  container_.section(3).resize(container_.section(3).size() + 8);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"wire labels) has 32 bytes, expected 24"}));
  SetUp();
  put_head(kConstraintsAt, 0xffffffff);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"4294967295 constraints need at least"}));
  SetUp();
  put_head(kConstraintsAt, 0);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"behind the last of 0 constraints"}));
}

// Constraint section: A has 2 terms (u32 count, then wire and value), so its second wire is at 40.
TEST_F(DamagedR1cs, TermsAreChecked) {
  base::store_u32_le(container_.section(2).data() + 40, 3);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed,
                      {"constraint 0 of 1, A: wire 3, expected below nWires 3"}));
  SetUp();
  field::store_le(Bn::Fr::Params::kModulus, container_.section(2).data() + 44);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"coefficient of wire 1", "modulus"}));
  SetUp();
  base::store_u32_le(container_.section(2).data(), 0xffffffff);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"terms has 4294967295 records"}));
}

TEST_F(DamagedR1cs, ZeroCoefficientsAreDropped) {
  std::fill_n(container_.section(2).begin() + 44, 32, 0);
  const auto shape = read();
  ASSERT_TRUE(accepted(shape));
  EXPECT_EQ((*shape)->a.terms.size(), 1u);
}

// Wire and coefficient of each term of A's only row.
std::vector<std::pair<std::uint32_t, Bn::Fr>> terms_of_a(const r1cs::Shape<Bn::Fr>& shape) {
  std::vector<std::pair<std::uint32_t, Bn::Fr>> terms;
  for (const r1cs::Term term : shape.a.row(0)) {
    terms.emplace_back(term.column, shape.coefficients[term.coefficient]);
  }
  return terms;
}

// Section 2 begins with A: the number of terms, then wire and coefficient of each. Its two terms
// are replaced by those given, the rest of the section stays.
void put_a(Container& container, const std::vector<std::pair<std::uint32_t, Bn::Fr>>& terms) {
  Bytes a;
  Container::append_u32(a, static_cast<std::uint32_t>(terms.size()));
  for (const auto& [wire, coefficient] : terms) {
    Container::append_u32(a, wire);
    a.resize(a.size() + 32);
    field::store_le(coefficient.to_canonical().value, a.data() + a.size() - 32);
  }
  Bytes& section = container.section(2);
  section.erase(section.begin(), section.begin() + 4 + 2 * 36);
  section.insert(section.begin(), a.begin(), a.end());
}

TEST_F(DamagedR1cs, CoefficientsOfAWireThatIsNamedTwiceAddUp) {
  const auto one = Bn::Fr::one(), two = one.doubled(), three = two + one;
  put_a(container_, {{1, two}, {0, one}, {1, three}, {2, -one}, {1, -one}});
  const auto shape = read();
  ASSERT_TRUE(accepted(shape));
  using Terms = std::vector<std::pair<std::uint32_t, Bn::Fr>>;
  EXPECT_EQ(terms_of_a(**shape), (Terms{{0, one}, {1, two.doubled()}, {2, -one}}));
  EXPECT_EQ((*shape)->b.terms.size(), 1u);
  EXPECT_EQ((*shape)->c.terms.size(), 1u);
}

TEST_F(DamagedR1cs, AWireWhoseCoefficientsAddUpToZeroIsDropped) {
  const auto one = Bn::Fr::one();
  put_a(container_, {{1, one}, {1, -one}});
  const auto empty = read();
  ASSERT_TRUE(accepted(empty));
  EXPECT_TRUE(terms_of_a(**empty).empty());
  SetUp();
  // Behind them another term, and the same wire again: only the sum of all counts.
  put_a(container_, {{1, one}, {2, one}, {1, -one}, {0, Bn::Fr::zero()}, {0, one}});
  const auto rest = read();
  ASSERT_TRUE(accepted(rest));
  using Terms = std::vector<std::pair<std::uint32_t, Bn::Fr>>;
  EXPECT_EQ(terms_of_a(**rest), (Terms{{0, one}, {2, one}}));
}

TEST_F(DamagedR1cs, WiresInAnyOrderBecomeAscending) {
  const auto one = Bn::Fr::one();
  put_a(container_, {{2, one.doubled()}, {0, one}});
  const auto shape = read();
  ASSERT_TRUE(accepted(shape));
  using Terms = std::vector<std::pair<std::uint32_t, Bn::Fr>>;
  EXPECT_EQ(terms_of_a(**shape), (Terms{{0, one}, {2, one.doubled()}}));
}

TEST_F(DamagedR1cs, OtherCurveVersionOrKindIsRefused) {
  EXPECT_TRUE(refused(read_r1cs<Bls>(container_.encode(), "a.r1cs"), ErrorKind::kMismatch,
                      {"over BN254, expected BLS12-381"}));
  container_.version = 2;
  EXPECT_TRUE(refused(read(), ErrorKind::kUnsupported, {"r1cs version 2"}));
  container_.magic = "wtns";
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"expected \"r1cs\""}));
}

TEST_F(DamagedR1cs, CutOrFlippedNeverBreaksTheReader) {
  const Bytes bytes = container_.encode();
  const auto parse = [](const Bytes& b) { return read_r1cs<Bn>(b, "a.r1cs"); };
  testing::expect_every_truncation_refused(bytes, bytes.size(), parse);
  testing::try_every_flip(bytes, 0, bytes.size(), parse);
}

}  // namespace
}  // namespace cuzk::formats
