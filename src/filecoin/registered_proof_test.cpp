// Registered proof numbers and names against the golden tables.
//
// Upstream's mistakes are part of the wire format and are expected here as they are.
#include "filecoin/registered_proof.h"

#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

TEST(RegisteredSeal, NumbersAndNamesAreTheTables) {
  const auto& table = testing::golden()["registered_proofs"]["seal"];
  ASSERT_EQ(table.size(), kRegisteredSealCount);
  for (unsigned number = 0; number < kRegisteredSealCount; ++number) {
    const RegisteredSeal proof = registered_seal(number).value();
    EXPECT_EQ(proof.name(), table[std::to_string(number)]);
    EXPECT_EQ(registered_seal_by_name(proof.name()).value().number, number);
    EXPECT_EQ(to_hex(proof.porep_id()).substr(0, 4),
              (number < 16 ? "0" : "1") + std::string(1, "0123456789abcdef"[number % 16]) + "00");
  }
}

TEST(RegisteredSeal, SyntheticNamesSayV1_1ButMeanV1_2) {
  const RegisteredSeal proof = registered_seal(13).value();
  EXPECT_EQ(proof.name(), "StackedDrg32GiBV1_1_Feat_SyntheticPoRep");
  EXPECT_EQ(proof.vanilla_name(), "StackedDrg32GiBV1");
  EXPECT_EQ(proof.api_version, ApiVersion::kV1_2_0);
  EXPECT_EQ(proof.kind, PorepKind::kSynthetic);
}

TEST(RegisteredPost, NumbersAndNamesAreTheTables) {
  const auto& table = testing::golden()["registered_proofs"]["post"];
  for (unsigned number = 0; number < kRegisteredPostCount; ++number) {
    std::string expected = table[std::to_string(number)];
    expected = expected.substr(0, expected.find(' '));
    expected.erase(expected.find('_'), 1);  // the table parts kind and size
    EXPECT_EQ(registered_post(number).value().name(), expected);
  }
  EXPECT_EQ(registered_post(8).value().api_version, ApiVersion::kV1_0_0);
  EXPECT_EQ(registered_post(13).value().api_version, ApiVersion::kV1_2_0);
  EXPECT_EQ(registered_post(13).value().kind, PostKind::kWindow);
  EXPECT_EQ(registered_post(3).value().kind, PostKind::kWinning);
}

TEST(RegisteredUpdate, NumbersAndNamesAreTheTables) {
  const auto& table = testing::golden()["registered_proofs"]["update"];
  ASSERT_EQ(table.size(), kRegisteredUpdateCount);
  for (unsigned number = 0; number < kRegisteredUpdateCount; ++number) {
    EXPECT_EQ(registered_update(number).value().name(), table[std::to_string(number)]);
  }
}

TEST(RegisteredProof, RefusesNumbersAndNamesOutsideTheTables) {
  EXPECT_FALSE(registered_seal(20).ok());
  EXPECT_FALSE(registered_post(15).ok());
  EXPECT_FALSE(registered_update(5).ok());
  EXPECT_FALSE(registered_seal(~std::uint64_t{0}).ok());
  for (const char* name : {"", "StackedDrg2KiB", "StackedDrg2KiBV1_2", "stackedDrg2KiBV1"}) {
    EXPECT_FALSE(registered_seal_by_name(name).ok()) << name;
  }
}

TEST(ApiVersion, ReadsLongAndShortNames) {
  EXPECT_EQ(api_version_by_name("V1_1_0").value(), ApiVersion::kV1_1_0);
  EXPECT_EQ(api_version_by_name("V1_2").value(), ApiVersion::kV1_2_0);
  for (const char* name : {"", "V1", "V1_3_0", "v1_0_0", "V1_0_0 "}) {
    EXPECT_FALSE(api_version_by_name(name).ok()) << name;
  }
}

}  // namespace
}  // namespace cuzk::filecoin
