// Boolean gadgets: allocation, xor, and, choice, majority.
//
// A boolean is a constant, a variable (Is) or a negated variable (Not); which it is decides what a
// gadget allocates, so the rules below are part of a circuit's identity. Result bits carry no
// boolean row of their own: their row forces them to 0 or 1 when the operands are. The rules are
// those of bellperson's Boolean and of its SHA-256, case by case, since published keys fix every
// row.
//
// In rows, "A | B | C" means A * B = C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "r1cs/linear.h"
#include "r1cs/shape_bits.h"

namespace cuzk::r1cs::gadgets {

// new b;  1 - b | b | 0
template <class Cs>
typename Cs::Bit alloc_bit(Cs& cs, bool value) {
  using F = typename Cs::Field;
  const typename Cs::Bit bit = cs.new_bit(value);
  if constexpr (Cs::kRecordsRows) {
    cs.enforce({{kOne, F::one()}, {bit.variable, -F::one()}}, {{bit.variable, F::one()}}, {});
  }
  return bit;
}

// The boolean as a linear combination.
template <class F>
Linear<F> linear(const ShapeBit& bit) {
  Linear<F> out;
  bit.add_to(out.terms(), F::one());
  return out;
}

// a xor b. Constants fold; else new r for the two variables:  2a | b | a + b - r. Of one Is and one
// Not, the Is variable comes first, and the result is negated.
template <class Cs>
typename Cs::Bit bit_xor(Cs& cs, typename Cs::Bit a, typename Cs::Bit b) {
  using F = typename Cs::Field;
  if (a.is_constant()) return a.value() ? b.negated() : b;
  if (b.is_constant()) return b.value() ? a.negated() : a;
  if (a.kind == BitKind::kNot && b.kind == BitKind::kIs) std::swap(a, b);
  const bool mixed = a.kind != b.kind;
  const auto result = cs.new_bit((a.value() != b.value()) != mixed);
  if constexpr (Cs::kRecordsRows) {
    const F one = F::one();
    cs.enforce({{a.variable, one.doubled()}}, {{b.variable, one}},
               {{a.variable, one}, {b.variable, one}, {result.variable, -one}});
  }
  return mixed ? result.negated() : result;
}

// a and b. Constants fold; else new r:  a | b | r, negated operands as 1 - variable. Of one Is and
// one Not, the Is comes first.
template <class Cs>
typename Cs::Bit bit_and(Cs& cs, typename Cs::Bit a, typename Cs::Bit b) {
  using F = typename Cs::Field;
  using Bit = typename Cs::Bit;
  if (a.is_constant(false) || b.is_constant(false)) return Bit::constant(false);
  if (a.is_constant()) return b;
  if (b.is_constant()) return a;
  if (a.kind == BitKind::kNot && b.kind == BitKind::kIs) std::swap(a, b);
  const Bit result = cs.new_bit(a.value() && b.value());
  if constexpr (Cs::kRecordsRows) {
    cs.enforce(linear<F>(a), linear<F>(b), {{result.variable, F::one()}});
  }
  return result;
}

// (a and b) xor (not a and c), SHA-256's choice. The general case is one row:  b - c | a | ch - c.
template <class Cs>
typename Cs::Bit bit_choice(Cs& cs, const typename Cs::Bit& a, const typename Cs::Bit& b,
                            const typename Cs::Bit& c) {
  using F = typename Cs::Field;
  using Bit = typename Cs::Bit;
  if (a.is_constant() && b.is_constant() && c.is_constant()) {
    return Bit::constant(a.value() ? b.value() : c.value());
  }
  if (a.is_constant(false)) return c;
  if (b.is_constant(false)) return bit_and(cs, a.negated(), c);
  if (c.is_constant(false)) return bit_and(cs, a, b);
  if (c.is_constant(true)) return bit_and(cs, a, b.negated()).negated();
  if (b.is_constant(true)) return bit_and(cs, a.negated(), c.negated()).negated();
  const Bit result = cs.new_bit(a.value() ? b.value() : c.value());
  if constexpr (Cs::kRecordsRows) {
    Linear<F> left, right{{result.variable, F::one()}};
    b.add_to(left.terms(), F::one());
    c.add_to(left.terms(), -F::one());
    c.add_to(right.terms(), -F::one());
    cs.enforce(left, linear<F>(a), right);
  }
  return result;
}

// At least two of three, SHA-256's majority. The general case allocates the result, then bc = b and
// c, and has the row  2 bc - b - c | a | bc - result.
template <class Cs>
typename Cs::Bit bit_majority(Cs& cs, const typename Cs::Bit& a, const typename Cs::Bit& b,
                              const typename Cs::Bit& c) {
  using F = typename Cs::Field;
  using Bit = typename Cs::Bit;
  const bool value = (a.value() && b.value()) != ((a.value() != b.value()) && c.value());
  if (a.is_constant() && b.is_constant() && c.is_constant()) return Bit::constant(value);
  if (a.is_constant(false)) return bit_and(cs, b, c);
  if (b.is_constant(false)) return bit_and(cs, a, c);
  if (c.is_constant(false)) return bit_and(cs, a, b);
  if (c.is_constant(true)) return bit_and(cs, a.negated(), b.negated()).negated();
  if (b.is_constant(true)) return bit_and(cs, a.negated(), c.negated()).negated();
  if (a.is_constant(true)) return bit_and(cs, b.negated(), c.negated()).negated();
  const Bit result = cs.new_bit(value);
  const Bit both = bit_and(cs, b, c);
  if constexpr (Cs::kRecordsRows) {
    Linear<F> left, right;
    both.add_to(left.terms(), F::one().doubled());
    b.add_to(left.terms(), -F::one());
    c.add_to(left.terms(), -F::one());
    both.add_to(right.terms(), F::one());
    right.add(result.variable, -F::one());
    cs.enforce(left, linear<F>(a), right);
  }
  return result;
}

}  // namespace cuzk::r1cs::gadgets
