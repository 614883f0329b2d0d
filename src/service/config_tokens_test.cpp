// The file of tokens, and their comparison.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/config.h"

namespace cuzk::service {
namespace {

class ConfigTokens : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cuzk-tokens-XXXXXX";
    const int descriptor = ::mkstemp(name);
    ASSERT_GE(descriptor, 0);
    ::close(descriptor);
    path_ = name;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  base::Result<std::vector<std::string>> read(const std::string& text, ::mode_t mode = 0600) {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), mode);
    return read_tokens(path_);
  }

  std::filesystem::path path_;
};

TEST_F(ConfigTokens, AreReadALineEach) {
  const auto tokens = read("# of the farm\n0123456789abcdef\n\nfedcba9876543210  # spare\r\n");
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  EXPECT_EQ(*tokens, (std::vector<std::string>{"0123456789abcdef", "fedcba9876543210"}));
}

TEST_F(ConfigTokens, AFileThatOthersMayReadIsRefused) {
  EXPECT_TRUE(read("0123456789abcdef\n", 0640).ok());
  const auto tokens = read("0123456789abcdef\n", 0644);
  ASSERT_FALSE(tokens.ok());
  EXPECT_NE(tokens.error().message.find("0644"), std::string::npos);
}

TEST_F(ConfigTokens, NoneShortOrOddIsRefused) {
  for (const std::string& text :
       std::vector<std::string>{"", "# none\n", "short\n", "0123456789abcde\n",
                                "0123456789 abcdefg\n", "0123456789abcdef\x80\n",
                                std::string(513, 'a'), std::string("0123456789abcdef\0", 17)}) {
    EXPECT_FALSE(read(text).ok()) << text;
  }
  EXPECT_FALSE(read_tokens("/nonexistent/tokens").ok());
}

TEST_F(ConfigTokens, MatchWholeTokensOnly) {
  const std::vector<std::string> tokens = {"0123456789abcdef", "fedcba9876543210"};
  EXPECT_TRUE(token_matches(tokens, "0123456789abcdef"));
  EXPECT_TRUE(token_matches(tokens, "fedcba9876543210"));
  for (const char* other : {"", "0", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef0",
                            "0123456789abcdef0123456789abcdef", "0123456789ABCDEF"}) {
    EXPECT_FALSE(token_matches(tokens, other)) << other;
  }
  EXPECT_FALSE(token_matches({}, ""));
  EXPECT_FALSE(token_matches({}, "0123456789abcdef"));
}

}  // namespace
}  // namespace cuzk::service
