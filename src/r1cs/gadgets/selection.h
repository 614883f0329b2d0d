// Choosing among numbers by bits: pick, select from a table, insert into a list.
//
// Every choice is one row, and select and insert are trees of picks in upstream's order, since
// proving keys depend on it. Bits must already be bound to 0 or 1: nothing here enforces that.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/check.h"
#include "r1cs/gadgets/bits.h"
#include "r1cs/linear.h"

namespace cuzk::r1cs::gadgets {

// condition ? a : b.  new c;  b - a | condition | b - c.
template <class Cs>
typename Cs::Number pick(Cs& cs, const typename Cs::Bit& condition, const typename Cs::Number& a,
                         const typename Cs::Number& b) {
  using F = typename Cs::Field;
  const typename Cs::Number result = cs.new_number(condition.value() ? cs.value(a) : cs.value(b));
  if constexpr (Cs::kRecordsRows) {
    const F one = F::one();
    cs.enforce(Linear<F>{{b.variable, one}, {a.variable, -one}}, linear<F>(condition),
               Linear<F>{{b.variable, one}, {result.variable, -one}});
  }
  return result;
}

// The element whose index has these bits, least significant first. elements.size() = 2^bits.size();
// the top bit halves first. elements.size() - 1 rows.
template <class Cs>
typename Cs::Number select(Cs& cs, std::span<const typename Cs::Number> elements,
                           const typename Cs::BitString& bits) {
  CUZK_ASSERT(elements.size() == std::size_t{1} << bits.size());
  std::vector<typename Cs::Number> state(elements.begin(), elements.end());
  for (std::size_t i = bits.size(); i > 0; --i) {
    const std::size_t half = std::size_t{1} << (i - 1);
    for (std::size_t j = 0; j < half; ++j) {
      state[j] = pick(cs, bits[i - 1], state[half + j], state[j]);
    }
  }
  return state[0];
}

// `others` (1, 3 or 7 of them) with `element` put in at the position whose bits are given, least
// significant first. A list of 2 costs 2 rows, of 4 costs 8, of 8 costs 22; the pattern of picks is
// that of Filecoin's circuits, one line below per output.
template <class Cs>
std::vector<typename Cs::Number> insert(Cs& cs, const typename Cs::Number& element,
                                        const typename Cs::BitString& bits,
                                        std::span<const typename Cs::Number> others) {
  using Number = typename Cs::Number;
  CUZK_ASSERT(others.size() + 1 == std::size_t{1} << bits.size());
  CUZK_ASSERT(bits.size() >= 1 && bits.size() <= 3);
  const auto choose = [&cs](const typename Cs::Bit& bit, const Number& a, const Number& b) {
    return pick(cs, bit, a, b);
  };
  const Number &a = element, &b = others[0];
  const typename Cs::Bit b0 = bits[0];
  std::vector<Number> p(others.size() + 1);
  if (bits.size() == 1) {
    p[0] = choose(b0, b, a);
    p[1] = choose(b0, a, b);
    return p;
  }
  // A path's node at each of four places, its siblings in order around it.
  const Number &c = others[1], &d = others[2];
  const typename Cs::Bit b1 = bits[1];
  if (bits.size() == 2) {
    p[0] = choose(b1, b, choose(b0, b, a));
    p[1] = choose(b1, c, choose(b0, a, b));
    p[2] = choose(b1, choose(b0, d, a), c);
    p[3] = choose(b1, choose(b0, a, d), d);
    return p;
  }
  const Number &e = others[3], &f = others[4], &g = others[5], &h = others[6];
  const typename Cs::Bit b2 = bits[2];
  const typename Cs::Bit neither = bit_and(cs, b0.negated(), b1.negated());
  const typename Cs::Bit both = bit_and(cs, b0, b1);
  p[0] = choose(b2, b, choose(neither, a, b));
  p[1] = choose(b2, c, choose(b1, c, choose(b0, a, b)));
  p[2] = choose(b2, d, choose(b1, choose(b0, d, a), c));
  p[3] = choose(b2, e, choose(both, a, d));
  p[4] = choose(b2, choose(neither, a, f), e);
  p[5] = choose(b2, choose(b1, g, choose(b0, a, f)), f);
  p[6] = choose(b2, choose(b1, choose(b0, h, a), g), g);
  p[7] = choose(b2, choose(both, a, h), h);
  return p;
}

}  // namespace cuzk::r1cs::gadgets
