// BLAKE2 against RFC 7693 and values of another implementation.
//
// The RFC has only the plain forms. Streams are cut at the borders of a block, where buffering
// fails.
#include "hash/blake2.h"

#include <string>

#include <gtest/gtest.h>

namespace cuzk::hash {
namespace {

base::ByteSpan bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// RFC 7693, appendices A and B.
TEST(Blake2, AnswersTheRfcExamples) {
  EXPECT_EQ(base::to_hex(blake2b_512(bytes_of("abc"))),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
  EXPECT_EQ(base::to_hex(blake2s_256(bytes_of("abc"))),
            "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
}

// Python 3 hashlib.blake2b(data, digest_size=32, key=key).hexdigest().
TEST(Blake2, KeysAndShortensTheParameterBlock) {
  base::Bytes key(32), message(100);
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(base::to_hex(blake2b_256_keyed(key, message)),
            "5c0ab21018b1328b7612b997a8899146f97aab2dc0a3d8f7113717558bf25e5a");
  EXPECT_EQ(base::to_hex(blake2b_256_keyed(base::ByteSpan(key).first(1), {})),
            "52897a9c27e9781839168d22a76145b07a8a7f8cd85c1d3709e5b09468405099");
  EXPECT_EQ(base::to_hex(blake2b_256_keyed(base::Bytes(64, 0xff), {})),
            "6fb689924c68850f631f1657aeb6b5551b8875f55654c898d88d8caecc6ebc13");
}

TEST(Blake2, StreamsLikeOneCall) {
  base::Bytes message(777);
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::uint8_t>(i * 7);
  for (const std::size_t step : {1, 63, 64, 65, 128, 777}) {
    Blake2s256 hasher;
    for (std::size_t at = 0; at < message.size(); at += step) {
      hasher.update(base::ByteSpan(message).subspan(at, std::min(step, message.size() - at)));
    }
    EXPECT_EQ(hasher.finish(), blake2s_256(message)) << step;
  }
  EXPECT_EQ(Blake2s256().finish(), blake2s_256({}));
}

}  // namespace
}  // namespace cuzk::hash
