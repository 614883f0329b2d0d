// A mark speaks of one key, not of whatever lies under the key's name later.
//
// Keys are any bytes here: the mark looks at nothing but their digest.
#include "apps/cuzk/insecure_mark.h"

#include <cctype>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk::apps {
namespace {

namespace fs = std::filesystem;

class InsecureMark : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("cuzk_mark_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path key() const { return folder_ / "key.zkey"; }
  fs::path mark() const { return folder_ / "key.zkey.INSECURE"; }

  static bool is_marked(const fs::path& key, base::ByteSpan verifying_key) {
    return insecure_mark_warning(key, verifying_key).has_value();
  }
  // The mark of first_ with something done to its text.
  void change_mark(const std::function<std::string(std::string)>& change) {
    ASSERT_TRUE(write_insecure_mark(key(), first_).ok());
    std::ifstream in(mark(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::ofstream(mark(), std::ios::binary) << change(text);
  }

  const base::Bytes first_{1, 2, 3}, second_{1, 2, 4};
  fs::path folder_;
};

TEST_F(InsecureMark, IsAboutTheKeyThatItWasWrittenFor) {
  EXPECT_FALSE(is_marked(key(), first_));
  ASSERT_TRUE(write_insecure_mark(key(), first_).ok());
  EXPECT_TRUE(is_marked(key(), first_));
  EXPECT_FALSE(is_marked(key(), second_)) << "another key took the place";
  EXPECT_FALSE(is_marked(folder_ / "other.zkey", first_));
}

TEST_F(InsecureMark, CountsWhenItHasNoDigest) {
  std::ofstream(mark()) << "key.zkey: never use it\n";
  EXPECT_TRUE(is_marked(key(), first_));
  fs::remove(mark());
  fs::create_directory(mark());  // cannot be read as a file
  EXPECT_TRUE(is_marked(key(), first_));
}

std::string with_carriage_returns(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return out;
}

// What editors and transfers do to a text file takes nothing from the mark: it is still about its
// key, and still not about another.
TEST_F(InsecureMark, IsReadThroughWhatHappensToTextFiles) {
  const std::vector<std::function<std::string(std::string)>> changes = {
      with_carriage_returns,
      [](std::string text) { return text + "# looked at in May\n"; },
      [](std::string text) { return text + "\n\n \n"; },
      [](std::string text) { return text.substr(0, text.size() - 1); },  // no line end
      [](std::string text) { return "\xef\xbb\xbf" + text; },
      [](std::string text) {  // the digits in capitals, as some tools write them
        for (std::size_t i = text.rfind(' '); i < text.size(); ++i) {
          text[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[i])));
        }
        return text;
      },
      [](const std::string& text) {  // appended to the mark of a key that lay there before
        return "sha256 of the verifying key: " + std::string(64, '0') + "\n" + text;
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    change_mark(changes[i]);
    EXPECT_EQ(insecure_mark_warning(key(), first_), kInsecureSentence) << "change " << i;
    EXPECT_FALSE(is_marked(key(), second_)) << "change " << i;
  }
}

TEST_F(InsecureMark, ThatIsDamagedCountsForAnyKeyAndSaysSo) {
  const std::vector<std::function<std::string(std::string)>> changes = {
      [](std::string text) { return text.substr(0, text.size() - 2); },  // a digit is gone
      [](std::string text) { return text.insert(text.size() - 1, "0"); },
      [](std::string text) { return text.replace(text.size() - 9, 1, "?"); },
      [](const std::string&) { return std::string(); },
      [](std::string text) { return text.substr(0, 20); },
      [](std::string text) { return text + text.substr(0, text.size() - 5); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    change_mark(changes[i]);
    for (const base::Bytes& verifying_key : {first_, second_}) {
      const auto warning = insecure_mark_warning(key(), verifying_key);
      ASSERT_TRUE(warning.has_value()) << "change " << i;
      EXPECT_NE(warning->find("key.zkey.INSECURE: has no whole digest"), std::string::npos);
      EXPECT_NE(warning->find(kInsecureSentence), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace cuzk::apps
