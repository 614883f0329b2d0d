// Commit phase 2: from vanilla proofs to Groth16 proofs.
//
// One partition after the other over one backend, which keeps what it learns of the key. The short
// way for one C1: no engine, no journal; apps/jobs/porep_job.cpp is the same for the daemon.
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/cuzk/insecure_mark.h"
#include "apps/cuzk/job_filecoin.h"
#include "apps/cuzk/output.h"
#include "base/file.h"
#include "filecoin/job.h"
#include "formats/bellperson/params.h"
#include "formats/bellperson/verifying_key.h"
#include "groth16/proof_bytes.h"
#include "groth16/prove.h"
#include "groth16/verify.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using curve::Bls12_381;
using filecoin::Fr;
using Proof = groth16::Proof<Bls12_381>;

// What all partitions of one job share.
struct PorepJob {
  const filecoin::PorepC1& c1;
  filecoin::PorepClaim claim;
  std::shared_ptr<const r1cs::Shape<Fr>> shape;
  std::shared_ptr<const formats::BlsProvingKey> key;
  // Keeps what it learns of the key from one partition to the next.
  std::shared_ptr<groth16::Backend<Bls12_381>> backend;
  std::string backend_name;
};

// In memory, since the parsed form is what stays; the limit is the reader's.
base::Result<filecoin::C1File> read_c1_file(const std::filesystem::path& path) {
  CUZK_TRY(const base::Bytes text, base::read_file(path, filecoin::kC1ByteCountMax));
  return filecoin::read_c1(text, path.string());
}

// Files that no output may replace: the C1 and every key in the folder of the parameters.
std::vector<std::filesystem::path> protected_files(const ProveC1Request& request) {
  std::vector<std::filesystem::path> files = {request.c1};
  std::error_code failed;
  for (std::filesystem::directory_iterator it(request.params_folder, failed), end;
       !failed && it != end; it.increment(failed)) {
    const std::string extension = it->path().extension().string();
    for (const char* of_keys : {".params", ".vk", ".meta", ".INSECURE"}) {
      if (extension == of_keys) files.push_back(it->path());
    }
  }
  return files;
}

// Who is said to have sealed the sector, where the request tells.
base::Result<std::optional<filecoin::C1Identity>> identity_of(const ProveC1Request& request,
                                                              const filecoin::C1File& file) {
  if (request.sector && file.sector_number && *request.sector != *file.sector_number) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("{}: SectorNum is {}, --sector is {}", request.c1.string(),
                             *file.sector_number, *request.sector)};
  }
  const bool has_prover = request.miner_id.has_value() || !request.prover_id_hex.empty();
  const auto sector = request.sector ? request.sector : file.sector_number;
  if (!has_prover && request.sector && !file.sector_number) {
    return Error{ErrorKind::kInvalidArgument, "--sector needs --miner-id or --prover-id"};
  }
  if (!has_prover) return std::optional<filecoin::C1Identity>();
  if (!sector) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{}: has no SectorNum, so --miner-id and --prover-id need --sector",
                             request.c1.string())};
  }
  filecoin::C1Identity identity;
  identity.sector_number = *sector;
  if (request.miner_id) {
    identity.prover_id = filecoin::prover_id_of_miner(*request.miner_id);
  } else {
    CUZK_TRY(identity.prover_id, filecoin::node_from_hex(request.prover_id_hex, "--prover-id"));
  }
  return std::optional(identity);
}

// Looked for before the vanilla proofs are checked, which takes longer.
base::Result<std::filesystem::path> find_porep_params(const ProveC1Request& request,
                                                      const filecoin::SectorShape& shape) {
  const std::filesystem::path path =
      request.params_folder /
      (filecoin::parameter_set_name(filecoin::CircuitKind::kPorep, shape) + ".params");
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("{}: the parameters for {} are not in --params-dir", path.string(),
                             shape.name)};
  }
  return path;
}

base::Result<formats::LoadedParams> open_porep_params(const std::filesystem::path& path,
                                                      const ProveC1Request& request,
                                                      Session& session) {
  session.stage("reading the parameters");
  formats::KeyCheckOptions checks;
  checks.queries = request.query_check;
  checks.progress = &session.progress();
  return formats::open_params(path, checks);
}

