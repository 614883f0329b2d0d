// Derivation of Poseidon's constants, for poseidon.cpp and its tests.
//
// Nothing is read from a table: round constants come from the Grain LFSR, the MDS matrix is a
// Cauchy matrix, and the sparse form follows from both. Slow (matrix inverses); use
// poseidon_constants(), which derives each arity once.
#pragma once

#include <cstddef>
#include <vector>

#include "hash/poseidon.h"

namespace cuzk::hash::internal {

// `count` elements of the Grain LFSR that is seeded with field, S-box, t and the round numbers.
std::vector<PoseidonField> poseidon_grain(std::size_t width, std::size_t partial_rounds,
                                          std::size_t count);

// All constants of the instance of width arity + 1; see PoseidonConstants for their order.
PoseidonConstants derive_poseidon_constants(std::size_t arity, std::size_t partial_rounds);

}  // namespace cuzk::hash::internal
