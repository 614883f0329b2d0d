// A growable bitmap, 64 bits a word, least significant bit first; unused high bits are zero.
//
// std::vector<bool> hides its words, and words are what a witness program appends, what sums over
// bits walk through and what goes to a device. Sums over bitmaps (msm/msm.h) read the same layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"

namespace cuzk::base {

// Always: words_ has one word for each 64 bits begun, and the bits of the last word past size_ are
// zero. count(), equality and push() rely on it. Not for two threads where one of them writes.
class BitVector {
 public:
  BitVector() = default;
  explicit BitVector(std::size_t size) : words_((size + 63) / 64), size_(size) {}

  std::size_t size() const noexcept { return size_; }
  bool get(std::size_t i) const {
    CUZK_DEBUG_ASSERT(i < size_);
    return (words_[i / 64] >> (i % 64)) & 1;
  }
  void set(std::size_t i) {
    CUZK_DEBUG_ASSERT(i < size_);
    words_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  // Appends clear bits, or drops bits from the end.
  void resize(std::size_t size) {
    words_.resize((size + 63) / 64);
    if (size % 64 != 0 && size < size_) words_.back() &= (std::uint64_t{1} << (size % 64)) - 1;
    size_ = size;
  }
  void reserve(std::size_t bits) { words_.reserve((bits + 63) / 64); }

  // Appends the low `count` bits of `bits` (count at most 64), least significant first.
  void push(std::uint64_t bits, unsigned count) {
    if (count == 0) return;
    CUZK_ASSERT(count <= 64);
    if (count < 64) bits &= (std::uint64_t{1} << count) - 1;
    const unsigned shift = size_ % 64;
    if (shift == 0) {
      words_.push_back(bits);
    } else {
      words_.back() |= bits << shift;
      if (shift + count > 64) words_.push_back(bits >> (64 - shift));
    }
    size_ += count;
    CUZK_DEBUG_ASSERT(words_.size() == (size_ + 63) / 64);
  }
  // Appends the first `count` bits of `words`, whose bits past them in the last word are clear.
  void append(std::span<const std::uint64_t> words, std::size_t count) {
    CUZK_ASSERT(words.size() == (count + 63) / 64);
    const unsigned shift = size_ % 64;
    if (shift == 0) {
      words_.insert(words_.end(), words.begin(), words.end());
    } else {
      std::uint64_t carried = words_.back();
      words_.pop_back();
      for (const std::uint64_t word : words) {
        words_.push_back(carried | word << shift);
        carried = word >> (64 - shift);
      }
      if ((size_ + count + 63) / 64 > words_.size()) words_.push_back(carried);
    }
    size_ += count;
    CUZK_DEBUG_ASSERT(words_.size() == (size_ + 63) / 64);
  }
  std::size_t count() const {
    std::size_t total = 0;
    for (const std::uint64_t word : words_) total += std::size_t(__builtin_popcountll(word));
    return total;
  }
  std::span<const std::uint64_t> words() const noexcept { return words_; }
  bool operator==(const BitVector&) const = default;

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace cuzk::base
