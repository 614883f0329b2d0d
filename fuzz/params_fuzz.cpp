// bellperson .params: what is accepted with full checks is written again to the byte.
//
// Reads lightly first, and demands that every section lies in the file; then with the key's points
// on the curve and the queries canonical. Seeds are a small key of our own, once with bytes behind
// it, which the format allows.
#include <algorithm>

#include "formats/bellperson/params.h"
#include "fuzz/samples.h"
#include "fuzz/target.h"

namespace {

using cuzk::formats::KeyCheck;

// The writer streams to a file, so only every 64th accepted input goes through it.
void require_round_trip(const cuzk::formats::LoadedParams& loaded, const std::uint8_t* data,
                        std::size_t size) {
  static unsigned accepted = 0;
  if (accepted++ % 64 != 0) return;
  const cuzk::base::Bytes again = cuzk::fuzz::written_bytes(
      [&](const auto& path) { return cuzk::formats::write_params(path, *loaded.key); });
  CUZK_FUZZ_REQUIRE(again.size() + loaded.trailing_bytes == size);
  CUZK_FUZZ_REQUIRE(std::equal(again.begin(), again.end(), data));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = cuzk::base::MappedFile::of_bytes({data, data + size}, "fuzz.params");
  const auto light = cuzk::formats::read_params(file, {.verifying_key = KeyCheck::kCanonical});
  if (!light.ok()) return 0;
  for (const auto& section : light->sections) {
    CUZK_FUZZ_REQUIRE(section.offset_bytes + section.size_bytes <= size);
  }
  const auto checked = cuzk::formats::read_params(
      file, {.verifying_key = KeyCheck::kOnCurve, .queries = KeyCheck::kCanonical});
  if (checked.ok()) require_round_trip(*checked, data, size);
  return 0;
}

std::vector<cuzk::base::Bytes> cuzk::fuzz::seeds() {
  const auto key = sample_key<curve::Bls12_381>(groth16::QapConvention::kCoefficients);
  base::Bytes bytes =
      written_bytes([&](const auto& path) { return formats::write_params(path, *key); });
  base::Bytes trailing = bytes;
  trailing.insert(trailing.end(), 40, 0x5a);
  return {std::move(bytes), std::move(trailing)};
}
