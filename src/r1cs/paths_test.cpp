// Scopes at every border.
//
// An event at a row's own number, scopes without rows and rows outside all scopes are the cases in
// which a search is off by one.
#include "r1cs/paths.h"

#include <gtest/gtest.h>

namespace cuzk::r1cs {
namespace {

TEST(Paths, AreEmptyWithoutScopes) {
  const Paths paths;
  EXPECT_EQ(paths.of_row(0), "");
  EXPECT_EQ(paths.of_aux(1234567), "");
}

TEST(Paths, FindTheInnermostScopeAtEveryBorder) {
  Paths paths;
  paths.open("a", {}, {2, 1, 5});
  paths.open("b", 0, {2, 1, 5});  // opens where a opens
  paths.close({4, 1, 7});
  paths.open("b", 1, {4, 1, 7});  // opens where its sister closes
  paths.close({4, 1, 7});         // and makes nothing
  paths.close({6, 2, 9});
  const char* rows[] = {"", "", "a/b[0]", "a/b[0]", "a", "a", "", ""};
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(paths.of_row(i), rows[i]) << i;
  EXPECT_EQ(paths.of_aux(4), "");
  EXPECT_EQ(paths.of_aux(5), "a/b[0]");
  EXPECT_EQ(paths.of_aux(7), "a");
  EXPECT_EQ(paths.of_aux(9), "");
  EXPECT_EQ(paths.of_input(0), "");
  EXPECT_EQ(paths.of_input(1), "a");
  EXPECT_EQ(paths.of_input(2), "");
}

TEST(Paths, SurviveDeepNesting) {
  Paths paths;
  for (std::uint64_t i = 0; i < 50; ++i) paths.open("d", {}, {i, 0, 0});
  EXPECT_EQ(paths.of_row(0), "d");
  EXPECT_EQ(paths.of_row(2), "d/d/d");
  EXPECT_EQ(paths.of_row(1000).size(), 50u * 2 - 1);
  for (std::uint64_t i = 0; i < 50; ++i) paths.close({50 + i, 0, 0});
  EXPECT_EQ(paths.of_row(50).size(), 49u * 2 - 1);
  EXPECT_EQ(paths.of_row(99), "");
}

}  // namespace
}  // namespace cuzk::r1cs
