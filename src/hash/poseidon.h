// Poseidon over the BLS12-381 scalar field, in the instances that Filecoin uses.
//
// Grassi, Khovratovich, Rechberger, Roy, Schofnegger: "Poseidon: a new hash function for
// zero-knowledge proof systems" (2019). Width t = arity + 1, S-box x^5, 8 full rounds, the partial
// rounds of the 128-bit "standard" strength. Element 0 of the state is a domain tag, the result is
// element 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "field/bls12_381.h"

namespace cuzk::hash {

using PoseidonField = field::bls12_381::Fr;

inline constexpr std::size_t kPoseidonFullRounds = 8;

// One factor of the partial rounds' matrix product (Appendix B of the paper):
//   s0' = sum_i column[i] * s_i,   s_j' = s_j + row[j - 1] * s_0  for j >= 1.
struct PoseidonSparseMatrix {
  std::vector<PoseidonField> column;  // t elements
  std::vector<PoseidonField> row;     // t - 1 elements
};

// Everything that follows from the arity. Immutable, made once, valid for the process's life.
struct PoseidonConstants {
  std::size_t arity = 0;
  std::size_t width = 0;  // t
  std::size_t partial_rounds = 0;
  // The definition: (8 + partial_rounds) * t round constants, round by round, and the t x t matrix
  // M[i][j] = 1 / (i + j + t), symmetric, row by row.
  std::vector<PoseidonField> round_constants;
  std::vector<PoseidonField> mds;
  // The optimised form: t keys before round 0; then, after the S-boxes, t keys in each full round
  // but the last and one key in each partial round, in the order of use.
  std::vector<PoseidonField> compressed_constants;
  // Applied after full round 3 instead of `mds`: new_j = sum_i pre_sparse[i * t + j] * s_i.
  std::vector<PoseidonField> pre_sparse;
  // Applied after the partial rounds, in order.
  std::vector<PoseidonSparseMatrix> sparse;
};

// Whether there is an instance of this arity: 2, 4, 8, 11, 16, 24, 36.
bool poseidon_arity_supported(std::size_t arity) noexcept;

// The constants of a supported arity, derived at the first call. Thread-safe.
const PoseidonConstants& poseidon_constants(std::size_t arity);

// The tag of a Merkle node with all `arity` children present: 2^arity - 1.
PoseidonField poseidon_merkle_tag(std::size_t arity);
// The tag of the custom domain `identifier`: identifier * 2^40. Filecoin's sector updates use 1.
PoseidonField poseidon_custom_tag(std::uint64_t identifier);

// The hash of inputs.size() elements, which must be a supported arity.
PoseidonField poseidon(std::span<const PoseidonField> inputs, const PoseidonField& tag);
// With the Merkle tag.
PoseidonField poseidon(std::span<const PoseidonField> inputs);

// The definition, word by word: the slow twin of poseidon().
PoseidonField poseidon_plain(std::span<const PoseidonField> inputs, const PoseidonField& tag);

}  // namespace cuzk::hash
