// A circuit's identity: one digest over its counts and all its rows.
//
// The algorithm is that of bellpepper's test constraint system, so that circuits can be compared
// with its hashes: BLAKE2s-256 over the numbers of inputs (with ONE), aux and rows as big-endian
// u64; then per row for A, B and C the number of terms as big-endian u64, and per term, inputs
// before aux and ascending, 'I' or 'A', the index as big-endian u64 and the coefficient as 32
// big-endian bytes.
#pragma once

#include "hash/sha256.h"
#include "r1cs/shape.h"

namespace cuzk::r1cs {

// Rows as they are stored; consistency rows of inputs are covered only if the shape has them. The
// shape must have C. Terms of a row must be in ascending order, as builders leave them.
template <class F>
hash::Digest fingerprint(const Shape<F>& shape);

}  // namespace cuzk::r1cs
