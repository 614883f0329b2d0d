// Limits read from made-up trees of /proc and /sys: machines, containers, both cgroup versions.
#include "base/memory_limits.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk::base {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr char kUnifiedMount[] =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char kMemoryMount[] =
    "33 30 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:15 - cgroup cgroup rw,memory\n";

class MemoryLimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() /
            ("cuzk_limits_" + std::string(test->name()) + std::to_string(::getpid()));
    write("proc/meminfo",
          "MemTotal:       67108864 kB\nMemFree: 1 kB\nMemAvailable: 33554432 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  MemoryLimits detected() {
    auto limits = detect_memory_limits(root_);
    EXPECT_TRUE(limits.ok());
    return limits.ok() ? *limits : MemoryLimits{};
  }

  fs::path root_;
};

TEST_F(MemoryLimitsTest, IsTheRamWithoutControlGroups) {
  const MemoryLimits limits = detected();
  EXPECT_EQ(limits.ram_bytes, 64 * kGiB);
  EXPECT_EQ(limits.available_bytes, 32 * kGiB);
  EXPECT_EQ(limits.cgroup_bytes, 0u);
  EXPECT_EQ(limits.limit_bytes(), 64 * kGiB);
}

TEST_F(MemoryLimitsTest, TakesTheTightestOfVersion2OnTheWayUp) {
  write("proc/self/cgroup", "0::/system.slice/cuzk.service\n");
  write("proc/self/mountinfo",
        std::string("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n") + kUnifiedMount);
  write("sys/fs/cgroup/system.slice/cuzk.service/memory.max", "max\n");
  write("sys/fs/cgroup/system.slice/memory.max", std::to_string(20 * kGiB) + "\n");
  EXPECT_EQ(detected().limit_bytes(), 20 * kGiB);
  EXPECT_THAT(detected().cgroup_file, EndsWith("system.slice/memory.max"));
  write("sys/fs/cgroup/system.slice/cuzk.service/memory.max", std::to_string(8 * kGiB));
  EXPECT_EQ(detected().limit_bytes(), 8 * kGiB);
  write("sys/fs/cgroup/system.slice/cuzk.service/memory.high", std::to_string(6 * kGiB));
  EXPECT_EQ(detected().limit_bytes(), 6 * kGiB);
}

TEST_F(MemoryLimitsTest, ReadsVersion1AndItsWordForNone) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/jobs/one\n");
  write("proc/self/mountinfo", kMemoryMount);
  write("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(detected().cgroup_bytes, 0u);
  write("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", std::to_string(12 * kGiB) + "\n");
  EXPECT_EQ(detected().limit_bytes(), 12 * kGiB);
}

