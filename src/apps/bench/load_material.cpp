// Keys in a folder, and jobs whose results are judged with the keys' verifying halves.
//
// Keys that lie there are taken as they are: they are development keys of this program, under names
// that say what they are of. A check opens the key anew each time and holds nothing of it, so that
// judging adds little to the memory of the run.
#include "apps/bench/load_material.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/bench/squarings.h"
#include "apps/jobs/job_input.h"
#include "filecoin/job.h"
#include "filecoin/porep/prove_vanilla.h"
#include "formats/bellperson/params.h"
#include "formats/snarkjs/documents.h"
#include "formats/snarkjs/zkey.h"
#include "formats/with_curve.h"
#include "groth16/proof_bytes.h"
#include "groth16/setup.h"
#include "groth16/verify.h"

namespace cuzk::apps {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using Bls = curve::Bls12_381;

constexpr unsigned kRegisteredProof = 5;  // StackedDrg2KiBV1_1
constexpr std::uint64_t kMinerId = 1000, kSectorNumber = 1;

base::Result<const filecoin::SectorShape*> porep_sector() {
  return filecoin::sector_shape_by_name("2KiB");
}

// The name that FilecoinKeys will look for.
fs::path porep_params(const fs::path& folder, const filecoin::SectorShape& sector) {
  return folder / (filecoin::parameter_set_name(filecoin::CircuitKind::kPorep, sector) + ".params");
}

base::Status make_porep_params(const fs::path& path, const filecoin::SectorShape& sector,
                               base::ProgressSink& progress) {
  std::error_code failed;
  if (fs::exists(path, failed)) return base::ok_status();
  progress.begin_stage("development parameters of a PoRep", 0);
  CUZK_TRY(const auto circuit, filecoin::circuit_shape(filecoin::CircuitKind::kPorep, sector));
  CUZK_TRY(const auto waste, groth16::random_toxic_waste<Bls>());
  CUZK_TRY(const auto key,
           groth16::setup<Bls>(circuit, waste, groth16::QapConvention::kCoefficients, {&progress}));
  return formats::write_params(path, *key, &progress);
}

base::Status make_squaring_key(const fs::path& path, const SquaringCircuit& circuit,
                               base::ProgressSink& progress) {
  std::error_code failed;
  if (fs::exists(path, failed)) return base::ok_status();
  progress.begin_stage("development key of " + circuit.name(), 0);
  return formats::with_curve(circuit.curve, [&]<class C>(std::type_identity<C>) {
    return write_squaring_key<C>(path, circuit.constraint_log2, progress);
  });
}

// Sealed anew in each process: milliseconds at 2 KiB.
base::Result<std::unique_ptr<const filecoin::SealedSector>> seal_sample() {
  CUZK_TRY(const auto registered, filecoin::registered_seal(kRegisteredProof));
  filecoin::SealRequest request;
  request.config = filecoin::PorepConfig::of(registered);
  request.prover_id = filecoin::prover_id_of_miner(kMinerId);
  request.sector_number = kSectorNumber;
  CUZK_TRY(auto sector, filecoin::seal(request, base::Bytes(1000, 0x5a)));
  return std::make_unique<const filecoin::SealedSector>(std::move(sector));
}

base::Status refuse(const std::string& what) { return Error{ErrorKind::kVerificationFailed, what}; }

// Verifies a PoRep's bytes with the key in the parameters, and inputs derived from the claim.
base::Status check_porep(const fs::path& params, const filecoin::PorepClaim& claim,
                         const base::Bytes& result) {
  CUZK_TRY(const auto loaded, formats::open_params(params));
  CUZK_TRY(const auto proof, groth16::decode_proof(result, "result"));
  CUZK_TRY(const auto inputs, filecoin::porep_public_inputs(claim, 0));
  CUZK_TRY(const bool valid, groth16::verify<Bls>(loaded.key->vk, inputs, proof));
  return valid ? base::ok_status() : refuse("the PoRep does not verify");
}

// The public value is compared before the proof is verified: a valid proof of another job's value
// is the fault that a mixed-up engine would make.
template <class C>
base::Status check_squaring(const fs::path& zkey, const typename C::Fr& output,
                            const base::Bytes& result) {
  const auto span = [](const std::string& text) {
    return base::ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  CUZK_TRY(const auto documents, split_circom_result(result));
  CUZK_TRY(const auto proof, formats::parse_proof<C>(span(documents.proof_json), "proof"));
  CUZK_TRY(const auto values,
           formats::parse_public_values<C>(span(documents.public_json), "public values"));
  if (values.size() != 1 || values[0] != output) {
    return refuse("the result is about another public value than the job");
  }
  CUZK_TRY(const auto loaded, formats::open_zkey<C>(zkey));
  CUZK_TRY(const bool valid, groth16::verify<C>(loaded.key->vk, values, proof));
  return valid ? base::ok_status() : refuse("the circom proof does not verify");
}

fs::path zkey_path(const fs::path& folder, const SquaringCircuit& circuit) {
  return folder / (circuit.name() + ".zkey");
}

}  // namespace

std::string SquaringCircuit::name() const {
  return fmt::format("squarings-{}-{}", constraint_log2, formats::snarkjs_curve_name(curve));
}

base::Result<std::unique_ptr<LoadMaterial>> LoadMaterial::make(
    const fs::path& folder, const std::vector<SquaringCircuit>& circuits, bool with_porep,
    base::ProgressSink& progress) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  std::unique_ptr<LoadMaterial> out(new LoadMaterial());
  out->folder_ = folder;
  out->circuits_ = circuits;
  JobKindsConfig config;
  config.params_folder = folder;
  for (const SquaringCircuit& circuit : circuits) {
    CUZK_TRY_STATUS(make_squaring_key(zkey_path(folder, circuit), circuit, progress));
    config.circuits.push_back({circuit.name(), zkey_path(folder, circuit)});
  }
  if (with_porep) {
    CUZK_TRY(const auto* sector, porep_sector());
    CUZK_TRY_STATUS(make_porep_params(porep_params(folder, *sector), *sector, progress));
    CUZK_TRY(out->sector_, seal_sample());
  }
  // Last, because registering a circuit reads its key's header.
  CUZK_TRY(out->kinds_, make_job_kinds(config));
  return out;
}

