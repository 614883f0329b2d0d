// Parents and cache digests against upstream's parent cache list.
//
// A digest covers all parents of a graph at once. The first graph version truncates in large
// graphs, a mistake that its sectors depend on.
#include "filecoin/vanilla/graph.h"

#include <set>

#include "filecoin/test_support.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

// Largest graph whose whole cache a test computes.
constexpr std::uint64_t kNodeCountMax = std::uint64_t{1} << 18;

Graph graph_of(const nlohmann::json& entry) {
  return Graph(entry["nodes"], node_of_u64(entry["registered_id_in_porep_id"]),
               api_version_by_name(entry["api"].get<std::string>()).value());
}

TEST(Graph, CacheNamesAndKeysAreUpstreams) {
  const auto& entries = testing::golden()["parent_cache"]["entries"];
  ASSERT_EQ(entries.size(), 10u);
  for (const auto& entry : entries) {
    const Graph graph = graph_of(entry);
    EXPECT_EQ(graph.parent_cache_name(), entry["file"]);
    if (!entry.contains("feistel_keys_hex")) continue;
    for (std::size_t i = 0; i < 4; ++i) {
      std::array<std::uint8_t, 8> key;
      base::store_u64_be(key.data(), graph.feistel_keys()[i]);
      EXPECT_EQ(base::to_hex(key), entry["feistel_keys_hex"][i].get<std::string>());
    }
  }
}

TEST(Graph, ParentsAreTheSamples) {
  std::size_t compared = 0;
  for (const auto& entry : testing::golden()["parent_cache"]["entries"]) {
    if (!entry.contains("parents_samples")) continue;
    const Graph graph = graph_of(entry);
    for (const auto& [node, parents] : entry["parents_samples"].items()) {
      const Parents found = graph.parents(static_cast<std::uint32_t>(std::stoul(node)));
      EXPECT_EQ(nlohmann::json(found), parents) << entry["file"] << " node " << node;
      ++compared;
    }
  }
  EXPECT_GE(compared, 20u);
}

TEST(Graph, CacheDigestsAreUpstreams) {
  std::size_t compared = 0;
  for (const auto& entry : testing::golden()["parent_cache"]["entries"]) {
    if (entry["nodes"] > kNodeCountMax) continue;
    Graph graph = graph_of(entry);
    graph.tabulate();
    EXPECT_EQ(base::to_hex(hash::sha256(graph.parent_cache())),
              entry["sha256_of_file"].get<std::string>());
    ++compared;
  }
  EXPECT_EQ(compared, 4u);
}

TEST(Graph, BaseParentsAreBelowTheirNode) {
  for (const ApiVersion version : {ApiVersion::kV1_0_0, ApiVersion::kV1_1_0}) {
    const Graph graph(512, node_of_u64(77), version);
    for (std::uint32_t v = 2; v < 512; ++v) {
      const Parents parents = graph.parents(v);
      for (unsigned i = 0; i < kBaseParentCount; ++i) EXPECT_LT(parents[i], v);
      const unsigned predecessor = version == ApiVersion::kV1_0_0 ? kBaseParentCount - 1 : 0;
      EXPECT_EQ(parents[predecessor], v - 1);
    }
  }
}

TEST(Graph, ExpansionGivesEveryNodeEightChildren) {
  const Graph graph(256, testing::sample_ticket(), ApiVersion::kV1_1_0);
  std::vector<unsigned> children(256);
  for (std::uint32_t v = 0; v < 256; ++v) {
    const Parents parents = graph.parents(v);
    for (unsigned i = kBaseParentCount; i < kParentCount; ++i) ++children[parents[i]];
  }
  EXPECT_EQ(children, std::vector<unsigned>(256, kExpansionParentCount));
}

TEST(Feistel, PermutesAnyRangeAndEqualsItsTable) {
  const FeistelKeys keys = {1, ~std::uint64_t{0}, 0x0123456789abcdef, 0};
  for (const std::uint64_t size : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 63u, 64u, 65u, 1000u}) {
    const Feistel plain(size, keys);
    Feistel tabulated(size, keys);
    tabulated.tabulate();
    std::set<std::uint64_t> images;
    for (std::uint64_t x = 0; x < size; ++x) {
      const std::uint64_t image = plain.permute(x);
      EXPECT_LT(image, size);
      EXPECT_EQ(image, tabulated.permute(x));
      images.insert(image);
    }
    EXPECT_EQ(images.size(), size);
  }
}

TEST(Graph, FirstVersionTruncatesWhereEightTimesNodesPasses32Bits) {
  const std::uint64_t nodes = std::uint64_t{1} << 30;
  const Graph first(nodes, node_of_u64(3), ApiVersion::kV1_0_0);
  const Graph second(nodes, node_of_u64(3), ApiVersion::kV1_1_0);
  std::size_t differing = 0;
  for (std::uint32_t v = 1'000'000; v < 1'000'032; ++v) {
    const Parents a = first.parents(v), b = second.parents(v);
    for (unsigned i = kBaseParentCount; i < kParentCount; ++i) {
      EXPECT_EQ(a[i], b[i] & 0x1fffffff);
      differing += a[i] != b[i];
    }
  }
  EXPECT_GT(differing, 0u);
}

}  // namespace
}  // namespace cuzk::filecoin
