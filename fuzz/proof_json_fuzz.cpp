// proof.json: what is accepted comes back the same from the writer.
//
// Text may be laid out in many ways, so values are compared and not bytes. Accepted points must lie
// on the curve. Each input is tried as a proof of both curves.
#include "formats/snarkjs/documents.h"
#include "fuzz/target.h"

namespace {

using namespace cuzk;

template <class C>
void run(base::ByteSpan text) {
  const auto proof = formats::parse_proof<C>(text, "fuzz.json");
  if (!proof.ok()) return;
  CUZK_FUZZ_REQUIRE(proof->a.is_on_curve() && proof->b.is_on_curve() && proof->c.is_on_curve());
  const std::string once = formats::encode_proof_json<C>(*proof);
  const base::Bytes bytes(once.begin(), once.end());
  const auto again = formats::parse_proof<C>(bytes, "again.json");
  CUZK_FUZZ_REQUIRE(again.ok());
  CUZK_FUZZ_REQUIRE(*again == *proof);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run<curve::Bn254>({data, size});
  run<curve::Bls12_381>({data, size});
  return 0;
}

std::vector<base::Bytes> cuzk::fuzz::seeds() {
  return {data_file("circom/mul1000-bn128/proof.json"),
          data_file("circom/mul1000-bls12381/proof.json")};
}
