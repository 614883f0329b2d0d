// Names round-trip, and a forced level never exceeds the machine's.
#include "base/cpu.h"

#include <cstdlib>

#include <gmock/gmock.h>
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
  EXPECT_EQ(has_adx(), machine_cpu_level() >= CpuLevel::kAdx);
  force_cpu_level(CpuLevel::kPortable);
  EXPECT_EQ(cpu_level(), CpuLevel::kPortable);
  EXPECT_FALSE(has_adx());
  force_cpu_level(before);
}

// Sets CUZK_CPU_LEVEL for one test and puts the former value back.
class CpuLevelRequest : public ::testing::Test {
 protected:
  static constexpr const char* kName = "CUZK_CPU_LEVEL";
  void SetUp() override {
    if (const char* value = std::getenv(kName)) former_ = value;
  }
  void TearDown() override {
    if (former_) {
      ::setenv(kName, former_->c_str(), 1);
    } else {
      ::unsetenv(kName);
    }
  }
  std::optional<std::string> former_;
};

TEST_F(CpuLevelRequest, AcceptsNothingAndTheLevelsOfTheMachine) {
  ::unsetenv(kName);
  EXPECT_TRUE(cpu_level_request().ok());
  for (const auto level : {CpuLevel::kPortable, CpuLevel::kAdx, CpuLevel::kIfma}) {
    ::setenv(kName, std::string(to_string(level)).c_str(), 1);
    EXPECT_EQ(cpu_level_request().ok(), level <= machine_cpu_level());
  }
}

TEST_F(CpuLevelRequest, RefusesAnUnknownName) {
  ::setenv(kName, "avx9000", 1);
  const auto status = cpu_level_request();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_THAT(status.error().message, ::testing::HasSubstr("\"avx9000\", expected portable"));
}

// The level is fixed at start, so a later change of the environment has no effect.
TEST_F(CpuLevelRequest, DoesNotChangeTheLevelInUse) {
  const CpuLevel before = cpu_level();
  ::setenv(kName, "portable", 1);
  EXPECT_EQ(cpu_level(), before);
}

}  // namespace
}  // namespace cuzk::base
