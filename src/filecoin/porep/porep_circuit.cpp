// One description of the PoRep circuit, run by both passes: a prologue of commitments, then one
// block per challenge that refers to nothing but the prologue. So the witness pass runs challenges
// side by side and joins their values in order, and block i + 1 is block i with all its indexes
// shifted.
#include "filecoin/porep/porep_circuit.h"

#include "base/check.h"
#include "base/threads.h"
#include "filecoin/circuit_values.h"
#include "filecoin/porep/label_circuit.h"
#include "r1cs/builder.h"
#include "r1cs/witness_builder.h"

namespace cuzk::filecoin {
namespace {

namespace gadgets = r1cs::gadgets;

// What every challenge of a partition refers to.
template <class Cs>
struct Prologue {
  typename Cs::BitString replica_id_bits;
  typename Cs::Number comm_d, comm_r_last, comm_c;
};

// A node as a private variable.
template <class Cs>
typename Cs::Number new_node(Cs& cs, const Node& node) {
  return cs.new_number(checked_fr(node));
}

// Poseidon under the Merkle tag of so many numbers.
template <class Cs>
typename Cs::Number poseidon_of(Cs& cs, const std::vector<typename Cs::Number>& numbers) {
  return gadgets::poseidon(cs, std::span<const typename Cs::Number>(numbers));
}

// Public replica_id, comm_d and comm_r; private roots of trees C and R, which hash to comm_r.
template <class Cs>
Prologue<Cs> synthesize_prologue(Cs& cs, const PorepStatement& statement) {
  const auto scope = cs.scope("prologue");
  Prologue<Cs> out;
  const auto replica_id = new_node(cs, statement.replica_id);
  gadgets::inputize(cs, replica_id);
  out.replica_id_bits = hashed_bits(cs, replica_id);
  CUZK_ASSERT(out.replica_id_bits.size() == 256);
  out.comm_d = new_node(cs, statement.comm_d);
  gadgets::inputize(cs, out.comm_d);
  const auto comm_r = new_node(cs, statement.comm_r);
  gadgets::inputize(cs, comm_r);
  out.comm_r_last = new_node(cs, statement.comm_r_last);
  out.comm_c = new_node(cs, statement.comm_c);
  gadgets::enforce_equal(cs, comm_r, poseidon_of<Cs>(cs, {out.comm_c, out.comm_r_last}));
  return out;
}

// The rows of one challenge. Members are the letters of the description: one object per challenge.
template <class Cs>
class ChallengeCircuit {
 public:
  using Number = typename Cs::Number;
  using BitString = typename Cs::BitString;

  ChallengeCircuit(Cs& cs, const PorepCircuit& circuit, const Prologue<Cs>& prologue,
                   const PorepProof& proof)
      : cs_(cs),
        circuit_(circuit),
        prologue_(prologue),
        proof_(proof),
        binary_arities_(level_arities(kBinaryTree, circuit.node_count)),
        arities_(level_arities(circuit.tree, circuit.node_count)) {
    CUZK_ASSERT(proof.labeling_proofs.size() == circuit.layer_count);
  }

  // The order of these steps is the order of allocation, which every published key depends on. The
  // replica leaf is not taken from the proof: it is the sum of the last label and the data leaf.
  void synthesize() {
    const Number data_leaf = new_node(cs_, proof_.comm_d_proof.leaf);
    gadgets::prove_inclusion(cs_, gadgets::Sha256Node{}, binary_arities_, data_leaf,
                             prologue_.comm_d, opening_of(proof_.comm_d_proof, binary_arities_));
    std::vector<std::vector<Number>> columns;
    for (unsigned i = 0; i < kParentCount; ++i) columns.push_back(parent_column(i));
    const BitString challenge = gadgets::alloc_public_u64(cs_, proof_.labeling_proofs[0].node);
    std::vector<Number> labels;
    for (std::uint32_t layer = 1; layer <= circuit_.layer_count; ++layer) {
      labels.push_back(label(layer, columns, challenge));
    }
    const Number encoded = gadgets::add(cs_, labels.back(), data_leaf);
    included(encoded, prologue_.comm_r_last, proof_.comm_r_last_proof);
    included(poseidon_of<Cs>(cs_, labels), prologue_.comm_c, proof_.c_x.inclusion);
  }

