// wtns: what is accepted holds the values that stood in the file.
//
// The count of public values is the circuit's and not in the file, so a third of the values is
// taken; a fixed shape that nearly never fits is read as well, for the refusals.
#include <algorithm>

#include "formats/snarkjs/wtns.h"
#include "fuzz/samples.h"
#include "fuzz/target.h"

namespace {

using namespace cuzk;

template <class C>
void run(base::ByteSpan bytes, const formats::WtnsHeader& header) {
  const std::uint32_t public_count = header.value_count / 3;
  const auto read =
      formats::read_wtns<C>(bytes, "fuzz.wtns", {"the key", header.value_count, public_count});
  if (!read.ok()) return;
  CUZK_FUZZ_REQUIRE((*read)->inputs.size() == public_count + 1);
  const base::Bytes again = formats::encode_wtns<C>(**read);
  const auto second = formats::read_wtns_header(again, "again");
  CUZK_FUZZ_REQUIRE(second.ok());
  CUZK_FUZZ_REQUIRE(std::equal(second->values.begin(), second->values.end(), header.values.begin(),
                               header.values.end()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const base::ByteSpan bytes(data, size);
  const auto header = formats::read_wtns_header(bytes, "fuzz.wtns");
  if (!header.ok()) return 0;
  static_cast<void>(formats::read_wtns<curve::Bn254>(bytes, "fuzz.wtns", {"the key", 14, 2}));
  if (header->value_count == 0) return 0;
  if (header->curve == formats::CurveId::kBn254) {
    run<curve::Bn254>(bytes, *header);
  } else {
    run<curve::Bls12_381>(bytes, *header);
  }
  return 0;
}

std::vector<base::Bytes> cuzk::fuzz::seeds() {
  return {formats::encode_wtns<curve::Bn254>(*sample_circuit<curve::Bn254>().assignment()),
          formats::encode_wtns<curve::Bls12_381>(*sample_circuit<curve::Bls12_381>().assignment())};
}
