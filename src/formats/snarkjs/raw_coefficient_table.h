// Distinct coefficients of a circuit, each kept once: matrices then refer to them by index.
//
// Circuits have millions of terms and few hundred distinct coefficients. Open addressing over the
// raw stored bytes, so a value is converted to a field element only when it is first seen. The hash
// is keyed by the operating system's randomness: a hostile file cannot aim at one slot.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "field/limbs.h"

namespace cuzk::formats {

// `raws_` and `values_` are the distinct coefficients in order of first sight; a slot holds an
// index into both, or kEmpty. At most half of the slots are taken, so a probe always ends. One
// thread at a time; used up by take_values().
template <class F>
class RawCoefficientTable {
 public:
  using Raw = field::Limbs<F::kLimbCount>;

  RawCoefficientTable() : slots_(kSlotsMin, kEmpty) {
    std::uint8_t bytes[sizeof keys_] = {};
    (void)base::fill_random(bytes);  // without it the table is only easier to slow down
    std::memcpy(keys_, bytes, sizeof keys_);
  }

  // Index of `raw`; on first sight `convert(raw)` gives its field element.
  template <class Convert>
  std::uint32_t index_of(const Raw& raw, const Convert& convert) {
    if ((raws_.size() + 1) * 2 > slots_.size()) grow();  // half full at most, so probes stay short
    CUZK_DEBUG_ASSERT(raws_.size() == values_.size() && raws_.size() < slots_.size());
    std::uint32_t& slot = slots_[find(raw)];
    if (slot == kEmpty) {
      slot = static_cast<std::uint32_t>(raws_.size());
      raws_.push_back(raw);
      values_.push_back(convert(raw));
    }
    return slot;
  }
  // The field element of an index that index_of() gave.
  const F& value_of(std::uint32_t index) const {
    CUZK_DEBUG_ASSERT(index < values_.size());
    return values_[index];
  }
  // The field elements by index. Last: the table is used up.
  std::vector<F> take_values() { return std::move(values_); }

 private:
  static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kSlotsMin = 256;
  static_assert((kSlotsMin & (kSlotsMin - 1)) == 0);  // probes wrap around by a mask

  // Full products, folded: each limb goes through a multiplication by a secret odd number.
  std::uint64_t hash(const Raw& raw) const {
    std::uint64_t state = keys_[0];
    for (std::size_t i = 0; i < F::kLimbCount; ++i) {
      const auto wide = static_cast<unsigned __int128>(raw[i] ^ state) * (keys_[1 + i % 3] | 1);
      state = static_cast<std::uint64_t>(wide) ^ static_cast<std::uint64_t>(wide >> 64);
    }
    return state;
  }
  // The slot that holds `raw`, or the empty one where it belongs.
  std::size_t find(const Raw& raw) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash(raw) & mask;
    while (slots_[i] != kEmpty && !(raws_[slots_[i]] == raw)) i = (i + 1) & mask;
    return i;
  }
  // Twice the slots; every index finds a new one. Indexes do not change.
  void grow() {
    slots_.assign(slots_.size() * 2, kEmpty);
    for (std::size_t i = 0; i < raws_.size(); ++i) {
      slots_[find(raws_[i])] = static_cast<std::uint32_t>(i);
    }
  }

  std::uint64_t keys_[4] = {};
  std::vector<std::uint32_t> slots_;
  std::vector<Raw> raws_;
  std::vector<F> values_;
};

}  // namespace cuzk::formats
