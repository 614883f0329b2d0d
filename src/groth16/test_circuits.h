// Small circuits with witnesses for the tests of this room, and random field elements that repeat.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "groth16/backend.h"
#include "groth16/setup.h"
#include "r1cs/assignment.h"
#include "r1cs/shape.h"

namespace cuzk::groth16::testing {

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers in every run.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  template <class F>
  F element() {
    F out = F::zero();
    for (int i = 0; i < 5; ++i) out = out * F::from_u64(1ull << 63).doubled() + F::from_u64(next());
    return out;
  }

 private:
  std::uint64_t state_;
};

// A variable by its place among the inputs or among the aux.
struct Variable {
  bool is_input;
  std::uint32_t index;
};
inline constexpr Variable kOne{true, 0};

template <class F>
using Combination = std::vector<std::pair<Variable, F>>;

template <class F>
F minus_one() {
  return -F::one();
}

// A shape and an assignment that grow together.
template <class F>
class Circuit {
 public:
  Circuit() { inputs_.push_back(F::one()); }

  Variable input(const F& value) {
    inputs_.push_back(value);
    return {true, std::uint32_t(inputs_.size() - 1)};
  }
  Variable aux(const F& value) {
    aux_.push_back(value);
    return {false, std::uint32_t(aux_.size() - 1)};
  }
  F value(Variable v) const { return v.is_input ? inputs_[v.index] : aux_[v.index]; }
  void set(Variable v, const F& value) { (v.is_input ? inputs_ : aux_)[v.index] = value; }
  void enforce(Combination<F> a, Combination<F> b, Combination<F> c) {
    rows_.push_back({std::move(a), std::move(b), std::move(c)});
  }

  std::shared_ptr<r1cs::Shape<F>> shape() const {
    auto shape = std::make_shared<r1cs::Shape<F>>();
    shape->input_count = std::uint32_t(inputs_.size());
    shape->aux_count = std::uint32_t(aux_.size());
    for (const Row& row : rows_) {
      append(row.a, *shape, shape->a);
      append(row.b, *shape, shape->b);
      append(row.c, *shape, shape->c);
    }
    return shape;
  }
  std::shared_ptr<r1cs::Assignment<F>> assignment() const {
    auto out = std::make_shared<r1cs::Assignment<F>>();
    out->inputs = inputs_;
    for (const F& value : aux_) out->aux.push_classified(value);
    return out;
  }
  std::vector<F> public_inputs() const { return {inputs_.begin() + 1, inputs_.end()}; }

 private:
  struct Row {
    Combination<F> a, b, c;
  };

  void append(const Combination<F>& terms, r1cs::Shape<F>& shape,
              r1cs::SparseMatrix& matrix) const {
    for (const auto& [variable, coefficient] : terms) {
      const std::uint32_t column =
          variable.index + (variable.is_input ? 0 : std::uint32_t(inputs_.size()));
      std::uint32_t place = 0;
      while (place < shape.coefficients.size() && shape.coefficients[place] != coefficient) ++place;
      if (place == shape.coefficients.size()) shape.coefficients.push_back(coefficient);
      matrix.terms.push_back({column, place});
    }
    matrix.row_begin.push_back(matrix.terms.size());
  }

  std::vector<F> inputs_, aux_;
  std::vector<Row> rows_;
};

// x_0 public, x_{i+1} = x_i^2: `count` constraints, all scalars.
template <class F>
Circuit<F> squarings(std::size_t count) {
  Circuit<F> circuit;
  Variable x = circuit.input(F::from_u64(3));
  for (std::size_t i = 0; i < count; ++i) {
    const Variable square = circuit.aux(circuit.value(x).squared());
    circuit.enforce({{x, F::one()}}, {{x, F::one()}}, {{square, F::one()}});
    x = square;
  }
  return circuit;
}

// Bits, scalars and public inputs of every kind together: `bits` boolean variables, every fourth
// product of two of them kept, a running weighted sum as scalars, two public inputs.
template <class F>
Circuit<F> mixed(std::size_t bits, std::uint64_t seed) {
  Random random(seed);
  Circuit<F> circuit;
  const Variable offset = circuit.input(random.element<F>());
  const Variable result = circuit.input(F::zero());
  const F one = F::one();
  Variable sum = circuit.aux(circuit.value(offset).squared());
  circuit.enforce({{offset, one}}, {{offset, one}}, {{sum, one}});
  Variable previous = kOne;
  for (std::size_t i = 0; i < bits; ++i) {
    const Variable bit = circuit.aux(F::from_u64(random.next() & 1));
    circuit.enforce({{kOne, one}, {bit, minus_one<F>()}}, {{bit, one}}, {});
    if (i % 4 == 3) {
      const Variable both = circuit.aux(circuit.value(bit) * circuit.value(previous));
      circuit.enforce({{bit, one}}, {{previous, one}}, {{both, one}});
      const F weight = random.element<F>();
      const F next = (circuit.value(sum) + circuit.value(both)) * (circuit.value(sum) + weight);
      const Variable product = circuit.aux(next);
      circuit.enforce({{sum, one}, {both, one}}, {{sum, one}, {kOne, weight}}, {{product, one}});
      sum = product;
    }
    previous = bit;
  }
  circuit.set(result, circuit.value(sum));
  circuit.enforce({{sum, one}}, {{kOne, one}}, {{result, one}});
  return circuit;
}

// Fixed secrets for tests.
template <class C>
ToxicWaste<C> test_waste(std::uint64_t seed = 1) {
  using Fr = typename C::Fr;
  Random random(seed);
  ToxicWaste<C> waste;
  waste.alpha = random.element<Fr>();
  waste.beta = random.element<Fr>();
  waste.gamma = random.element<Fr>();
  waste.delta = random.element<Fr>();
  waste.tau = random.element<Fr>();
  return waste;
}

template <class C>
Blinding<C> test_blinding(std::uint64_t seed = 2) {
  Random random(seed);
  const auto r = random.element<typename C::Fr>();
  return {r, random.element<typename C::Fr>()};
}

}  // namespace cuzk::groth16::testing
