// The C1 writer against upstream's bytes, and the reader against everything that is not them.
#include "filecoin/porep/c1_json.h"

#include "filecoin/test_support.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

using testing::as_bytes;
using testing::sample_c1;

class C1Of : public ::testing::TestWithParam<std::pair<unsigned, const char*>> {};

TEST_P(C1Of, WritesUpstreamsBytes) {
  const auto [number, folder] = GetParam();
  const auto instance =
      testing::read_json("upstream/" + std::string(folder) + "/instance.json")["sectors"][0];
  const std::string json = write_c1_inner(sample_c1(number));
  EXPECT_EQ(json.size(), instance["c1_json_bytes"]);
  EXPECT_EQ(base::to_hex(hash::sha256(as_bytes(json))), instance["c1_json_sha256"]);
}

TEST_P(C1Of, ReadsWhatItWrites) {
  const PorepC1 c1 = sample_c1(GetParam().first);
  const auto file = read_c1(as_bytes(write_c1_inner(c1)), "c1.json");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_FALSE(file->sector_number.has_value());
  EXPECT_EQ(file->c1.partitions, c1.partitions);
  EXPECT_EQ(file->c1.registered_proof.number, c1.registered_proof.number);
}

INSTANTIATE_TEST_SUITE_P(Versions, C1Of,
                         ::testing::Values(std::pair{5u, "instance1"},
                                           std::pair{0u, "instance1-v1"},
                                           std::pair{10u, "instance1-synth"},
                                           std::pair{15u, "instance1-ni"}));

}  // namespace
}  // namespace cuzk::filecoin
