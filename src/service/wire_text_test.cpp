// Text for fields that must be UTF-8.
#include "service/wire_text.h"

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

TEST(WireText, KeepsWhatIsUtf8) {
  for (const char* text : {"", "plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xC2\x80"}) {
    EXPECT_EQ(utf8(text), text);
  }
}

TEST(WireText, ReplacesEachByteThatIsNot) {
  EXPECT_EQ(utf8("a\xFFz"), "a?z");
  EXPECT_EQ(utf8("\xC3"), "?") << "cut";
  EXPECT_EQ(utf8("\xC0\x80"), "??") << "overlong";
  EXPECT_EQ(utf8("\xE0\x80\x80"), "???") << "overlong";
  EXPECT_EQ(utf8("\xF0\x80\x80\x80"), "????") << "overlong";
  EXPECT_EQ(utf8("\xED\xA0\x80"), "???") << "a surrogate";
  EXPECT_EQ(utf8("\xF4\x90\x80\x80"), "????") << "beyond U+10FFFF";
  EXPECT_EQ(utf8("\x80"), "?");
  EXPECT_EQ(utf8("\xE2\x82"), "??");
  EXPECT_EQ(utf8(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(WireText, HasAWordForEachState) {
  std::string all;
  for (std::size_t i = 0; i < engine::kPartitionStateCount; ++i) {
    const std::string_view name = word(static_cast<engine::PartitionState>(i));
    EXPECT_EQ(all.find("<" + std::string(name) + ">"), std::string::npos) << name << " is twice";
    all += "<" + std::string(name) + ">";
  }
}

}  // namespace
}  // namespace cuzk::service
