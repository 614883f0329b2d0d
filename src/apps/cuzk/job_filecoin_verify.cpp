// Verification against what the chain knows: all public inputs are derived here.
//
// Flags become a claim, a claim becomes one list of inputs a partition, and only then is the proof
// looked at. "Not valid" is an answer; statements that are missing or contradict each other are
// errors, since no proof could be judged by them.
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/cuzk/job_filecoin.h"
#include "base/file.h"
#include "base/input_file.h"
#include "filecoin/porep/public_inputs.h"
#include "filecoin/post/post.h"
#include "filecoin/update/update.h"
#include "formats/bellperson/verifying_key.h"
#include "groth16/proof_bytes.h"
#include "groth16/verify.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using curve::Bls12_381;
using filecoin::Fr;
using filecoin::Node;
using Proof = groth16::Proof<Bls12_381>;
using PublicInputs = std::vector<std::vector<Fr>>;  // one list a partition

// 128 partitions of a proof is far above any kind.
constexpr std::uint64_t kProofBytesMax = 128 * groth16::kProofBytes;
static_assert(kProofBytesMax % groth16::kProofBytes == 0);

// `flag` may name several, with "or".
Error missing(const char* flag, const std::string& kind) {
  return {ErrorKind::kInvalidArgument, fmt::format("--kind {} needs {}", kind, flag)};
}

base::Result<Node> required_node(const std::string& hex, const char* flag,
                                 const std::string& kind) {
  if (hex.empty()) return missing(flag, kind);
  return filecoin::node_from_hex(hex, flag);
}

// A flag that is given must be one that its kind of proof depends on: a statement that is passed
// over would read as verified.
base::Status check_flags(const VerifyFilecoinRequest& request, filecoin::CircuitKind kind) {
  const bool porep = kind == filecoin::CircuitKind::kPorep;
  const bool update = kind == filecoin::CircuitKind::kUpdate;
  const struct {
    const char* flag;
    bool given, used;
  } flags[] = {{"--porep-id", !request.porep_id_hex.empty(), porep},
               {"--api-version", !request.api_version.empty(), !update},
               {"--comm-r", !request.comm_r_hex.empty(), porep || update},
               {"--comm-d", !request.comm_d_hex.empty(), porep || update},
               {"--comm-r-old", !request.comm_r_old_hex.empty(), update},
               {"--prover-id", !request.prover_id_hex.empty(), porep},
               {"--miner-id", request.miner_id.has_value(), porep},
               {"--sector", request.sector.has_value(), porep},
               {"--ticket", !request.ticket_hex.empty(), porep},
               {"--seed", !request.seed_hex.empty(), porep},
               {"--randomness", !request.randomness_hex.empty(), !porep && !update},
               {"--replica", !request.replicas.empty(), !porep && !update}};
  for (const auto& entry : flags) {
    if (!entry.given || entry.used) continue;
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("--kind {} does not use {}", request.kind, entry.flag)};
  }
  return base::ok_status();
}

// A version given beside a number must be the number's own.
base::Status check_version(const VerifyFilecoinRequest& request, filecoin::ApiVersion of_number) {
  CUZK_ASSERT(request.registered_proof.has_value());
  if (request.api_version.empty()) return base::ok_status();
  CUZK_TRY(const auto given, filecoin::api_version_by_name(request.api_version));
  if (given == of_number) return base::ok_status();
  return Error{
      ErrorKind::kMismatch,
      fmt::format("--api-version {} contradicts --registered-proof {}, which is {}",
                  request.api_version, *request.registered_proof, filecoin::to_string(of_number))};
}

// The statement is taken together from flags in the order in which the help lists them; the first
// that is missing is told.
base::Result<PublicInputs> porep_inputs(const VerifyFilecoinRequest& request,
                                        const filecoin::SectorShape& shape) {
  filecoin::SealClaim seal;
  CUZK_TRY(seal.config, porep_config_of(request, shape));
  if (request.miner_id) {
    seal.prover_id = filecoin::prover_id_of_miner(*request.miner_id);
  } else {
    CUZK_TRY(seal.prover_id,
             required_node(request.prover_id_hex, "--prover-id or --miner-id", request.kind));
  }
  if (!request.sector) return missing("--sector", request.kind);
  seal.sector_number = *request.sector;
  CUZK_TRY(seal.ticket, required_node(request.ticket_hex, "--ticket", request.kind));
  // Non-interactive challenges follow from the commitments alone.
  if (seal.config.kind != filecoin::PorepKind::kNonInteractive || !request.seed_hex.empty()) {
    CUZK_TRY(seal.seed, required_node(request.seed_hex, "--seed", request.kind));
  }
  CUZK_TRY(seal.comm_r, required_node(request.comm_r_hex, "--comm-r", request.kind));
  CUZK_TRY(seal.comm_d, required_node(request.comm_d_hex, "--comm-d", request.kind));
  // From here on the number of partitions is the protocol's, not the proof's.
  CUZK_TRY(const auto claim, filecoin::porep_claim(seal));
  PublicInputs inputs(claim.config.partition_count());
  for (unsigned partition = 0; partition < inputs.size(); ++partition) {
    CUZK_TRY(inputs[partition], filecoin::porep_public_inputs(claim, partition));
  }
  return inputs;
}

