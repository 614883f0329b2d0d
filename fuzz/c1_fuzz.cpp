// Commit-phase-1 JSON, inner and outer form. What is accepted comes back through the writer; what
// is accepted and passes vanilla verification is of canonical values throughout.
#include "filecoin/porep/c1_json.h"
#include "filecoin/porep/verify_vanilla.h"
#include "fuzz/target.h"

namespace {

using namespace cuzk;

base::ByteSpan as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

namespace cuzk::fuzz {

std::vector<base::Bytes> seeds() {
  base::Bytes inner = data_file("upstream/instance1/porep-s0.c1.json");
  const auto file = filecoin::read_c1(inner, "seed");
  CUZK_FUZZ_REQUIRE(file.ok());
  const std::string outer = filecoin::write_c1_outer(file->c1, 42);
  const std::string small = R"({"SectorNum":1,"Phase1Out":"e30=","SectorSize":2048})";
  const std::string unknown = R"({"vanilla_proofs":{"StackedDrg2KiBV1":[[{"x":[1,{"y":null}]}]]}})";
  return {std::move(inner), base::Bytes(outer.begin(), outer.end()),
          base::Bytes(small.begin(), small.end()), base::Bytes(unknown.begin(), unknown.end())};
}

}  // namespace cuzk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = filecoin::read_c1({data, size}, "input");
  if (!file.ok()) {
    CUZK_FUZZ_REQUIRE(!file.error().message.empty());
    return 0;
  }
  const std::string written = file->sector_number
                                  ? filecoin::write_c1_outer(file->c1, *file->sector_number)
                                  : filecoin::write_c1_inner(file->c1);
  const auto again = filecoin::read_c1(as_bytes(written), "written");
  CUZK_FUZZ_REQUIRE(again.ok());
  CUZK_FUZZ_REQUIRE(again->c1.partitions == file->c1.partitions);
  CUZK_FUZZ_REQUIRE(again->sector_number == file->sector_number);
  (void)filecoin::verify_c1(file->c1);
  return 0;
}