TEST_F(MemoryLimitsTest, SeesThroughTheMountOfAContainer) {
  // Version 1 in a container: the path is the host's, the mount shows the group itself.
  write("proc/self/cgroup", "4:memory:/docker/abc\n0::/\n");
  write("proc/self/mountinfo",
        "33 30 0:29 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(3 * kGiB) + "\n");
  EXPECT_EQ(detected().limit_bytes(), 3 * kGiB);
  // Version 2 in a container with its own namespace: the path is "/".
  write("proc/self/cgroup", "0::/\n");
  write("proc/self/mountinfo", kUnifiedMount);
  write("sys/fs/cgroup/memory.max", std::to_string(2 * kGiB) + "\n");
  EXPECT_EQ(detected().limit_bytes(), 2 * kGiB);
}

TEST_F(MemoryLimitsTest, ComparesNamesOfGroupsWholeNotByTheirLetters) {
  write("proc/self/mountinfo", kUnifiedMount);
  write("proc/self/cgroup", "0::/a..b\n");  // a name with dots, not a way up
  write("sys/fs/cgroup/a..b/memory.max", std::to_string(5 * kGiB) + "\n");
  EXPECT_EQ(detected().cgroup_bytes, 5 * kGiB);
  write("proc/self/mountinfo", "30 23 0:26 /pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "0::/pod2\n");  // beside the mount's group, not in it
  write("sys/fs/cgroup/2/memory.max", std::to_string(3 * kGiB) + "\n");
  write("sys/fs/cgroup/memory.max", std::to_string(7 * kGiB) + "\n");
  EXPECT_EQ(detected().cgroup_bytes, 7 * kGiB);
}

TEST_F(MemoryLimitsTest, TakesTheTightestOfBothVersions) {
  write("proc/self/cgroup", "4:memory:/a\n0::/b\n");
  write("proc/self/mountinfo",
        std::string(kMemoryMount) + "42 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n");
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", std::to_string(9 * kGiB));
  write("sys/fs/cgroup/unified/b/memory.max", std::to_string(7 * kGiB));
  EXPECT_EQ(detected().limit_bytes(), 7 * kGiB);
}

TEST_F(MemoryLimitsTest, IgnoresWhatItCannotRead) {
  write("proc/self/cgroup", "nonsense\n::\n0\n0::/../../etc\n");
  write("proc/self/mountinfo", std::string("1 2 3\n- - - -\n\n") + kUnifiedMount);
  write("sys/fs/cgroup/memory.max", "0\n");
  EXPECT_EQ(detected().limit_bytes(), 64 * kGiB);
  write("sys/fs/cgroup/memory.max", std::to_string(100 * kGiB));  // more than the RAM
  EXPECT_EQ(detected().limit_bytes(), 64 * kGiB);
}

TEST_F(MemoryLimitsTest, NeedsTheTotal) {
  write("proc/meminfo", "MemFree: 1 kB\n");
  const auto limits = detect_memory_limits(root_);
  ASSERT_FALSE(limits.ok());
  EXPECT_EQ(limits.error().kind, ErrorKind::kUnsupported);
}

TEST(MemoryLimits, OfThisMachineArePlausible) {
  const auto limits = detect_memory_limits();
  if (!limits.ok()) GTEST_SKIP() << limits.error().message;
  EXPECT_GT(limits->limit_bytes(), std::uint64_t{64} << 20);
  EXPECT_LE(limits->limit_bytes(), limits->ram_bytes);
}

TEST(Budget, AutoKeepsARemainderForWhatIsNotCounted) {
  MemoryLimits limits{64 * kGiB, 0, 0, ""};
  EXPECT_EQ(*resolve_budget("auto", limits), 60 * kGiB);
  limits.cgroup_bytes = 2 * kGiB;
  EXPECT_EQ(*resolve_budget("auto", limits), 2 * kGiB - (std::uint64_t{512} << 20));
  limits.cgroup_bytes = kGiB / 4;
  EXPECT_EQ(resolve_budget("auto", limits).error().kind, ErrorKind::kResourceExhausted);
}

TEST(Budget, IsStrict) {
  const MemoryLimits limits{64 * kGiB, 0, 32 * kGiB, "/sys/fs/cgroup/memory.max"};
  EXPECT_EQ(*resolve_budget("none", limits), 0u);
  EXPECT_EQ(*resolve_budget("24GiB", limits), 24 * kGiB);
  EXPECT_EQ(*resolve_budget("32GiB", limits), 32 * kGiB);
  EXPECT_EQ(*resolve_budget("1000000000", limits), 1'000'000'000u);
  EXPECT_EQ(*resolve_budget("100B", limits), 100u);
  EXPECT_THAT(resolve_budget("48", limits).error().message,
              HasSubstr("48 without a unit are bytes, into which nothing fits; write for example "
                        "48GiB"));
  EXPECT_THAT(resolve_budget("48GiB", limits).error().message,
              HasSubstr("48 GiB is more than the 32 GiB that /sys/fs/cgroup/memory.max allows"));
  EXPECT_THAT(resolve_budget("34359738369B", limits).error().message,
              HasSubstr("34359738369 B is more than the 32 GiB that"));
  for (const char* text : {"", "Auto", "AUTO", "auto ", "48", "-1GiB", "0", "0B", "50%"}) {
    EXPECT_EQ(resolve_budget(text, limits).error().kind, ErrorKind::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace cuzk::base
