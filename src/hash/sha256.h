// SHA-256 (FIPS 180-4): one-shot, streaming, the raw compression function, and Filecoin's tree
// nodes.
//
// The compression function is chosen once at run time: SHA extensions where the CPU has them, plain
// C++ elsewhere. Both are reachable by name, so that tests compare them on any machine that can.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace cuzk::hash {

using Digest = std::array<std::uint8_t, 32>;
// The eight chaining words, h0 first.
using Sha256State = std::array<std::uint32_t, 8>;

inline constexpr std::size_t kSha256BlockBytes = 64;

namespace sha256_detail {

// The first `count` primes' roots, as FIPS 180-4 defines its constants: the first 32 bits of the
// fractional part, that is floor(p^(1/degree) * 2^32) mod 2^32.
template <std::size_t count>
constexpr std::array<std::uint32_t, count> root_fractions(unsigned degree) {
  std::array<std::uint32_t, count> out{};
  std::uint64_t prime = 2;
  for (std::size_t i = 0; i < count; ++prime) {
    bool composite = false;
    for (std::uint64_t d = 2; d * d <= prime; ++d) composite = composite || prime % d == 0;
    if (composite) continue;
    // The largest root with root^degree <= p 2^(32 degree), bit by bit: integers only, so the
    // compiler's floating point has no say. Roots here are below 64, so with 32 bits of fraction
    // they have 38 bits, and the cube of such a number fits 128.
    std::uint64_t root = 0;
    for (int bit = 37; bit >= 0; --bit) {
      const std::uint64_t trial = root | std::uint64_t{1} << bit;
      unsigned __int128 power = trial;
      for (unsigned k = 1; k < degree; ++k) power *= trial;
      if (power <= static_cast<unsigned __int128>(prime) << (32 * degree)) root = trial;
    }
    out[i++] = static_cast<std::uint32_t>(root);
  }
  return out;
}

}  // namespace sha256_detail

inline constexpr Sha256State kSha256InitialState = sha256_detail::root_fractions<8>(2);
inline constexpr std::array<std::uint32_t, 64> kSha256RoundConstants =
    sha256_detail::root_fractions<64>(3);
static_assert(kSha256InitialState[0] == 0x6a09e667 && kSha256RoundConstants[63] == 0xc67178f2);

enum class Sha256Path { kPortable, kShaExtensions };

// Whether this CPU can run the path, and the path that sha256_compress takes: the SHA extensions
// where this CPU has them and base::cpu_level() is kAdx or above.
bool sha256_path_available(Sha256Path path) noexcept;
Sha256Path sha256_default_path() noexcept;

// Feeds `block_count` blocks of 64 bytes into the state. No padding, no length.
void sha256_compress(Sha256State& state, const std::uint8_t* blocks, std::size_t block_count);
// The same along a given path, which must be available.
void sha256_compress_on(Sha256Path path, Sha256State& state, const std::uint8_t* blocks,
                        std::size_t block_count);

// The state's bytes, most significant byte of each word first.
Digest sha256_state_bytes(const Sha256State& state) noexcept;

// Streaming SHA-256. finish() may be called once.
class Sha256 {
 public:
  void update(base::ByteSpan bytes);
  Digest finish();

 private:
  // state_ has taken in all whole blocks; the byte_count_ % 64 bytes after them are in pending_.
  Sha256State state_ = kSha256InitialState;
  std::array<std::uint8_t, kSha256BlockBytes> pending_{};
  std::uint64_t byte_count_ = 0;
};

// The digest of one whole message.
Digest sha256(base::ByteSpan bytes);

// Clears the two top bits of the last byte, so that the little-endian value is below 2^254 and
// hence a BLS12-381 scalar: how Filecoin turns a digest into a tree node.
inline Digest truncated_to_254_bits(Digest digest) noexcept {
  digest[31] &= 0x3f;
  return digest;
}

// A node of Filecoin's tree D: SHA-256 of two 32-byte children, truncated to 254 bits.
Digest sha256_tree_node(const Digest& left, const Digest& right);

}  // namespace cuzk::hash
