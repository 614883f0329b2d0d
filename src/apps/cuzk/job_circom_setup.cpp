// Development keys for circom circuits.
//
// The secrets are drawn in this process and forgotten with it; nobody can know that they were, and
// so such a key protects nothing. The order of writing keeps an interrupted run from leaving a key
// that looks like a real one.
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apps/cuzk/insecure_mark.h"
#include "apps/cuzk/job_circom.h"
#include "apps/cuzk/output.h"
#include "base/file.h"
#include "formats/snarkjs/documents.h"
#include "formats/snarkjs/r1cs_file.h"
#include "formats/snarkjs/zkey.h"
#include "formats/with_curve.h"
#include "groth16/setup.h"

namespace cuzk::apps {
namespace {

using base::MappedFile;

template <class C>
base::Result<Answer> setup_over(const CircomSetupRequest& request, const MappedFile& file,
                                Session& session) {
  session.stage("reading the circuit");
  CUZK_TRY(const auto shape, formats::read_r1cs<C>(file.bytes(), file.name()));
  session.stage("making the key");
  CUZK_TRY(const auto waste, groth16::random_toxic_waste<C>());
  CUZK_TRY(const auto key,
           groth16::setup<C>(*shape, waste, groth16::QapConvention::kOddCosetLagrange,
                             session.control()));
  CUZK_ASSERT(key != nullptr && key->vk.ic.size() == shape->input_count);
  session.stage("writing the key");
  // The mark first and the key that proves last: it never lies there unmarked, nor without the key
  // that verifies.
  const std::string vkey = formats::encode_verification_key<C>(key->vk);
  CUZK_TRY_STATUS(write_insecure_mark(
      request.zkey, {reinterpret_cast<const std::uint8_t*>(vkey.data()), vkey.size()}));
  CUZK_TRY_STATUS(base::write_file(request.verifying_key, vkey));
  CUZK_TRY_STATUS(formats::write_zkey<C>(request.zkey, *key, *shape, &session.progress()));
  Answer answer("Made a DEVELOPMENT key: fit for tests, not for value.");
  answer.add("insecure", true, "")
      .add("zkey", request.zkey.string(), "proving key")
      .add("vkey", request.verifying_key.string(), "verifying key")
      .add("curve", C::kName, "curve")
      .add("constraint_count", shape->constraint_count(), "constraints")
      .add("domain_log2", key->domain_log2, "domain (log2)")
      .add_seconds("seconds", session.elapsed_s(), "time");
  answer.warn(kInsecureSentence);
  return answer;
}

}  // namespace

base::Result<Answer> setup_circom(const CircomSetupRequest& request, Session& session) {
  // Before the circuit is read: a key that may not be replaced would be made in vain.
  CUZK_TRY_STATUS(check_outputs({{"--zkey", request.zkey}, {"--vkey", request.verifying_key}},
                                {request.r1cs},
                                request.force ? Overwrite::kReplace : Overwrite::kRefuse));
  CUZK_TRY(const auto file, session.open_input(request.r1cs));
  CUZK_TRY(const auto header, formats::read_r1cs_header(file->bytes(), file->name()));
  return formats::with_curve(header.curve, [&]<class C>(std::type_identity<C>) {
    return setup_over<C>(request, *file, session);
  });
}

}  // namespace cuzk::apps
