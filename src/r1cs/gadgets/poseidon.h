// Poseidon as a circuit, in the layout of Filecoin's deployed circuits.
//
// Each S-box x -> x^5 + k is three variables and rows (square, fourth power, fifth power plus key);
// a state element that is a linear combination is made a variable first, one more row. Matrix
// products are linear and cost nothing, so in the partial rounds, where only element 0 passes an
// S-box, the other elements grow as linear combinations. Rows for arity t - 1: 3(t-1) + 28 t + 4
// R_P + 1.
//
// Both passes are written out, shape with linear combinations and witness with values; they take
// the same steps in the same order. The optimised form of the permutation is used (Grassi et al.,
// "Poseidon", USENIX Security 2021, on efficient implementation): round keys moved behind the
// S-boxes, and sparse matrices in the partial rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "hash/poseidon.h"
#include "r1cs/linear.h"

namespace cuzk::r1cs::gadgets {

// The shape pass of one hash, run() once. Elements are linear combinations with ascending
// variables. `key_` walks through the round keys; where it ends is checked.
template <class Cs>
class PoseidonShape {
 public:
  using F = hash::PoseidonField;
  using Terms = std::vector<LinearTerm<F>>;

  PoseidonShape(Cs& cs, const hash::PoseidonConstants& constants)
      : cs_(cs), constants_(constants), key_(constants.compressed_constants.data()) {}

  typename Cs::Number run(std::span<const typename Cs::Number> inputs, const F& tag) {
    const std::size_t t = constants_.width, half = hash::kPoseidonFullRounds / 2;
    first_round(inputs, tag);
    for (std::size_t round = 1; round < half; ++round) {
      full_round();
      multiply(round + 1 == half ? constants_.pre_sparse : constants_.mds);
    }
    for (const hash::PoseidonSparseMatrix& sparse : constants_.sparse) {
      state_[0] = {sbox(allocated(state_[0]), key_++)};
      multiply(sparse);
    }
    for (std::size_t round = 1; round < half; ++round) {
      full_round();
      multiply(constants_.mds);
    }
    // The last S-boxes have no key behind them.
    CUZK_ASSERT(key_ ==
                constants_.compressed_constants.data() + constants_.compressed_constants.size());
    for (std::size_t i = 0; i < t; ++i) state_[i] = {sbox(allocated(state_[i]), nullptr)};
    multiply(constants_.mds);
    return {allocated(state_[1])};
  }

 private:
  // The only round whose keys come before the S-boxes as well; element 0 is a known constant.
  void first_round(std::span<const typename Cs::Number> inputs, const F& tag) {
    const std::size_t t = constants_.width;
    const F* const before = key_;
    const F* const after = key_ + t;
    key_ += 2 * t;
    const F sum = tag + before[0];
    state_.push_back({{kOne, sum.squared().squared() * sum + after[0]}});
    for (std::size_t i = 1; i < t; ++i) {
      const Variable l = inputs[i - 1].variable;
      const Terms shifted = {{kOne, before[i]}, {l, F::one()}};
      state_.push_back({fifth_power(shifted, &after[i])});
    }
    multiply(constants_.mds);
  }
  void full_round() {
    for (Terms& element : state_) element = {sbox(allocated(element), key_++)};
  }
  // new v;  element | 1 | v
  Variable allocated(const Terms& element) {
    const Variable v = cs_.new_number().variable;
    enforce(element, {{kOne, F::one()}}, {{v, F::one()}});
    return v;
  }
  LinearTerm<F> sbox(Variable l, const F* key) { return fifth_power({{l, F::one()}}, key); }
  // new l2;  l | l | l2.  new l4;  l2 | l2 | l4.  new l5;  l | l4 | l5 - key.
  LinearTerm<F> fifth_power(const Terms& l, const F* key) {
    const F one = F::one();
    const Variable l2 = cs_.new_number().variable;
    enforce(l, l, {{l2, one}});
    const Variable l4 = cs_.new_number().variable;
    enforce({{l2, one}}, {{l2, one}}, {{l4, one}});
    const Variable l5 = cs_.new_number().variable;
    Terms right = {{l5, one}};
    if (key != nullptr) right.push_back({kOne, -*key});
    enforce(l, {{l4, one}}, right);
    return {l5, one};
  }
  void enforce(const Terms& a, const Terms& b, const Terms& c) { cs_.enforce(a, b, c); }

  // state = state * m, the state as a row.
  void multiply(const std::vector<F>& m) {
    const std::size_t t = constants_.width;
    std::vector<Terms> out(t);
    for (std::size_t j = 0; j < t; ++j) {
      for (std::size_t i = 0; i < t; ++i) add_scaled(out[j], state_[i], m[i * t + j]);
      merge(out[j]);
    }
    state_ = std::move(out);
  }
  void multiply(const hash::PoseidonSparseMatrix& m) {
    const Terms first = state_[0];
    Terms sum;
    for (std::size_t j = 0; j < state_.size(); ++j) {
      add_scaled(sum, state_[j], m.column[j]);
      if (j == 0) continue;
      add_scaled(state_[j], first, m.row[j - 1]);
      merge(state_[j]);
    }
    merge(sum);
    state_[0] = std::move(sum);
  }
  // sum += factor * terms; merge() brings it into order again.
  static void add_scaled(Terms& sum, const Terms& terms, const F& factor) {
    for (const auto& term : terms) sum.push_back({term.variable, term.coefficient * factor});
  }
  // Sorts by variable and sums equal ones; `terms` has at least one.
  static void merge(Terms& terms) {
    CUZK_DEBUG_ASSERT(!terms.empty());
    const auto before = [](const auto& x, const auto& y) {
      return x.variable.key() < y.variable.key();
    };
    if (!std::is_sorted(terms.begin(), terms.end(), before)) {
      std::sort(terms.begin(), terms.end(), before);
    }
    std::size_t last = 0;
    for (std::size_t i = 1; i < terms.size(); ++i) {
      if (terms[i].variable == terms[last].variable) {
        terms[last].coefficient += terms[i].coefficient;
      } else {
        terms[++last] = terms[i];
      }
    }
    terms.resize(last + 1);
  }

