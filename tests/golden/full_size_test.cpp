// The circuits of 32 and 64 GiB sectors against upstream's: counts, non-zeros, densities, and the
// hash of all rows, which takes a minute each and is asked for by CUZK_FULL_SIZE_HASHES=1.
#include <cstdlib>

#include "filecoin/circuit_test_support.h"
#include "filecoin/job.h"

namespace cuzk::filecoin {
namespace {

struct Case {
  CircuitKind kind;
  const char *sector, *name;
};

void compare(const Case& c) {
  const auto shape = circuit_shape(c.kind, **sector_shape_by_name(c.sector));
  ASSERT_TRUE(shape.ok()) << shape.error().message;
  EXPECT_FALSE(shape->is_flat());
  EXPECT_LT(shape->byte_count(), std::uint64_t{1300} << 20);
  testing::expect_circuit(*shape, c.name, std::getenv("CUZK_FULL_SIZE_HASHES") != nullptr);
}

TEST(UpstreamBytesReleaseFullSize, PorepOf32GiB) {
  compare({CircuitKind::kPorep, "32GiB", "porep_32GiB_layers11_ch18"});
}
TEST(UpstreamBytesReleaseFullSize, PorepOf64GiB) {
  compare({CircuitKind::kPorep, "64GiB", "porep_64GiB_layers11_ch18"});
}
TEST(UpstreamBytesReleaseFullSize, WindowPostOf32GiB) {
  compare({CircuitKind::kWindowPost, "32GiB", "window_post_32GiB_ch10_sectors2349"});
}
TEST(UpstreamBytesReleaseFullSize, UpdateOf32GiB) {
  compare({CircuitKind::kUpdate, "32GiB", "update_32GiB_8_8_0"});
}
TEST(UpstreamBytesReleaseFullSize, UpdateOf64GiB) {
  compare({CircuitKind::kUpdate, "64GiB", "update_64GiB_8_8_2"});
}
TEST(UpstreamBytesReleaseFullSize, UpdateOf512MiB) {
  const auto shape = update_circuit_shape(UpdateCircuit::of(**sector_shape_by_name("512MiB")));
  testing::expect_circuit(shape, "update_512MiB_8_0_0",
                          std::getenv("CUZK_FULL_SIZE_HASHES") != nullptr);
}

}  // namespace
}  // namespace cuzk::filecoin