// One partition: the witness, whose public part must be what a verifier will derive, and its proof.
base::Result<Proof> prove_partition(const PorepJob& job, unsigned partition, Session& session) {
  CUZK_ASSERT(partition < job.c1.partitions.size());
  CUZK_TRY(const std::vector<Fr> derived, filecoin::porep_public_inputs(job.claim, partition));
  session.stage(fmt::format("witness of partition {}", partition));
  auto assignment = std::make_shared<const r1cs::Assignment<Fr>>(
      filecoin::porep_partition_assignment(job.c1, partition));
  CUZK_ASSERT(!assignment->inputs.empty());  // ONE
  const auto stated = std::span(assignment->inputs).subspan(1);
  if (!std::equal(stated.begin(), stated.end(), derived.begin(), derived.end())) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("partition {}: the vanilla proofs do not open the challenges that "
                             "follow from the seed",
                             partition)};
  }
  session.stage(fmt::format("proof of partition {}", partition));
  const groth16::ProveInputs<Bls12_381> inputs{job.key, job.shape, assignment, session.control()};
  CUZK_TRY(const Proof proof, groth16::prove(*job.backend, inputs));
  // groth16::prove() has verified with the witness's own inputs; this is with the derived ones, the
  // statement that a verifier will check.
  CUZK_TRY(const bool valid, groth16::verify<Bls12_381>(job.key->vk, derived, proof));
  if (!valid) {
    return Error{ErrorKind::kVerificationFailed,
                 fmt::format("the proof of partition {} does not verify", partition)};
  }
  return proof;
}

Answer porep_answer(const ProveC1Request& request, const PorepJob& job,
                    const std::vector<Proof>& proofs, Session& session) {
  Answer answer("Proved, and the proof verifies.");
  answer.add("valid", true, "")
      .add("out", request.out.string(), "proof")
      .add("proof_bytes", proofs.size() * groth16::kProofBytes, "bytes")
      .add("partition_count", proofs.size(), "partitions")
      .add("registered_proof", job.c1.registered_proof.name(), "registered proof")
      .add("constraint_count", job.shape->constraint_count(), "constraints")
      .add("comm_r", filecoin::to_hex(job.c1.comm_r), "comm_r")
      .add("comm_d", filecoin::to_hex(job.c1.comm_d), "comm_d")
      .add("backend", job.backend_name, "backend")
      .add_seconds("seconds", session.elapsed_s(), "time")
      .add_bytes("peak_rss_bytes", peak_rss_bytes(), "peak memory");
  return answer;
}

}  // namespace

// What can be refused cheaply comes first: paths, the C1's form, who sealed, the parameters' name;
// then the vanilla proofs, the parameters, the circuit. Proving takes most time and memory by far.
base::Result<Answer> prove_c1(const ProveC1Request& request, Session& session) {
  CUZK_TRY_STATUS(
      check_outputs({{"--out", request.out}}, protected_files(request), Overwrite::kReplace));
  session.stage("reading the vanilla proofs");
  CUZK_TRY(const filecoin::C1File file, read_c1_file(request.c1));
  const filecoin::PorepC1& c1 = file.c1;
  const filecoin::SectorShape& shape = *c1.registered_proof.shape;
  CUZK_TRY(const auto identity, identity_of(request, file));
  CUZK_TRY(const std::filesystem::path params_path, find_porep_params(request, shape));
  session.stage("checking the vanilla proofs");
  CUZK_TRY_STATUS(filecoin::verify_c1(c1, identity));
  CUZK_TRY(const formats::LoadedParams params, open_porep_params(params_path, request, session));
  session.stage("recording the circuit");
  CUZK_TRY(auto circuit, filecoin::circuit_shape(filecoin::CircuitKind::kPorep, shape));
  std::string backend_name;
  CUZK_TRY(auto backend,
           make_chosen_backend<Bls12_381>(request.backend, params.key->domain_log2, &backend_name));
  CUZK_ASSERT(backend != nullptr && !backend_name.empty());
  const PorepJob job{c1,
                     filecoin::porep_claim(c1),
                     std::make_shared<const r1cs::Shape<Fr>>(std::move(circuit)),
                     params.key,
                     std::move(backend),
                     backend_name};
  std::vector<Proof> proofs;
  for (unsigned partition = 0; partition < c1.partitions.size(); ++partition) {
    CUZK_TRY_STATUS(session.control().check("the partitions"));
    CUZK_TRY(const Proof proof, prove_partition(job, partition, session));
    proofs.push_back(proof);
  }
  // All or nothing: a proof of some of its partitions is none.
  CUZK_ASSERT(proofs.size() == c1.partitions.size() && !proofs.empty());
  CUZK_TRY_STATUS(base::write_file(request.out, groth16::encode_proofs(proofs)));
  Answer answer = porep_answer(request, job, proofs, session);
  answer.add("identity_checked", identity.has_value(), "prover, sector and ticket checked");
  for (const std::string& warning : params.warnings) answer.warn(warning);
  CUZK_TRY(const base::Bytes vk, formats::encode_bellperson_vk(job.key->vk));
  if (const auto warning = insecure_mark_warning(job.key->name, vk)) answer.warn(*warning);
  return answer;
}

}  // namespace cuzk::apps
