// zkey files: real ones of both curves, taken apart and written again; damage of every kind.
#include "formats/snarkjs/zkey.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/snarkjs/documents.h"
#include "formats/test_support.h"

namespace cuzk::formats {
namespace {

using base::Bytes;
using base::ErrorKind;
using testing::accepted;
using testing::Container;
using testing::file_of;
using testing::refused;
using Bls = curve::Bls12_381;
using Bn = curve::Bn254;

constexpr std::uint32_t kAllSections[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

// --- real keys ---

template <class C>
void expect_real_key(const char* folder) {
  CUZK_DATA_OR_SKIP(path, std::string(folder) + "/circuit_final.zkey");
  const auto loaded = open_zkey<C>(path, {.queries = KeyCheck::kOnCurve});
  ASSERT_TRUE(accepted(loaded));
  const auto& key = *loaded->key;
  const auto& shape = *loaded->shape;
  EXPECT_EQ(key.convention, groth16::QapConvention::kOddCosetLagrange);
  EXPECT_FALSE(key.has_dense_queries);
  EXPECT_EQ(key.a.size(), shape.variable_count());
  EXPECT_EQ(key.h.size(), std::size_t{1} << key.domain_log2);
  EXPECT_FALSE(shape.has_c);
  EXPECT_TRUE(shape.has_input_rows);
  EXPECT_EQ(shape.a.terms.size() + shape.b.terms.size(), loaded->header.coefficient_count);

  // The verifying key of the zkey is the one that snarkjs exported from it.
  const auto text = cuzk::testing::read_bytes(path.parent_path() / "verification_key.json");
  EXPECT_EQ(testing::bytes_of(encode_verification_key(key.vk)), text);

  // Written again, every section but the ceremony's comes out to the byte.
  const testing::TemporaryFolder temporary;
  ASSERT_TRUE(accepted(write_zkey(temporary / "again.zkey", key, shape)));
  Container original = Container::parse(cuzk::testing::read_bytes(path));
  Container again = Container::parse(cuzk::testing::read_bytes(temporary / "again.zkey"));
  for (const std::uint32_t id : kAllSections) {
    EXPECT_EQ(again.section(id), original.section(id)) << folder << " section " << id;
  }
  EXPECT_EQ(again.section(10), Bytes(68, 0));
}

TEST(Zkey, OfSnarkjsIsRewrittenToTheByte) {
  expect_real_key<Bn>("circom/mul1000-bn128");
  expect_real_key<Bls>("circom/mul1000-bls12381");
}

TEST(Zkey, OfADeployedCircuitIsRewrittenToTheByte) {
  expect_real_key<Bn>("circom/unirep-epochKeyLite");
}

TEST(Zkey, OfALargerDeployedCircuitIsRewrittenToTheByte) {
  expect_real_key<Bn>("circom/unirep-signup");
}

TEST(Zkey, OfRapidsnarkIsRewrittenToTheByte) { expect_real_key<Bn>("circom/rapidsnark"); }

TEST(Zkey, OfPlonkIsRefusedInOneSentence) {
  CUZK_DATA_OR_SKIP(path, "circom/refuse/plonk.zkey");
  EXPECT_TRUE(refused(open_zkey<Bn>(path), ErrorKind::kUnsupported,
                      {"plonk.zkey: this is a key of the PLONK protocol", "only Groth16"}));
}

// --- one small key, changed ---

class DamagedZkey : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = cuzk::testing::find_data("circom/mul1000-bn128/circuit_final.zkey");
    ASSERT_TRUE(path.has_value()) << "tests/data/circom/mul1000-bn128 belongs to the repository";
    bytes_ = cuzk::testing::read_bytes(*path);
    container_ = Container::parse(bytes_);
    const auto header = read_zkey_header(bytes_, "a.zkey");
    ASSERT_TRUE(accepted(header));
    header_ = *header;
  }
  static base::Result<LoadedZkey<Bn>> parse(Bytes bytes, KeyCheckOptions options = {}) {
    return read_zkey<Bn>(file_of(std::move(bytes), "a.zkey"), options);
  }
  auto read(KeyCheckOptions options = {}) const { return parse(container_.encode(), options); }
  // Offsets in section 2: widths and primes take 72 bytes.
  static constexpr std::size_t kVarsAt = 72, kPublicAt = 76, kDomainAt = 80, kPointsAt = 84;
  void put_head(std::size_t at, std::uint32_t value) {
    base::store_u32_le(container_.section(2).data() + at, value);
  }

