// Feistel permutation of graph edges. The round function sees only half of the bits, so a table of
// it is small (3 * 2^w values for 4^w indexes) and makes enumerating a whole graph cheap.
#include "filecoin/vanilla/feistel.h"

#include "base/bytes.h"
#include "base/check.h"
#include "hash/blake2.h"

namespace cuzk::filecoin {
namespace {

constexpr unsigned kRounds = 3;

// Smallest w >= 1 with 4^w >= size.
unsigned half_bits_for(std::uint64_t size) {
  unsigned w = 1;
  while ((std::uint64_t{1} << (2 * w)) < size) ++w;
  return w;
}

}  // namespace

Feistel::Feistel(std::uint64_t size, const FeistelKeys& keys)
    : size_(size), keys_(keys), half_bits_(half_bits_for(size)) {
  CUZK_ASSERT(size >= 1 && size <= std::uint64_t{1} << 62);
}

std::uint64_t Feistel::round_value(unsigned round, std::uint64_t right) const {
  CUZK_DEBUG_ASSERT(round < kRounds && right >> half_bits_ == 0);
  if (!table_.empty()) return table_[(std::size_t{round} << half_bits_) + right];
  std::array<std::uint8_t, 16> message{};
  base::store_u64_be(message.data(), right);
  base::store_u64_be(message.data() + 8, keys_[round]);
  const auto digest = hash::blake2b_512(message);
  return base::load_u64_be(digest.data()) & ((std::uint64_t{1} << half_bits_) - 1);
}

std::uint64_t Feistel::encode(std::uint64_t index) const {
  std::uint64_t left = index >> half_bits_;
  std::uint64_t right = index & ((std::uint64_t{1} << half_bits_) - 1);
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::uint64_t next = left ^ round_value(round, right);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::uint64_t Feistel::permute(std::uint64_t index) const {
  CUZK_ASSERT(index < size_);
  // Walks the cycle of the larger permutation until it is back among the first n: at most four
  // times as many indexes as n, so four steps on average are enough.
  do index = encode(index);
  while (index >= size_);
  return index;
}

void Feistel::tabulate() {
  CUZK_ASSERT(half_bits_ <= 24);  // values fit 32 bits, the table 192 MiB
  std::vector<std::uint32_t> table(std::size_t{kRounds} << half_bits_);
  for (unsigned round = 0; round < kRounds; ++round) {
    for (std::uint64_t right = 0; right < std::uint64_t{1} << half_bits_; ++right) {
      table[(std::size_t{round} << half_bits_) + right] =
          static_cast<std::uint32_t>(round_value(round, right));
    }
  }
  table_ = std::move(table);
}

}  // namespace cuzk::filecoin
