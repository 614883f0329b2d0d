// Parents of nodes. Base parents: the predecessor and five draws from a metagraph whose nodes are
// split into buckets of doubling distance, so near nodes are as likely as far ones. Expansion
// parents: eight edges of a permutation of 8 N edges, so every node also has eight children.
#include "filecoin/vanilla/graph.h"

#include <algorithm>

#include "base/check.h"
#include "base/threads.h"
#include "filecoin/parameter_name.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

constexpr unsigned kMetagraphDegree = kBaseParentCount - 1;

base::ByteSpan bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The seed that the porep_id gives to the part of the graph named by `tag`.
Node derived_seed(std::string_view tag, const Node& porep_id) {
  hash::Sha256 hasher;
  hasher.update(bytes_of(tag));
  hasher.update(porep_id);
  return hasher.finish();
}

// The keys of the expander, from the porep_id.
FeistelKeys feistel_keys_of(const Node& porep_id) {
  const Node seed = derived_seed("Filecoin_Feistel", porep_id);
  FeistelKeys keys{};
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = base::load_u64_le(seed.data() + 8 * i);
  return keys;
}

// ceil(log2(x)) for x >= 2.
unsigned log2_ceiling(std::uint64_t x) {
  return 64 - static_cast<unsigned>(__builtin_clzll(x - 1));
}

}  // namespace

Graph::Graph(std::uint64_t node_count, const Node& porep_id, ApiVersion api_version)
    : node_count_(node_count),
      api_version_(api_version),
      feistel_keys_(feistel_keys_of(porep_id)),
      feistel_(node_count * kExpansionParentCount, feistel_keys_) {
  CUZK_ASSERT(log2_exact(node_count) <= 31);
  const Node seed = derived_seed("Filecoin_DRSample", porep_id);
  std::copy_n(seed.begin(), base_seed_.size(), base_seed_.begin());
}

void Graph::base_parents(std::uint32_t node, std::uint32_t* out) const {
  // Nodes 0 and 1 have nothing but node 0 below them.
  if (node < 2) {
    std::fill_n(out, kBaseParentCount, 0u);
    return;
  }
  hash::ChaChaKey key{};
  std::copy(base_seed_.begin(), base_seed_.end(), key.begin());
  base::store_u32_le(key.data() + base_seed_.size(), node);
  hash::ChaChaStream draws = hash::ChaChaStream::original(8, key);

  const bool is_predecessor_last = api_version_ == ApiVersion::kV1_0_0;
  std::uint32_t* sampled = is_predecessor_last ? out : out + 1;
  out[is_predecessor_last ? kMetagraphDegree : 0] = node - 1;

  // Each node stands for five nodes of the metagraph.
  const std::uint64_t metagraph_node = std::uint64_t{node} * kMetagraphDegree;
  const unsigned bucket_count = log2_ceiling(metagraph_node);
  for (unsigned i = 0; i < kMetagraphDegree; ++i) {
    const unsigned bucket = static_cast<unsigned>(draws.next_u64() % bucket_count) + 1;
    const std::uint64_t largest = std::min(metagraph_node, std::uint64_t{1} << bucket);
    const std::uint64_t smallest = std::max<std::uint64_t>(2, largest / 2);
    const std::uint64_t distance = smallest + draws.next_u64() % (largest - smallest + 1);
    const std::uint64_t parent = (metagraph_node - distance) / kMetagraphDegree;
    // A near draw may fall on another metagraph node of the same node, which is no parent of
    // itself.
    CUZK_DEBUG_ASSERT(parent <= node);
    sampled[i] = parent == node ? node - 1 : static_cast<std::uint32_t>(parent);
  }
}

void Graph::expansion_parents(std::uint32_t node, std::uint32_t* out) const {
  for (unsigned i = 0; i < kExpansionParentCount; ++i) {
    std::uint64_t image = feistel_.permute(std::uint64_t{node} * kExpansionParentCount + i);
    // The first version computed in 32 bits, which shows where 8 N exceeds 2^32.
    if (api_version_ == ApiVersion::kV1_0_0) image &= 0xffffffffu;
    out[i] = static_cast<std::uint32_t>(image / kExpansionParentCount);
    CUZK_DEBUG_ASSERT(out[i] < node_count_);
  }
}

Parents Graph::parents(std::uint32_t node) const {
  CUZK_ASSERT(node < node_count_);
  Parents out{};
  base_parents(node, out.data());
  expansion_parents(node, out.data() + kBaseParentCount);
  return out;
}

base::Bytes Graph::parent_cache() const {
  constexpr std::size_t kRecordBytes = 4 * kParentCount;
  base::Bytes out(static_cast<std::size_t>(node_count_) * kRecordBytes);
  base::parallel_for(0, static_cast<std::size_t>(node_count_), 4096,
                     [&](std::size_t first, std::size_t last) {
                       for (std::size_t v = first; v < last; ++v) {
                         const Parents p = parents(static_cast<std::uint32_t>(v));
                         for (std::size_t i = 0; i < p.size(); ++i) {
                           base::store_u32_le(out.data() + v * kRecordBytes + 4 * i, p[i]);
                         }
                       }
                     });
  return out;
}

std::string Graph::parent_cache_name() const {
  hash::Sha256 hasher;
  hasher.update(bytes_of("poseidon_hasher"));
  hasher.update(bytes_of(graph_identifier(node_count_)));
  for (const std::uint64_t key : feistel_keys_) {
    std::array<std::uint8_t, 8> bytes{};
    base::store_u64_le(bytes.data(), key);
    hasher.update(bytes);
  }
  std::array<std::uint8_t, 4> count{};
  base::store_u32_le(count.data(), static_cast<std::uint32_t>(node_count_));
  hasher.update(count);
  return "v28-sdr-parent-" + base::to_hex(hasher.finish()) + ".cache";
}

}  // namespace cuzk::filecoin
