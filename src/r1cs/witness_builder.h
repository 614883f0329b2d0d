// The witness pass: runs a circuit's description and appends the values of its variables, in order
// of allocation. Forms no linear combinations. builder.h describes the face it shares with the
// shape pass.
//
// It runs for every proof, so it costs native hashing and the writing of values, no more. Whether
// the values satisfy the rows is not seen here: the checker or the finished proof tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "r1cs/assignment.h"
#include "r1cs/witness_bits.h"

namespace cuzk::r1cs {

// Collects one assignment and is used up by finish(). One thread at a time; parts made by several
// are joined by append().
template <class F>
class WitnessBuilder {
 public:
  using Field = F;
  struct Number {
    F number_value;
  };
  using Bit = WitnessBit;
  using BitString = WitnessBits;
  static constexpr bool kRecordsRows = false;

  WitnessBuilder() { assignment_.inputs.push_back(F::one()); }

  Number new_number(const F& value) {
    assignment_.aux.push_scalar(value);
    return {value};
  }
  Number new_input(const F& value) {
    assignment_.inputs.push_back(value);
    return {value};
  }
  Bit new_bit(bool value) {
    assignment_.aux.push_bit(value);
    return Bit::of(value);
  }
  const F& value(const Number& number) const { return number.number_value; }

  // Names are for rows. The destructor keeps unused ones from being warned of.
  struct Scope {
    ~Scope() {}
  };
  [[nodiscard]] Scope scope(std::string_view, std::optional<std::size_t> = {}) { return {}; }

  // Room for this many aux variables and, among them, scalars.
  void reserve(std::size_t variables, std::size_t scalars) {
    assignment_.aux.reserve(variables, scalars);
  }
  // Continues with what `part`, run on its own, has made: its inputs but ONE, then its aux. How
  // independent pieces of a circuit are run in parallel and joined in order.
  void append(const WitnessBuilder& part) {
    const auto& inputs = part.assignment_.inputs;
    CUZK_ASSERT(!inputs.empty() && inputs[0].is_one());
    assignment_.inputs.insert(assignment_.inputs.end(), inputs.begin() + 1, inputs.end());
    assignment_.aux.append(part.assignment_.aux);
  }

  // For gadgets that write many bits at once.
  CompactWitness<F>& aux() noexcept { return assignment_.aux; }
  const Assignment<F>& assignment() const noexcept { return assignment_; }
  Assignment<F> finish() && { return std::move(assignment_); }

 private:
  Assignment<F> assignment_;
};

}  // namespace cuzk::r1cs
