// A mark speaks of one key, not of whatever lies under the key's name later.
//
// Keys are any bytes here: the mark looks at nothing but their digest.
#include "apps/cuzk/insecure_mark.h"

#include <fstream>
#include <string>

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

  const base::Bytes first_{1, 2, 3}, second_{1, 2, 4};
  fs::path folder_;
};

TEST_F(InsecureMark, IsAboutTheKeyThatItWasWrittenFor) {
  EXPECT_FALSE(has_insecure_mark(key(), first_));
  ASSERT_TRUE(write_insecure_mark(key(), first_).ok());
  EXPECT_TRUE(has_insecure_mark(key(), first_));
  EXPECT_FALSE(has_insecure_mark(key(), second_)) << "another key took the place";
  EXPECT_FALSE(has_insecure_mark(folder_ / "other.zkey", first_));
}

TEST_F(InsecureMark, CountsWhenItHasNoDigest) {
  std::ofstream(mark()) << "key.zkey: never use it\n";
  EXPECT_TRUE(has_insecure_mark(key(), first_));
  fs::remove(mark());
  fs::create_directory(mark());  // cannot be read as a file
  EXPECT_TRUE(has_insecure_mark(key(), first_));
}

}  // namespace
}  // namespace cuzk::apps
