// Which statements a verification takes from its flags, and which combinations it refuses.
//
// Whether true proofs are accepted is for tests/end_to_end; here nothing is proved.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/cuzk/job_filecoin.h"

namespace cuzk::apps {
namespace {

using ::testing::HasSubstr;

const filecoin::SectorShape& small() { return *filecoin::sector_shape_by_name("2KiB").value(); }

std::string error_of(const VerifyFilecoinRequest& request) {
  const auto config = porep_config_of(request, small());
  return config.ok() ? "" : config.error().message;
}

TEST(PorepConfigOf, FindsEveryRegisteredProofByIdAndVersion) {
  int count = 0;
  for (unsigned i = 0; i < filecoin::kRegisteredSealCount; ++i) {
    const auto proof = filecoin::registered_seal(i).value();
    VerifyFilecoinRequest by_number, by_id;
    by_number.registered_proof = i;
    by_id.porep_id_hex = filecoin::to_hex(proof.porep_id());
    by_id.api_version = std::string(filecoin::to_string(proof.api_version));
    const auto first = porep_config_of(by_number, *proof.shape);
    const auto second = porep_config_of(by_id, *proof.shape);
    ASSERT_TRUE(first.ok() && second.ok()) << i;
    EXPECT_EQ(second->kind, proof.kind) << i;
    EXPECT_EQ(second->kind, first->kind);
    EXPECT_EQ(second->porep_id, first->porep_id);
    EXPECT_EQ(second->api_version, first->api_version);
    count += proof.kind != filecoin::PorepKind::kInteractive;
  }
  EXPECT_EQ(count, 10);  // synthetic and non-interactive ones were among them
}

TEST(PorepConfigOf, RefusesWhatNoRegisteredProofHas) {
  VerifyFilecoinRequest request;
  EXPECT_THAT(error_of(request), HasSubstr("--registered-proof"));
  request.porep_id_hex = std::string("05") + std::string(62, '0');
  EXPECT_THAT(error_of(request), HasSubstr("--api-version"));
  request.api_version = "V1_1";
  EXPECT_EQ(error_of(request), "");
  request.api_version = "V1_0";
  EXPECT_THAT(error_of(request), HasSubstr("no registered proof"));
  request.api_version = "V1_1";
  request.porep_id_hex.back() = '1';
  EXPECT_THAT(error_of(request), HasSubstr("no registered proof"));
}

TEST(PorepConfigOf, ComparesWhatIsGivenTwice) {
  VerifyFilecoinRequest request;
  request.registered_proof = 5;
  request.api_version = "V1_1";
  EXPECT_EQ(error_of(request), "");
  request.api_version = "V1_0";
  EXPECT_THAT(error_of(request), HasSubstr("contradicts --registered-proof 5"));
  request.api_version = "";
  request.porep_id_hex = std::string("05") + std::string(62, '0');
  EXPECT_THAT(error_of(request), HasSubstr("exclude each other"));
}

TEST(VerifyFilecoin, RefusesFlagsThatTheKindDoesNotUse) {
  const auto refusal = [](VerifyFilecoinRequest request, const char* kind) {
    request.kind = kind;
    request.sector_size = "2KiB";
    const auto answer = verify_filecoin(request);
    return answer.ok() ? "" : answer.error().message;
  };
  VerifyFilecoinRequest request;
  request.seed_hex = std::string(64, '0');
  EXPECT_EQ(refusal(request, "window-post"), "--kind window-post does not use --seed");
  EXPECT_EQ(refusal(request, "update"), "--kind update does not use --seed");
  EXPECT_THAT(refusal(request, "porep"), HasSubstr("needs"));
  request = {};
  request.replicas = {"1:" + std::string(64, '0')};
  EXPECT_EQ(refusal(request, "porep"), "--kind porep does not use --replica");
  request = {};
  request.api_version = "V1_1";
  EXPECT_EQ(refusal(request, "update"), "--kind update does not use --api-version");
  request = {};
  request.registered_proof = 1;  // 8MiB
  EXPECT_THAT(refusal(request, "update"), HasSubstr("not of 2KiB"));
  request.registered_proof = 5;  // window PoSt of 2KiB, V1_0
  request.api_version = "V1_1";
  EXPECT_THAT(refusal(request, "window-post"), HasSubstr("contradicts --registered-proof 5"));
}

}  // namespace
}  // namespace cuzk::apps
