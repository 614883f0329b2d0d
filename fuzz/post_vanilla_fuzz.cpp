// Vanilla PoSt proofs in bincode: what is accepted is written back byte for byte.
//
// The sector's size decides the lengths, so each input is read for every size. What parses is also
// verified against a claim of its own commitments; the answer is not looked at, only survived.
#include "filecoin/post/vanilla_post.h"
#include "fuzz/target.h"

namespace cuzk::fuzz {

std::vector<base::Bytes> seeds() {
  return {data_file("upstream/instance1/window-1sectors.vanilla0.bin"),
          data_file("upstream/instance1/window-3sectors.vanilla2.bin")};
}

}  // namespace cuzk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuzk;
  for (const filecoin::SectorShape& shape : filecoin::all_sector_shapes()) {
    const auto proof =
        filecoin::read_post_sector_proof({data, size}, shape, filecoin::PostKind::kWindow, "input");
    if (!proof.ok()) continue;
    const base::Bytes written = filecoin::write_post_sector_proof(*proof, shape);
    CUZK_FUZZ_REQUIRE(written == base::Bytes(data, data + size));
    const filecoin::PostClaim claim{&shape,
                                    filecoin::PostKind::kWindow,
                                    filecoin::ApiVersion::kV1_2_0,
                                    {},
                                    {{proof->sector_id, proof->comm_r}}};
    (void)filecoin::verify_post_proofs(claim, {*proof});
  }
  return 0;
}