  Bytes bytes_;
  Container container_;
  ZkeyHeader header_;
};

TEST_F(DamagedZkey, HeaderTellsCurveAndCounts) {
  EXPECT_EQ(header_.curve, CurveId::kBn254);
  EXPECT_EQ(header_.public_count, 2u);
  EXPECT_EQ(header_.domain_log2, 10u);
  EXPECT_TRUE(header_.has_contributions_section);
  EXPECT_EQ(header_.sections.size(), 10u);
  std::uint64_t total = 12;
  for (const SectionFacts& section : header_.sections) {
    EXPECT_EQ(section.offset_bytes, total + 12) << section.name;
    total += 12 + section.size_bytes;
  }
  EXPECT_EQ(total, bytes_.size());
}

TEST_F(DamagedZkey, SectionsMayBeReversedWithAStrangerBetween) {
  std::reverse(container_.sections.begin(), container_.sections.end());
  container_.sections.insert(container_.sections.begin() + 3, {77, Bytes(100, 5)});
  const auto loaded = read();
  ASSERT_TRUE(accepted(loaded));
  const auto original = parse(bytes_);
  EXPECT_EQ(loaded->key->vk, original->key->vk);
  EXPECT_EQ(loaded->key->h.at(5), original->key->h.at(5));
}

TEST_F(DamagedZkey, ContributionsMayBeMissing) {
  container_.remove(10);
  const auto loaded = read();
  ASSERT_TRUE(accepted(loaded));
  EXPECT_FALSE(loaded->header.has_contributions_section);
  ASSERT_EQ(loaded->warnings.size(), 1u);
  EXPECT_NE(loaded->warnings[0].find("no contribution"), std::string::npos);
}

TEST_F(DamagedZkey, EveryOtherSectionIsMissedByName) {
  const char* names[] = {"protocol",  "header",    "IC points", "coefficients", "A points",
                         "B1 points", "B2 points", "L points",  "H points"};
  for (const std::uint32_t id : kAllSections) {
    Container damaged = container_;
    damaged.remove(id);
    EXPECT_TRUE(refused(parse(damaged.encode()), ErrorKind::kMalformed,
                        {"a.zkey", "section " + std::to_string(id), names[id - 1], "is missing"}));
    damaged = container_;
    damaged.sections.push_back({id, damaged.section(id)});
    EXPECT_TRUE(refused(parse(damaged.encode()), ErrorKind::kMalformed,
                        {"section " + std::to_string(id), "occurs 2 times"}));
  }
}

TEST_F(DamagedZkey, EverySectionHasTheLengthThatTheHeaderSays) {
  for (const std::uint32_t id : {3u, 5u, 6u, 7u, 8u, 9u}) {
    Container damaged = container_;
    damaged.section(id).pop_back();
    EXPECT_TRUE(refused(parse(damaged.encode()), ErrorKind::kMalformed,
                        {"section " + std::to_string(id), "bytes, expected"}));
    damaged = container_;
    damaged.section(id).resize(damaged.section(id).size() + 64);
    EXPECT_FALSE(parse(damaged.encode()).ok()) << id;
  }
  Container damaged = container_;
  damaged.section(9).resize(damaged.section(9).size() - 64);
  EXPECT_TRUE(refused(parse(damaged.encode()), ErrorKind::kMalformed,
                      {"section 9 (H points) has 65472 bytes, expected 65536", "1024 records"}));
  for (const std::uint32_t id : {1u, 2u}) {
    damaged = container_;
    damaged.section(id).push_back(0);
    EXPECT_TRUE(refused(parse(damaged.encode()), ErrorKind::kMalformed, {"1 bytes too many"}));
  }
}

TEST_F(DamagedZkey, HeaderNumbersAreHeldAgainstTheSections) {
  put_head(kVarsAt, header_.wire_count + 1);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"section 5 (A points)"}));
  SetUp();
  put_head(kVarsAt, 2);
  EXPECT_TRUE(
      refused(read(), ErrorKind::kMalformed, {"nVars is 2, expected at least nPublic + 1 = 3"}));
  SetUp();
  put_head(kPublicAt, 3);
  EXPECT_TRUE(
      refused(read(), ErrorKind::kMalformed, {"section 3 (IC points) has 192", "expected 256"}));
  SetUp();
  put_head(kPublicAt, 0xffffffff);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"nPublic + 1 = 4294967296"}));
  SetUp();
  put_head(kDomainAt, 512);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"section 9 (H points)", "512 records"}));
  for (const std::uint32_t size : {0u, 1023u, 1025u, 0xffffffffu}) {
    put_head(kDomainAt, size);
    EXPECT_TRUE(refused(read(), ErrorKind::kMalformed,
                        {"domain size is " + std::to_string(size), "power of two"}));
  }
  put_head(kDomainAt, 1u << 28);
  EXPECT_TRUE(refused(read(), ErrorKind::kUnsupported, {"domain size is 2^28", "2^27"}));
}

