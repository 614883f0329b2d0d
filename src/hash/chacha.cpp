// One ChaCha block at a time (RFC 8439; Bernstein's original layout of the counter beside it).
//
// Portable words and no vectors. It draws the parents of nodes and challenges from public seeds, so
// it wipes no keys and is not meant for encryption.
#include "hash/chacha.h"

#include <bit>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"

namespace cuzk::hash {

namespace {

// RFC 8439, section 2.1.
void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) {
  a += b, d = std::rotl(d ^ a, 16);
  c += d, b = std::rotl(b ^ c, 12);
  a += b, d = std::rotl(d ^ a, 8);
  c += d, b = std::rotl(b ^ c, 7);
}

}  // namespace

ChaChaStream::ChaChaStream(unsigned rounds, const ChaChaKey& key) : rounds_(rounds) {
  CUZK_ASSERT(rounds > 0 && rounds % 2 == 0);
  constexpr std::string_view kSigma = "expand 32-byte k";
  for (std::size_t i = 0; i < 4; ++i) {
    input_[i] = base::load_u32_le(reinterpret_cast<const std::uint8_t*>(kSigma.data()) + 4 * i);
  }
  for (std::size_t i = 0; i < 8; ++i) input_[4 + i] = base::load_u32_le(&key[4 * i]);
}

ChaChaStream ChaChaStream::original(unsigned rounds, const ChaChaKey& key, std::uint64_t nonce,
                                    std::uint64_t counter) {
  ChaChaStream stream(rounds, key);
  stream.input_[12] = static_cast<std::uint32_t>(counter);
  stream.input_[13] = static_cast<std::uint32_t>(counter >> 32);
  stream.input_[14] = static_cast<std::uint32_t>(nonce);
  stream.input_[15] = static_cast<std::uint32_t>(nonce >> 32);
  return stream;
}

ChaChaStream ChaChaStream::ietf(unsigned rounds, const ChaChaKey& key,
                                const std::array<std::uint8_t, 12>& nonce, std::uint32_t counter) {
  ChaChaStream stream(rounds, key);
  stream.wide_counter_ = false;
  stream.input_[12] = counter;
  for (std::size_t i = 0; i < 3; ++i) stream.input_[13 + i] = base::load_u32_le(&nonce[4 * i]);
  return stream;
}

// Makes the next block: column rounds and diagonal rounds in turn, then the input added again,
// without which the rounds could be run backwards.
void ChaChaStream::refill() {
  CUZK_ASSERT(next_word_ == block_.size());
  block_ = input_;
  auto& x = block_;
  for (unsigned round = 0; round < rounds_; round += 2) {
    for (std::size_t i = 0; i < 4; ++i) quarter_round(x[i], x[4 + i], x[8 + i], x[12 + i]);
    for (std::size_t i = 0; i < 4; ++i) {
      quarter_round(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
    }
  }
  for (std::size_t i = 0; i < 16; ++i) x[i] += input_[i];
  if (++input_[12] == 0 && wide_counter_) ++input_[13];
  next_word_ = 0;
}

std::uint32_t ChaChaStream::next_u32() {
  if (next_word_ == block_.size()) refill();
  return block_[next_word_++];
}

std::uint64_t ChaChaStream::next_u64() {
  const std::uint64_t low = next_u32();
  return low | std::uint64_t{next_u32()} << 32;
}

void ChaChaStream::fill(std::span<std::uint8_t> out) {
  std::uint8_t word[4];
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % 4 == 0) base::store_u32_le(word, next_u32());
    out[i] = word[i % 4];
  }
}

}  // namespace cuzk::hash
