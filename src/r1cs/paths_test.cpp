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

// A block of two scopes, three more times behind itself, inside another scope; then others follow.
TEST(Paths, NameRepetitionsByTheirIndex) {
  Paths paths;
  paths.open("all", 7, {1, 0, 0});
  paths.open("block", 0, {2, 0, 3});
  paths.open("part", 5, {3, 0, 4});
  paths.close({4, 0, 5});
  paths.close({5, 0, 5});
  paths.open("block", 1, {5, 0, 5});
  paths.close({6, 0, 8});
  paths.repeat({2, 0, 3}, {6, 0, 8}, 3, 2);  // 4 rows and 5 aux a block
  paths.close({18, 0, 23});
  paths.open("after", {}, {19, 0, 23});
  paths.close({20, 0, 24});
  const char* kinds[] = {"block[%]", "block[%]/part[5]", "block[%]", "block[+]"};
  for (std::uint64_t row = 2; row < 18; ++row) {
    std::string expected = kinds[(row - 2) % 4];
    const std::uint64_t index = (row - 2) / 4 * 2;
    const std::size_t mark = expected.find_first_of("%+");
    expected.replace(mark, 1, std::to_string(expected[mark] == '%' ? index : index + 1));
    EXPECT_EQ(paths.of_row(row), "all[7]/" + expected) << row;
  }
  EXPECT_EQ(paths.of_row(1), "all[7]");
  EXPECT_EQ(paths.of_row(18), "");
  EXPECT_EQ(paths.of_row(19), "after");
  EXPECT_EQ(paths.of_aux(3 + 5 * 3 + 1), "all[7]/block[6]/part[5]");
  EXPECT_EQ(paths.of_aux(23), "after");
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
