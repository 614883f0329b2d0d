// verification_key.json: what is accepted comes back the same from the writer.
//
// Values are compared, since layouts and derived members (vk_alphabeta_12) may differ. The reader
// that only asks for the curve sees every input too.
#include "formats/snarkjs/documents.h"
#include "fuzz/target.h"

namespace {

using namespace cuzk;

template <class C>
void run(base::ByteSpan text) {
  const auto key = formats::parse_verification_key<C>(text, "fuzz.json");
  if (!key.ok()) return;
  const std::string once = formats::encode_verification_key<C>(*key);
  const base::Bytes bytes(once.begin(), once.end());
  const auto again = formats::parse_verification_key<C>(bytes, "again.json");
  CUZK_FUZZ_REQUIRE(again.ok());
  CUZK_FUZZ_REQUIRE(*again == *key);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const base::ByteSpan text(data, size);
  static_cast<void>(formats::read_document_curve(text, "fuzz.json"));
  run<curve::Bn254>(text);
  run<curve::Bls12_381>(text);
  return 0;
}

std::vector<base::Bytes> cuzk::fuzz::seeds() {
  return {data_file("circom/mul1000-bn128/verification_key.json"),
          data_file("circom/mul1000-bls12381/verification_key.json")};
}
