// Batches equalities of small integers into few rows.
//
// Equalities L_i = R_i of k_i-bit integers are packed side by side: sum 2^s_i L_i = sum 2^s_i R_i
// with s_i the bits used before, as long as everything stays below 2^(capacity). Sound because each
// side is made of bits and bounded by its k_i bits.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/check.h"
#include "r1cs/linear.h"

namespace cuzk::r1cs::gadgets {

// The powers of two of a field, below its capacity.
template <class F>
const std::array<F, F::kBitCount>& powers_of_two() {
  static const std::array<F, F::kBitCount> powers = [] {
    std::array<F, F::kBitCount> out;
    out[0] = F::one();
    for (std::size_t i = 1; i < out.size(); ++i) out[i] = out[i - 1].doubled();
    return out;
  }();
  return powers;
}

// Collects both sides over one ShapeBuilder; the row  lhs | 1 | rhs  is emitted when the next
// equality does not fit, and by flush(). Between rows: `used_` bits are taken, below the capacity,
// and lhs_ and rhs_ hold the terms of the equalities in them. Where rows end is upstream's rule,
// too.
template <class Cs>
class MultiEq {
 public:
  using F = typename Cs::Field;
  using Terms = std::vector<LinearTerm<F>>;

  explicit MultiEq(Cs& cs) : cs_(cs) {}

  // Makes room for an equality of `bit_count` bits and returns s: the caller then adds its terms,
  // times 2^s, to lhs() and rhs().
  std::size_t begin(std::size_t bit_count) {
    constexpr std::size_t kCapacity = F::kBitCount - 1;
    if (used_ + bit_count >= kCapacity) flush();
    const std::size_t shift = used_;
    used_ += bit_count;
    CUZK_ASSERT(used_ <= kCapacity);
    return shift;
  }
  Terms& lhs() noexcept { return lhs_; }
  Terms& rhs() noexcept { return rhs_; }

  // Emits what is pending. Whoever ends a circuit with equalities pending has to call it.
  void flush() {
    if (used_ == 0) return;
    const LinearTerm<F> one{kOne, F::one()};
    cs_.enforce(lhs_, {&one, 1}, rhs_);
    lhs_.clear();
    rhs_.clear();
    used_ = 0;
  }

 private:
  Cs& cs_;
  Terms lhs_, rhs_;
  std::size_t used_ = 0;
};

}  // namespace cuzk::r1cs::gadgets
