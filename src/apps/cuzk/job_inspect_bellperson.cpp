// inspect for bellperson's keys and for Filecoin proofs.
//
// None of them has a mark, so a file counts as one when its reader takes it: the readers are
// strict, and say where a file stops being what it should.
#include <fmt/format.h>

#include "apps/cuzk/insecure_mark.h"
#include "apps/cuzk/job_inspect_internal.h"
#include "formats/bellperson/params.h"
#include "formats/bellperson/verifying_key.h"
#include "groth16/memory.h"
#include "groth16/proof_bytes.h"

namespace cuzk::apps {

base::Result<Answer> inspect_params(const MappedPtr& file, const InspectRequest& request,
                                    Session& session) {
  formats::KeyCheckOptions checks;
  if (request.check_points) checks.queries = formats::KeyCheck::kSubgroup;
  checks.progress = &session.progress();
  CUZK_TRY(const formats::LoadedParams loaded, formats::read_params(file, checks));
  const formats::BlsProvingKey& key = *loaded.key;
  Answer answer("Groth16 parameters of bellperson.");
  answer.add("type", "params", "")
      .add("curve", curve::Bls12_381::kName, "curve")
      .add("public_count", key.vk.public_input_count(), "public inputs")
      .add("domain_log2", key.domain_log2, "domain (log2)")
      .add("h_count", key.h.size(), "points in h")
      .add("l_count", key.l.size(), "points in l")
      .add("a_count", key.a.size(), "points in a")
      .add("b_g1_count", key.b_g1.size(), "points in b_g1")
      .add("b_g2_count", key.b_g2.size(), "points in b_g2")
      .add_bytes("file_bytes", file->size_bytes(), "size")
      .add("trailing_bytes", loaded.trailing_bytes, "bytes behind the parameters")
      .add_bytes("memory_to_prove_bytes", groth16::proving_bytes(key),
                 "memory to prove, at most, beside the key and the circuit")
      .add("points_checked", request.check_points, "points checked");
  for (const std::string& warning : loaded.warnings) answer.warn(warning);
  CUZK_TRY(const base::Bytes vk, formats::encode_bellperson_vk(key.vk));
  if (const auto warning = insecure_mark_warning(request.file, vk)) {
    answer.add("insecure", true, "").warn(*warning);
  }
  return answer;
}

base::Result<Answer> inspect_bellperson_vk(const base::MappedFile& file) {
  CUZK_TRY(const auto key, formats::parse_bellperson_vk(file.bytes(), file.name()));
  Answer answer("Groth16 verifying key of bellperson; its points are in their subgroups.");
  answer.add("type", "vk", "")
      .add("curve", curve::Bls12_381::kName, "curve")
      .add("public_count", key.public_input_count(), "public inputs")
      .add_bytes("file_bytes", file.size_bytes(), "size");
  return answer;
}

base::Result<Answer> inspect_proof_bytes(const base::MappedFile& file) {
  CUZK_TRY(const auto proofs, groth16::decode_proofs(file.bytes(), file.name()));
  Answer answer("Filecoin proof; its points are in their subgroups.");
  answer.add("type", "proof", "")
      .add("curve", curve::Bls12_381::kName, "curve")
      .add("partition_count", proofs.size(), "partitions");
  return answer;
}

}  // namespace cuzk::apps
