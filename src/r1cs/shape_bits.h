// Booleans of the shape pass: a constant, a variable, or a variable's negation.
//
// The twin of witness_bits.h, with the same operations, so that a gadget is written once. Constants
// and negations are tags and cost neither variable nor row, as in bellperson's Boolean, which keeps
// the circuits equal to upstream's row for row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "r1cs/linear.h"

namespace cuzk::r1cs {

// What a boolean is in terms of variables: none, the variable itself, or 1 - variable.
enum class BitKind : std::uint8_t { kConstant, kIs, kNot };

// One boolean. `variable` counts for kIs and kNot only, `constant_value` for kConstant only.
struct ShapeBit {
  BitKind kind = BitKind::kConstant;
  bool constant_value = false;
  Variable variable;

  static ShapeBit constant(bool value) { return {BitKind::kConstant, value, {}}; }
  static ShapeBit of(Variable variable) { return {BitKind::kIs, false, variable}; }

  bool is_constant() const noexcept { return kind == BitKind::kConstant; }
  bool is_constant(bool value) const noexcept { return is_constant() && constant_value == value; }
  // The value where it is known, false elsewhere: the shape pass has no others.
  bool value() const noexcept { return constant_value; }
  // Flips the tag; allocates nothing.
  ShapeBit negated() const {
    switch (kind) {
      case BitKind::kConstant: return constant(!constant_value);
      case BitKind::kIs: return {BitKind::kNot, false, variable};
      default: return of(variable);
    }
  }
  // Adds coefficient * bit to a linear combination: kNot is coefficient * (ONE - variable).
  template <class F>
  void add_to(std::vector<LinearTerm<F>>& terms, const F& coefficient) const {
    if (is_constant(false)) return;
    if (kind != BitKind::kIs) terms.push_back({kOne, coefficient});
    if (kind == BitKind::kIs) terms.push_back({variable, coefficient});
    if (kind == BitKind::kNot) terms.push_back({variable, -coefficient});
  }
};

// A sequence of booleans.
class ShapeBits {
 public:
  std::size_t size() const noexcept { return bits_.size(); }
  ShapeBit operator[](std::size_t i) const { return bits_[i]; }
  void push_back(const ShapeBit& bit) { bits_.push_back(bit); }
  void append(const ShapeBits& other) {
    bits_.insert(bits_.end(), other.bits_.begin(), other.bits_.end());
  }
  // `count` constant bits, least significant of `value` first.
  void append_constant(std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) push_back(ShapeBit::constant((value >> i) & 1));
  }
  // Booleans [first, first + count), which must exist.
  ShapeBits slice(std::size_t first, std::size_t count) const {
    CUZK_ASSERT(first + count <= size());
    ShapeBits out;
    const auto begin = bits_.begin() + static_cast<std::ptrdiff_t>(first);
    out.bits_.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    return out;
  }
  // Pads with false to whole bytes, then reverses the order inside each group of eight.
  ShapeBits byte_reversed() const {
    ShapeBits out = *this;
    while (out.size() % 8 != 0) out.push_back(ShapeBit::constant(false));
    for (std::size_t i = 0; i < out.size(); i += 8) {
      for (std::size_t j = 0; j < 4; ++j) std::swap(out.bits_[i + j], out.bits_[i + 7 - j]);
    }
    return out;
  }

 private:
  std::vector<ShapeBit> bits_;
};

}  // namespace cuzk::r1cs
