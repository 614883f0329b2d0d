// What is appended stands behind what was there, low byte first, and is read back by ByteReader.
#include "base/append.h"

#include <limits>

#include <gtest/gtest.h>

namespace cuzk::base {
namespace {

TEST(Append, PutsTheLowByteFirstBehindWhatIsThere) {
  Bytes out = {9};
  append_u32_le(out, 0x04030201);
  append_u64_le(out, 0x0c0b0a0908070605);
  EXPECT_EQ(out, (Bytes{9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(Append, IsReadBack) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 31, std::uint64_t{1} << 32,
        std::numeric_limits<std::uint64_t>::max()}) {
    Bytes out;
    append_u64_le(out, value);
    append_u32_le(out, static_cast<std::uint32_t>(value));
    ByteReader reader(out, "appended");
    EXPECT_EQ(*reader.u64_le("long"), value);
    EXPECT_EQ(*reader.u32_le("short"), static_cast<std::uint32_t>(value));
  }
}

}  // namespace
}  // namespace cuzk::base
