// Flags of `cuzk daemon` over its file: they replace, in the words of the file.
#include "apps/cuzk/job_daemon.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace cuzk::apps {
namespace {

using cuzk::testing::TemporaryFolder;

TEST(DaemonConfig, HttpIsTurnedOffByFlagAndFileInTheSameWords) {
  const TemporaryFolder folder;
  std::ofstream(folder / "on.toml") << "[daemon]\nstatus_listen = \"127.0.0.1:1234\"\n";
  std::ofstream(folder / "off.toml") << "[daemon]\nstatus_listen = \"off\"\n";
  DaemonRequest request;
  request.config = folder / "off.toml";
  const auto by_file = daemon_config(request, {});
  ASSERT_TRUE(by_file.ok()) << by_file.error().message;
  EXPECT_FALSE(by_file->config.daemon.status_listen.has_value());
  request.config = folder / "on.toml";
  const auto left_alone = daemon_config(request, {});
  ASSERT_TRUE(left_alone.ok()) << left_alone.error().message;
  EXPECT_EQ(left_alone->config.daemon.status_listen->port, 1234);
  for (const char* word : {"off", ""}) {
    request.status_listen = word;
    const auto by_flag = daemon_config(request, {});
    ASSERT_TRUE(by_flag.ok()) << by_flag.error().message;
    EXPECT_FALSE(by_flag->config.daemon.status_listen.has_value()) << word;
  }
  request.config = folder / "off.toml";
  request.status_listen = "127.0.0.1:1";
  const auto on = daemon_config(request, {});
  ASSERT_TRUE(on.ok()) << on.error().message;
  EXPECT_EQ(on->config.daemon.status_listen->port, 1);
  request.status_listen = "none";
  EXPECT_NE(daemon_config(request, {}).error().message.find("for none write off"),
            std::string::npos);
}

TEST(DaemonConfig, AnyFlagOfASizeMayBeBytes) {
  CommonOptions common;
  common.memory = "64000000";
  const auto loaded = daemon_config({}, common);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.memory.total_budget, "64000000");
}

}  // namespace
}  // namespace cuzk::apps
