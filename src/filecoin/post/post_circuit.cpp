// One description of the PoSt circuit, run by both passes. Sectors refer to nothing outside
// themselves, so the witness pass runs them side by side and joins their values in order.
#include "filecoin/post/post_circuit.h"

#include "base/check.h"
#include "base/threads.h"
#include "filecoin/circuit_values.h"
#include "r1cs/builder.h"
#include "r1cs/witness_builder.h"

namespace cuzk::filecoin {
namespace {

namespace gadgets = r1cs::gadgets;

// The rows of one sector: its commitment made public, tied to the two roots, then each opened leaf.
template <class Cs>
void synthesize_sector(Cs& cs, const PostCircuit& circuit, const PostSectorProof& sector) {
  using Number = typename Cs::Number;
  CUZK_ASSERT(sector.inclusion_proofs.size() == circuit.challenge_count);
  // comm_r_last first, though comm_r is what is public: upstream's order of allocation.
  const Number comm_r_last = cs.new_number(checked_fr(sector.comm_r_last));
  const Number comm_c = cs.new_number(checked_fr(sector.comm_c));
  const Number comm_r = cs.new_number(checked_fr(sector.comm_r));
  gadgets::inputize(cs, comm_r);
  const std::vector<Number> roots = {comm_c, comm_r_last};
  gadgets::enforce_equal(cs, comm_r, gadgets::poseidon(cs, std::span<const Number>(roots)));
  const auto arities = level_arities(circuit.tree, circuit.node_count);
  for (std::size_t n = 0; n < sector.inclusion_proofs.size(); ++n) {
    const auto scope = cs.scope("challenge", n);
    const MerkleProof& proof = sector.inclusion_proofs[n];
    const Number leaf = cs.new_number(checked_fr(proof.leaf));
    gadgets::prove_inclusion(cs, gadgets::PoseidonNode{}, arities, leaf, comm_r_last,
                             opening_of(proof, arities));
  }
}

}  // namespace

r1cs::Shape<Fr> post_circuit_shape(const PostCircuit& circuit, r1cs::Paths* paths) {
  using Builder = r1cs::ShapeBuilder<Fr>;
  Builder cs(paths != nullptr ? Builder::PathRecording::kOn : Builder::PathRecording::kOff);
  PostSectorProof blank;
  blank.inclusion_proofs.assign(
      circuit.challenge_count, blank_merkle_proof(level_arities(circuit.tree, circuit.node_count)));
  CUZK_ASSERT(circuit.sector_count > 0);
  // Sectors differ in their values alone, so the rows of one are made and then repeated.
  const r1cs::CircuitPosition start = cs.position();
  {
    const auto scope = cs.scope("sector", 0);
    synthesize_sector(cs, circuit, blank);
  }
  cs.repeat_since(start, circuit.sector_count - 1);
  if (paths != nullptr) *paths = cs.take_paths();
  return std::move(cs).finish();
}

std::vector<PostSectorProof> circuit_sectors(const PostCircuit& circuit,
                                             std::span<const PostSectorProof> proofs) {
  CUZK_ASSERT(!proofs.empty());
  std::vector<PostSectorProof> out;
  for (const PostSectorProof& proof : proofs) {
    CUZK_ASSERT(proof.inclusion_proofs.size() % circuit.challenge_count == 0);
    for (std::size_t n = 0; n < proof.inclusion_proofs.size(); n += circuit.challenge_count) {
      PostSectorProof& sector = out.emplace_back();
      sector.sector_id = proof.sector_id;
      sector.comm_r = proof.comm_r;
      sector.comm_c = proof.comm_c;
      sector.comm_r_last = proof.comm_r_last;
      // The next run of leaves: all ten of a window's sector, one of a winning proof's 66.
      const auto first = proof.inclusion_proofs.begin() + static_cast<std::ptrdiff_t>(n);
      sector.inclusion_proofs.assign(first, first + circuit.challenge_count);
    }
  }
  CUZK_ASSERT(out.size() <= circuit.sector_count);
  // The statement repeats the last sector in the same way (post_public_inputs).
  out.resize(circuit.sector_count, PostSectorProof(out.back()));
  return out;
}

r1cs::Assignment<Fr> post_circuit_assignment(const PostCircuit& circuit,
                                             std::span<const PostSectorProof> sectors) {
  using Builder = r1cs::WitnessBuilder<Fr>;
  CUZK_ASSERT(sectors.size() == circuit.sector_count);
  std::vector<Builder> parts(sectors.size());
  base::parallel_for(0, sectors.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) synthesize_sector(parts[i], circuit, sectors[i]);
  });
  Builder cs;
  for (Builder& part : parts) {
    cs.append(part);
    part = Builder();  // at most one sector's values are held twice
  }
  return std::move(cs).finish();
}

}  // namespace cuzk::filecoin
