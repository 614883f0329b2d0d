// Words and order.
#include "engine/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/shared_keys.h"

namespace cuzk::engine {
namespace {

TEST(Priority, WordsGoBothWays) {
  for (std::size_t i = 0; i < kPriorityCount; ++i) {
    const auto priority = static_cast<Priority>(i);
    const auto parsed = parse_priority(to_string(priority));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, priority);
  }
  for (const char* word : {"", "HIGH", "urgent", "low "}) {
    EXPECT_EQ(parse_priority(word).error().kind, base::ErrorKind::kInvalidArgument);
  }
  EXPECT_THAT(parse_priority("urgent").error().message, ::testing::HasSubstr("found 'urgent'"));
}

TEST(Rank, OrdersByPriorityThenDeadlineThenArrival) {
  const Rank critical{Priority::kCritical, Rank::kNoDeadline, 9};
  const Rank soon{Priority::kNormal, 100, 8};
  const Rank late{Priority::kNormal, 200, 1};
  const Rank first{Priority::kNormal, Rank::kNoDeadline, 2};
  const Rank second{Priority::kNormal, Rank::kNoDeadline, 3};
  EXPECT_LT(critical, soon);
  EXPECT_LT(soon, late);
  EXPECT_LT(late, first);
  EXPECT_LT(first, second);
}

TEST(SharedKeys, GoOldestFirstAndOnlyWhenIdle) {
  SharedKeys keys;
  EXPECT_TRUE(keys.refer({1, 10}));
  EXPECT_FALSE(keys.refer({1, 10}));
  EXPECT_TRUE(keys.refer({2, 20}));
  EXPECT_TRUE(keys.refer({3, 30}));
  EXPECT_FALSE(keys.drop_oldest_idle());
  EXPECT_FALSE(keys.unrefer(1, 5));
  EXPECT_TRUE(keys.unrefer(2, 7));
  EXPECT_TRUE(keys.unrefer(1, 9));
  EXPECT_FALSE(keys.referred(1));
  EXPECT_TRUE(keys.present(1));
  EXPECT_EQ(keys.drop_oldest_idle()->id, 2u);
  EXPECT_FALSE(keys.refer({1, 10}));  // used again
  EXPECT_FALSE(keys.drop_oldest_idle());
  EXPECT_TRUE(keys.unrefer(1, 11));
  EXPECT_EQ(keys.drop_oldest_idle()->bytes, 10u);
  EXPECT_TRUE(keys.referred(3));
}

}  // namespace
}  // namespace cuzk::engine
