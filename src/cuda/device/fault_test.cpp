// Which statuses lose a device, and that a lost one is refused from then on: with a made-up runtime
// whose calls return what the test says.
#include "cuda/device/fault.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/device/fault_codes.h"

namespace cuzk::cuda::device {
namespace {

using ::testing::HasSubstr;

// Calls as the room makes them: the device is asked for first, and each status is looked at.
class MadeUpRuntime {
 public:
  explicit MadeUpRuntime(int device) : device_(device) {}
  base::Status call(int code) {
    CUZK_TRY_STATUS(check_usable(device_));
    ++call_count_;
    if (code == codes::kSuccess) return base::ok_status();
    return fault_error(code, "status " + std::to_string(code), "madeUpCall", device_);
  }
  int call_count() const { return call_count_; }

 private:
  int device_;
  int call_count_ = 0;
};

class FaultTest : public ::testing::Test {
 protected:
  void SetUp() override { forget_condemned(); }
  void TearDown() override { forget_condemned(); }
};

TEST_F(FaultTest, StickyStatusCondemnsTheDeviceAndLaterCallsAreNotMade) {
  for (const int code : {codes::kIllegalAddress, codes::kLaunchTimeout, codes::kAssert,
                         codes::kLaunchFailure, codes::kEccUncorrectable, codes::kUnknown}) {
    forget_condemned();
    MadeUpRuntime runtime(3);
    EXPECT_TRUE(runtime.call(codes::kSuccess).ok());
    const auto lost = runtime.call(code);
    ASSERT_FALSE(lost.ok());
    EXPECT_EQ(lost.error().kind, base::ErrorKind::kUnavailable);
    EXPECT_THAT(lost.error().message, HasSubstr("device 3 is lost"));
    EXPECT_THAT(lost.error().message, HasSubstr("madeUpCall"));
    const auto refused = runtime.call(codes::kSuccess);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message, lost.error().message);
    EXPECT_EQ(runtime.call_count(), 2);
  }
}

TEST_F(FaultTest, OtherDevicesStayUsable) {
  MadeUpRuntime first(0), second(1);
  EXPECT_FALSE(first.call(codes::kIllegalAddress).ok());
  EXPECT_FALSE(first.call(codes::kSuccess).ok());
  EXPECT_TRUE(second.call(codes::kSuccess).ok());
}

TEST_F(FaultTest, MemoryAndWrongCallsLeaveTheDeviceUsable) {
  MadeUpRuntime runtime(0);
  const auto memory = runtime.call(codes::kMemoryAllocation);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().kind, base::ErrorKind::kResourceExhausted);
  const auto wrong = runtime.call(1);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, base::ErrorKind::kInternal);
  EXPECT_TRUE(runtime.call(codes::kSuccess).ok());
}

TEST_F(FaultTest, AMissingDriverIsUnavailableAndCondemnsNothing) {
  for (const int code : {codes::kInsufficientDriver, codes::kNoDevice}) {
    MadeUpRuntime runtime(0);
    EXPECT_EQ(runtime.call(code).error().kind, base::ErrorKind::kUnavailable);
    EXPECT_TRUE(check_usable(0).ok());
  }
}

TEST_F(FaultTest, PinnedMemoryThatIsRefusedInAnyWayIsAShortageAndNoLostDevice) {
  // As numbered by the runtime's header: invalid value, out of memory, operating system call
  // failed, not permitted, not supported.
  for (const int code : {1, codes::kMemoryAllocation, 304, 800, 801}) {
    const base::Error error = pinning_error(code, "no", "pinning", 0);
    EXPECT_EQ(error.kind, base::ErrorKind::kResourceExhausted) << code;
    EXPECT_THAT(error.message, HasSubstr("pinning: no"));
    EXPECT_TRUE(check_usable(0).ok());
  }
  EXPECT_EQ(pinning_error(codes::kNoDevice, "no", "pinning", 0).kind,
            base::ErrorKind::kUnavailable);
  // A device that was lost meanwhile says so through any call.
  EXPECT_EQ(pinning_error(codes::kIllegalAddress, "lost", "pinning", 0).kind,
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
