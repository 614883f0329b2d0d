// Vanilla proofs of sector updates in bincode: what is accepted is written back byte for byte.
//
// Each input is read for every sector size, as the size decides the lengths. What parses is also
// verified against an empty claim, which must be survived and need not be refused.
#include "filecoin/update/vanilla_update.h"
#include "fuzz/target.h"

namespace cuzk::fuzz {

std::vector<base::Bytes> seeds() { return {data_file("upstream/instance1/update.vanilla0.bin")}; }

}  // namespace cuzk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuzk;
  for (const filecoin::SectorShape& shape : filecoin::all_sector_shapes()) {
    const auto proof = filecoin::read_update_partition_proof({data, size}, shape, "input");
    if (!proof.ok()) continue;
    const base::Bytes written = filecoin::write_update_partition_proof(*proof, shape);
    CUZK_FUZZ_REQUIRE(written == base::Bytes(data, data + size));
    (void)filecoin::verify_update_partition({&shape}, *proof, 0);
  }
  return 0;
}
