// The strict front of the JSON library.
#include "formats/json.h"

#include <gtest/gtest.h>

#include "curve/groups.h"
#include "formats/test_support.h"

namespace cuzk::formats {
namespace {

using base::ErrorKind;
using testing::accepted;
using testing::bytes_of;
using testing::refused;

auto parse(std::string_view text) { return parse_json(bytes_of(text), "doc.json"); }

TEST(StrictJson, KeepsValuesAndKeyOrder) {
  const auto json = parse(R"({"z":[1,"two",null,true,-3,1.5],"a":{"b":[]}})");
  ASSERT_TRUE(accepted(json));
  EXPECT_EQ(json->dump(), R"({"z":[1,"two",null,true,-3,1.5],"a":{"b":[]}})");
}

TEST(StrictJson, AcceptsAnyRootAndSurroundingSpace) {
  for (const char* text : {"1", "\"x\"", " [ ] \n", "null", "{}"}) {
    EXPECT_TRUE(accepted(parse(text))) << text;
  }
}

TEST(StrictJson, RefusesWhatIsNotJsonWithThePlace) {
  EXPECT_TRUE(refused(parse(""), ErrorKind::kMalformed, {"doc.json: empty"}));
  EXPECT_TRUE(refused(parse("[1,]"), ErrorKind::kMalformed, {"doc.json", "byte 4"}));
  for (const char* text : {"{", "[1", "{\"a\":}", "[1] [2]", "[1]x", "{'a':1}", "[01]", "[NaN]",
                           "\"\x01\"", "\"\xff\"", "[1e999]", "// c\n1"}) {
    EXPECT_TRUE(refused(parse(text), ErrorKind::kMalformed, {"doc.json"})) << text;
  }
  EXPECT_TRUE(
      refused(parse_json(base::Bytes(64, 0), "doc.json"), ErrorKind::kMalformed, {"doc.json"}));
}

// A verifier that stops there would call a file good whose rest others read.
TEST(StrictJson, RefusesAZeroByteWhereverItStands) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view text :
       {"[1]\0"sv, "[1]\0[2]"sv, "[1]\0garbage"sv, "[1,\0002]"sv, "\0[1]"sv, "[\"a\0b\"]"sv}) {
    const std::string place = "byte " + std::to_string(text.find('\0') + 1) + " is zero";
    EXPECT_TRUE(refused(parse(text), ErrorKind::kMalformed, {"doc.json: ", place})) << place;
  }
  // As some editors save a text: two bytes a character.
  EXPECT_TRUE(refused(parse("[\0"
                            "1\0]\0"sv),
                      ErrorKind::kMalformed, {"byte 2 is zero", "UTF-8"}));
  EXPECT_TRUE(accepted(parse("[\"\\u0000\"]"))) << "the character may be written out";
}

TEST(StrictJson, RefusesAKeyThatOccursTwice) {
  EXPECT_TRUE(refused(parse(R"({"a":1,"b":2,"a":3})"), ErrorKind::kMalformed,
                      {"doc.json", "\"a\" occurs twice"}));
  EXPECT_TRUE(refused(parse(R"({"x":{"k":1,"\u006b":2}})"), ErrorKind::kMalformed, {"\"k\""}));
  EXPECT_TRUE(accepted(parse(R"([{"a":1},{"a":2}])"))) << "in different objects it may";
}

TEST(StrictJson, RefusesDeepNestingWithoutDescending) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += open;
    EXPECT_TRUE(refused(parse(text), ErrorKind::kMalformed, {"nested deeper than the 16 levels"}));
  }
  EXPECT_TRUE(accepted(parse(std::string(kJsonDepthMax, '[') + std::string(kJsonDepthMax, ']'))));
}

