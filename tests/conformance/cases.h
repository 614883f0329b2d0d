// Circuits that every backend must prove, as named values: the degenerate ones that broke other
// provers, sizes at the borders of the domain, and witnesses that pile up in one bucket.
#pragma once

#include <string>
#include <vector>

#include "groth16/test_circuits.h"

namespace cuzk::conformance {

template <class F>
struct Case {
  std::string name;
  groth16::testing::Circuit<F> circuit;
};

// Every wire public: p * 1 = 52, no private variable.
template <class F>
groth16::testing::Circuit<F> all_public() {
  groth16::testing::Circuit<F> circuit;
  const auto p = circuit.input(F::from_u64(52));
  circuit.enforce({{p, F::one()}}, {{groth16::testing::kOne, F::one()}},
                  {{groth16::testing::kOne, F::from_u64(52)}});
  return circuit;
}

// Two public inputs and no constraint at all.
template <class F>
groth16::testing::Circuit<F> no_constraints() {
  groth16::testing::Circuit<F> circuit;
  circuit.input(F::from_u64(3));
  circuit.input(F::from_u64(7));
  return circuit;
}

// (x - 15)(x - 16) = 0 with x private and nothing public.
template <class F>
groth16::testing::Circuit<F> two_roots(std::uint64_t x) {
  groth16::testing::Circuit<F> circuit;
  const auto variable = circuit.aux(F::from_u64(x));
  circuit.enforce({{variable, F::one()}, {groth16::testing::kOne, -F::from_u64(15)}},
                  {{variable, F::one()}, {groth16::testing::kOne, -F::from_u64(16)}}, {});
  return circuit;
}

// The constant alone: a domain of one row.
template <class F>
groth16::testing::Circuit<F> only_one() {
  return {};
}

// w_i * 1 = w_{i+1} + i: all points of B but one are infinity.
template <class F>
groth16::testing::Circuit<F> chain_with_one_b_point(std::size_t count) {
  groth16::testing::Circuit<F> circuit;
  auto previous = circuit.aux(F::from_u64(1'000'003));
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = circuit.aux(circuit.value(previous) - F::from_u64(i));
    circuit.enforce({{previous, F::one()}}, {{groth16::testing::kOne, F::one()}},
                    {{next, F::one()}, {groth16::testing::kOne, F::from_u64(i)}});
    previous = next;
  }
  return circuit;
}

// `count` private variables, each in A, B and C of rows that hold for any value.
template <class F, class Value>
groth16::testing::Circuit<F> free_variables(std::size_t count, const Value& value) {
  using groth16::testing::kOne;
  groth16::testing::Circuit<F> circuit;
  const F one = F::one();
  for (std::size_t i = 0; i < count; ++i) {
    const auto w = circuit.aux(value(i));
    if (i % 2 == 0) {
      circuit.enforce({{w, one}}, {{kOne, one}}, {{w, one}});
    } else {
      circuit.enforce({{kOne, one}}, {{w, one}}, {{w, one}});
    }
  }
  return circuit;
}

template <class F>
std::vector<Case<F>> small_cases() {
  namespace t = groth16::testing;
  std::vector<Case<F>> cases = {
      {"all public", all_public<F>()},      {"no constraints", no_constraints<F>()},
      {"root 15", two_roots<F>(15)},        {"root 16", two_roots<F>(16)},
      {"only the constant", only_one<F>()}, {"one B point", chain_with_one_b_point<F>(300)},
      {"mixed", t::mixed<F>(100, 5)}};
  for (const std::size_t count : {1, 2, 31, 32, 33}) {
    cases.push_back({"squarings " + std::to_string(count), t::squarings<F>(count)});
  }
  return cases;
}

}  // namespace cuzk::conformance
