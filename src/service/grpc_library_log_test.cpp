// Lines are written as the library writes them, by its own gpr_log.
#include "service/grpc_library_log.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <grpc/support/log.h>
#include <gtest/gtest.h>

#include "base/log.h"

namespace cuzk::service {
namespace {

using base::LogLevel;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// What becomes of a line of the library: only what ends a listener or the process is an error.
TEST(GrpcLibraryLog, OnlyWhatEndsAListenerOrTheProcessIsAnError) {
  std::vector<std::pair<LogLevel, std::string>> lines;
  take_library_lines();
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);  // which the library does when it starts
  base::set_log_sink(
      [&](LogLevel level, std::string_view line) { lines.emplace_back(level, line); });
  const std::uint64_t closed = closed_listener_count();
  gpr_log(GPR_ERROR, "%s", "assertion failed: 1 == 2");
  gpr_log(GPR_ERROR, "%s", "a client went away");
  EXPECT_EQ(closed_listener_count(), closed);
  gpr_log(GPR_ERROR, "%s", "Failed accept4: Too many open files");
  EXPECT_EQ(closed_listener_count(), closed + 1);
  base::set_log_sink({});
  EXPECT_THAT(lines, Contains(Pair(LogLevel::kError, "grpc: assertion failed: 1 == 2")));
  EXPECT_THAT(lines, Not(Contains(Pair(LogLevel::kError, "grpc: a client went away"))));
  EXPECT_THAT(lines, Contains(Pair(LogLevel::kError, HasSubstr("Too many open files"))));
}

}  // namespace
}  // namespace cuzk::service