TEST_F(DamagedZkey, OtherProtocolsCurvesAndVersionsAreNamed) {
  const std::pair<std::uint32_t, const char*> protocols[] = {
      {2, "PLONK"}, {10, "FFLONK"}, {3, "unknown protocol 3"}, {0, "unknown protocol 0"}};
  for (const auto& [number, name] : protocols) {
    base::store_u32_le(container_.section(1).data(), number);
    EXPECT_TRUE(refused(read(), ErrorKind::kUnsupported, {name, "only Groth16"}));
  }
  SetUp();
  EXPECT_TRUE(refused(read_zkey<Bls>(file_of(bytes_, "a.zkey")), ErrorKind::kMismatch,
                      {"over BN254, expected BLS12-381"}));
  container_.version = 3;
  EXPECT_TRUE(refused(read(), ErrorKind::kUnsupported, {"zkey version 3"}));
  SetUp();
  container_.section(2)[4] ^= 1;
  EXPECT_TRUE(refused(read(), ErrorKind::kUnsupported, {"base field's prime is 0x30644e72"}));
}

// Section 4: u32 count; records of u32 matrix, u32 row, u32 wire, 32 bytes.
TEST_F(DamagedZkey, CoefficientsAreChecked) {
  std::uint8_t* record = container_.section(4).data() + 4 + 7 * 44;
  base::store_u32_le(record, 2);
  EXPECT_TRUE(
      refused(read(), ErrorKind::kMalformed,
              {"section 4 (coefficients): record 7 of", "matrix 2, expected 0 (A) or 1 (B)"}));
  base::store_u32_le(record, 0);
  base::store_u32_le(record + 4, 1024);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"row 1024", "domain size 1024"}));
  base::store_u32_le(record + 4, 0);
  base::store_u32_le(record + 8, header_.wire_count);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed,
                      {"wire " + std::to_string(header_.wire_count), "below nVars"}));
  base::store_u32_le(record + 8, 0);
  field::store_le(Bn::Fr::Params::kModulus, record + 12);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"record 7", "not below the modulus"}));
  base::store_u32_le(container_.section(4).data(), 0xffffffff);
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"4294967295 coefficients need"}));
}

