// Spellings of one device's names, and what is said when none fits.
#include "cuda/device/device_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::cuda::device {
namespace {

using ::testing::HasSubstr;

DeviceInfo device(int index, const char* uuid, const char* pci) {
  DeviceInfo info;
  info.index = index;
  info.name = "Card";
  info.uuid = uuid;
  info.pci_address = pci;
  return info;
}

const DeviceInfo kFirst = device(0, "GPU-4d5c1a2b-0011-2233-4455-66778899aabb", "0000:17:00.0");
const DeviceInfo kSecond = device(1, "GPU-4d5c1a2b-ffff-2233-4455-66778899aabb", "0001:17:00.0");

TEST(DeviceName, MeansADeviceByIndexUuidAndPciAddressInAnySpelling) {
  for (const char* name :
       {"0", "GPU-4d5c1a2b-0011-2233-4455-66778899aabb", "4d5c1a2b-0011-2233-4455-66778899aabb",
        "gpu-4D5C1A2B-0011", "0000:17:00.0", "00000000:17:00.0", "17:00.0", "17:00"}) {
    EXPECT_TRUE(is_name_of(kFirst, name)) << name;
    EXPECT_FALSE(is_name_of(kSecond, name)) << name;
  }
  EXPECT_TRUE(is_name_of(kSecond, "00000001:17:00.0"));
  EXPECT_TRUE(is_name_of(kSecond, "1:17:00.0"));
}

TEST(DeviceName, TooShortOrForeignNamesMeanNone) {
  for (const char* name : {"", "2", "00", "GPU-4d5c", "GPU-", "17", "18:00.0", "GPU-5d5c1a2b"}) {
    EXPECT_FALSE(is_name_of(kFirst, name)) << name;
  }
}

TEST(DeviceName, FindsTheOneAndTellsWhatThereIs) {
  const std::vector<DeviceInfo> all = {kFirst, kSecond};
  EXPECT_EQ(find_by_name(all, "1").value().uuid, kSecond.uuid);
  const auto several = find_by_name(all, "GPU-4d5c1a2b");
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().kind, base::ErrorKind::kInvalidArgument);
  const auto none = find_by_name(all, "7");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, base::ErrorKind::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("0 = GPU-4d5c1a2b-0011"));
  EXPECT_THAT(find_by_name({}, "0").error().message, HasSubstr("visible are: none"));
}

}  // namespace
}  // namespace cuzk::cuda::device
