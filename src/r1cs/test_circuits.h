// Small circuits for tests and benchmarks of this and other rooms.
//
// Each is described once over a constraint system (builder.h) and has a shape and a witness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "field/limbs.h"
#include "hash/sha256.h"
#include "r1cs/builder.h"
#include "r1cs/gadgets/numbers.h"
#include "r1cs/gadgets/sha256.h"
#include "r1cs/witness_builder.h"

namespace cuzk::r1cs::testing {

// The element that a label names: SHA-256 of the label, cut to 254 bits, little-endian.
template <class F>
F labelled_element(const std::string& label) {
  const hash::Digest digest = hash::truncated_to_254_bits(
      hash::sha256({reinterpret_cast<const std::uint8_t*>(label.data()), label.size()}));
  F out = F::zero();
  const F radix = F::from_u64(std::uint64_t{1} << 32).squared();
  for (std::size_t limb = 4; limb > 0; --limb) {
    out = out * radix + F::from_u64(base::load_u64_le(&digest[8 * (limb - 1)]));
  }
  return out;
}

// MiMC (LongsightF322p3): 322 rounds of  xl, xr = xr + (xl + c_i)^3, xl  with the last xl public.
// 2 inputs, 645 aux, 644 rows. c_i is the element labelled "mimc/constant/<i>".
inline constexpr std::size_t kMimcRounds = 322;

// Both passes; the inputs are the two halves before the first round.
template <class Cs>
void mimc_circuit(Cs& cs, const typename Cs::Field& xl_value, const typename Cs::Field& xr_value) {
  using F = typename Cs::Field;
  typename Cs::Number xl = cs.new_number(xl_value), xr = cs.new_number(xr_value);
  for (std::size_t i = 0; i < kMimcRounds; ++i) {
    const auto scope = cs.scope("round", i);
    const F constant = labelled_element<F>("mimc/constant/" + std::to_string(i));
    const F sum = cs.value(xl) + constant;
    const typename Cs::Number square = cs.new_number(sum.squared());
    const F next_value = cs.value(square) * sum + cs.value(xr);
    const typename Cs::Number next =
        i + 1 == kMimcRounds ? cs.new_input(next_value) : cs.new_number(next_value);
    if constexpr (Cs::kRecordsRows) {
      const Linear<F> shifted{{xl.variable, F::one()}, {kOne, constant}};
      cs.enforce(shifted, shifted, {{square.variable, F::one()}});
      cs.enforce({{square.variable, F::one()}}, shifted,
                 {{next.variable, F::one()}, {xr.variable, -F::one()}});
    }
    xr = xl;
    xl = next;
  }
}

// SHA-256 applied `length` times to a number as 32 bytes, the result public: one compression a
// link, nearly all bits.
template <class Cs>
void sha256_chain_circuit(Cs& cs, std::size_t length, const typename Cs::Field& start) {
  typename Cs::Number link = cs.new_number(start);
  for (std::size_t i = 0; i < length; ++i) {
    const auto scope = cs.scope("link", i);
    link = gadgets::sha256_numbers(cs, std::span<const typename Cs::Number>(&link, 1));
  }
  gadgets::inputize(cs, link);
}

// A multiplication chain: x_(i+1) = x_i * (x_i + i), the last one public; nearly all field
// elements.
template <class Cs>
void product_chain_circuit(Cs& cs, std::size_t length, const typename Cs::Field& start) {
  using F = typename Cs::Field;
  typename Cs::Number x = cs.new_number(start);
  for (std::size_t i = 0; i < length; ++i) {
    const F step = F::from_u64(i);
    const typename Cs::Number next = cs.new_number(cs.value(x) * (cs.value(x) + step));
    if constexpr (Cs::kRecordsRows) {
      cs.enforce(Linear<F>{{x.variable, F::one()}}, Linear<F>{{x.variable, F::one()}, {kOne, step}},
                 Linear<F>{{next.variable, F::one()}});
    }
    x = next;
  }
  gadgets::inputize(cs, x);
}

// Runs a description over both passes. `description` is a generic callable taking a constraint
// system.
template <class F, class Description>
Shape<F> shape_of(const Description& description) {
  ShapeBuilder<F> builder;
  description(builder);
  return std::move(builder).finish();
}
template <class F, class Description>
Assignment<F> assignment_of(const Description& description) {
  WitnessBuilder<F> builder;
  description(builder);
  return std::move(builder).finish();
}

}  // namespace cuzk::r1cs::testing
