// Witness files: real ones, reordered ones, and values that are not values.
#include "formats/snarkjs/wtns.h"

#include <fstream>

#include <gtest/gtest.h>

#include "field/convert.h"
#include "formats/snarkjs/documents.h"
#include "formats/test_support.h"

namespace cuzk::formats {
namespace {

using base::Bytes;
using base::ErrorKind;
using testing::accepted;
using testing::Container;
using testing::refused;
using Bls = curve::Bls12_381;
using Bn = curve::Bn254;

constexpr std::uint32_t kPublic = 2;

class Wtns : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = cuzk::testing::find_data("circom/mul1000-bn128/witness.wtns");
    ASSERT_TRUE(path.has_value()) << "tests/data/circom/mul1000-bn128 belongs to the repository";
    bytes_ = cuzk::testing::read_bytes(*path);
    container_ = Container::parse(bytes_);
    wires_ = base::load_u32_le(container_.section(1).data() + 36);
    folder_ = path->parent_path();
  }
  auto read(const Bytes& bytes) const {
    return read_wtns<Bn>(bytes, "witness.wtns", {"circuit_final.zkey", wires_, kPublic});
  }
  // Adds the modulus to the value of `wire`, which stays the same residue and fits 32 bytes.
  void add_modulus(std::size_t wire) {
    std::uint8_t* value = container_.section(2).data() + 32 * wire;
    auto limbs = field::load_le<4>(value);
    ASSERT_EQ(field::add_carry(limbs, limbs, Bn::Fr::Params::kModulus), 0u);
    field::store_le(limbs, value);
  }

  Bytes bytes_;
  Container container_;
  std::uint32_t wires_ = 0;
  std::filesystem::path folder_;
};

TEST_F(Wtns, PublicWiresAreThePublicValues) {
  const auto assignment = read(bytes_);
  ASSERT_TRUE(accepted(assignment));
  EXPECT_TRUE((*assignment)->inputs[0].is_one());
  EXPECT_EQ((*assignment)->inputs.size() + (*assignment)->aux.size(), wires_);
  const auto text = cuzk::testing::read_bytes(folder_ / "public.json");
  const auto values = parse_public_values<Bn>(text, "public.json");
  ASSERT_TRUE(accepted(values));
  EXPECT_EQ(std::vector<Bn::Fr>((*assignment)->inputs.begin() + 1, (*assignment)->inputs.end()),
            *values);
}

TEST_F(Wtns, ComesBackToTheByte) {
  const auto assignment = read(bytes_);
  ASSERT_TRUE(accepted(assignment));
  EXPECT_EQ(encode_wtns<Bn>(**assignment), bytes_);
  CUZK_DATA_OR_SKIP(other, "circom/mul1000-bls12381/witness.wtns");
  const auto second = open_wtns<Bls>(other, {"key", wires_, kPublic});
  ASSERT_TRUE(accepted(second));
  EXPECT_EQ(encode_wtns<Bls>(**second), cuzk::testing::read_bytes(other));
}

TEST_F(Wtns, BitsBecomeBits) {
  for (std::size_t i = 0; i < 100; ++i) {
    std::uint8_t* value = container_.section(2).data() + 32 * (kPublic + 1 + i);
    std::fill_n(value, 32, 0);
    value[0] = i % 2;
  }
  const auto assignment = read(container_.encode());
  ASSERT_TRUE(accepted(assignment));
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_FALSE((*assignment)->aux.is_scalar(i));
    EXPECT_EQ((*assignment)->aux.bit(i), i % 2 == 1);
  }
  EXPECT_EQ(encode_wtns<Bn>(**assignment), container_.encode());
}

TEST_F(Wtns, SectionsMayBeReversedWithAStrangerBetween) {
  std::reverse(container_.sections.begin(), container_.sections.end());
  container_.sections.insert(container_.sections.begin() + 1, {77, {1, 2, 3}});
  const auto assignment = read(container_.encode());
  ASSERT_TRUE(accepted(assignment));
  EXPECT_EQ(encode_wtns<Bn>(**assignment), bytes_);
}

TEST_F(Wtns, ADoubledOrMissingSectionIsRefused) {
  Container damaged = container_;
  damaged.sections.push_back({2, damaged.section(2)});
  EXPECT_TRUE(refused(read(damaged.encode()), ErrorKind::kMalformed,
                      {"section 2 (values) occurs 2 times"}));
  damaged = container_;
  damaged.sections.push_back({1, damaged.section(1)});
  EXPECT_TRUE(refused(read(damaged.encode()), ErrorKind::kMalformed, {"section 1 (header)"}));
  damaged = container_;
  EXPECT_TRUE(refused(read(damaged.remove(2).encode()), ErrorKind::kMalformed,
                      {"section 2 (values) is missing"}));
}

TEST_F(Wtns, OtherVersionsAreRefusedWithTheirNumber) {
  for (const std::uint32_t version : {1u, 3u}) {
    container_.version = version;
    EXPECT_TRUE(refused(read(container_.encode()), ErrorKind::kUnsupported,
                        {"wtns version " + std::to_string(version), "reads version 2"}));
  }
}