TEST_F(DamagedZkey, CoefficientsMayComeInAnyOrder) {
  Bytes& section = container_.section(4);
  const std::size_t count = base::load_u32_le(section.data());
  Bytes reversed(section.begin(), section.begin() + 4);
  for (std::size_t i = count; i > 0; --i) {
    const auto begin = section.begin() + static_cast<std::ptrdiff_t>(4 + (i - 1) * 44);
    reversed.insert(reversed.end(), begin, begin + 44);
  }
  section = reversed;
  const auto shuffled = read();
  const auto original = parse(bytes_);
  ASSERT_TRUE(accepted(shuffled));
  EXPECT_EQ(shuffled->shape->a.row_begin, original->shape->a.row_begin);
  EXPECT_EQ(shuffled->shape->b.row_begin, original->shape->b.row_begin);
  // Each row has the same terms; their order within it is that of the file.
  const auto sorted_row = [](const auto& loaded, const auto& matrix, std::size_t row) {
    std::vector<std::string> out;
    for (const r1cs::Term& term : matrix.row(row)) {
      out.push_back(std::to_string(term.column) + " " +
                    ::testing::PrintToString(loaded->shape->coefficients[term.coefficient]));
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  for (std::size_t row = 0; row + 1 < original->shape->a.row_begin.size(); ++row) {
    ASSERT_EQ(sorted_row(shuffled, shuffled->shape->a, row),
              sorted_row(original, original->shape->a, row));
    ASSERT_EQ(sorted_row(shuffled, shuffled->shape->b, row),
              sorted_row(original, original->shape->b, row));
  }
}

TEST_F(DamagedZkey, ZeroCoefficientsAreNotKept) {
  std::fill_n(container_.section(4).begin() + 4 + 12, 32, 0);
  const auto loaded = read();
  ASSERT_TRUE(accepted(loaded));
  EXPECT_EQ(loaded->shape->a.terms.size() + loaded->shape->b.terms.size() + 1,
            header_.coefficient_count);
}

TEST_F(DamagedZkey, PointsOfTheVerifyingKeyAreChecked) {
  const struct {
    std::size_t offset;
    const char* field;
  } points[] = {{0, "alpha_g1"},   {64, "beta_g1"},   {128, "beta_g2"},
                {256, "gamma_g2"}, {384, "delta_g1"}, {448, "delta_g2"}};
  for (const auto& [offset, field] : points) {
    Container damaged = container_;
    damaged.section(2)[kPointsAt + offset] ^= 1;
    EXPECT_TRUE(refused(parse(damaged.encode()), ErrorKind::kMalformed, {field, "not a point"}));
    damaged = container_;
    std::fill_n(damaged.section(2).begin() + static_cast<std::ptrdiff_t>(kPointsAt + offset),
                std::string_view(field).ends_with("g1") ? 64 : 128, 0);
    EXPECT_TRUE(refused(parse(damaged.encode()), ErrorKind::kMalformed, {field, "infinity"}));
  }
  container_.section(3)[64] ^= 1;
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"section 3 (IC): point 1 of 3"}));
}

TEST_F(DamagedZkey, ABitOfAQueryIsFoundByTheFullCheck) {
  const std::pair<std::uint32_t, const char*> queries[] = {
      {5, "5 (A)"}, {6, "6 (B1)"}, {7, "7 (B2)"}, {8, "8 (L)"}, {9, "9 (H)"}};
  for (const auto& [id, name] : queries) {
    Container damaged = container_;
    damaged.section(id)[300] ^= 4;
    EXPECT_TRUE(accepted(parse(damaged.encode())));
    EXPECT_TRUE(refused(parse(damaged.encode(), {.queries = KeyCheck::kSubgroup}),
                        ErrorKind::kMalformed, {"a.zkey: section", name, "not"}));
  }
}

