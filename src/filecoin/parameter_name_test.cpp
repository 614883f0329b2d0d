// Parameter set names against the published list and against upstream's cache.
//
// A name is a hash, so one wrong character of its identifier shows; the list covers every published
// circuit, the cache the 2 KiB ones.
#include "filecoin/parameter_name.h"

#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

TEST(ParameterName, IsThePublishedNameOfEveryCircuit) {
  std::size_t compared = 0;
  for (const auto& entry : testing::golden()["parameters_json"]["entries"]) {
    const std::string circuit = entry["circuit"];
    if (circuit.find("poseidon") != std::string::npos) continue;  // no registered proof uses it
    const SectorShape& shape = **sector_shape(entry["sector_size"]);
    const std::string kind_name =
        circuit == "winning" || circuit == "window" ? circuit + "-post" : circuit;
    const auto kind = circuit_kind_by_name(kind_name);
    ASSERT_TRUE(kind.ok()) << kind_name;
    const std::string file = entry["file"];
    EXPECT_EQ(parameter_set_name(*kind, shape), file.substr(0, file.rfind('.')));
    if (entry.contains("identifier")) {
      EXPECT_EQ(parameter_identifier(*kind, shape), entry["identifier"].get<std::string>());
    }
    ++compared;
  }
  EXPECT_EQ(compared, 40u);
}

TEST(ParameterName, IsTheNameUnderWhichUpstreamCaches2KiB) {
  const SectorShape& shape = **sector_shape_by_name("2KiB");
  for (const CircuitKind kind : {CircuitKind::kPorep, CircuitKind::kWinningPost,
                                 CircuitKind::kWindowPost, CircuitKind::kUpdate}) {
    const std::string name = parameter_set_name(kind, shape);
    const base::Bytes meta = testing::read_data("upstream/keys/" + name + ".meta");
    EXPECT_EQ(std::string(meta.begin(), meta.end()), "{\"sector_size\":2048}");
    EXPECT_TRUE(cuzk::testing::find_data("upstream/keys/" + name + ".vk").has_value());
  }
}

TEST(ParameterName, RefusesUnknownKinds) {
  EXPECT_FALSE(circuit_kind_by_name("post").ok());
  EXPECT_EQ(circuit_kind_by_name("window-post").value(), CircuitKind::kWindowPost);
}

}  // namespace
}  // namespace cuzk::filecoin
