// Names round-trip, and a forced level never exceeds the machine's.
#include "base/cpu.h"

#include <gtest/gtest.h>

namespace cuzk::base {
namespace {

TEST(CpuLevel, NamesRoundTrip) {
  for (const auto level : {CpuLevel::kPortable, CpuLevel::kAdx, CpuLevel::kIfma}) {
    EXPECT_EQ(cpu_level_from_string(to_string(level)), level);
  }
  EXPECT_EQ(cpu_level_from_string("mmx"), std::nullopt);
  EXPECT_EQ(cpu_level_from_string(""), std::nullopt);
}

TEST(CpuLevel, IsLoweredToTheMachine) {
  const CpuLevel before = cpu_level();
  EXPECT_LE(before, machine_cpu_level());
  force_cpu_level(CpuLevel::kIfma);
  EXPECT_EQ(cpu_level(), machine_cpu_level());
  force_cpu_level(CpuLevel::kPortable);
  EXPECT_EQ(cpu_level(), CpuLevel::kPortable);
  force_cpu_level(before);
}

}  // namespace
}  // namespace cuzk::base
