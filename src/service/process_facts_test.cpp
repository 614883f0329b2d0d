// Facts of the process move as what it does.
#include "service/process_facts.h"

#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

TEST(ProcessFacts, FollowWhatTheProcessDoes) {
  const ProcessFacts before = process_facts();
  EXPECT_GT(before.resident_bytes, 1U << 20);
  std::FILE* const file = std::fopen("/dev/null", "r");
  ASSERT_NE(file, nullptr);
  std::vector<unsigned char> touched(32U << 20);
  for (std::size_t i = 0; i < touched.size(); i += 1024) touched[i] = static_cast<unsigned char>(i);
  const ProcessFacts after = process_facts();
  EXPECT_EQ(after.open_files, before.open_files + 1);
  EXPECT_GT(after.resident_bytes, before.resident_bytes + (16U << 20)) << touched[1024];
  EXPECT_GT(after.cpu_s, before.cpu_s);
  std::fclose(file);
}

}  // namespace
}  // namespace cuzk::service