// "SECTOR:COMM_R_HEX": a decimal number and 64 digits of hex.
base::Result<filecoin::PostSector> post_sector(const std::string& text) {
  filecoin::PostSector sector;
  const std::size_t colon = text.find(':');
  const char* const end = text.data() + std::min(colon, text.size());
  const auto [stop, failed] = std::from_chars(text.data(), end, sector.sector_id);
  if (colon == text.npos || failed != std::errc() || stop != end) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("--replica {}: expected SECTOR:COMM_R_HEX", text)};
  }
  CUZK_TRY(sector.comm_r, filecoin::node_from_hex(text.substr(colon + 1), "--replica"));
  return sector;
}

// The number's version, the version given by name, or the newest that the kind has.
base::Result<filecoin::ApiVersion> post_version(const VerifyFilecoinRequest& request,
                                                const filecoin::PostClaim& claim) {
  if (!request.registered_proof && !request.api_version.empty()) {
    return filecoin::api_version_by_name(request.api_version);
  }
  // Versions are in ascending order, so the greatest of the kind and size is the newest.
  filecoin::ApiVersion newest = filecoin::ApiVersion::kV1_0_0;
  for (unsigned i = 0; i < filecoin::kRegisteredPostCount; ++i) {
    CUZK_TRY(const auto proof, filecoin::registered_post(i));
    if (proof.shape == claim.shape && proof.kind == claim.kind && proof.api_version > newest) {
      newest = proof.api_version;
    }
  }
  if (!request.registered_proof) return newest;
  CUZK_TRY(const auto proof, filecoin::registered_post(*request.registered_proof));
  if (proof.shape != claim.shape || proof.kind != claim.kind) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("registered proof {} is {}, which is not a {} proof for {}",
                             proof.number, proof.name(), request.kind, claim.shape->name)};
  }
  CUZK_TRY_STATUS(check_version(request, proof.api_version));
  return proof.api_version;
}

// All replicas of the claim have to be given: partitions are filled in ascending order of sectors,
// so one that is missing moves all behind it.
base::Result<PublicInputs> post_inputs(const VerifyFilecoinRequest& request,
                                       const filecoin::SectorShape& shape,
                                       filecoin::PostKind kind) {
  filecoin::PostClaim claim;
  claim.shape = &shape;
  claim.kind = kind;
  CUZK_TRY(claim.api_version, post_version(request, claim));
  CUZK_TRY(const Node randomness,
           required_node(request.randomness_hex, "--randomness", request.kind));
  claim.randomness = filecoin::masked(randomness);  // as every verifier does
  if (request.replicas.empty()) return missing("--replica", request.kind);
  for (const std::string& replica : request.replicas) {
    CUZK_TRY(const auto sector, post_sector(replica));
    claim.sectors.push_back(sector);
  }
  // Sorted, and free of doubles: the order of --replica means nothing.
  CUZK_TRY(claim, filecoin::normalized(std::move(claim)));
  PublicInputs inputs(filecoin::post_partition_count(claim));
  for (unsigned partition = 0; partition < inputs.size(); ++partition) {
    CUZK_TRY(inputs[partition], filecoin::post_public_inputs(claim, partition));
  }
  return inputs;
}

// The number only has to agree with the size; everything else follows from the size.
base::Result<PublicInputs> update_inputs(const VerifyFilecoinRequest& request,
                                         const filecoin::SectorShape& shape) {
  filecoin::UpdateClaim claim;
  claim.shape = &shape;
  if (request.registered_proof) {
    CUZK_TRY(const auto proof, filecoin::registered_update(*request.registered_proof));
    if (proof.shape != &shape) {
      return Error{ErrorKind::kMismatch,
                   fmt::format("registered proof {} ({}) is for sectors of {}, not of {}",
                               proof.number, proof.name(), proof.shape->name, shape.name)};
    }
  }
  CUZK_TRY(claim.comm_r_old, required_node(request.comm_r_old_hex, "--comm-r-old", request.kind));
  CUZK_TRY(claim.comm_d_new, required_node(request.comm_d_hex, "--comm-d", request.kind));
  CUZK_TRY(claim.comm_r_new, required_node(request.comm_r_hex, "--comm-r", request.kind));
  PublicInputs inputs(shape.update.partition_count);
  for (unsigned partition = 0; partition < inputs.size(); ++partition) {
    CUZK_TRY(inputs[partition], filecoin::update_public_inputs(claim, partition));
  }
  return inputs;
}

