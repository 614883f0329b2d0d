// The dashboard of a daemon that proves, in Chromium.
//
// dashboard_client.mjs opens the page, does what a person does there and tells what it saw. Skipped
// by name where there is no browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/end_to_end/daemon.h"
#include "tests/support/data.h"

namespace cuzk::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kHostileId[] = "<img src=x onerror=\"window.hostile=1;alert(1)\">";

// Folder of playwright-core and path of the browser, where tools/setup_browser.sh puts them.
struct Browser {
  std::string modules, program;
};
std::optional<Browser> find_browser() {
  std::vector<fs::path> places;
  if (const char* given = std::getenv("CUZK_PLAYWRIGHT")) places.emplace_back(given);
  if (const char* home = std::getenv("HOME")) {
    places.push_back(fs::path(home) / ".cache/cuzk/playwright-core-1.61.1/node_modules");
  }
  const char* named = std::getenv("CUZK_CHROMIUM");
  const std::string program = named != nullptr ? named : "/usr/bin/chromium";
  for (const fs::path& place : places) {
    if (fs::exists(place / "playwright-core") && fs::exists(program)) {
      return Browser{place.string(), program};
    }
  }
  return std::nullopt;
}

// A daemon with the small circuit, and jobs that are over: proved ones, and one that failed.
class DashboardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    browser_ = find_browser();
    if (!browser_ || run_program("node", {"--version"}).exit_code != 0) {
      GTEST_SKIP() << "needs node, playwright-core and Chromium (tools/setup_browser.sh)";
    }
  }

  void start(const std::string& more = "") {
    const std::string key = CUZK_TEST_DATA "/circom/mul1000-bn128/circuit_final.zkey";
    daemon_.emplace(scratch_.path(),
                    "[daemon]\nlisten = \"127.0.0.1:0\"\nstatus_listen = \"127.0.0.1:0\"\n"
                    "[journal]\nfolder = \"" +
                        scratch_.file("journal") + "\"\n[gpus]\ncpu = \"only\"\n" + more +
                        "[[circuits]]\nname = \"mul1000\"\nzkey = \"" + key + "\"\n");
    daemon_->wait_for("http 127.0.0.1:");
    grpc_ = "127.0.0.1:" + daemon_->port_after("listening on 127.0.0.1:");
    url_ = "http://127.0.0.1:" + daemon_->port_after("http 127.0.0.1:") + "/";
  }

  CommandResult submit(const std::string& id, const std::string& witness) {
    return run_program(CUZK_COMMAND, {"submit", "--addr", grpc_, "--circuit", "mul1000",
                                      "--witness", witness, "--id", id, "--wait"});
  }

  Json browse(const std::string& scenario, Json more = Json::object()) {
    more["modules"] = browser_->modules;
    more["browser"] = browser_->program;
    more["url"] = url_;
    more["scenario"] = scenario;
    if (const char* folder = std::getenv("CUZK_SCREENSHOTS")) more["screenshots"] = folder;
    const std::string file = scratch_.file("spec.json");
    write_text(file, more.dump());
    const CommandResult result =
        run_program("node", {CUZK_TEST_DATA "/../end_to_end/dashboard_client.mjs", file});
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    return result.exit_code == 0 ? result.json() : Json();
  }

  TemporaryFolder scratch_;
  std::optional<Browser> browser_;
  std::optional<DaemonProcess> daemon_;
  std::string grpc_, url_;
};

TEST_F(DashboardTest, ShowsARunInAllSizesAndThemes) {
  start();
  const std::string good = CUZK_TEST_DATA "/circom/mul1000-bn128/witness.wtns";
  const std::string broken = scratch_.file("broken.wtns");
  std::string bytes = read_text(good);
  bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 1);  // the last wire
  write_text(broken, bytes);
  Json jobs = Json::array();
  for (int i = 0; i < 6; ++i) {
    jobs.push_back("age-check-" + std::to_string(i));
    EXPECT_EQ(submit(jobs.back().get<std::string>(), good).exit_code, 0);
  }
  EXPECT_EQ(submit(kHostileId, good).exit_code, 0);
  const CommandResult failed = submit("a-witness-that-is-wrong", broken);
  EXPECT_EQ(failed.exit_code, 1) << failed.out;
  const Json seen = browse("shows", {{"jobs", jobs},
                                     {"hostile", kHostileId},
                                     {"failed", "a-witness-that-is-wrong"},
                                     {"reason", "does not satisfy"}});
  ASSERT_TRUE(seen.is_object());
  EXPECT_THAT(seen["version"].get<std::string>(), HasSubstr("cuzk"));
  EXPECT_EQ(seen["completed"], "7");
  EXPECT_EQ(seen["failed"], "1");
  EXPECT_GE(seen["devices"], 1);
  EXPECT_THAT(seen["keys"].get<std::string>(), HasSubstr("mul1000"));
  for (const char* chart : {"waterfall", "memory", "throughput", "queue"}) {
    EXPECT_GT(seen[chart]["count"], 500) << chart;
    EXPECT_GT(seen[chart]["colours"], 2) << chart;
  }
  browse("phone", {{"jobs", jobs}});
  browse("themes");
}

TEST_F(DashboardTest, AsksForATokenWhereOneIsNeeded) {
  const std::string token = "0123456789abcdef-of-the-test", file = scratch_.file("tokens");
  write_text(file, token + "\n");
  ::chmod(file.c_str(), 0600);
  start("[auth]\nrequired = \"always\"\ntoken_file = \"" + file + "\"\n");
  browse("token", {{"token", token}});
}

TEST_F(DashboardTest, SaysWhenTheDaemonIsGone) {
  start();
  browse("lost", {{"process", daemon_->id()}});
  EXPECT_EQ(daemon_->wait_exit(), 0);
}

}  // namespace
}  // namespace cuzk::testing