 private:
  // Inclusion in a tree of the sector's shape.
  void included(const Number& leaf, const Number& root, const MerkleProof& proof) {
    gadgets::prove_inclusion(cs_, gadgets::PoseidonNode{}, arities_, leaf, root,
                             opening_of(proof, arities_));
  }
  // The labels of parent i as new variables, their column under comm_c.
  std::vector<Number> parent_column(unsigned i) {
    const auto scope = cs_.scope("parent", i);
    const ColumnProof& column = proof_.parent(i);
    CUZK_ASSERT(column.rows.size() == circuit_.layer_count);
    std::vector<Number> rows;
    for (const Node& row : column.rows) rows.push_back(new_node(cs_, row));
    included(poseidon_of<Cs>(cs_, rows), prologue_.comm_c, column.inclusion);
    return rows;
  }
  // Each row is decomposed anew for every layer that hashes it: nothing is shared.
  Number label(std::uint32_t layer, const std::vector<std::vector<Number>>& columns,
               const BitString& challenge) {
    CUZK_ASSERT(layer >= 1 && layer <= circuit_.layer_count);
    // Base parents in the same layer, expansion parents in the layer below, where there is one.
    std::vector<BitString> parents;
    for (unsigned i = 0; i < kBaseParentCount; ++i) {
      parents.push_back(hashed_bits(cs_, columns[i][layer - 1]));
    }
    for (unsigned i = kBaseParentCount; i < kParentCount && layer > 1; ++i) {
      parents.push_back(hashed_bits(cs_, columns[i][layer - 2]));
    }
    return create_label(cs_, prologue_.replica_id_bits, std::span<const BitString>(parents), layer,
                        challenge);
  }

  Cs& cs_;
  const PorepCircuit& circuit_;
  const Prologue<Cs>& prologue_;
  const PorepProof& proof_;
  std::vector<std::size_t> binary_arities_, arities_;
};

// A proof with the circuit's lengths and zeros for values: all that the shape pass looks at.
PorepProof blank_proof(const PorepCircuit& circuit) {
  const auto arities = level_arities(circuit.tree, circuit.node_count);
  const ColumnProof column{0, std::vector<Node>(circuit.layer_count), blank_merkle_proof(arities)};
  PorepProof out;
  out.comm_d_proof = blank_merkle_proof(level_arities(kBinaryTree, circuit.node_count));
  out.comm_r_last_proof = column.inclusion;
  out.c_x = column;
  out.drg_parents.assign(kBaseParentCount, column);
  out.exp_parents.assign(kExpansionParentCount, column);
  out.labeling_proofs.resize(circuit.layer_count);
  return out;
}

}  // namespace

PorepStatement statement_of(const PorepC1& c1, const PorepPartition& partition) {
  CUZK_ASSERT(!partition.empty());
  return {c1.replica_id, c1.comm_d, c1.comm_r, partition[0].comm_r_last_proof.root,
          partition[0].c_x.inclusion.root};
}

r1cs::Shape<Fr> porep_circuit_shape(const PorepCircuit& circuit, r1cs::Paths* paths) {
  using Builder = r1cs::ShapeBuilder<Fr>;
  CUZK_ASSERT(circuit.challenge_count > 0);
  Builder cs(paths != nullptr ? Builder::PathRecording::kOn : Builder::PathRecording::kOff);
  const auto prologue = synthesize_prologue(cs, {});
  const r1cs::CircuitPosition start = cs.position();
  {
    const auto scope = cs.scope("challenge", 0);
    ChallengeCircuit<Builder>(cs, circuit, prologue, blank_proof(circuit)).synthesize();
  }
  cs.repeat_since(start, circuit.challenge_count - 1);
  if (paths != nullptr) *paths = cs.take_paths();
  return std::move(cs).finish();
}

r1cs::Assignment<Fr> porep_circuit_assignment(const PorepCircuit& circuit,
                                              const PorepStatement& statement,
                                              std::span<const PorepProof> proofs) {
  using Builder = r1cs::WitnessBuilder<Fr>;
  CUZK_ASSERT(proofs.size() == circuit.challenge_count);
  Builder cs;
  const auto prologue = synthesize_prologue(cs, statement);
  std::vector<Builder> parts(proofs.size());
  base::parallel_for(0, proofs.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      ChallengeCircuit<Builder>(parts[i], circuit, prologue, proofs[i]).synthesize();
    }
  });
  // In order; each part is freed once joined.
  for (Builder& part : parts) {
    cs.append(part);
    part = Builder();
  }
  return std::move(cs).finish();
}

}  // namespace cuzk::filecoin
