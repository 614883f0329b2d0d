// From vanilla proofs to the values that circuits take; blank proofs of a given form.
//
// The shape pass runs the same description as the witness pass but needs only lengths: it is given
// blank proofs, all zero.
#pragma once

#include <span>
#include <vector>

#include "filecoin/vanilla/merkle.h"
#include "r1cs/gadgets/merkle.h"

namespace cuzk::filecoin {

using MerkleOpening = r1cs::gadgets::MerkleOpening<Fr>;

// Index and siblings of a path through levels of these arities, which it must have (checked), with
// canonical nodes (checked).
MerkleOpening opening_of(const MerkleProof& proof, std::span<const std::size_t> arities);

// A proof of these lengths whose nodes and indexes are zero: what the shape pass runs on.
MerkleProof blank_merkle_proof(std::span<const std::size_t> arities);

}  // namespace cuzk::filecoin
