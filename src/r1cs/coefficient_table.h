// The distinct coefficients of a circuit. Circuits repeat few: a row stores indexes.
//
// A four-byte index in place of a 32-byte element is what lets the rows of a large circuit fit in
// memory. Equal coefficients always get the same index. One thread at a time.
//
// For circuits that our own descriptions record: its hash is no defence against coefficients that
// somebody chose to collide.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"

namespace cuzk::r1cs {

// Index 0 is 1 and index 1 is -1, which most terms have; the others follow in order of appearance.
template <class F>
class CoefficientTable {
 public:
  CoefficientTable() {
    add(F::one());
    add(minus_one_);
    CUZK_ASSERT(values_.size() == 2);
  }

  std::uint32_t index_of(const F& coefficient) {
    if (coefficient.is_one()) return 0;
    if (coefficient == minus_one_) return 1;
    const auto found = indexes_.find(coefficient);
    return found != indexes_.end() ? found->second : add(coefficient);
  }
  std::size_t size() const noexcept { return values_.size(); }
  std::vector<F> take() && { return std::move(values_); }

 private:
  struct Hash {
    std::size_t operator()(const F& x) const noexcept {
      // The limbs of a Montgomery form are well mixed already, small differences included.
      const auto& limbs = x.montgomery_limbs();
      return static_cast<std::size_t>(limbs[0] ^ (limbs[1] * 0x9e3779b97f4a7c15ULL));
    }
  };

  std::uint32_t add(const F& coefficient) {
    CUZK_ASSERT(values_.size() < 0xffffffff);
    const auto index = static_cast<std::uint32_t>(values_.size());
    values_.push_back(coefficient);
    indexes_.emplace(coefficient, index);
    return index;
  }

  F minus_one_ = -F::one();
  std::vector<F> values_;
  std::unordered_map<F, std::uint32_t, Hash> indexes_;
};

}  // namespace cuzk::r1cs