TEST_F(Wtns, AValueAboveTheModulusIsRefusedWithItsWire) {
  add_modulus(1);  // public
  EXPECT_TRUE(refused(read(container_.encode()), ErrorKind::kMalformed,
                      {"witness.wtns: wire 1", "not below the modulus of BN254 Fr"}));
  SetUp();
  add_modulus(700);  // private
  EXPECT_TRUE(
      refused(read(container_.encode()), ErrorKind::kMalformed, {"witness.wtns: wire 700"}));
  SetUp();
  field::store_le(Bn::Fr::Params::kModulus, container_.section(2).data() + 32 * 5);
  EXPECT_TRUE(refused(read(container_.encode()), ErrorKind::kMalformed, {"wire 5"})) << "r itself";
  auto largest = (-Bn::Fr::one()).to_canonical().value;
  field::store_le(largest, container_.section(2).data() + 32 * 5);
  EXPECT_TRUE(accepted(read(container_.encode()))) << "r - 1";
}

TEST_F(Wtns, WireZeroMustBeOne) {
  for (const std::uint8_t value : {0, 2}) {
    container_.section(2)[0] = value;
    EXPECT_TRUE(refused(read(container_.encode()), ErrorKind::kMalformed, {"wire 0 is not 1"}));
  }
}

TEST_F(Wtns, OfAnotherCompilationIsRefusedBeforeItsValues) {
  container_.section(1)[36] = 456 & 0xff;
  container_.section(1)[37] = 456 >> 8;
  container_.section(2).resize(456 * 32);
  std::fill(container_.section(2).begin(), container_.section(2).end(), 0xff);
  const WtnsExpectation expected{"circuit_final.zkey", 935, 2};
  EXPECT_TRUE(refused(read_wtns<Bn>(container_.encode(), "witness.wtns", expected),
                      ErrorKind::kMismatch,
                      {"456 values", "circuit_final.zkey has 935 wires", "another compilation"}));
}

TEST_F(Wtns, OfAnotherCurveIsRefused) {
  EXPECT_TRUE(refused(read_wtns<Bls>(bytes_, "witness.wtns", {"key", wires_, kPublic}),
                      ErrorKind::kMismatch, {"over BN254", "key is over BLS12-381"}));
}

TEST_F(Wtns, LengthsAreHeldAgainstTheHeader) {
  container_.section(2).pop_back();
  EXPECT_TRUE(refused(read(container_.encode()), ErrorKind::kMalformed,
                      {"section 2 (values) has", "expected " + std::to_string(wires_ * 32)}));
  SetUp();
  container_.section(1).push_back(0);
  EXPECT_TRUE(refused(read(container_.encode()), ErrorKind::kMalformed, {"1 bytes too many"}));
  SetUp();
  base::store_u32_le(container_.section(1).data() + 36, 0xffffffff);
  EXPECT_TRUE(refused(read(container_.encode()), ErrorKind::kMalformed, {"4294967295 values"}));
  SetUp();
  base::store_u32_le(container_.section(1).data() + 36, 0);
  container_.section(2).clear();
  EXPECT_TRUE(refused(read(container_.encode()), ErrorKind::kMismatch, {"0 values"}));
}

TEST_F(Wtns, CutOrDamagedHeadsNeverBreakTheReader) {
  testing::expect_every_truncation_refused(bytes_, 300, [this](const Bytes& b) { return read(b); });
  const Bytes head(bytes_.begin(), bytes_.begin() + 200);
  testing::expect_every_truncation_refused(head, 200, [this](const Bytes& b) { return read(b); });
  testing::try_every_flip(bytes_, 0, 128, [this](const Bytes& b) { return read(b); });
}

// A witness of 2^27 + 1 values: its last value lies past the 4 GiB mark. All others are zero, which
// costs neither disk (a sparse file) nor memory (bits).
TEST_F(Wtns, OffsetsAreRightBeyondFourGiB) {
  const testing::TemporaryFolder folder;
  const auto path = folder / "large.wtns";
  const std::uint32_t count = (1u << 27) + 1;
  Bytes head;
  base::store_u32_le(container_.section(1).data() + 36, count);
  Container front{"wtns", 2, {{1, container_.section(1)}}, 2u};
  head = front.encode();
  head.resize(head.size() + 12);
  base::store_u32_le(head.data() + head.size() - 12, 2);
  base::store_u64_le(head.data() + head.size() - 8, std::uint64_t{count} * 32);
  const std::uint64_t size = head.size() + std::uint64_t{count} * 32;
  head.push_back(1);  // wire 0
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(head.data()), static_cast<std::streamsize>(head.size()));
  std::error_code error;
  std::filesystem::resize_file(path, size, error);
  if (error) GTEST_SKIP() << "this file system has no sparse files of 4 GiB";

  const auto file = base::MappedFile::open(path);
  ASSERT_TRUE(accepted(file));
  const auto header = read_wtns_header((*file)->bytes(), "large.wtns");
  ASSERT_TRUE(accepted(header));
  EXPECT_EQ(header->value_count, count);
  EXPECT_EQ(header->values.data() + header->values.size(),
            (*file)->bytes().data() + (*file)->bytes().size());
  // Refused from the header alone: nothing of the 4 GiB is touched.
  EXPECT_TRUE(refused(open_wtns<Bn>(path, {"small.zkey", 935, 2}), ErrorKind::kMismatch,
                      {"134217729 values", "935 wires"}));
}

}  // namespace
}  // namespace cuzk::formats
