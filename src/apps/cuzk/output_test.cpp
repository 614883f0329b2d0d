// Each way in which an output path can be wrong is found before work starts.
//
// With real files in a folder of the test: what the file system says is what is being tested.
#include "apps/cuzk/output.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk::apps {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("cuzk_output_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "old.json") << "{}";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string refusal(const std::vector<OutputPath>& outputs,
                      const std::vector<fs::path>& inputs = {},
                      Overwrite overwrite = Overwrite::kReplace) {
    const base::Status status = check_outputs(outputs, inputs, overwrite);
    return status.ok() ? "" : status.error().message;
  }

  fs::path folder_;
};

TEST_F(OutputTest, RefusesAnEmptyPath) {
  EXPECT_THAT(refusal({{"--proof", ""}}), HasSubstr("--proof: the path is empty"));
}

TEST_F(OutputTest, WritesFilesTogetherOrNotAtAll) {
  const auto text_of = [&](const char* name) {
    std::ifstream stream(folder_ / name);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  ASSERT_TRUE(write_together({{folder_ / "a", "first"}, {folder_ / "b", "second"}}).ok());
  EXPECT_EQ(text_of("a"), "first");
  EXPECT_EQ(text_of("b"), "second");
  EXPECT_FALSE(write_together({{folder_ / "a", "new"}, {folder_ / "none/b", "new"}}).ok());
  EXPECT_FALSE(write_together({{folder_ / "a", "new"}, {"/dev/full", "new"}}).ok());
  EXPECT_EQ(text_of("a"), "first");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);  // and old.json
}

TEST_F(OutputTest, AcceptsNewFilesAndReplaceableOnes) {
  EXPECT_EQ(refusal({{"--proof", folder_ / "new.json"}, {"--public", folder_ / "old.json"}}), "");
  EXPECT_EQ(refusal({{"--proof", "bare_name.json"}}), "");
}

TEST_F(OutputTest, RefusesToReplaceKeysUnasked) {
  EXPECT_THAT(refusal({{"--zkey", folder_ / "old.json"}}, {}, Overwrite::kRefuse),
              HasSubstr("exists already; --force replaces it"));
  EXPECT_EQ(refusal({{"--zkey", folder_ / "new.zkey"}}, {}, Overwrite::kRefuse), "");
}

TEST_F(OutputTest, RefusesFoldersAndMissingFolders) {
  EXPECT_THAT(refusal({{"--proof", folder_}}), HasSubstr("is a folder"));
  EXPECT_THAT(refusal({{"--proof", folder_ / "gone" / "x.json"}}), HasSubstr("there is no folder"));
}

// Whether a key lies there is not known then, so it must not be taken for a new file.
TEST_F(OutputTest, RefusesWhatCannotBeLookedAt) {
  fs::create_symlink(folder_ / "loop", folder_ / "loop");
  EXPECT_THAT(refusal({{"--zkey", folder_ / "loop"}}, {}, Overwrite::kRefuse),
              HasSubstr("symbolic links"));
  EXPECT_THAT(refusal({{"--zkey", folder_ / std::string(300, 'x')}}, {}, Overwrite::kRefuse),
              HasSubstr("too long"));
}

TEST_F(OutputTest, RefusesOneFileForTwoThings) {
  EXPECT_THAT(refusal({{"--proof", folder_ / "a"}, {"--public", folder_ / "." / "a"}}),
              HasSubstr("--proof and --public name the same file"));
  EXPECT_THAT(refusal({{"--proof", "not-there-yet"}, {"--public", "./not-there-yet"}}),
              HasSubstr("--proof and --public name the same file"));
  EXPECT_THAT(refusal({{"--proof", folder_ / "old.json"}}, {folder_ / "old.json"}),
              HasSubstr("--proof would overwrite the input"));
  fs::create_symlink(folder_ / "old.json", folder_ / "link.json");
  EXPECT_THAT(refusal({{"--proof", folder_ / "link.json"}}, {folder_ / "old.json"}),
              HasSubstr("would overwrite the input"));
}

TEST_F(OutputTest, StreamsMayBeSharedAndNeedNoFolder) {
  EXPECT_EQ(refusal({{"--proof", "/dev/null"}, {"--public", "/dev/null"}}), "");
}

TEST_F(OutputTest, MakesFoldersWithTheirParents) {
  EXPECT_TRUE(make_folder(folder_ / "a" / "b").ok());
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
  EXPECT_TRUE(make_folder(folder_ / "a").ok());
  EXPECT_FALSE(make_folder(folder_ / "old.json").ok());
}

TEST_F(OutputTest, SaysOfAFolderWhatMakingItWould) {
  EXPECT_TRUE(check_folder(folder_).ok());
  EXPECT_TRUE(check_folder(folder_ / "not" / "yet").ok());
  EXPECT_FALSE(fs::exists(folder_ / "not"));
  EXPECT_TRUE(check_folder("not/yet/either").ok());
  for (const fs::path& in_the_way : {folder_ / "old.json", folder_ / "old.json" / "a" / "b"}) {
    const base::Status status = check_folder(in_the_way);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr((folder_ / "old.json").string() + " is a file"));
    EXPECT_EQ(make_folder(in_the_way).error().message, status.error().message);
  }
}

}  // namespace
}  // namespace cuzk::apps
