// The container of inputs: what goes in comes out, and every cut or change of its frame is refused
// with its place.
#include "apps/jobs/job_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::apps {
namespace {

using base::ErrorKind;
using ::testing::HasSubstr;

base::Bytes sample() {
  const base::Bytes one = {1, 2, 3}, none;
  const base::ByteSpan parts[] = {one, none, one};
  return encode_job_input({{"miner_id", std::uint64_t{1000}}, {"circuit", std::string("age")}},
                          parts);
}

TEST(JobInput, ComesBackAsItWasWritten) {
  const base::Bytes bytes = sample();
  ASSERT_TRUE(is_job_input(bytes));
  const auto input = read_job_input(bytes);
  ASSERT_TRUE(input.ok()) << input.error().message;
  EXPECT_EQ(input->number("miner_id").value(), 1000u);
  EXPECT_EQ(input->required_text("circuit").value(), "age");
  EXPECT_FALSE(input->number("absent").value().has_value());
  ASSERT_EQ(input->parts.size(), 3u);
  EXPECT_EQ(base::Bytes(input->parts[0].begin(), input->parts[0].end()), (base::Bytes{1, 2, 3}));
  EXPECT_TRUE(input->parts[1].empty());
}

TEST(JobInput, RefusesEveryCutAndWhatFollows) {
  base::Bytes bytes = sample();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto input = read_job_input(base::ByteSpan(bytes).first(size));
    ASSERT_FALSE(input.ok()) << size;
    EXPECT_EQ(input.error().kind, ErrorKind::kMalformed) << size;
  }
  bytes.push_back(0);
  EXPECT_THAT(read_job_input(bytes).error().message, HasSubstr("1 bytes follow"));
}

TEST(JobInput, RefusesLengthsThatCannotBe) {
  const base::Bytes good = sample();
  const std::size_t head = base::load_u32_le(good.data() + 8);
  for (const std::size_t offset : {std::size_t{8}, 12 + head, 16 + head}) {
    base::Bytes bytes = good;
    for (std::size_t i = 0; i < 4; ++i) bytes[offset + i] = 0xff;
    EXPECT_EQ(read_job_input(bytes).error().kind, ErrorKind::kMalformed) << offset;
  }
}

TEST(JobInput, RefusesAnotherVersionAndFieldsThatAreNone) {
  base::Bytes bytes = sample();
  bytes[7] = '2';
  EXPECT_EQ(read_job_input(bytes).error().kind, ErrorKind::kUnsupported);
  bytes = sample();
  bytes[12] = '[';
  EXPECT_THAT(read_job_input(bytes).error().message, HasSubstr("no JSON object"));
}

TEST(JobInput, RefusesAFieldThatIsGivenTwice) {
  const std::string head = R"({"miner_id":1,"miner_id":2})";
  base::Bytes bytes = {'c', 'u', 'z', 'k', 'j', 'o', 'b', '1', 0, 0, 0, 0};
  base::store_u32_le(bytes.data() + 8, static_cast<std::uint32_t>(head.size()));
  bytes.insert(bytes.end(), head.begin(), head.end());
  bytes.resize(bytes.size() + 4);
  EXPECT_THAT(read_job_input(bytes).error().message, HasSubstr("miner_id: found a second value"));
}

TEST(JobInput, RefusesFieldsOfAnotherTypeAndUnknownOnes) {
  const base::Bytes bytes = sample();
  const auto input = read_job_input(bytes);
  ASSERT_TRUE(input.ok());
  EXPECT_THAT(input->number("circuit").error().message, HasSubstr("field circuit"));
  EXPECT_THAT(input->text("miner_id").error().message, HasSubstr("field miner_id"));
  EXPECT_THAT(input->node("circuit").error().message, HasSubstr("circuit"));
  EXPECT_THAT(input->required_node("comm_r").error().message, HasSubstr("found none"));
  static constexpr std::string_view kFields[] = {"miner_id"};
  const auto status = input->check_fields(kFields);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("the field circuit, expected only miner_id"));
}

}  // namespace
}  // namespace cuzk::apps