TEST_F(DamagedZkey, LengthsThatLieAreRefusedWithoutMemory) {
  // The length of the first section is at byte 16, of the fourth in the file somewhere behind.
  for (const std::uint64_t size : {std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    std::size_t at = 12;
    for (const auto& [id, bytes] : container_.sections) {
      Bytes damaged = bytes_;
      base::store_u64_le(damaged.data() + at + 4, size);
      EXPECT_TRUE(refused(parse(damaged), ErrorKind::kMalformed,
                          {"a.zkey", "needs " + std::to_string(size) + " bytes"}));
      at += 12 + bytes.size();
    }
  }
  container_.announced_count = 0xffffffff;
  EXPECT_TRUE(refused(read(), ErrorKind::kMalformed, {"4294967295 sections announced"}));
}

TEST_F(DamagedZkey, CutOrFlippedHeadsNeverBreakTheReader) {
  const auto light = [](const Bytes& b) { return parse(b, {.verifying_key = KeyCheck::kOnCurve}); };
  testing::expect_every_truncation_refused(bytes_, 300, light);
  // File head, section 1, section 2 with its primes and counts.
  testing::try_every_flip(bytes_, 0, 12 + 16 + 12 + kPointsAt, light);
}

// The H section of this key lies past the 4 GiB mark: a stranger of 4 GiB of holes stands before
// it.
TEST_F(DamagedZkey, OffsetsAreRightBeyondFourGiB) {
  const testing::TemporaryFolder folder;
  const auto path = folder / "large.zkey";
  const Bytes h = container_.section(9);
  container_.remove(9);
  container_.announced_count = static_cast<std::uint32_t>(container_.sections.size() + 2);
  Bytes front = container_.encode();
  const std::uint64_t hole = (std::uint64_t{1} << 32) + 5;
  front.resize(front.size() + 12);
  base::store_u32_le(front.data() + front.size() - 12, 77);
  base::store_u64_le(front.data() + front.size() - 8, hole);
  Bytes back(12);
  base::store_u32_le(back.data(), 9);
  base::store_u64_le(back.data() + 4, h.size());
  back.insert(back.end(), h.begin(), h.end());
  {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(front.data()),
               static_cast<std::streamsize>(front.size()));
  }
  std::error_code error;
  std::filesystem::resize_file(path, front.size() + hole, error);
  if (error) GTEST_SKIP() << "this file system has no sparse files of 4 GiB";
  {
    std::ofstream(path, std::ios::binary | std::ios::app)
        .write(reinterpret_cast<const char*>(back.data()),
               static_cast<std::streamsize>(back.size()));
  }
  const auto loaded = open_zkey<Bn>(path, {.queries = KeyCheck::kOnCurve});
  ASSERT_TRUE(accepted(loaded));
  const auto original = parse(bytes_);
  EXPECT_EQ(loaded->key->h.at(1023), original->key->h.at(1023));
}

// --- the writer ---

TEST_F(DamagedZkey, TheWriterRefusesWhatDoesNotBelongTogether) {
  const auto loaded = parse(bytes_);
  ASSERT_TRUE(accepted(loaded));
  const testing::TemporaryFolder folder;
  auto shape = *loaded->shape;
  ++shape.aux_count;
  EXPECT_TRUE(refused(write_zkey(folder / "x", *loaded->key, shape), ErrorKind::kInvalidArgument,
                      {"L", "circuit has 3 inputs"}));
  auto key = *loaded->key;
  key.convention = groth16::QapConvention::kCoefficients;
  EXPECT_TRUE(refused(write_zkey(folder / "x", key, *loaded->shape), ErrorKind::kInvalidArgument,
                      {"bellperson's convention"}));
  key = *loaded->key;
  key.h = key.h.subset(0, 1023);
  EXPECT_TRUE(refused(write_zkey(folder / "x", key, *loaded->shape), ErrorKind::kInvalidArgument,
                      {"1023 H points"}));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace cuzk::formats
