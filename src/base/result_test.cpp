// Results carry one of two things, and the macros hand errors on untouched.
#include "base/result.h"

#include <memory>
#include <set>

#include <gtest/gtest.h>

namespace cuzk::base {
namespace {

Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') return Error{ErrorKind::kMalformed, "not a digit"};
  return c - '0';
}

Result<int> sum_of_digits(const char* text) {
  int sum = 0;
  for (; *text != '\0'; ++text) {
    CUZK_TRY(const int digit, parse_digit(*text));
    sum += digit;
  }
  return sum;
}

Status check_digits(const char* text) {
  for (; *text != '\0'; ++text) CUZK_TRY_STATUS(parse_digit(*text));
  return ok_status();
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 7;
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(*good, 7);
  const Result<int> bad = Error{ErrorKind::kIo, "disk"};
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind, ErrorKind::kIo);
  EXPECT_EQ(bad.error().message, "disk");
}

TEST(Result, CarriesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 3);
}

TEST(Result, TryStopsAtTheFirstError) {
  EXPECT_EQ(*sum_of_digits("1234"), 10);
  EXPECT_EQ(sum_of_digits("12x4").error().message, "not a digit");
  EXPECT_TRUE(check_digits("99").ok());
  EXPECT_EQ(check_digits("9a").error().kind, ErrorKind::kMalformed);
}

TEST(Error, WithinPutsTheContextFirst) {
  const Error error = Error{ErrorKind::kMalformed, "bad"}.within("file.bin");
  EXPECT_EQ(error.message, "file.bin: bad");
  EXPECT_EQ(error.kind, ErrorKind::kMalformed);
}

TEST(ResultDeathTest, AskingForWhatIsAbsentAborts) {
  const Result<int> bad = Error{ErrorKind::kIo, "disk"};
  const Result<int> good = 1;
  EXPECT_DEATH(static_cast<void>(bad.value()), "check failed: ok\\(\\)");
  EXPECT_DEATH(static_cast<void>(good.error()), "check failed: !ok\\(\\)");
}

TEST(ErrorKind, EachHasItsOwnWord) {
  std::set<std::string_view> words;
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::kInternal); ++kind) {
    words.insert(to_string(static_cast<ErrorKind>(kind)));
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(ErrorKind::kInternal) + 1);
  EXPECT_TRUE(words.contains("resource_exhausted"));
}

}  // namespace
}  // namespace cuzk::base
