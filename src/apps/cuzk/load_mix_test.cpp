// A --job is refused with the part that is wrong, before a file is looked for.
#include "apps/cuzk/load_mix.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::apps {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  const auto share = parse_load_share(text);
  EXPECT_FALSE(share.ok()) << text;
  return share.ok() ? "" : share.error().message;
}

TEST(LoadMix, AKeyGivenTwiceIsRefused) {
  EXPECT_THAT(refusal("circuit=a,witness=b,weight=2,weight=3"), HasSubstr("weight is given twice"));
  EXPECT_THAT(refusal("c1=a.json,c1=b.json"), HasSubstr("--job: c1 is given twice"));
  EXPECT_THAT(refusal("weight=1,weight=1"), HasSubstr("twice")) << "not even with the same value";
}

TEST(LoadMix, NamesThePartThatIsWrong) {
  EXPECT_THAT(refusal("circuit"), HasSubstr("'circuit' is no KEY=VALUE"));
  EXPECT_THAT(refusal(""), HasSubstr("is no KEY=VALUE"));
  EXPECT_THAT(refusal("circuit=a,"), HasSubstr("is no KEY=VALUE"));
  EXPECT_THAT(refusal("circus=a"), HasSubstr("there is no 'circus'"));
  EXPECT_THAT(refusal("weight=0"), HasSubstr("weight: 0 is outside 1 to 1000000"));
  EXPECT_THAT(refusal("weight=-1"), HasSubstr("'-1' is no whole number"));
  EXPECT_THAT(refusal("miner-id=f01"), HasSubstr("miner-id: 'f01' is no whole number"));
}

}  // namespace
}  // namespace cuzk::apps