  Cs& cs_;
  const hash::PoseidonConstants& constants_;
  const F* key_;
  std::vector<Terms> state_;
};

// The witness pass of one hash, run() once: the permutation, emitting each value that the shape
// pass allocates, where it does.
template <class Cs>
class PoseidonWitness {
 public:
  using F = hash::PoseidonField;

  PoseidonWitness(Cs& cs, const hash::PoseidonConstants& constants)
      : cs_(cs), constants_(constants), key_(constants.compressed_constants.data()) {}

  typename Cs::Number run(std::span<const typename Cs::Number> inputs, const F& tag) {
    const std::size_t t = constants_.width, half = hash::kPoseidonFullRounds / 2;
    first_round(inputs, tag);
    for (std::size_t round = 1; round < half; ++round) {
      full_round();
      multiply(round + 1 == half ? constants_.pre_sparse : constants_.mds);
    }
    for (const hash::PoseidonSparseMatrix& sparse : constants_.sparse) {
      state_[0] = sbox(allocated(state_[0]), *key_++);
      multiply(sparse);
    }
    for (std::size_t round = 1; round < half; ++round) {
      full_round();
      multiply(constants_.mds);
    }
    CUZK_ASSERT(key_ ==
                constants_.compressed_constants.data() + constants_.compressed_constants.size());
    // Only element 1 of the last state is the digest, so only its column is multiplied.
    F result = F::zero();
    for (std::size_t i = 0; i < t; ++i) {
      result += sbox(allocated(state_[i]), F::zero()) * constants_.mds[i * t + 1];
    }
    return cs_.new_number(result);
  }

 private:
  void first_round(std::span<const typename Cs::Number> inputs, const F& tag) {
    const std::size_t t = constants_.width;
    const F* const before = key_;
    const F* const after = key_ + t;
    key_ += 2 * t;
    const F sum = tag + before[0];
    state_.push_back(sum.squared().squared() * sum + after[0]);
    for (std::size_t i = 1; i < t; ++i) {
      state_.push_back(sbox(cs_.value(inputs[i - 1]) + before[i], after[i]));
    }
    next_.resize(t);
    multiply(constants_.mds);
  }
  void full_round() {
    for (F& element : state_) element = sbox(allocated(element), *key_++);
  }
  const F& allocated(const F& element) {
    cs_.new_number(element);
    return element;
  }
  F sbox(const F& l, const F& key) {
    const F l2 = l.squared(), l4 = l2.squared(), l5 = l4 * l + key;
    cs_.new_number(l2);
    cs_.new_number(l4);
    cs_.new_number(l5);
    return l5;
  }
  void multiply(const std::vector<F>& m) {
    const std::size_t t = constants_.width;
    std::fill(next_.begin(), next_.end(), F::zero());
    for (std::size_t i = 0; i < t; ++i) {
      for (std::size_t j = 0; j < t; ++j) next_[j] += state_[i] * m[i * t + j];
    }
    state_.swap(next_);
  }
  void multiply(const hash::PoseidonSparseMatrix& m) {
    const F first = state_[0];
    F sum = m.column[0] * first;
    for (std::size_t j = 1; j < state_.size(); ++j) {
      sum += m.column[j] * state_[j];
      state_[j] += m.row[j - 1] * first;
    }
    state_[0] = sum;
  }

  Cs& cs_;
  const hash::PoseidonConstants& constants_;
  const F* key_;
  std::vector<F> state_, next_;
};

// The hash of numbers.size() numbers, which must be a supported arity, under a domain tag.
template <class Cs>
typename Cs::Number poseidon(Cs& cs, std::span<const typename Cs::Number> numbers,
                             const hash::PoseidonField& tag) {
  static_assert(std::is_same_v<typename Cs::Field, hash::PoseidonField>);
  const auto scope = cs.scope("poseidon");
  const hash::PoseidonConstants& constants = hash::poseidon_constants(numbers.size());
  using Pass = std::conditional_t<Cs::kRecordsRows, PoseidonShape<Cs>, PoseidonWitness<Cs>>;
  return Pass(cs, constants).run(numbers, tag);
}

// With the Merkle tag of that arity.
template <class Cs>
typename Cs::Number poseidon(Cs& cs, std::span<const typename Cs::Number> numbers) {
  return poseidon(cs, numbers, hash::poseidon_merkle_tag(numbers.size()));
}

}  // namespace cuzk::r1cs::gadgets
