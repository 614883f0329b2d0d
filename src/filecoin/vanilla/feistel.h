// A keyed permutation of [0, n): three Feistel rounds with cycle walking.
//
// Round function: the first 8 bytes, big-endian, of BLAKE2b-512(right half || key, both u64
// big-endian), masked to half the bits. Source: rust-fil-proofs 19.1,
// storage-proofs-core/src/crypto/feistel.rs; the construction is Luby-Rackoff's on 4^w >= n.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace cuzk::filecoin {

using FeistelKeys = std::array<std::uint64_t, 4>;  // the fourth is part of names, not of the rounds

// Immutable but for tabulate(); permute() may run on any number of threads.
class Feistel {
 public:
  // `size` is n, at least 1 and at most 2^62 (checked).
  Feistel(std::uint64_t size, const FeistelKeys& keys);

  // The image of `index` < size.
  std::uint64_t permute(std::uint64_t index) const;
  // The same permutation with the round function tabulated for every half: 3 * 2^w values, which
  // pays off when more than about 2^w images are wanted. Cost: 3 * 2^w hashes. Up to w = 24
  // (checked), which is 2^48 indexes.
  void tabulate();

 private:
  std::uint64_t round_value(unsigned round, std::uint64_t right) const;
  std::uint64_t encode(std::uint64_t index) const;

  std::uint64_t size_;
  FeistelKeys keys_;
  unsigned half_bits_;
  std::vector<std::uint32_t> table_;  // empty, or round-major
};

}  // namespace cuzk::filecoin
