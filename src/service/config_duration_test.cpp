// Durations: exact values, a round trip, and refusals.
#include "service/config_duration.h"

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

using std::chrono::milliseconds;

TEST(ConfigDuration, MeansWhatItSays) {
  EXPECT_EQ(parse_duration("250ms").value(), milliseconds(250));
  EXPECT_EQ(parse_duration("30s").value(), milliseconds(30'000));
  EXPECT_EQ(parse_duration("5m").value(), milliseconds(300'000));
  EXPECT_EQ(parse_duration("1h").value(), milliseconds(3'600'000));
  EXPECT_EQ(parse_duration("2d").value(), milliseconds(172'800'000));
  EXPECT_EQ(parse_duration("1h30m").value(), milliseconds(5'400'000));
  EXPECT_EQ(parse_duration("1h 30m 5s 7ms").value(), milliseconds(5'405'007));
  EXPECT_EQ(parse_duration("90m").value(), milliseconds(5'400'000));
  EXPECT_EQ(parse_duration("0s").value(), milliseconds(0));
}

TEST(ConfigDuration, ComesBackFromItsText) {
  for (const std::int64_t ms : {0LL, 1LL, 999LL, 1000LL, 61'000LL, 3'600'000LL, 86'399'999LL,
                                604'800'000LL, 31'535'999'999'999LL}) {
    EXPECT_EQ(parse_duration(format_duration(milliseconds(ms))).value(), milliseconds(ms));
  }
  EXPECT_EQ(format_duration(milliseconds(5'400'000)), "1h30m");
  EXPECT_EQ(format_duration(milliseconds(-1)), "0s");
}

TEST(ConfigDuration, RefusesWhatIsNone) {
  for (const char* text :
       {"", "5", "m", "1.5h", "-1s", "+1s", "1 s", "1H", "1min", "1s1h", "1s1s", " 1s", "1s ",
        "1h  1m", "99999999999999d", "999999999999999ms", "1s,", "0x1s", "1e3s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_NE(duration.error().message.find("1h30m"), std::string::npos);
  }
}

TEST(ConfigDuration, EndsAtAThousandYears) {
  EXPECT_TRUE(parse_duration("365000d").ok());
  EXPECT_FALSE(parse_duration("365000d1ms").ok());
}

}  // namespace
}  // namespace cuzk::service
