// Padding, streaming and the choice of the compression function; the plain compression function.
//
// The path is chosen at each call by two loads, since tests may force a level. Source: FIPS 180-4,
// whose letters the code keeps.
#include "hash/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/cpu.h"
#include "hash/sha256_paths.h"

namespace cuzk::hash {

namespace internal {

void sha256_compress_portable(std::uint32_t* state, const std::uint8_t* blocks,
                              std::size_t block_count) {
  for (; block_count > 0; --block_count, blocks += kSha256BlockBytes) {
    std::uint32_t w[64];
    for (int i = 0; i < 16; ++i) w[i] = base::load_u32_be(blocks + 4 * i);
    for (int i = 16; i < 64; ++i) {
      const std::uint32_t s0 =
          std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    std::uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t choice = (e & f) ^ (~e & g);
      const std::uint32_t t1 = h + s1 + choice + kSha256RoundConstants[i] + w[i];
      const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
      h = g, g = f, f = e, e = d + t1;
      d = c, c = b, b = a, a = t1 + s0 + majority;
    }
    const std::uint32_t sums[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state[i] += sums[i];
  }
}

}  // namespace internal

bool sha256_path_available(Sha256Path path) noexcept {
  return path == Sha256Path::kPortable || internal::sha_extensions_present();
}

Sha256Path sha256_default_path() noexcept {
  // A level below kAdx asks for code that runs on any processor. Two loads: levels may be forced.
  return base::has_adx() && internal::sha_extensions_present() ? Sha256Path::kShaExtensions
                                                               : Sha256Path::kPortable;
}

void sha256_compress_on(Sha256Path path, Sha256State& state, const std::uint8_t* blocks,
                        std::size_t block_count) {
  CUZK_ASSERT(sha256_path_available(path));
  if (path == Sha256Path::kShaExtensions) {
    internal::sha256_compress_sha_extensions(state.data(), blocks, block_count);
  } else {
    internal::sha256_compress_portable(state.data(), blocks, block_count);
  }
}

void sha256_compress(Sha256State& state, const std::uint8_t* blocks, std::size_t block_count) {
  if (sha256_default_path() == Sha256Path::kShaExtensions) {
    internal::sha256_compress_sha_extensions(state.data(), blocks, block_count);
  } else {
    internal::sha256_compress_portable(state.data(), blocks, block_count);
  }
}

Digest sha256_state_bytes(const Sha256State& state) noexcept {
  Digest out;
  for (std::size_t i = 0; i < state.size(); ++i) base::store_u32_be(&out[4 * i], state[i]);
  return out;
}

void Sha256::update(base::ByteSpan bytes) {
  if (bytes.empty()) return;
  const std::size_t held = byte_count_ % kSha256BlockBytes;
  byte_count_ += bytes.size();
  // First fill up a block that was begun; then whole blocks from where they lie; then keep the
  // rest.
  if (held != 0) {
    const std::size_t taken = std::min(kSha256BlockBytes - held, bytes.size());
    std::memcpy(&pending_[held], bytes.data(), taken);
    bytes = bytes.subspan(taken);
    if (held + taken < kSha256BlockBytes) return;
    sha256_compress(state_, pending_.data(), 1);
  }
  const std::size_t whole = bytes.size() / kSha256BlockBytes;
  sha256_compress(state_, bytes.data(), whole);
  bytes = bytes.subspan(whole * kSha256BlockBytes);
  if (!bytes.empty()) std::memcpy(pending_.data(), bytes.data(), bytes.size());
}

// Padding: one set bit, zeros, and the length in bits in the last eight bytes. It takes a second
// block when fewer than nine bytes are free in the first.
Digest Sha256::finish() {
  std::uint8_t tail[2 * kSha256BlockBytes] = {};
  const std::size_t held = byte_count_ % kSha256BlockBytes;
  std::memcpy(tail, pending_.data(), held);
  tail[held] = 0x80;
  const std::size_t blocks = held + 9 <= kSha256BlockBytes ? 1 : 2;
  CUZK_ASSERT(held + 9 <= blocks * kSha256BlockBytes);
  base::store_u64_be(tail + blocks * kSha256BlockBytes - 8, byte_count_ * 8);
  sha256_compress(state_, tail, blocks);
  return sha256_state_bytes(state_);
}

Digest sha256(base::ByteSpan bytes) {
  Sha256 hasher;
  hasher.update(bytes);
  return hasher.finish();
}

Digest sha256_tree_node(const Digest& left, const Digest& right) {
  // 64 bytes of message, then the constant block: one set bit, zeros, and the length of 512 bits.
  std::uint8_t blocks[2 * kSha256BlockBytes] = {};
  std::memcpy(blocks, left.data(), left.size());
  std::memcpy(blocks + left.size(), right.data(), right.size());
  blocks[kSha256BlockBytes] = 0x80;
  blocks[2 * kSha256BlockBytes - 2] = 0x02;
  Sha256State state = kSha256InitialState;
  sha256_compress(state, blocks, 2);
  return truncated_to_254_bits(sha256_state_bytes(state));
}

}  // namespace cuzk::hash
