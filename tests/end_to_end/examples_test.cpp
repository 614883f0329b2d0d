// The examples of the documentation run as they are written there.
//
// The blocks of a page run one after the other in one folder, as a reader would type them. Renaming
// a flag without its page fails here.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/end_to_end/command.h"

namespace cuzk::testing {
namespace {

const fs::path kRepository = fs::path(CUZK_TEST_DATA) / "../..";

// What stands between lines "```sh" and "```".
std::vector<std::string> runnable_blocks(const std::string& page) {
  const std::string open = "\n```sh\n", close = "\n```\n";
  std::vector<std::string> out;
  for (std::size_t at = page.find(open); at != page.npos; at = page.find(open, at)) {
    at += open.size();
    const std::size_t end = page.find(close, at);
    EXPECT_NE(end, page.npos) << "a block that is not closed";
    if (end == page.npos) break;
    out.push_back(page.substr(at, end - at));
    at = end;
  }
  return out;
}

void expect_blocks_run(const std::string& page, std::size_t count_min) {
  const TemporaryFolder scratch;
  fs::create_directory_symlink(fs::canonical(kRepository / "tests"), scratch / "tests");
  const std::string preamble = "set -e; cd '" + scratch.path().string() + "'; PATH='" +
                               fs::path(CUZK_COMMAND).parent_path().string() + "':$PATH\n";
  const std::vector<std::string> blocks = runnable_blocks(read_text(kRepository / page));
  EXPECT_GE(blocks.size(), count_min);
  for (const std::string& block : blocks) {
    const CommandResult ran = run_program("bash", {"-c", preamble + block});
    EXPECT_EQ(ran.exit_code, 0) << page << ":\n" << block << "\n" << ran.out << ran.err;
  }
}

TEST(Examples, OfTheReadmeRun) { expect_blocks_run("README.md", 1); }

TEST(Examples, OfTheCommandsPageRun) { expect_blocks_run("docs/commands.md", 6); }

}  // namespace
}  // namespace cuzk::testing
