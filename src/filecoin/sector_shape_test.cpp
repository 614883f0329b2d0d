// The size table against the parameter tables worked out from upstream.
//
// What is computed from a column (levels, paths, partitions) is checked for every size.
#include "filecoin/sector_shape.h"

#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

TEST(SectorShape, HasTheTreeShapesOfEachSize) {
  for (const auto& [name, shape] :
       testing::golden()["parameter_tables"]["shapes_base_sub_top"].items()) {
    const std::string size = name.starts_with("update_only_") ? name.substr(12) : name;
    const auto found = sector_shape_by_name(size);
    ASSERT_TRUE(found.ok()) << size;
    EXPECT_EQ((*found)->tree, (TreeShape{shape[0], shape[1], shape[2]})) << size;
  }
}

TEST(SectorShape, CountsPartitionsAndChallenges) {
  const auto expect = [](std::string_view size, PorepKind kind, unsigned partitions,
                         unsigned minimum) {
    const SectorShape& shape = **sector_shape_by_name(size);
    EXPECT_EQ(shape.porep_partition_count(kind), partitions) << size;
    EXPECT_EQ(shape.porep_minimum_challenge_count(kind), minimum) << size;
    EXPECT_GE(partitions * shape.porep_challenges_per_partition, minimum) << size;
  };
  expect("2KiB", PorepKind::kInteractive, 1, 2);
  expect("512MiB", PorepKind::kSynthetic, 1, 2);
  expect("8MiB", PorepKind::kNonInteractive, 13, 26);
  expect("32GiB", PorepKind::kInteractive, 10, 176);
  expect("64GiB", PorepKind::kNonInteractive, 126, 2253);
  EXPECT_EQ((*sector_shape_by_name("2KiB"))->porep_public_input_count() + 1, 40u);
  EXPECT_EQ((*sector_shape_by_name("32GiB"))->porep_public_input_count() + 1, 328u);
}

TEST(SectorShape, HasTheUpdateTable) {
  const auto expect = [](std::string_view size, unsigned partitions, unsigned challenges,
                         unsigned apex, unsigned high_bits, unsigned select) {
    const UpdateShape& update = (*sector_shape_by_name(size))->update;
    EXPECT_EQ(update.partition_count, partitions) << size;
    EXPECT_EQ(update.challenge_count, challenges) << size;
    EXPECT_EQ(update.apex_leaf_count, apex) << size;
    EXPECT_EQ(update.high_bit_count(), high_bits) << size;
    EXPECT_EQ(update.high_bit_select(), select) << size;
  };
  expect("1KiB", 1, 10, 8, 1, 1);
  expect("8KiB", 1, 10, 8, 1, 1);
  expect("16KiB", 2, 10, 128, 1, 1);
  expect("16MiB", 4, 10, 128, 10, 8);
  expect("32GiB", 16, 86, 128, 10, 8);
}

TEST(SectorShape, SplitsPathsIntoLevels) {
  const auto levels = [](std::string_view size) {
    const SectorShape& shape = **sector_shape_by_name(size);
    return level_arities(shape.tree, shape.node_count());
  };
  EXPECT_EQ(levels("2KiB"), (std::vector<std::size_t>{8, 8}));
  EXPECT_EQ(levels("4KiB"), (std::vector<std::size_t>{8, 8, 2}));
  EXPECT_EQ(levels("32KiB"), (std::vector<std::size_t>{8, 8, 8, 2}));
  EXPECT_EQ(levels("32GiB"), (std::vector<std::size_t>{8, 8, 8, 8, 8, 8, 8, 8, 8, 8}));
  EXPECT_EQ(levels("64GiB").size(), 11u);
  EXPECT_EQ(level_arities(kBinaryTree, 64).size(), 6u);
}

TEST(SectorShape, EveryPathReachesEveryNode) {
  for (const SectorShape& shape : all_sector_shapes()) {
    std::uint64_t product = 1;
    for (const std::size_t arity : level_arities(shape.tree, shape.node_count())) product *= arity;
    EXPECT_EQ(product, shape.node_count()) << shape.name;
  }
}

TEST(SectorShape, IsFoundByBytesAndNamesTheChoicesOtherwise) {
  EXPECT_EQ(sector_shape_by_name("2048").value(), sector_shape(2048).value());
  EXPECT_EQ(sector_shape_by_name("64GiB").value()->byte_count, std::uint64_t{64} << 30);
  for (const char* text : {"2kib", "2KIB", "2 KiB", "2.0KiB", "2048B"}) {
    EXPECT_EQ(sector_shape_by_name(text).value(), sector_shape(2048).value()) << text;
  }
  EXPECT_EQ(sector_shape_by_name("0.5GiB").value(), sector_shape_by_name("512MiB").value());
  for (const char* wrong : {"", "2k", "3KiB", "2049", "-1", "18446744073709551616", "2KiBx",
                            "2048.5B", "2000.5B", "2.0001KiB", "2.0480001kB"}) {
    const auto found = sector_shape_by_name(wrong);
    ASSERT_FALSE(found.ok()) << wrong;
    EXPECT_NE(found.error().message.find("512MiB"), std::string::npos) << found.error().message;
  }
}

}  // namespace
}  // namespace cuzk::filecoin
