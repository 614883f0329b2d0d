// Bodies that are not what they should be: one sentence each, which names the field or the byte.
#include "service/http_proof_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

base::Result<ProofRequest> read(std::string_view text) {
  return proof_request_from_json(
      base::ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::string refusal(std::string_view text) {
  const auto request = read(text);
  EXPECT_FALSE(request.ok()) << text;
  if (request.ok()) return {};
  EXPECT_EQ(request.error().kind, base::ErrorKind::kMalformed) << text;
  EXPECT_THAT(request.error().message, Not(HasSubstr("\n"))) << text;
  EXPECT_LT(request.error().message.size(), 400u) << text;
  return request.error().message;
}

TEST(HttpProofJson, TakesWhatProtobufsMappingAllows) {
  const auto request = read(
      "\xef\xbb\xbf {\"requestId\": \"a\", \"proof_kind\": \"WINDOW_POST_PARTITION\", "
      "\"sectorSize\": \"2048\", \"registered_proof\": 5.0, \"priority\": 4, \"randomness\": null, "
      "\"vanilla_proofs\": [\"AQI=\", \"Aw==\"], \"partition_index\": 3, \"deadline_ms\": 1e3}\n");
  ASSERT_TRUE(request.ok()) << request.error().message;
  EXPECT_EQ(request->request_id, "a");
  EXPECT_EQ(request->kind, ProofKind::kWindowPost);
  EXPECT_EQ(request->sector_size, 2048u);
  EXPECT_EQ(request->registered_proof, 5u);
  EXPECT_EQ(request->vanilla_proofs, (std::vector<base::Bytes>{{1, 2}, {3}}));
  EXPECT_EQ(request->deadline_ms, 1000);
}

TEST(HttpProofJson, AFieldThatIsThereTwiceIsRefusedByItsName) {
  EXPECT_EQ(refusal(R"({"request_id":"a","request_id":"b"})"),
            "the body: the key \"request_id\" occurs twice");
  EXPECT_EQ(refusal(R"({"request_id":"a","request_id":"a"})"),
            "the body: the key \"request_id\" occurs twice");
  EXPECT_EQ(refusal(R"({"request_id":"a","requestId":"a"})"),
            "the body: the field \"request_id\" occurs twice, also as \"requestId\"");
  EXPECT_EQ(refusal(R"({"sector_size":1,"sector\u005fsize":2})"),
            "the body: the key \"sector_size\" occurs twice");
}

TEST(HttpProofJson, WhatIsNoJsonIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(R"({"request_id":"a",})"), "the body: not valid JSON at byte 19");
  EXPECT_EQ(refusal(R"({'request_id':"a"})"), "the body: not valid JSON at byte 2");
  EXPECT_EQ(refusal(R"({request_id:"a"})"), "the body: not valid JSON at byte 2");
  EXPECT_EQ(refusal("{\"request_id\":\"a\"}\n{}"), "the body: not valid JSON at byte 20");
  for (const char* text :
       {"{", "x", "{\"request_id\":\"a\" // a word\n}", "{\"vanilla_proofs\":[\"AA==\",]}",
        "{\"request_id\":\"a\nb\"}", "{\"request_id\":\"\xff\"}", "{\"request_id\":\"\\ud800\"}",
        "{\"sector_size\":0x10}", "{\"sector_size\":01}", "{\"sector_size\":+1}",
        "{\"sector_size\":Infinity}", "{\"request_id\":True}", "\xff\xfe{\0}\0"}) {
    EXPECT_THAT(refusal(text), HasSubstr("the body: not valid JSON at byte ")) << text;
  }
  EXPECT_THAT(refusal("{\"sector_size\":1e400}"), HasSubstr("out of range"));
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("found JSON of type array, expected an object"));
  EXPECT_THAT(refusal("7"), HasSubstr("found JSON of type number, expected an object"));
  EXPECT_THAT(refusal(""), HasSubstr("the body is empty"));
}

TEST(HttpProofJson, AFaultyFieldIsRefusedByItsName) {
  for (const auto& [name, value] : {std::pair{"sector_size", "\"x\""},
                                    {"sector_size", "-1"},
                                    {"sector_size", "2048.5"},
                                    {"sector_size", "99999999999999999999999"},
                                    {"sector_size", "true"},
                                    {"sector_size", "[1]"},
                                    {"sector_size", "{\"a\":1}"},
                                    {"sector_size", "\"x\\n\\n^\""},
                                    {"partition_index", "4294967296"},
                                    {"vanilla_proof", "\"@@@\""},
                                    {"vanilla_proof", "1"},
                                    {"vanilla_proofs", "\"AA==\""},
                                    {"vanilla_proofs", "[[\"AA==\"]]"},
                                    {"vanilla_proofs", "[\"AA==\",null]"},
                                    {"vanilla_proofs", "[\"AA==\",\"*\"]"},
                                    {"vanilla_proofs", "{}"},
                                    {"proof_kind", "\"PLONK\""},
                                    {"proof_kind", "[]"},
                                    {"priority", "{\"a\":{}}"},
                                    {"request_id", "5"},
                                    {"request_id", "[\"a\"]"},
                                    {"requestId", "{}"},
                                    {"nothing", "1"},
                                    {"Request_Id", "\"a\""}}) {
    const std::string text = fmt::format("{{\"{}\":{}}}", name, value);
    EXPECT_THAT(refusal(text), HasSubstr("the body: ")) << text;
    EXPECT_THAT(refusal(text), HasSubstr(name)) << text;
  }
  EXPECT_EQ(refusal(R"({"vanilla_proofs":"AA=="})"),
            "the body: the field \"vanilla_proofs\" has a string, expected an array");
  EXPECT_EQ(refusal(R"({"vanilla_proofs":["AA==",null]})"),
            "the body: the field \"vanilla_proofs\" has in its place 1 something of type null, "
            "expected a string of base64");
  EXPECT_EQ(refusal(R"({"nothing":1})"),
            "the body: there is no field \"nothing\" in a SubmitProofRequest");
  // Whatever stands in a long value, the sentence stays short.
  refusal(fmt::format(R"({{"sector_size":"{}"}})", std::string(100'000, 'x')));
  refusal(fmt::format(R"({{"{}":1}})", std::string(100'000, 'x')));
}

}  // namespace
}  // namespace cuzk::service
