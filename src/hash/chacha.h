// The ChaCha key stream with 8 or 20 rounds (Bernstein, 2008), as a source of pseudo-random words.
//
// Two layouts of the last four state words: the original one (64-bit block counter, 64-bit nonce),
// which seeded random generators use with nonce 0, and that of RFC 8439 (32-bit counter, 96-bit
// nonce). The counter wraps silently at the end of its range.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cuzk::hash {

using ChaChaKey = std::array<std::uint8_t, 32>;

// A position in one key stream, consumed in order. One thread at a time; a copy goes on by itself
// from the same place.
class ChaChaStream {
 public:
  // The original layout, from block `counter` on. `rounds` is even.
  static ChaChaStream original(unsigned rounds, const ChaChaKey& key, std::uint64_t nonce = 0,
                               std::uint64_t counter = 0);
  // RFC 8439.
  static ChaChaStream ietf(unsigned rounds, const ChaChaKey& key,
                           const std::array<std::uint8_t, 12>& nonce, std::uint32_t counter = 0);

  // The next four bytes of the stream, little-endian. Words and bytes may be mixed only at word
  // borders: fill() drops the rest of its last word.
  std::uint32_t next_u32();
  // Two words, the first one low.
  std::uint64_t next_u64();
  // The next out.size() bytes.
  void fill(std::span<std::uint8_t> out);

 private:
  ChaChaStream(unsigned rounds, const ChaChaKey& key);
  void refill();

  // input_ is the next block's input; next_word_ is what block_ has given out, 16 when it is spent
  // or was never filled.
  unsigned rounds_;
  bool wide_counter_ = true;
  std::array<std::uint32_t, 16> input_{};
  std::array<std::uint32_t, 16> block_{};
  std::size_t next_word_ = 16;
};

}  // namespace cuzk::hash
