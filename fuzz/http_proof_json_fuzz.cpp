// The JSON form of SubmitProofRequest over HTTP: hostile text gives a request or a sentence.
//
// There is no writer to compare with, so what is demanded is that a request holds no more than the
// text that it was read from.
#include "fuzz/target.h"
#include "service/http_proof_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = cuzk::service::proof_request_from_json({data, size});
  if (!request.ok()) {
    CUZK_FUZZ_REQUIRE(!request.error().message.empty());
    CUZK_FUZZ_REQUIRE(request.error().message.size() < 1'000);
    return 0;
  }
  // Base64 and names only shrink: what was accepted is backed by the text.
  std::size_t held = request->request_id.size() + request->vanilla_proof.size();
  for (const auto& proof : request->vanilla_proofs) held += proof.size();
  CUZK_FUZZ_REQUIRE(held <= size);
  CUZK_FUZZ_REQUIRE(static_cast<int>(request->kind) <= 4);
  return 0;
}

std::vector<cuzk::base::Bytes> cuzk::fuzz::seeds() {
  const std::string snake =
      R"({"request_id":"a","proof_kind":"POREP_SEAL_COMMIT","sector_size":"2048",)"
      R"("registered_proof":5,"priority":"HIGH","vanilla_proof":"AQID","miner_id":1000})";
  const std::string camel =
      R"({"requestId":"b","proofKind":3,"vanillaProofs":["AQ==","Ag=="],"randomness":"AAAA",)"
      R"("partitionIndex":1,"commROld":"AA==","deadlineMs":"5"})";
  return {{snake.begin(), snake.end()}, {camel.begin(), camel.end()}};
}