base::Result<LoadJob> LoadMaterial::porep(std::uint64_t index) const {
  CUZK_ASSERT(sector_ != nullptr);
  CUZK_TRY(const auto registered, filecoin::registered_seal(kRegisteredProof));
  CUZK_TRY(const auto c1,
           filecoin::commit_phase_1(*sector_, registered, filecoin::node_of_u64(index + 1)));
  const std::string text = filecoin::write_c1_outer(c1, kSectorNumber);
  const base::Bytes part(text.begin(), text.end());
  const base::ByteSpan parts[] = {part};
  LoadJob job;
  job.kind = "porep";
  job.name = fmt::format("porep-{}", index);
  job.input = std::make_shared<const base::Bytes>(
      encode_job_input({{"miner_id", kMinerId}, {"sector_number", kSectorNumber}}, parts));
  // The closure has copies, so a job may outlive the material.
  job.check = [params = porep_params(folder_, *registered.shape),
               claim = filecoin::porep_claim(c1)](const base::Bytes& result) {
    return check_porep(params, claim, result);
  };
  return job;
}

base::Result<LoadJob> LoadMaterial::squaring(std::size_t circuit, std::uint64_t index) const {
  CUZK_ASSERT(circuit < circuits_.size());
  const SquaringCircuit& chosen = circuits_.at(circuit);
  return formats::with_curve(
      chosen.curve, [&]<class C>(std::type_identity<C>) -> base::Result<LoadJob> {
        const auto witness = squaring_witness<C>(chosen.constraint_log2, index + 2);
        const base::ByteSpan parts[] = {witness.wtns};
        LoadJob job;
        job.kind = "circom";
        job.name = fmt::format("{}-{}", chosen.name(), index);
        job.input = std::make_shared<const base::Bytes>(
            encode_job_input({{"circuit", chosen.name()}}, parts));
        job.check = [zkey = zkey_path(folder_, chosen),
                     output = witness.output](const base::Bytes& result) {
          return check_squaring<C>(zkey, output, result);
        };
        return job;
      });
}

}  // namespace cuzk::apps
