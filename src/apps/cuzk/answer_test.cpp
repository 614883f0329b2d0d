// Answers read well as text and parse as JSON.
//
// Both forms are made of one answer in each test; hostile text (control characters, no UTF-8) has
// to come out harmless in either.
#include "apps/cuzk/answer.h"

#include <gtest/gtest.h>

namespace cuzk::apps {
namespace {

using Json = nlohmann::json;

TEST(Answer, SaysTheSameToPeopleAndPrograms) {
  Answer answer("The proof is valid.");
  answer.add("valid", true, "").add("curve", "BN254", "curve").add("inputs", 3, "public inputs");
  answer.add_bytes("key_bytes", 1114707768, "key").add_seconds("seconds", 1.23456, "time");
  answer.warn("the key is for development");
  EXPECT_EQ(answer.to_text(),
            "The proof is valid.\n"
            "  curve: BN254\n"
            "  public inputs: 3\n"
            "  key: 1.04 GiB\n"
            "  time: 1.23 s\n"
            "  note: the key is for development\n");
  const Json parsed = Json::parse(answer.to_json());
  EXPECT_EQ(parsed["valid"], true);
  EXPECT_EQ(parsed["key_bytes"], 1114707768);
  EXPECT_EQ(parsed["seconds"], 1.235);
  EXPECT_EQ(parsed["warnings"][0], "the key is for development");
}

TEST(Answer, KeepsJsonValidWhateverTheText) {
  Answer answer("x");
  answer.add("path", std::string("a\"b\n\xff"), "path");
  EXPECT_TRUE(Json::accept(answer.to_json()));
  EXPECT_TRUE(Json::accept(error_json({base::ErrorKind::kMalformed, "bad byte \xfe"})));
}

TEST(Answer, ShowsControlCharactersInsteadOfObeyingThem) {
  EXPECT_EQ(printable("plain \xc3\xa9 \xe2\x82\xac text"), "plain \xc3\xa9 \xe2\x82\xac text");
  EXPECT_EQ(printable("a\x1b[31mb\rc\nd\x7f"), "a\\x1b[31mb\\x0dc\\x0ad\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b").find('\x9b'), std::string::npos);
  Answer answer("x");
  answer.add("path", "\x1b]0;title\x07", "path").warn("bell \x07");
  EXPECT_EQ(answer.to_text().find('\x1b'), std::string::npos);
  EXPECT_EQ(answer.to_text().find('\x07'), std::string::npos);
  EXPECT_EQ(Json::parse(answer.to_json())["path"], "\x1b]0;title\x07");
}

TEST(Answer, CarriesItsExitCode) {
  EXPECT_EQ(Answer("x").exit_code(), kExitYes);
  EXPECT_EQ(Answer("x", kExitNo).exit_code(), kExitNo);
}

TEST(ErrorJson, HasKindAndMessage) {
  const Json parsed = Json::parse(error_json({base::ErrorKind::kMismatch, "a sentence"}));
  EXPECT_EQ(parsed["error"]["kind"], "mismatch");
  EXPECT_EQ(parsed["error"]["message"], "a sentence");
}

TEST(HumanBytes, PicksTheUnit) {
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(1023), "1023 bytes");
  EXPECT_EQ(human_bytes(1024), "1.00 KiB");
  EXPECT_EQ(human_bytes(std::uint64_t{3} << 39), "1.50 TiB");
  EXPECT_EQ(human_bytes(std::uint64_t{1} << 60), "1048576.00 TiB");
}

}  // namespace
}  // namespace cuzk::apps
