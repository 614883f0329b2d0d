// Labels against upstream's answers for eleven layers.
//
// The last label depends on all before it, so one wrong parent or byte order anywhere shows.
#include "filecoin/vanilla/label.h"

#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

Node last_label(std::uint64_t nodes, const Node& porep_id, ApiVersion version) {
  const Graph graph(nodes, porep_id, version);
  Node replica_id;
  replica_id.fill(9);
  std::vector<Node> layer;
  for (std::uint32_t l = 1; l <= 11; ++l) layer = label_layer(graph, replica_id, l, layer);
  return layer.back();
}

TEST(Label, LastOfElevenLayersIsUpstreams) {
  for (const auto& test : testing::golden()["labels"]["cases"]) {
    Node porep_id;
    porep_id.fill(test["porep_id_byte"].get<std::uint8_t>());
    const std::string api = test["api"];
    for (const ApiVersion version :
         {ApiVersion::kV1_0_0, ApiVersion::kV1_1_0, ApiVersion::kV1_2_0}) {
      if (api.find(to_string(version)) == std::string::npos) continue;
      EXPECT_EQ(to_hex(last_label(test["nodes"], porep_id, version)),
                test["le_hex"].get<std::string>())
          << test;
    }
  }
}

TEST(Label, SingleLabelsAreTheFixtures) {
  const auto& fixture = testing::golden()["fixtures_derived"]["fixture_2KiB_V1_1"];
  const SealedSector& sector = testing::sample_sector();
  EXPECT_EQ(to_hex(sector.layers[0][0]), fixture["label_layer1_node0"].get<std::string>());
  EXPECT_EQ(to_hex(sector.layers[0][1]), fixture["label_layer1_node1"].get<std::string>());
  EXPECT_EQ(to_hex(sector.layers[0][63]), fixture["label_layer1_node63"].get<std::string>());
  EXPECT_EQ(to_hex(sector.layers[1][63]), fixture["label_layer2_node63"].get<std::string>());
}

TEST(Label, RepeatsParentsCyclically) {
  std::vector<Node> labels;
  for (unsigned i = 0; i < kParentCount; ++i) labels.push_back(node_of_u64(i));
  const LabelParents all = repeat_parents(labels);
  EXPECT_EQ(all[13], labels[13]);
  EXPECT_EQ(all[14], labels[0]);
  EXPECT_EQ(all[36], labels[8]);
  const LabelParents base = repeat_parents(std::span(labels).first(kBaseParentCount));
  EXPECT_EQ(base[35], labels[5]);
  EXPECT_EQ(base[36], labels[0]);
}

}  // namespace
}  // namespace cuzk::filecoin
