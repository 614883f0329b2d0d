// Labels of nodes and layers. A label needs its predecessor's, so a layer is one long chain: there
// is nothing to run in parallel here, by design of the proof.
#include "filecoin/vanilla/label.h"

#include "base/check.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

constexpr std::size_t kHeaderByteCount = 64;

using Header = std::array<std::uint8_t, kHeaderByteCount>;

// The 64 bytes that precede the parents.
Header label_header(const Node& replica_id, std::uint32_t layer, std::uint64_t node) {
  Header out{};
  std::copy(replica_id.begin(), replica_id.end(), out.begin());
  base::store_u32_be(out.data() + 32, layer);
  base::store_u64_be(out.data() + 36, node);
  static_assert(kNodeByteCount + 4 + 8 <= kHeaderByteCount);  // the rest is zeros
  return out;
}

}  // namespace

LabelParents repeat_parents(std::span<const Node> labels) {
  CUZK_ASSERT(labels.size() == kBaseParentCount || labels.size() == kParentCount);
  LabelParents out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = labels[i % labels.size()];
  return out;
}

Node label_of_parents(const Node& replica_id, std::uint32_t layer, std::uint64_t node,
                      const LabelParents& parents) {
  CUZK_ASSERT(node != 0);
  std::array<std::uint8_t, kHeaderByteCount + kLabelParentCount * kNodeByteCount> message;
  const Header header = label_header(replica_id, layer, node);
  auto end = std::copy(header.begin(), header.end(), message.begin());
  for (const Node& parent : parents) end = std::copy(parent.begin(), parent.end(), end);
  return masked(hash::sha256(message));
}

std::vector<Node> label_layer(const Graph& graph, const Node& replica_id, std::uint32_t layer,
                              std::span<const Node> below) {
  CUZK_ASSERT(layer >= 1 && (layer == 1) == below.empty());
  CUZK_ASSERT(layer == 1 || below.size() == graph.node_count());
  std::vector<Node> labels(static_cast<std::size_t>(graph.node_count()));
  // Node 0 has no parents; its label seeds the layer.
  labels[0] = masked(hash::sha256(label_header(replica_id, layer, 0)));
  const std::size_t parent_count = layer == 1 ? kBaseParentCount : kParentCount;
  std::array<Node, kParentCount> values;
  for (std::uint32_t v = 1; v < graph.node_count(); ++v) {
    const Parents parents = graph.parents(v);
    for (std::size_t i = 0; i < parent_count; ++i) {
      // Base parents lie below v, so their labels of this layer are there already.
      CUZK_DEBUG_ASSERT(i >= kBaseParentCount || parents[i] < v);
      values[i] = i < kBaseParentCount ? labels[parents[i]] : below[parents[i]];
    }
    labels[v] = label_of_parents(replica_id, layer, v,
                                 repeat_parents(std::span(values).first(parent_count)));
  }
  return labels;
}

}  // namespace cuzk::filecoin
