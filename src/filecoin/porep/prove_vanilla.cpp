// Cutting vanilla proofs out of a sealed sector. Everything is looked up: labels in the layers,
// paths in the trees. Nothing is computed again, so an opened proof is as right as the sector it
// came from.
#include "filecoin/porep/prove_vanilla.h"

#include "base/check.h"
#include "filecoin/porep/challenges.h"
#include "filecoin/vanilla/label.h"

namespace cuzk::filecoin {
namespace {

// All labels of a node with their path in tree C.
ColumnProof open_column(const SealedSector& sector, std::uint32_t node) {
  return {node, sector.column(node), sector.tree_c.proof(node)};
}

// What the label of `node` in `layer` was hashed from: base parents' labels in the same layer, and
// above the first the expansion parents' in the layer below.
LabelingProof open_label(const SealedSector& sector, const Parents& parents, std::uint32_t layer,
                         std::uint32_t node) {
  CUZK_ASSERT(layer >= 1 && layer <= sector.layers.size());
  std::vector<Node> labels;
  for (unsigned i = 0; i < kBaseParentCount; ++i) {
    labels.push_back(sector.layers[layer - 1][parents[i]]);
  }
  for (unsigned i = kBaseParentCount; i < kParentCount && layer > 1; ++i) {
    labels.push_back(sector.layers[layer - 2][parents[i]]);
  }
  const LabelParents repeated = repeat_parents(labels);
  return {{repeated.begin(), repeated.end()}, layer, node};
}

}  // namespace

PorepProof open_node(const SealedSector& sector, const Graph& graph, std::uint32_t challenge) {
  CUZK_ASSERT(challenge != 0);
  const Parents parents = graph.parents(challenge);
  PorepProof proof;
  proof.comm_d_proof = sector.tree_d.proof(challenge);
  proof.comm_r_last_proof = sector.tree_r.proof(challenge);
  proof.c_x = open_column(sector, challenge);
  for (unsigned i = 0; i < kParentCount; ++i) {
    auto& list = i < kBaseParentCount ? proof.drg_parents : proof.exp_parents;
    list.push_back(open_column(sector, parents[i]));
  }
  for (std::uint32_t layer = 1; layer <= sector.layers.size(); ++layer) {
    proof.labeling_proofs.push_back(open_label(sector, parents, layer, challenge));
  }
  // The key that encodes the data is the label of the last layer.
  proof.encoding_proof = proof.labeling_proofs.back();
  return proof;
}

std::vector<PorepPartition> open_challenges(const SealedSector& sector, const Node& seed) {
  const PorepConfig& config = sector.config;
  const Graph graph(config.shape->node_count(), config.porep_id, config.api_version);
  const PorepChallengeSource source{config.kind, sector.replica_id, sector.comm_r, seed};
  std::vector<PorepPartition> out(config.partition_count());
  for (unsigned k = 0; k < out.size(); ++k) {
    for (const std::uint32_t challenge : porep_challenges(
             source, config.shape->node_count(), config.shape->porep_challenges_per_partition, k)) {
      out[k].push_back(open_node(sector, graph, challenge));
    }
  }
  return out;
}

base::Result<PorepC1> commit_phase_1(const SealedSector& sector,
                                     const RegisteredSeal& registered_proof, const Node& seed) {
  const PorepConfig wanted = PorepConfig::of(registered_proof);
  const PorepConfig& is = sector.config;
  if (wanted.shape != is.shape || wanted.porep_id != is.porep_id ||
      wanted.api_version != is.api_version || wanted.kind != is.kind) {
    return base::Error{base::ErrorKind::kMismatch,
                       "the sector was not sealed as " + registered_proof.name()};
  }
  PorepC1 out;
  out.registered_proof = registered_proof;
  out.partitions = open_challenges(sector, seed);
  out.comm_r = sector.comm_r;
  out.comm_d = sector.comm_d;
  out.replica_id = sector.replica_id;
  out.seed = seed;
  out.ticket = sector.identity.ticket;
  return out;
}

}  // namespace cuzk::filecoin
