// The room's face: counts agree with the circuits, what it cannot do is refused with a sentence.
//
// Sizes whose circuits cannot be recorded here are compared with upstream's counts instead.
#include "filecoin/job.h"

#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

TEST(CircuitShape, HasThePublicInputsThatItsKindAnnounces) {
  for (const CircuitKind kind :
       {CircuitKind::kWinningPost, CircuitKind::kWindowPost, CircuitKind::kPorep}) {
    const SectorShape& shape = **sector_shape_by_name("2KiB");
    const auto recorded = circuit_shape(kind, shape);
    ASSERT_TRUE(recorded.ok());
    EXPECT_EQ(recorded->input_count, public_input_count(kind, shape) + 1) << to_string(kind);
  }
}

TEST(PublicInputCount, IsUpstreamsOfTheLargestSizes) {
  const SectorShape& shape = **sector_shape_by_name("32GiB");
  EXPECT_EQ(public_input_count(CircuitKind::kPorep, shape) + 1, 328u);
  EXPECT_EQ(public_input_count(CircuitKind::kWinningPost, shape) + 1, 133u);
  EXPECT_EQ(public_input_count(CircuitKind::kWindowPost, shape) + 1, 25'840u);
  EXPECT_EQ(public_input_count(CircuitKind::kUpdate, shape) + 1, 5u);
}

TEST(CircuitShape, RefusesAPorepOfASizeWithoutOne) {
  const auto refused = circuit_shape(CircuitKind::kPorep, **sector_shape_by_name("8KiB"));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("8KiB"), std::string::npos);
}

TEST(Seal, RefusesWhatItCannotSeal) {
  SealRequest request;
  request.config = PorepConfig::of(registered_seal(5).value());
  const auto too_much = seal(request, base::Bytes(2033));
  ASSERT_FALSE(too_much.ok());
  EXPECT_NE(too_much.error().message.find("2032"), std::string::npos);
  request.config = PorepConfig::of(registered_seal(8).value());
  const auto too_large = seal(request, {});
  ASSERT_FALSE(too_large.ok());
  EXPECT_EQ(too_large.error().kind, base::ErrorKind::kUnsupported);
  request.config = PorepConfig::of(registered_seal(5).value());
  request.prover_id.fill(0xff);
  EXPECT_FALSE(seal(request, {}).ok());
}

TEST(ZeroCommitment, IsTheGoldenOneOfEverySize) {
  const auto& table = testing::golden()["sha256_tree_d"]["zero_comm_d_le_hex_by_padded_bytes"];
  std::size_t compared = 0;
  for (const auto& [bytes, commitment] : table["values"].items()) {
    EXPECT_EQ(to_hex(zero_commitment(std::stoull(bytes))), commitment) << bytes;
    ++compared;
  }
  EXPECT_GE(compared, 10u);
  const SectorShape& shape = **sector_shape_by_name("2KiB");
  EXPECT_EQ(data_commitment(shape, {}).value(), zero_commitment(2048));
}

}  // namespace
}  // namespace cuzk::filecoin
