// An image in pieces is the image as a whole.
#include "cuda/prove/host_image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

namespace cuzk::cuda::prove {
namespace {

// Arrays with gaps between them, and words that are made; large enough for several grains.
class HostImageTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kWordsAt = 64, kBytesAt = 1'000'000, kLongsAt = 4'000'000,
                                 kSize = 6'000'000;
  static constexpr std::size_t kWordCount = 200'001;

  void SetUp() override {
    bytes_.resize(2'900'001);
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<unsigned char>(i * 7);
    longs_.resize(200'000);
    for (std::size_t i = 0; i < longs_.size(); ++i) longs_[i] = i * 0x9e3779b97f4a7c15;
    image_.add_words(kWordsAt, kWordCount, [](std::size_t first, std::span<std::uint32_t> out) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = word(first + i);
    });
    image_.add<unsigned char>(kBytesAt, bytes_);
    image_.add<std::uint64_t>(kLongsAt, longs_);
    image_.add<std::uint64_t>(5'999'000, {});
    image_.add_words(5'999'100, 0, [](std::size_t, std::span<std::uint32_t>) { FAIL(); });
  }
  static std::uint32_t word(std::size_t i) { return static_cast<std::uint32_t>(i * i + 1); }

  // By the plainest means; gaps are 0xaa.
  std::vector<std::byte> expected() const {
    std::vector<std::byte> out(kSize, std::byte{0xaa});
    for (std::size_t i = 0; i < kWordCount; ++i) {
      const std::uint32_t value = word(i);
      std::memcpy(out.data() + kWordsAt + 4 * i, &value, 4);
    }
    std::memcpy(out.data() + kBytesAt, bytes_.data(), bytes_.size());
    std::memcpy(out.data() + kLongsAt, longs_.data(), 8 * longs_.size());
    return out;
  }

  std::vector<unsigned char> bytes_;
  std::vector<std::uint64_t> longs_;
  HostImage image_;
};

TEST_F(HostImageTest, WritesThePartsAndLeavesGaps) {
  std::vector<std::byte> out(kSize, std::byte{0xaa});
  image_.write(0, out);
  EXPECT_EQ(out, expected());
}

TEST_F(HostImageTest, InPiecesOfAnySizeIsTheWhole) {
  const auto whole = expected();
  for (const std::uint64_t piece : {std::uint64_t{4096}, std::uint64_t{131'072},
                                    std::uint64_t{999'936}, std::uint64_t{1'000'000}, kSize}) {
    std::vector<std::byte> out(kSize, std::byte{0xaa});
    for (std::uint64_t first = 0; first < kSize; first += piece) {
      image_.write(first, std::span(out).subspan(first, std::min(piece, kSize - first)));
    }
    EXPECT_EQ(out, whole) << piece;
  }
}

TEST_F(HostImageTest, APieceMayBeginAndEndInsideAPart) {
  const auto whole = expected();
  for (const auto& [first, size] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 64},
                                                            {0, 68},
                                                            {64, 4},
                                                            {100, 400'000},
                                                            {999'996, 8},
                                                            {1'000'001, 1},
                                                            {3'999'999, 2},
                                                            {5'599'992, 16},
                                                            {kSize - 1, 1},
                                                            {kSize, 0}}) {
    std::vector<std::byte> out(size, std::byte{0xaa});
    image_.write(first, out);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), whole.begin() + static_cast<long>(first)))
        << first << " " << size;
  }
}

TEST_F(HostImageTest, WritesNothingBesideWhatIsAskedFor) {
  std::vector<std::byte> out(3 * 4096, std::byte{0xbb});
  image_.write(kWordsAt + 4096, std::span(out).subspan(4096, 4096));
  const auto whole = expected();
  for (std::size_t i = 0; i < 4096; ++i) {
    ASSERT_EQ(out[i], std::byte{0xbb});
    ASSERT_EQ(out[2 * 4096 + i], std::byte{0xbb});
    ASSERT_EQ(out[4096 + i], whole[kWordsAt + 4096 + i]);
  }
}

}  // namespace
}  // namespace cuzk::cuda::prove
