// Openings for circuits. A path's index digits become one integer (the circuit takes its bits,
// lowest level first) and its siblings one flat list, in the order in which the circuit allocates
// them.
#include "filecoin/circuit_values.h"

namespace cuzk::filecoin {

MerkleOpening opening_of(const MerkleProof& proof, std::span<const std::size_t> arities) {
  MerkleOpening out;
  out.index = path_index(proof, arities);
  out.siblings.reserve(r1cs::gadgets::sibling_count(arities));
  for (const PathElement& element : proof.path) {
    for (const Node& hash : element.hashes) out.siblings.push_back(checked_fr(hash));
  }
  CUZK_ASSERT(out.siblings.size() == r1cs::gadgets::sibling_count(arities));
  return out;
}

MerkleProof blank_merkle_proof(std::span<const std::size_t> arities) {
  MerkleProof out;
  for (const std::size_t arity : arities) out.path.push_back({std::vector<Node>(arity - 1), 0});
  return out;
}

}  // namespace cuzk::filecoin
