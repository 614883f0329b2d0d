// Both passes of a description side by side, for the gadgets' tests.
//
// A description is written once and run as shape and as witness, which are then checked against
// each other; tests may change the witness between, to see that a row breaks.
#pragma once

#include <fstream>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "r1cs/checker.h"
#include "r1cs/fingerprint.h"
#include "r1cs/test_circuits.h"
#include "tests/support/data.h"

namespace cuzk::r1cs::testing {

using F = field::bls12_381::Fr;
using ShapeCs = ShapeBuilder<F>;
using WitnessCs = WitnessBuilder<F>;

inline F random_element(std::mt19937_64& random) {
  F x = F::from_u64(random());
  for (int limb = 0; limb < 3; ++limb) x = x * F::from_u64(random()) + F::from_u64(random());
  return x;
}

// Zero, one, the largest element and the borders of the 254-bit range, then random ones.
inline F troublesome_element(std::mt19937_64& random) {
  const F two_to_254 = F::from_u64(2).pow(254);
  switch (random() % 8) {
    case 0: return F::zero();
    case 1: return F::one();
    case 2: return -F::one();
    case 3: return two_to_254;
    case 4: return two_to_254 - F::one();
    default: return random_element(random);
  }
}

template <class Cs>
std::vector<typename Cs::Number> new_numbers(Cs& cs, const std::vector<F>& values) {
  std::vector<typename Cs::Number> out;
  for (const F& value : values) out.push_back(cs.new_number(value));
  return out;
}
template <class Cs>
typename Cs::BitString new_bits(Cs& cs, const std::vector<bool>& values) {
  typename Cs::BitString out;
  for (const bool value : values) out.push_back(gadgets::alloc_bit(cs, value));
  return out;
}

// A copy with variable `index` of aux replaced.
inline Assignment<F> with_aux(const Assignment<F>& source, std::size_t index, const F& value) {
  Assignment<F> out;
  out.inputs = source.inputs;
  for (std::size_t i = 0; i < source.aux.size(); ++i) {
    out.aux.push_classified(i == index ? value : source.aux.value(i));
  }
  return out;
}

// Counts that a gadget adds, as sources state them.
struct Counts {
  std::size_t rows, aux, inputs, nnz_a, nnz_b, nnz_c;
  bool operator==(const Counts&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Counts& c) {
  return out << "rows " << c.rows << " aux " << c.aux << " inputs " << c.inputs << " nnz "
             << c.nnz_a << " " << c.nnz_b << " " << c.nnz_c;
}
inline Counts counts_of(const Shape<F>& shape) {
  return {shape.constraint_count(), shape.aux_count,      shape.input_count,
          shape.a.term_count(),     shape.b.term_count(), shape.c.term_count()};
}
// Of what is made after a first part of the circuit.
inline Counts operator-(const Counts& x, const Counts& y) {
  return {x.rows - y.rows,   x.aux - y.aux,     x.inputs - y.inputs,
          x.nnz_a - y.nnz_a, x.nnz_b - y.nnz_b, x.nnz_c - y.nnz_c};
}

// The entry `name` of upstream/circuits.json: what the upstream code made of the circuit.
inline nlohmann::json upstream_circuit(const std::filesystem::path& path, const std::string& name) {
  std::ifstream stream(path);
  for (const auto& circuit : nlohmann::json::parse(stream)) {
    if (circuit["name"] == name) return circuit;
  }
  ADD_FAILURE() << path << " has no circuit " << name;
  return {};
}

// Counts, non-zero counts, densities and fingerprint.
inline void expect_upstream(const Shape<F>& shape, const nlohmann::json& expected) {
  EXPECT_EQ(shape.input_count, expected["inputs"].get<std::size_t>());
  EXPECT_EQ(shape.aux_count, expected["aux"].get<std::size_t>());
  EXPECT_EQ(shape.constraint_count(), expected["constraints"].get<std::size_t>());
  EXPECT_EQ(shape.a.term_count(), expected["nnz_a"].get<std::size_t>());
  EXPECT_EQ(shape.b.term_count(), expected["nnz_b"].get<std::size_t>());
  EXPECT_EQ(shape.c.term_count(), expected["nnz_c"].get<std::size_t>());
  const Density density = density_of(shape);
  EXPECT_EQ(density.a_aux.count(), expected["a_aux_density"].get<std::size_t>());
  EXPECT_EQ(density.b_aux.count(), expected["b_aux_density"].get<std::size_t>());
  EXPECT_EQ(density.b_input.count(), expected["b_input_density"].get<std::size_t>());
  EXPECT_EQ(base::to_hex(fingerprint(shape)), expected["hash"].get<std::string>());
}

// Changes single aux variables of a good witness from `first` on, `samples` of them spread over
// all, and demands that each change is noticed.
inline void expect_every_change_caught(const Shape<F>& shape, const Assignment<F>& good,
                                       std::size_t samples, std::size_t first = 0) {
  const std::size_t step = std::max<std::size_t>(1, (good.aux.size() - first) / samples);
  for (std::size_t i = first; i < good.aux.size(); i += step) {
    ASSERT_TRUE(first_broken_constraint(shape, with_aux(good, i, good.aux.value(i) + F::one())))
        << "aux " << i;
  }
}

}  // namespace cuzk::r1cs::testing
