// bellperson .vk and .meta: what is accepted is written again to the byte.
//
// A key is read with canonical checks only for that, then once more with the default ones, which
// must be survived. Meta files are only survived.
#include <algorithm>

#include "formats/bellperson/verifying_key.h"
#include "fuzz/samples.h"
#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuzk;
  const base::ByteSpan bytes(data, size);
  static_cast<void>(formats::parse_bellperson_meta(bytes, "fuzz.meta"));
  const auto key = formats::parse_bellperson_vk(bytes, "fuzz.vk", formats::KeyCheck::kCanonical);
  if (!key.ok()) return 0;
  const auto again = formats::encode_bellperson_vk(*key);
  CUZK_FUZZ_REQUIRE(again.ok());
  CUZK_FUZZ_REQUIRE(again->size() == size && std::equal(again->begin(), again->end(), data));
  static_cast<void>(formats::parse_bellperson_vk(bytes, "fuzz.vk"));
  return 0;
}

std::vector<cuzk::base::Bytes> cuzk::fuzz::seeds() {
  const std::string meta = formats::encode_bellperson_meta(2048);
  return {data_file("upstream/mimc/mimc.vk"),
          data_file("zcash/sapling-output.vk"),
          {meta.begin(), meta.end()}};
}
