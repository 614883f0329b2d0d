// The sealing procedure: pad, commit to the data, derive the replica id, label layer by layer, hash
// columns, encode, commit. Labelling is sequential; the rest runs on all threads.
#include "filecoin/vanilla/seal.h"

#include <algorithm>

#include "base/check.h"
#include "base/threads.h"
#include "filecoin/fr32.h"
#include "filecoin/vanilla/graph.h"
#include "filecoin/vanilla/label.h"

namespace cuzk::filecoin {
namespace {

// Asked before the data are padded. The ticket may be any 32 bytes.
base::Status check_request(const SealRequest& request) {
  CUZK_TRY_STATUS(check_porep_config(request.config));
  CUZK_TRY_STATUS(check_seal_size(*request.config.shape));
  CUZK_TRY([[maybe_unused]] const Fr prover, read_fr(request.prover_id, "the prover id"));
  return base::ok_status();
}

// For every node, f(first, last) over pieces.
std::vector<Node> map_nodes(std::size_t count, const std::function<Node(std::size_t)>& f) {
  std::vector<Node> out(count);
  base::parallel_for(0, count, 256, [&](std::size_t first, std::size_t last) {
    for (std::size_t v = first; v < last; ++v) out[v] = f(v);
  });
  return out;
}

}  // namespace

// A large sector would take hours and then memory that is not there.
base::Status check_seal_size(const SectorShape& shape) {
  if (shape.byte_count <= kSealByteCountMax) return base::ok_status();
  return base::Error{base::ErrorKind::kUnsupported,
                     "sealing a sector of " + std::string(shape.name) +
                         " is a sealer's business: this program seals samples of at most 512MiB"};
}

std::vector<Node> SealedSector::column(std::uint32_t node) const {
  std::vector<Node> out;
  for (const auto& layer : layers) {
    CUZK_DEBUG_ASSERT(node < layer.size());
    out.push_back(layer[node]);
  }
  return out;
}

Node encode(const Node& key, const Node& value) {
  // Addition in the field: who has the key gets the data back by subtraction.
  const std::optional<Fr> k = to_fr(key), v = to_fr(value);
  CUZK_ASSERT(k.has_value() && v.has_value());
  return to_node(*k + *v);
}

base::Result<std::vector<Node>> data_nodes(const SectorShape& shape, base::ByteSpan data) {
  if (data.size() > shape.unpadded_byte_count()) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "data of " + std::to_string(data.size()) + " bytes does not fit a " +
                           std::string(shape.name) + " sector, which holds " +
                           std::to_string(shape.unpadded_byte_count())};
  }
  const base::Bytes padded = fr32_pad(data);
  CUZK_ASSERT(padded.size() <= shape.byte_count);
  std::vector<Node> nodes(static_cast<std::size_t>(shape.node_count()));
  for (std::size_t i = 0; i < padded.size(); ++i) {
    nodes[i / kNodeByteCount][i % kNodeByteCount] = padded[i];
  }
  return nodes;
}

base::Result<Node> data_commitment(const SectorShape& shape, base::ByteSpan data) {
  CUZK_TRY(std::vector<Node> nodes, data_nodes(shape, data));
  return MerkleTree::build(NodeHash::kSha256, kBinaryTree, std::move(nodes)).root();
}

Node zero_commitment(std::uint64_t padded_byte_count) {
  // All nodes of a level are equal, so one hash a level gives the root.
  Node node{};
  for (unsigned l = 0; l < log2_exact(padded_byte_count / kNodeByteCount); ++l) {
    node = hash_children(NodeHash::kSha256, std::array<Node, 2>{node, node});
  }
  return node;
}

SealedSector assemble_sector(const PorepConfig& config, const ReplicaIdentity& identity,
                             MerkleTree tree_d, std::vector<std::vector<Node>> layers) {
  CUZK_ASSERT(layers.size() == config.shape->layer_count);
  CUZK_ASSERT(tree_d.leaf_count() == config.shape->node_count());
  for (const auto& layer : layers) CUZK_ASSERT(layer.size() == config.shape->node_count());
  SealedSector sector;
  sector.config = config;
  sector.identity = identity;
  sector.tree_d = std::move(tree_d);
  sector.layers = std::move(layers);
  sector.comm_d = sector.tree_d.root();
  sector.replica_id = replica_id(identity, sector.comm_d);

  const std::size_t count = static_cast<std::size_t>(config.shape->node_count());
  auto columns = map_nodes(count, [&](std::size_t v) {
    return column_hash(sector.column(static_cast<std::uint32_t>(v)));
  });
  sector.tree_c = MerkleTree::build(NodeHash::kPoseidon, config.shape->tree, std::move(columns));
  const std::span<const Node> data = sector.tree_d.level(0);
  const std::vector<Node>& keys = sector.layers.back();
  sector.replica = map_nodes(count, [&](std::size_t v) { return encode(keys[v], data[v]); });
  sector.tree_r = MerkleTree::build(NodeHash::kPoseidon, config.shape->tree, sector.replica);
  sector.comm_c = sector.tree_c.root();
  sector.comm_r_last = sector.tree_r.root();
  sector.comm_r = poseidon_pair(sector.comm_c, sector.comm_r_last);
  return sector;
}

base::Result<SealedSector> seal(const SealRequest& request, base::ByteSpan data) {
  CUZK_TRY_STATUS(check_request(request));
  const PorepConfig& config = request.config;
  CUZK_TRY(std::vector<Node> nodes, data_nodes(*config.shape, data));
  MerkleTree tree_d = MerkleTree::build(NodeHash::kSha256, kBinaryTree, std::move(nodes));

  const ReplicaIdentity identity{request.prover_id, request.sector_number, request.ticket,
                                 config.porep_id};
  const Node id = replica_id(identity, tree_d.root());
  Graph graph(config.shape->node_count(), config.porep_id, config.api_version);
  graph.tabulate();  // every node's parents are asked for, once a layer
  std::vector<std::vector<Node>> layers;
  for (std::uint32_t layer = 1; layer <= config.shape->layer_count; ++layer) {
    const std::span<const Node> below = layers.empty() ? std::span<const Node>() : layers.back();
    layers.push_back(label_layer(graph, id, layer, below));
  }
  return assemble_sector(config, identity, std::move(tree_d), std::move(layers));
}

}  // namespace cuzk::filecoin
