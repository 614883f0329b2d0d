// Asked of the kernel (mincore) rather than of the code: whether pages are there, whose they
// are and when they have gone.
#include "cuda/device/host_pages.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cuzk::cuda::device {
namespace {

constexpr std::uint64_t kSize = 3 * HostPages::kHugePageBytes + 12345;

// Whether each page of [data, data + size) is in memory.
bool is_resident(std::byte* data, std::uint64_t size) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size + page - 1) / page);
  EXPECT_EQ(::mincore(data, size, pages.data()), 0) << std::strerror(errno);
  return std::all_of(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1) != 0; });
}

TEST(HostPages, AreThereZeroAndAlignedWhateverTheNumberOfThreads) {
  for (const unsigned threads : {1U, 2U, 7U}) {
    const auto pages = HostPages::create(kSize, threads);
    ASSERT_TRUE(pages.ok()) << pages.error().message;
    std::byte* const data = pages->data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % HostPages::kHugePageBytes, 0U);
    EXPECT_TRUE(is_resident(data, kSize)) << threads;
    EXPECT_TRUE(std::all_of(data, data + kSize, [](std::byte b) { return b == std::byte{0}; }));
    data[kSize - 1] = std::byte{7};
  }
}

TEST(HostPages, SeveralPiecesAreAllBroughtIn) {
  constexpr std::uint64_t size = 40 * HostPages::kHugePageBytes + 1;
  const auto pages = HostPages::create(size, 3);
  ASSERT_TRUE(pages.ok()) << pages.error().message;
  EXPECT_TRUE(is_resident(pages->data(), size));
}

TEST(HostPages, GoWithTheirOwner) {
  auto pages = HostPages::create(kSize, 1);
  ASSERT_TRUE(pages.ok()) << pages.error().message;
  std::byte* const data = pages->data();
  HostPages moved = std::move(pages).value();
  EXPECT_EQ(moved.data(), data);
  moved = HostPages();
  EXPECT_EQ(moved.data(), nullptr);
  // The whole range is unmapped, the last page too.
  unsigned char page = 0;
  EXPECT_EQ(::mincore(data, 1, &page), -1);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(HostPages, MemoryThatIsNotToBeHadIsAnErrorWithTheSize) {
  for (const std::uint64_t size : {std::uint64_t{1} << 55, ~std::uint64_t{0}}) {
    const auto pages = HostPages::create(size, 2);
    ASSERT_FALSE(pages.ok());
    EXPECT_EQ(pages.error().kind, base::ErrorKind::kResourceExhausted);
    EXPECT_NE(pages.error().message.find(std::to_string(size)), std::string::npos)
        << pages.error().message;
  }
}

// The kernel's flags ("VmFlags:" of proc(5)) of the mapping that holds the address.
std::string flags_of_mapping(const std::byte* address) {
  std::ifstream smaps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool is_it = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &begin, &end) == 2) {
      is_it = begin <= wanted && wanted < end;
    } else if (is_it && line.starts_with("VmFlags:")) {
      return line + " ";
    }
  }
  return "no mapping";
}

// A child that reads them would otherwise make copies of pages that a device writes to. Asked of
// the flags, for in a child of a sanitizer something else may lie at the same address.
TEST(HostPages, ChildrenDoNotInheritThem) {
  const auto pages = HostPages::create(kSize, 1);
  ASSERT_TRUE(pages.ok()) << pages.error().message;
  for (const std::uint64_t at : {std::uint64_t{0}, kSize - 1}) {
    const std::string flags = flags_of_mapping(pages->data() + at);
    EXPECT_NE(flags.find(" dc "), std::string::npos) << flags;  // do not copy on fork
  }
  EXPECT_EQ(flags_of_mapping(reinterpret_cast<const std::byte*>(&kSize)).find(" dc "),
            std::string::npos);
}

}  // namespace
}  // namespace cuzk::cuda::device
