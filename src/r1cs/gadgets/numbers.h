// Gadgets over field elements: products, public inputs, decomposition into bits and packing.
//
// Each is written for both passes at once; what only one of them does stands under kRecordsRows.
// Both must allocate the same variables in the same order, which tests compare for whole circuits.
//
// In rows, "A | B | C" means A * B = C.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "field/limbs.h"
#include "field/prime_field.h"
#include "r1cs/gadgets/bits.h"
#include "r1cs/linear.h"

namespace cuzk::r1cs::gadgets {

// Bits of a field element, and how many always fit without wrapping around the modulus.
template <class Cs>
inline constexpr std::size_t kFieldBits = Cs::Field::kBitCount;
template <class Cs>
inline constexpr std::size_t kFieldCapacity = Cs::Field::kBitCount - 1;

// a | 1 | b
template <class Cs>
void enforce_equal(Cs& cs, const typename Cs::Number& a, const typename Cs::Number& b) {
  using F = typename Cs::Field;
  if constexpr (Cs::kRecordsRows) {
    cs.enforce({{a.variable, F::one()}}, {{kOne, F::one()}}, {{b.variable, F::one()}});
  }
}

// Makes a number public: new input i;  i | 1 | number.
template <class Cs>
typename Cs::Number inputize(Cs& cs, const typename Cs::Number& number) {
  const typename Cs::Number input = cs.new_input(cs.value(number));
  enforce_equal(cs, input, number);
  return input;
}

// new r;  a | b | r
template <class Cs>
typename Cs::Number multiply(Cs& cs, const typename Cs::Number& a, const typename Cs::Number& b) {
  using F = typename Cs::Field;
  const typename Cs::Number result = cs.new_number(cs.value(a) * cs.value(b));
  if constexpr (Cs::kRecordsRows) {
    cs.enforce({{a.variable, F::one()}}, {{b.variable, F::one()}}, {{result.variable, F::one()}});
  }
  return result;
}

template <class Cs>
typename Cs::Number square(Cs& cs, const typename Cs::Number& a) {
  return multiply(cs, a, a);
}

// new sum;  a + b | 1 | sum. Filecoin's encoding of a replica node is this.
template <class Cs>
typename Cs::Number add(Cs& cs, const typename Cs::Number& a, const typename Cs::Number& b) {
  using F = typename Cs::Field;
  const typename Cs::Number sum = cs.new_number(cs.value(a) + cs.value(b));
  if constexpr (Cs::kRecordsRows) {
    cs.enforce({{a.variable, F::one()}, {b.variable, F::one()}}, {{kOne, F::one()}},
               {{sum.variable, F::one()}});
  }
  return sum;
}

// sum of 2^i * bit_i over bits first .. first + count - 1, as terms.
template <class F, class Bits>
Linear<F> bits_as_linear(const Bits& bits, std::size_t first, std::size_t count) {
  Linear<F> out;
  F power = F::one();
  for (std::size_t i = 0; i < count; ++i) {
    bits[first + i].add_to(out.terms(), power);
    power = power.doubled();
  }
  return out;
}

// The integer sum of 2^i * bit_i of up to capacity bits, as a field element.
template <class F, class Bits>
F bits_as_value(const Bits& bits, std::size_t first, std::size_t count) {
  CUZK_ASSERT(count <= F::kBitCount && first + count <= bits.size());
  field::Limbs<F::kLimbCount> limbs;
  for (std::size_t i = 0; i < count; ++i) {
    if (bits[first + i].value()) limbs[i / 64] |= field::Limb{1} << (i % 64);
  }
  const auto canonical = field::Canonical<typename F::Params>::from_limbs(limbs);
  CUZK_ASSERT(canonical.has_value());
  return F::from_canonical(*canonical);
}

// All bits of a number, least significant first: kFieldBits new bits, each with its boolean row,
// then 0 | 0 | sum 2^i b_i - number.  Values below 2^kFieldBits - r have a second decomposition
// that the rows accept; the witness is the canonical one.
template <class Cs>
typename Cs::BitString to_bits_le(Cs& cs, const typename Cs::Number& number) {
  using F = typename Cs::Field;
  typename Cs::BitString bits;
  if constexpr (Cs::kRecordsRows) {
    for (std::size_t i = 0; i < kFieldBits<Cs>; ++i) bits.push_back(alloc_bit(cs, false));
    Linear<F> sum = bits_as_linear<F>(bits, 0, bits.size());
    sum.add(number.variable, -F::one());
    cs.enforce(Linear<F>(), Linear<F>(), sum);
  } else {
    const auto limbs = cs.value(number).to_canonical().value;
    for (std::size_t i = 0; i < kFieldBits<Cs>; i += 64) {
      const auto count = static_cast<unsigned>(std::min<std::size_t>(64, kFieldBits<Cs> - i));
      cs.aux().push_bits(limbs[i / 64], count);
      bits.append_variables(limbs[i / 64], count);
    }
  }
  return bits;
}

// The number whose bits are the first kFieldCapacity of `bits`, least significant first:
// new n;  sum 2^i b_i | 1 | n.
template <class Cs>
typename Cs::Number pack_bits(Cs& cs, const typename Cs::BitString& bits) {
  using F = typename Cs::Field;
  const std::size_t count = std::min(bits.size(), kFieldCapacity<Cs>);
  if constexpr (Cs::kRecordsRows) {
    const typename Cs::Number number = cs.new_number();
    cs.enforce(bits_as_linear<F>(bits, 0, count), {{kOne, F::one()}},
               {{number.variable, F::one()}});
    return number;
  } else {
    return cs.new_number(bits_as_value<F>(bits, 0, count));
  }
}

// Makes bits public, kFieldCapacity of them an input: per chunk new input x;  sum 2^i b_i | 1 | x.
template <class Cs>
void pack_into_inputs(Cs& cs, const typename Cs::BitString& bits) {
  using F = typename Cs::Field;
  for (std::size_t first = 0; first < bits.size(); first += kFieldCapacity<Cs>) {
    const std::size_t count = std::min(bits.size() - first, kFieldCapacity<Cs>);
    if constexpr (Cs::kRecordsRows) {
      const typename Cs::Number input = cs.new_input();
      cs.enforce(bits_as_linear<F>(bits, first, count), {{kOne, F::one()}},
                 {{input.variable, F::one()}});
    } else {
      cs.new_input(bits_as_value<F>(bits, first, count));
    }
  }
}

// `count` (at most 64) new bits of an integer with their boolean rows, least significant first.
template <class Cs>
typename Cs::BitString alloc_integer_bits(Cs& cs, std::uint64_t value, unsigned count) {
  CUZK_ASSERT(count <= 64);
  typename Cs::BitString bits;
  if constexpr (Cs::kRecordsRows) {
    for (unsigned i = 0; i < count; ++i) bits.push_back(alloc_bit(cs, false));
  } else {
    CUZK_ASSERT(count == 64 || value >> count == 0);
    cs.aux().push_bits(value, count);
    bits.append_variables(value, count);
  }
  return bits;
}

// A 64-bit integer as 64 new bits, least significant first, made public as one input.
template <class Cs>
typename Cs::BitString alloc_public_u64(Cs& cs, std::uint64_t value) {
  const typename Cs::BitString bits = alloc_integer_bits(cs, value, 64);
  pack_into_inputs(cs, bits);
  return bits;
}

// The same bits in opposite order.
template <class Bits>
Bits reversed(const Bits& bits) {
  Bits out;
  for (std::size_t i = bits.size(); i > 0; --i) out.push_back(bits[i - 1]);
  return out;
}

}  // namespace cuzk::r1cs::gadgets
