// Proving and verifying with snarkjs's files.
//
// The curve is read from the key's header first; then everything is a template over it, and no type
// says "some curve" any more. A proof is verified with the key's own verifying key before a file is
// written (groth16/prove.h), so an output that is there is right.
#include "apps/cuzk/job_circom.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apps/cuzk/insecure_mark.h"
#include "apps/cuzk/output.h"
#include "apps/cuzk/witness_input.h"
#include "base/file.h"
#include "formats/snarkjs/documents.h"
#include "formats/snarkjs/zkey.h"
#include "formats/with_curve.h"
#include "groth16/prove.h"
#include "groth16/verify.h"

namespace cuzk::apps {
namespace {

using base::MappedFile;
using formats::CurveId;

// What the witness has to fit; the key's path is for the sentence when it does not.
template <class C>
formats::WtnsExpectation expectation_of(const std::filesystem::path& key,
                                        const formats::ZkeyHeader& header) {
  return {key.string(), header.wire_count, header.public_count};
}

// Key, witness, backend, proof, files, in this order: the backend is chosen by the circuit's size,
// and a witness that does not fit is told before a device is brought up.
template <class C>
base::Result<Answer> prove_over(const CircomProveRequest& request,
                                const std::shared_ptr<const MappedFile>& zkey, Session& session) {
  session.stage("reading the key");
  formats::KeyCheckOptions checks;
  checks.queries = request.query_check;
  checks.progress = &session.progress();
  CUZK_TRY(const formats::LoadedZkey<C> loaded, formats::read_zkey<C>(zkey, checks));
  session.stage("reading the witness");
  CUZK_TRY(
      auto assignment,
      open_witness<C>(request.witness, expectation_of<C>(request.zkey, loaded.header), session));
  CUZK_ASSERT(assignment->inputs.size() == std::size_t{loaded.header.public_count} + 1);
  session.stage("proving");
  const groth16::ProveInputs<C> inputs{loaded.key, loaded.shape, assignment, session.control()};
  std::string backend_name;
  CUZK_TRY(const auto backend,
           make_chosen_backend<C>(request.backend, loaded.header.domain_log2, &backend_name));
  CUZK_ASSERT(backend != nullptr && !backend_name.empty());
  CUZK_TRY(const groth16::Proof<C> proof, groth16::prove(*backend, inputs));
  const auto public_values = std::span(assignment->inputs).subspan(1);
  CUZK_TRY_STATUS(
      write_together({{request.proof, formats::encode_proof_json<C>(proof)},
                      {request.public_values, formats::encode_public_values<C>(public_values)}}));
  Answer answer("Proved, and the proof verifies.");
  answer.add("valid", true, "")
      .add("proof", request.proof.string(), "proof")
      .add("public", request.public_values.string(), "public values")
      .add("curve", C::kName, "curve")
      .add("wire_count", loaded.header.wire_count, "wires")
      .add("public_count", loaded.header.public_count, "number of public values")
      .add("domain_log2", loaded.header.domain_log2, "domain (log2)")
      .add("backend", backend_name, "backend")
      .add_seconds("seconds", session.elapsed_s(), "time")
      .add_bytes("peak_rss_bytes", peak_rss_bytes(), "peak memory");
  for (const std::string& warning : loaded.warnings) answer.warn(warning);
  // The mark is about the verifying key in snarkjs's form, as `cuzk setup` wrote it.
  const std::string vkey = formats::encode_verification_key<C>(loaded.key->vk);
  const base::ByteSpan vkey_bytes(reinterpret_cast<const std::uint8_t*>(vkey.data()), vkey.size());
  if (const auto warning = insecure_mark_warning(request.zkey, vkey_bytes)) answer.warn(*warning);
  return answer;
}

// `reason` is empty for a valid proof.
template <class C>
Answer verdict(std::size_t public_count, const std::string& reason) {
  const bool valid = reason.empty();
  Answer answer(valid ? "The proof is valid." : "The proof is NOT valid.",
                valid ? kExitYes : kExitNo);
  answer.add("valid", valid, "")
      .add("curve", C::kName, "curve")
      .add("public_count", public_count, "public values");
  if (!valid) answer.add("reason", reason, "reason");
  return answer;
}

template <class C>
base::Result<Answer> verify_over(const CircomVerifyRequest& request, base::ByteSpan key_text) {
  CUZK_TRY(const auto key,
           formats::parse_verification_key<C>(key_text, request.verifying_key.string()));
  // The files are told apart from the proof: a list of the wrong length is a wrong file and an
  // error, while a bad proof is the answer "no".
  CUZK_TRY(const base::Bytes public_text, formats::read_document(request.public_values));
  CUZK_TRY(const auto values,
           formats::parse_public_values<C>(public_text, request.public_values.string()));
  if (values.size() != key.public_input_count()) {
    return base::Error{base::ErrorKind::kMismatch,
                       fmt::format("{}: found {} public values, expected {}, those of {}",
                                   request.public_values.string(), values.size(),
                                   key.public_input_count(), request.verifying_key.string())};
  }
  CUZK_TRY(const base::Bytes proof_text, formats::read_document(request.proof));
  const auto proof = formats::parse_proof<C>(proof_text, request.proof.string());
  // A proof whose points are no points is an invalid one. A document that is no proof, and a proof
  // of another curve or protocol, are errors: the inputs do not belong together.
  if (!proof.ok()) {
    const bool is_malformed = proof.error().kind == base::ErrorKind::kMalformed;
    if (!is_malformed || !formats::has_form_of_proof(proof_text)) {
      return proof.error();
    }
    return verdict<C>(values.size(), proof.error().message);
  }
  CUZK_TRY(const bool valid, groth16::verify<C>(key, values, *proof));
  return verdict<C>(values.size(), valid ? "" : "the pairing equation does not hold");
}

}  // namespace

base::Result<Answer> prove_circom(const CircomProveRequest& request, Session& session) {
  CUZK_TRY_STATUS(check_outputs({{"--proof", request.proof}, {"--public", request.public_values}},
                                {request.zkey, request.witness}, Overwrite::kReplace));
  CUZK_TRY(const auto zkey, session.open_input(request.zkey));
  CUZK_TRY(const auto header, formats::read_zkey_header(zkey->bytes(), zkey->name()));
  return formats::with_curve(header.curve, [&]<class C>(std::type_identity<C>) {
    return prove_over<C>(request, zkey, session);
  });
}

base::Result<Answer> verify_circom(const CircomVerifyRequest& request) {
  CUZK_TRY(const base::Bytes key_text, formats::read_document(request.verifying_key));
  CUZK_TRY(const CurveId curve,
           formats::read_document_curve(key_text, request.verifying_key.string()));
  return formats::with_curve(
      curve, [&]<class C>(std::type_identity<C>) { return verify_over<C>(request, key_text); });
}

}  // namespace cuzk::apps