// Kind and size first, for which flags are used depends on them.
base::Result<PublicInputs> derive_inputs(const VerifyFilecoinRequest& request) {
  CUZK_TRY(const auto* shape, filecoin::sector_shape_by_name(request.sector_size));
  CUZK_TRY(const auto kind, filecoin::circuit_kind_by_name(request.kind));
  CUZK_TRY_STATUS(check_flags(request, kind));
  switch (kind) {
    case filecoin::CircuitKind::kPorep: return porep_inputs(request, *shape);
    case filecoin::CircuitKind::kWindowPost:
      return post_inputs(request, *shape, filecoin::PostKind::kWindow);
    case filecoin::CircuitKind::kWinningPost:
      return post_inputs(request, *shape, filecoin::PostKind::kWinning);
    case filecoin::CircuitKind::kUpdate: return update_inputs(request, *shape);
  }
  return Error{ErrorKind::kInternal, "a kind without public inputs"};
}

// `reason` is empty for a valid proof.
Answer verdict(const VerifyFilecoinRequest& request, std::size_t partition_count,
               const std::string& reason) {
  const bool valid = reason.empty();
  Answer answer(valid ? "The proof is valid." : "The proof is NOT valid.",
                valid ? kExitYes : kExitNo);
  answer.add("valid", valid, "")
      .add("kind", request.kind, "kind")
      .add("partition_count", partition_count, "partitions");
  if (!valid) answer.add("reason", reason, "reason");
  return answer;
}

}  // namespace

base::Result<filecoin::PorepConfig> porep_config_of(const VerifyFilecoinRequest& request,
                                                    const filecoin::SectorShape& shape) {
  if (request.registered_proof) {
    if (!request.porep_id_hex.empty()) {
      return Error{ErrorKind::kInvalidArgument,
                   "--porep-id and --registered-proof exclude each other"};
    }
    CUZK_TRY(const auto proof, choose_seal_proof(shape, request.registered_proof));
    CUZK_TRY_STATUS(check_version(request, proof.api_version));
    return filecoin::PorepConfig::of(proof);
  }
  if (request.porep_id_hex.empty() || request.api_version.empty()) {
    return missing("--registered-proof, or --porep-id and --api-version", request.kind);
  }
  CUZK_TRY(const Node porep_id, filecoin::node_from_hex(request.porep_id_hex, "--porep-id"));
  CUZK_TRY(const auto version, filecoin::api_version_by_name(request.api_version));
  for (unsigned i = 0; i < filecoin::kRegisteredSealCount; ++i) {
    CUZK_TRY(const auto proof, filecoin::registered_seal(i));
    if (proof.shape != &shape || proof.api_version != version) continue;
    if (proof.porep_id() == porep_id) return filecoin::PorepConfig::of(proof);
  }
  return Error{ErrorKind::kMismatch,
               fmt::format("--porep-id {} belongs to no registered proof for sectors of {} under "
                           "API version {}, so the kind of its challenges is not known",
                           request.porep_id_hex, shape.name, filecoin::to_string(version))};
}

// Statements before files: what was typed wrong is told without reading a key.
base::Result<Answer> verify_filecoin(const VerifyFilecoinRequest& request) {
  CUZK_TRY(const PublicInputs inputs, derive_inputs(request));
  CUZK_TRY(const auto key_file, base::open_input(request.verifying_key));
  CUZK_TRY(const auto key, formats::parse_bellperson_vk(key_file->bytes(), key_file->name()));
  CUZK_TRY(const base::Bytes bytes, base::read_file(request.proof, kProofBytesMax));
  const std::string name = request.proof.string();
  if (bytes.size() != inputs.size() * groth16::kProofBytes) {
    return verdict(
        request, inputs.size(),
        fmt::format("{}: {} bytes, expected {} ({} partitions of {})", name, bytes.size(),
                    inputs.size() * groth16::kProofBytes, inputs.size(), groth16::kProofBytes));
  }
  CUZK_ASSERT(!inputs.empty());
  const auto proofs = groth16::decode_proofs(bytes, name);
  if (!proofs.ok()) return verdict(request, inputs.size(), proofs.error().message);
  CUZK_ASSERT(proofs->size() == inputs.size());  // of the length that was checked above
  for (std::size_t part = 0; part < inputs.size(); ++part) {
    // One by one and not as a batch, so that the reason can name the part.
    CUZK_TRY(const bool valid, groth16::verify<Bls12_381>(key, inputs[part], (*proofs)[part]));
    if (valid) continue;
    return verdict(request, inputs.size(),
                   fmt::format("{}: part {} of {} does not verify", name, part + 1, inputs.size()));
  }
  return verdict(request, inputs.size(), "");
}

}  // namespace cuzk::apps
