// The section container: order, unknown and doubled sections, and lengths that lie.
#include "formats/snarkjs/section_file.h"

#include <gtest/gtest.h>

#include "formats/test_support.h"

namespace cuzk::formats {
namespace {

using base::Bytes;
using base::ErrorKind;
using testing::accepted;
using testing::Container;
using testing::refused;

Container sample() {
  Container file{"test", 3, {{1, {1, 2, 3}}, {7, {}}, {2, {9}}}, std::nullopt};
  return file;
}

base::Result<SectionFile> scan(const Bytes& bytes) {
  return SectionFile::scan(bytes, "a.test", "test", 2, 4);
}

TEST(SectionFile, FindsSectionsInAnyOrder) {
  const Bytes bytes = sample().encode();
  const auto file = scan(bytes);
  ASSERT_TRUE(accepted(file));
  EXPECT_EQ(file->version(), 3u);
  EXPECT_EQ(file->sections().size(), 3u);
  const auto one = file->unique(1, "one");
  ASSERT_TRUE(accepted(one));
  EXPECT_EQ(Bytes(one->bytes.begin(), one->bytes.end()), (Bytes{1, 2, 3}));
  EXPECT_EQ(one->offset_bytes, 24u);
  EXPECT_TRUE(accepted(file->unique(7, "empty")));
  const auto absent = file->optional(9, "nine");
  ASSERT_TRUE(accepted(absent));
  EXPECT_EQ(absent->id, 0u);
  EXPECT_TRUE(refused(file->unique(9, "nine"), ErrorKind::kMalformed,
                      {"a.test", "section 9 (nine) is missing"}));
}

TEST(SectionFile, RefusesADoubledSectionWhenItIsAskedFor) {
  Container container = sample();
  container.sections.push_back({2, {9}});
  const Bytes bytes = container.encode();
  const auto file = scan(bytes);
  ASSERT_TRUE(accepted(file));
  EXPECT_TRUE(accepted(file->unique(1, "one")));
  EXPECT_TRUE(
      refused(file->unique(2, "two"), ErrorKind::kMalformed, {"section 2 (two) occurs 2 times"}));
  EXPECT_TRUE(refused(file->optional(2, "two"), ErrorKind::kMalformed, {"2 times"}));
}

TEST(SectionFile, RefusesOtherFilesAndVersions) {
  Container container = sample();
  container.magic = "zkey";
  EXPECT_TRUE(refused(scan(container.encode()), ErrorKind::kMalformed,
                      {"a.test: the file begins with \"zkey\"", "expected \"test\""}));
  container = sample();
  for (const std::uint32_t version : {0u, 1u, 5u, 0xffffffffu}) {
    container.version = version;
    EXPECT_TRUE(refused(scan(container.encode()), ErrorKind::kUnsupported,
                        {"version " + std::to_string(version), "2 to 4"}));
  }
  EXPECT_TRUE(refused(scan({0, 1, 2, 3, 4, 5}), ErrorKind::kMalformed, {"\"????\""}));
}

TEST(SectionFile, RefusesEveryTruncation) {
  const Bytes bytes = sample().encode();
  testing::expect_every_truncation_refused(bytes, bytes.size(), scan);
}

TEST(SectionFile, RefusesWhatFollowsTheLastSection) {
  Bytes bytes = sample().encode();
  bytes.push_back(0);
  EXPECT_TRUE(
      refused(scan(bytes), ErrorKind::kMalformed, {"1 bytes behind the last of 3 sections"}));
  Container container = sample();
  container.announced_count = 2;
  EXPECT_TRUE(refused(scan(container.encode()), ErrorKind::kMalformed, {"behind the last of 2"}));
}

TEST(SectionFile, RefusesLengthsThatLeaveTheFileOrWrapAround) {
  // The length of the first section is at byte 16.
  for (const std::uint64_t size :
       {std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} - 23, std::uint64_t{1} << 32,
        std::uint64_t{30}}) {
    Bytes bytes = sample().encode();
    base::store_u64_le(bytes.data() + 16, size);
    EXPECT_FALSE(scan(bytes).ok()) << size;
  }
  Bytes bytes = sample().encode();
  base::store_u64_le(bytes.data() + 16, ~std::uint64_t{0});
  EXPECT_TRUE(refused(scan(bytes), ErrorKind::kMalformed,
                      {"section 1 of 3 (number 1) needs 18446744073709551615 bytes"}));
}

TEST(SectionFile, RefusesAbsurdCountsAtOnce) {
  for (const std::uint32_t count : {1025u, 0xffffffffu}) {
    Container container = sample();
    container.announced_count = count;
    EXPECT_TRUE(refused(scan(container.encode()), ErrorKind::kMalformed,
                        {std::to_string(count) + " sections announced"}));
  }
  Container container = sample();
  container.announced_count = 1024;
  EXPECT_TRUE(refused(scan(container.encode()), ErrorKind::kMalformed, {"section 4 of 1024"}));
}

TEST(SectionFile, WritesHeadsThatItReads) {
  Bytes bytes;
  append_container_head(bytes, "test", 2, 1);
  append_section_head(bytes, 5, 8);
  append_u64(bytes, 0x1122334455667788);
  const auto file = scan(bytes);
  ASSERT_TRUE(accepted(file));
  const auto section = file->unique(5, "five");
  ASSERT_TRUE(accepted(section));
  EXPECT_EQ(base::load_u64_le(section->bytes.data()), 0x1122334455667788u);
}

TEST(FieldModulus, NamesTheCurveOrTheStranger) {
  Bytes bytes;
  append_modulus<curve::Bn254::Fr>(bytes);
  append_modulus<curve::Bls12_381::Fr>(bytes);
  append_modulus<curve::Bls12_381::Fp>(bytes);
  append_modulus<curve::Bn254::Fp>(bytes);
  base::ByteReader reader(bytes, "a.test");
  EXPECT_EQ(*read_scalar_modulus(reader), CurveId::kBn254);
  EXPECT_EQ(*read_scalar_modulus(reader), CurveId::kBls12_381);
  EXPECT_EQ(*read_base_modulus(reader), CurveId::kBls12_381);
  EXPECT_EQ(*read_base_modulus(reader), CurveId::kBn254);

  base::ByteReader swapped(bytes, "a.test");
  EXPECT_TRUE(refused(read_base_modulus(swapped), ErrorKind::kUnsupported,
                      {"0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"}));
  // Goldilocks, as circom writes it.
  Bytes goldilocks = {8, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
  base::ByteReader small(goldilocks, "a.test");
  EXPECT_TRUE(refused(read_scalar_modulus(small), ErrorKind::kUnsupported, {"0xffffffff00000001"}));
  for (const std::uint32_t width : {0u, 7u, 136u, 0xffffffffu}) {
    base::store_u32_le(goldilocks.data(), width);
    base::ByteReader odd(goldilocks, "a.test");
    EXPECT_TRUE(refused(read_scalar_modulus(odd), ErrorKind::kMalformed,
                        {std::to_string(width) + " bytes"}));
  }
}

}  // namespace
}  // namespace cuzk::formats
