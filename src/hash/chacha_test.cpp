// ChaCha against published vectors; counters at the end of their range.
//
// The two layouts differ only in the counter: it has to carry in one and wrap in the other.
#include "hash/chacha.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cuzk::hash {
namespace {

std::string stream_hex(ChaChaStream stream, std::size_t size) {
  base::Bytes out(size);
  stream.fill(out);
  return base::to_hex(out);
}

// draft-strombergsson-chacha-test-vectors-01, TC1: all-zero key and nonce, 256-bit key.
TEST(ChaCha, AnswersTheZeroKeyVectors) {
  EXPECT_EQ(stream_hex(ChaChaStream::original(8, {}), 64),
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
            "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
  EXPECT_EQ(stream_hex(ChaChaStream::original(20, {}), 64),
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
}

// RFC 8439, 2.3.2.
TEST(ChaCha, AnswersTheRfcBlock) {
  ChaChaKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  const std::array<std::uint8_t, 12> nonce = {0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0};
  EXPECT_EQ(stream_hex(ChaChaStream::ietf(20, key, nonce, 1), 64),
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
}

TEST(ChaCha, GivesWordsInStreamOrder) {
  ChaChaStream words = ChaChaStream::original(8, {7}), bytes = words;
  base::Bytes expected(300 * 4);
  bytes.fill(expected);
  for (std::size_t i = 0; i < 300; i += 3) {
    ASSERT_EQ(words.next_u32(), base::load_u32_le(&expected[4 * i]));
    ASSERT_EQ(words.next_u64(), base::load_u64_le(&expected[4 * i + 4]));
  }
}

TEST(ChaCha, CounterContinuesIntoTheNextBlock) {
  base::Bytes two(128), second(64);
  ChaChaStream::original(20, {1}, 5).fill(two);
  ChaChaStream::original(20, {1}, 5, 1).fill(second);
  EXPECT_EQ(base::to_hex(base::ByteSpan(two).subspan(64)), base::to_hex(second));
}

// The two layouts differ only in what follows block 2^32 - 1: a carry or none.
TEST(ChaCha, OnlyTheOriginalCounterCarries) {
  ChaChaStream wide = ChaChaStream::original(8, {}, 0, 0xffffffff);
  ChaChaStream narrow = ChaChaStream::ietf(8, {}, {}, 0xffffffff);
  base::Bytes from_wide(128), from_narrow(128), carried(64), wrapped(64);
  wide.fill(from_wide);
  narrow.fill(from_narrow);
  ChaChaStream::original(8, {}, 0, std::uint64_t{1} << 32).fill(carried);
  ChaChaStream::original(8, {}, 0, 0).fill(wrapped);
  EXPECT_TRUE(std::equal(from_wide.begin(), from_wide.begin() + 64, from_narrow.begin()));
  EXPECT_TRUE(std::equal(carried.begin(), carried.end(), from_wide.begin() + 64));
  EXPECT_TRUE(std::equal(wrapped.begin(), wrapped.end(), from_narrow.begin() + 64));
}

}  // namespace
}  // namespace cuzk::hash