TEST(StrictJson, RefusesObjectsOfManyKeys) {
  std::string text = "{";
  for (int i = 0; i < 300; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  EXPECT_TRUE(refused(parse(text + "}"), ErrorKind::kMalformed, {"more than the 256 keys"}));
}

TEST(StrictJson, LimitsTheBytesAndTheValues) {
  const JsonLimits limits{.size_bytes = 20, .value_count = 4};
  const auto parse_within = [&](std::string_view text) {
    return parse_json(bytes_of(text), "doc.json", limits);
  };
  EXPECT_TRUE(accepted(parse_within("[1,2,3]             ")));
  EXPECT_TRUE(refused(parse_within("[1,2,3]              "), ErrorKind::kMalformed,
                      {"doc.json", "21 bytes", "at most 20"}));
  for (const char* text : {"[1,2,3,4]", "[[],[],[],[]]", "[{},{},{},{}]", "[[[[[]]]]]"}) {
    EXPECT_TRUE(refused(parse_within(text), ErrorKind::kMalformed,
                        {"doc.json", "more than the 4 values allowed"}))
        << text;
  }
}

TEST(StrictJson, RefusesMillionsOfTinyValues) {
  std::string text = "[0";
  for (std::uint64_t i = 0; i < kJsonValuesMax; ++i) text += ",0";
  EXPECT_TRUE(refused(parse(text + "]"), ErrorKind::kMalformed, {"values allowed"}));
}

TEST(StrictJson, ANumberTooLargeToHoldIsSaidToBeSo) {
  for (const std::string& number :
       {std::string(400, '9'), std::string("-1e400"), "1" + std::string(400, '0') + ".5"}) {
    const auto result = parse("{\"a\":" + number + "}");
    EXPECT_TRUE(refused(result, ErrorKind::kMalformed,
                        {"doc.json: a number that is out of range ends at byte"}))
        << number;
  }
  EXPECT_TRUE(accepted(parse("[1e300, 18446744073709551615, 99999999999999999999999]")));
}

TEST(StrictJson, AFaultyElementIsToldOfBothSpellings) {
  using Field = curve::Bn254::Fr;
  for (const char* text : {"abc", "", "-1", "1.5", "+7", " 7"}) {
    EXPECT_TRUE(refused(json_field_element<Field>(Json(text), "value 1"), ErrorKind::kMalformed,
                        {"value 1: \"", "neither a decimal number nor one of 0x and hex digits"}))
        << text;
  }
  EXPECT_TRUE(refused(json_field_element<Field>(Json(7), "value 1"), ErrorKind::kMalformed,
                      {"value 1: a number where a decimal or 0x hex string belongs"}));
}

TEST(StrictJson, MembersAreFoundOrNamed) {
  const auto json = parse(R"({"a":[1,2],"s":"x"})");
  ASSERT_TRUE(accepted(json));
  EXPECT_TRUE(accepted(json_member(*json, "a", "doc")));
  EXPECT_TRUE(refused(json_member(*json, "b", "doc"), ErrorKind::kMalformed, {"doc", "\"b\""}));
  EXPECT_TRUE(refused(json_member((*json)["a"], "b", "doc.a"), ErrorKind::kMalformed,
                      {"doc.a: an array where an object belongs"}));
  EXPECT_TRUE(accepted(json_array_of((*json)["a"], 2, "doc.a")));
  EXPECT_TRUE(refused(json_array_of((*json)["a"], 3, "doc.a"), ErrorKind::kMalformed,
                      {"2 entries, expected 3"}));
  EXPECT_TRUE(refused(json_array((*json)["s"], "doc.s"), ErrorKind::kMalformed,
                      {"doc.s: a string where an array belongs"}));
  EXPECT_TRUE(refused(json_string(Json(), "doc.n"), ErrorKind::kMalformed, {"doc.n: null where"}));
  EXPECT_TRUE(refused(json_string((*json)["a"], "doc.a"), ErrorKind::kMalformed,
                      {"doc.a: an array where a string belongs"}));
}

TEST(StrictJson, WritesAsStringifyWithOneSpaceDoes) {
  Json json = Json::object();
  json["a"] = Json::array({"1", Json::array()});
  json["b"] = 2;
  EXPECT_EQ(to_snarkjs_text(json), "{\n \"a\": [\n  \"1\",\n  []\n ],\n \"b\": 2\n}");
}

}  // namespace
}  // namespace cuzk::formats
