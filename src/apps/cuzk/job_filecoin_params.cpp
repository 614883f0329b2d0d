// Development parameters of Filecoin circuits.
//
// Written under the names that the network's tools look for, so those tools take them; hence the
// mark beside them, and the refusal to replace what is there.
#include <string_view>

#include <fmt/format.h>

#include "apps/cuzk/insecure_mark.h"
#include "apps/cuzk/job_filecoin.h"
#include "apps/cuzk/output.h"
#include "base/file.h"
#include "filecoin/job.h"
#include "formats/bellperson/params.h"
#include "formats/bellperson/verifying_key.h"
#include "groth16/setup.h"

namespace cuzk::apps {
namespace {

using filecoin::CircuitKind;
using Shape = r1cs::Shape<filecoin::Fr>;

// Four files with one stem, in the order that an interruption cannot turn into a trap.
base::Status write_all(const MakeParamsRequest& request, const std::string& name,
                       const filecoin::SectorShape& shape, const formats::BlsProvingKey& key,
                       Session& session) {
  const std::filesystem::path base = request.folder / name;
  CUZK_TRY(const base::Bytes vk, formats::encode_bellperson_vk(key.vk));
  // The mark first and the parameters last: they never lie there unmarked, nor without the key that
  // verifies, whatever ends this process.
  CUZK_TRY_STATUS(write_insecure_mark(base.string() + ".params", vk));
  CUZK_TRY_STATUS(formats::write_bellperson_vk(base.string() + ".vk", key.vk));
  const std::string meta = formats::encode_bellperson_meta(shape.byte_count);
  CUZK_TRY_STATUS(base::write_file(base.string() + ".meta", std::string_view(meta)));
  return formats::write_params(base.string() + ".params", key, &session.progress());
}

}  // namespace

// Recording, set-up and writing; from 32 GiB on hundreds of gigabytes of memory, but for winning
// PoSt. The .meta file is small enough to be written anew at will, so only keys are protected.
base::Result<Answer> make_params(const MakeParamsRequest& request, Session& session) {
  CUZK_TRY(const auto* shape, filecoin::sector_shape_by_name(request.sector_size));
  CUZK_TRY(const CircuitKind kind, filecoin::circuit_kind_by_name(request.kind));
  const std::string name = filecoin::parameter_set_name(kind, *shape);
  CUZK_TRY_STATUS(make_folder(request.folder));
  const std::string base = (request.folder / name).string();
  CUZK_TRY_STATUS(
      check_outputs({{"--params-dir", base + ".params"}, {"--params-dir", base + ".vk"}}, {},
                    request.force ? Overwrite::kReplace : Overwrite::kRefuse));
  session.stage("recording the circuit");
  CUZK_TRY(const Shape circuit, filecoin::circuit_shape(kind, *shape));
  CUZK_TRY(const auto waste, groth16::random_toxic_waste<curve::Bls12_381>());
  CUZK_TRY(const auto key,
           groth16::setup<curve::Bls12_381>(circuit, waste, groth16::QapConvention::kCoefficients,
                                            session.control()));
  CUZK_ASSERT(key != nullptr && key->vk.ic.size() == circuit.input_count);
  session.stage("writing the parameters");
  CUZK_TRY_STATUS(write_all(request, name, *shape, *key, session));
  Answer answer("Made DEVELOPMENT parameters: fit for tests, not for value.");
  answer.add("insecure", true, "")
      .add("kind", filecoin::to_string(kind), "circuit")
      .add("params", base + ".params", "parameters")
      .add("vk", base + ".vk", "verifying key")
      .add("constraint_count", circuit.constraint_count(), "constraints")
      .add("domain_log2", key->domain_log2, "domain (log2)")
      .add_bytes("file_bytes", std::filesystem::file_size(base + ".params"), "size")
      .add_seconds("seconds", session.elapsed_s(), "time")
      .add_bytes("peak_rss_bytes", peak_rss_bytes(), "peak memory");
  answer.warn(kInsecureSentence);
  return answer;
}

}  // namespace cuzk::apps
