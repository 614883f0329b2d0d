// Which statuses lose a device, and that a lost one is refused from then on: what cuda_error and
// use_device do, over a runtime that says what the test says.
#include "cuda/device/fault.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/device/fault_codes.h"

namespace cuzk::cuda::device {
namespace {

using ::testing::HasSubstr;

// The runtime's state: the current device, what it tells of it and what setting one returns.
struct MadeUp {
  int current = 0;
  bool tells = true;
  int set_status = codes::kSuccess;
  int set_count = 0;
};
MadeUp made_up;

const RuntimeCalls kRuntime = {[](int code) { return "status " + std::to_string(code); },
                               [] { return made_up.tells ? made_up.current : -1; },
                               [](int device) {
                                 ++made_up.set_count;
                                 if (made_up.set_status == codes::kSuccess)
                                   made_up.current = device;
                                 return made_up.set_status;
                               }};

class FaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    forget_condemned();
    made_up = MadeUp();
  }
  void TearDown() override { forget_condemned(); }
};

TEST_F(FaultTest, StickyStatusCondemnsTheDeviceAndLaterCallsAreNotMade) {
  for (const bool tells : {true, false}) {
    for (const int code : {codes::kIllegalAddress, codes::kLaunchTimeout, codes::kAssert,
                           codes::kLaunchFailure, codes::kEccUncorrectable, codes::kUnknown}) {
      SetUp();
      ASSERT_TRUE(use_by(kRuntime, 3).ok());
      made_up.tells = tells;  // a broken context may not even name its device
      const base::Error lost = error_by(kRuntime, code, "madeUpCall");
      EXPECT_EQ(lost.kind, base::ErrorKind::kUnavailable);
      EXPECT_THAT(lost.message, HasSubstr("device 3 is lost"));
      EXPECT_THAT(lost.message, HasSubstr("madeUpCall: status " + std::to_string(code)));
      const auto refused = use_by(kRuntime, 3);
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.error().kind, base::ErrorKind::kUnavailable);
      EXPECT_EQ(refused.error().message, lost.message);
      EXPECT_EQ(made_up.set_count, 1);
      EXPECT_TRUE(use_by(kRuntime, 2).ok());
    }
  }
}

TEST_F(FaultTest, ADeviceThatCannotEvenBeSetIsLostAndNotTheOneBefore) {
  ASSERT_TRUE(use_by(kRuntime, 0).ok());
  made_up.set_status = codes::kDevicesUnavailable;
  made_up.tells = false;
  EXPECT_EQ(use_by(kRuntime, 1).error().kind, base::ErrorKind::kUnavailable);
  EXPECT_FALSE(check_usable(1).ok());
  EXPECT_TRUE(check_usable(0).ok());
}

TEST_F(FaultTest, MemoryAndWrongCallsLeaveTheDeviceUsable) {
  ASSERT_TRUE(use_by(kRuntime, 0).ok());
  EXPECT_EQ(error_by(kRuntime, codes::kMemoryAllocation, "call").kind,
            base::ErrorKind::kResourceExhausted);
  EXPECT_EQ(error_by(kRuntime, 1, "call").kind, base::ErrorKind::kInternal);
  EXPECT_TRUE(use_by(kRuntime, 0).ok());
}

TEST_F(FaultTest, AMissingDriverIsUnavailableAndCondemnsNothing) {
  for (const int code : {codes::kInsufficientDriver, codes::kNoDevice}) {
    made_up.set_status = code;
    EXPECT_EQ(use_by(kRuntime, 0).error().kind, base::ErrorKind::kUnavailable);
    EXPECT_TRUE(check_usable(0).ok());
  }
}

TEST_F(FaultTest, PinnedMemoryThatIsRefusedInAnyWayIsAShortageAndNoLostDevice) {
  // As numbered by the runtime's header: invalid value, out of memory, operating system call
  // failed, not permitted, not supported.
  for (const int code : {1, codes::kMemoryAllocation, 304, 800, 801}) {
    const base::Error error = pinning_error(fault_error(code, "no", "pinning", 0));
    EXPECT_EQ(error.kind, base::ErrorKind::kResourceExhausted) << code;
    EXPECT_THAT(error.message, HasSubstr("pinning: no"));
    EXPECT_TRUE(check_usable(0).ok());
  }
  EXPECT_EQ(pinning_error(fault_error(codes::kNoDevice, "no", "pinning", 0)).kind,
            base::ErrorKind::kUnavailable);
  // A device that was lost meanwhile says so through any call.
  EXPECT_EQ(pinning_error(fault_error(codes::kIllegalAddress, "lost", "pinning", 0)).kind,
            base::ErrorKind::kUnavailable);
  EXPECT_FALSE(check_usable(0).ok());
}

TEST_F(FaultTest, PinnedMemoryIsRefusedAboveTheLimitOfATest) {
  const std::uint64_t before = pinned_bytes();
  ASSERT_TRUE(count_pinned(1000));
  limit_pinned(before + 1500);
  EXPECT_FALSE(count_pinned(501));
  EXPECT_FALSE(count_pinned(~std::uint64_t{0}));
  EXPECT_TRUE(count_pinned(500));
  EXPECT_FALSE(count_pinned(1));
  limit_pinned(before);  // less than is held
  EXPECT_FALSE(count_pinned(1));
  uncount_pinned(1500);
  EXPECT_FALSE(count_pinned(1));
  limit_pinned(std::nullopt);
  EXPECT_TRUE(count_pinned(std::uint64_t{1} << 40));
  uncount_pinned(std::uint64_t{1} << 40);
  EXPECT_EQ(pinned_bytes(), before);
}

TEST_F(FaultTest, TheFirstReasonStays) {
  condemn(5, "wrong answers");
  condemn(5, "later");
  EXPECT_EQ(check_usable(5).error().message, "wrong answers");
}

TEST_F(FaultTest, ManyThreadsMayCondemnAndAsk) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < 100; ++k) {
        condemn(k, std::to_string(i));
        EXPECT_FALSE(check_usable(k).ok());
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace cuzk::cuda::device
