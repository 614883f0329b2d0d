// Does a witness satisfy a circuit, and if not, where exactly does it break?
//
// Exact, with no randomness: every row is evaluated. It says nothing about whether the circuit
// means what its author intended, nor whether other witnesses exist.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "r1cs/paths.h"
#include "r1cs/shape.h"

namespace cuzk::r1cs {

// A row with <a, z> * <b, z> != <c, z>, and the three values.
template <class F>
struct BrokenConstraint {
  std::size_t row;
  F a, b, c;
};

// The first row that the assignment breaks, if any. Runs on all threads. The sizes must match and
// the shape must have C.
template <class F>
std::optional<BrokenConstraint<F>> first_broken_constraint(const Shape<F>& shape,
                                                           const Assignment<F>& assignment);

// A broken row in words: its number and path, the three values, the terms with their variables'
// values, and where the variables were made. `paths` may be null, as for circuits read from files.
template <class F>
std::string describe(const BrokenConstraint<F>& broken, const Shape<F>& shape,
                     const Assignment<F>& assignment, const Paths* paths = nullptr);

// Ok when every row holds. kUnsatisfied with the description of the first broken row; kMismatch
// when the assignment is not one of this circuit; kUnsupported when the shape has no C to compare
// with.
template <class F>
base::Status check_satisfied(const Shape<F>& shape, const Assignment<F>& assignment,
                             const Paths* paths = nullptr);

}  // namespace cuzk::r1cs
