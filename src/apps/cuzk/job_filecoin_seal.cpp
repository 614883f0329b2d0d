// Sealing a sample sector and opening its challenges.
//
// A sector's folder is complete when its manifest is there: it is written last, and removed first
// when a sector is replaced, so that an interrupted run leaves remains and no damaged sector.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "apps/cuzk/job_filecoin.h"
#include "apps/cuzk/output.h"
#include "base/file.h"
#include "base/random.h"
#include "filecoin/porep/c1_json.h"
#include "filecoin/porep/prove_vanilla.h"
#include "filecoin/vanilla/seal.h"
#include "filecoin/vanilla/sector_directory.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using filecoin::Node;

constexpr std::string_view kSampleText =
    "This is the sample data of a sector that cuzk seals when no other data is given. ";

// As much as fits, so that a sample sector is full of something that can be recognised.
base::Bytes sample_data(std::uint64_t byte_count) {
  base::Bytes data(static_cast<std::size_t>(byte_count));
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::uint8_t>(kSampleText[i % kSampleText.size()]);
  }
  return data;
}

// At most what the sector holds; a larger file is an error of the reader.
base::Result<base::Bytes> sector_data(const SealSectorRequest& request,
                                      const filecoin::SectorShape& shape) {
  const std::uint64_t capacity = shape.unpadded_byte_count();
  if (request.data.empty()) return sample_data(capacity);
  return base::read_file(request.data, capacity);
}

// Without a manifest the other files are remains that may be replaced.
std::filesystem::path manifest_of(const std::filesystem::path& folder) {
  return folder / filecoin::kSectorManifest;
}

// Asked before sealing, so that a refusal costs nothing; write_sector() asks again.
base::Status check_no_sector(const std::filesystem::path& folder) {
  std::error_code failed;
  if (!std::filesystem::exists(manifest_of(folder), failed)) return base::ok_status();
  return Error{ErrorKind::kAlreadyExists,
               fmt::format("{}: holds a sector already; --force replaces it", folder.string())};
}

// --data may lie in the folder that --dir names; it must not be a file that sealing replaces.
base::Status check_data_is_no_output(const SealSectorRequest& request) {
  if (request.data.empty()) return base::ok_status();
  for (const auto& file : filecoin::sector_files(request.folder)) {
    CUZK_TRY_STATUS(check_outputs({{"--dir", file}}, {request.data}, Overwrite::kReplace));
  }
  return base::ok_status();
}

base::Status write_replacing(const std::filesystem::path& folder,
                             const filecoin::SealedSector& sector) {
  std::error_code failed;
  std::filesystem::remove(manifest_of(folder), failed);
  if (failed) {
    return Error{ErrorKind::kIo,
                 fmt::format("{}: cannot be removed", manifest_of(folder).string())};
  }
  return filecoin::write_sector(folder, sector);
}

}  // namespace

base::Result<filecoin::RegisteredSeal> choose_seal_proof(const filecoin::SectorShape& shape,
                                                         std::optional<unsigned> number) {
  if (number) {
    CUZK_TRY(const auto proof, filecoin::registered_seal(*number));
    if (proof.shape == &shape) return proof;
    return Error{ErrorKind::kMismatch,
                 fmt::format("registered proof {} ({}) is for sectors of {}, not of {}", *number,
                             proof.name(), proof.shape->name, shape.name)};
  }
  for (unsigned i = 0; i < filecoin::kRegisteredSealCount; ++i) {
    CUZK_TRY(const auto proof, filecoin::registered_seal(i));
    // The table of registered proofs decides what the default is; shapes are compared by their
    // place in the table of shapes.
    if (proof.shape == &shape && proof.api_version == filecoin::ApiVersion::kV1_1_0 &&
        proof.kind == filecoin::PorepKind::kInteractive) {
      return proof;
    }
  }
  return Error{ErrorKind::kUnsupported,
               fmt::format("there is no registered proof for sectors of {}", shape.name)};
}

base::Result<Node> node_or_random(const std::string& hex, std::string_view what) {
  if (!hex.empty()) return filecoin::node_from_hex(hex, what);
  // A field element: the two top bits of the last byte are cleared, as everywhere in the protocol.
  Node node;
  CUZK_TRY_STATUS(base::fill_random(node));
  return filecoin::masked(node);
}

// The answer has what the later commands are asked for: the ticket and the commitments.
base::Result<Answer> seal_sector(const SealSectorRequest& request, Session& session) {
  CUZK_TRY(const auto* shape, filecoin::sector_shape_by_name(request.sector_size));
  CUZK_TRY(const auto proof, choose_seal_proof(*shape, request.registered_proof));
  CUZK_ASSERT(proof.shape == shape);
  CUZK_TRY_STATUS(filecoin::check_seal_size(*shape));
  CUZK_TRY_STATUS(make_folder(request.folder));
  if (!request.force) CUZK_TRY_STATUS(check_no_sector(request.folder));
  CUZK_TRY_STATUS(check_data_is_no_output(request));
  CUZK_TRY(const base::Bytes data, sector_data(request, *shape));
  CUZK_ASSERT(data.size() <= shape->unpadded_byte_count());
  filecoin::SealRequest seal_request;
  seal_request.config = filecoin::PorepConfig::of(proof);
  seal_request.prover_id = filecoin::prover_id_of_miner(request.miner_id);
  seal_request.sector_number = request.sector;
  CUZK_TRY(seal_request.ticket, node_or_random(request.ticket_hex, "--ticket"));
  session.stage("sealing");
  CUZK_TRY(const auto sector, filecoin::seal(seal_request, data));
  CUZK_TRY_STATUS(session.control().check("sealing"));
  CUZK_TRY_STATUS(write_replacing(request.folder, sector));
  Answer answer(fmt::format("Sealed a sector of {}.", shape->name));
  answer.add("dir", request.folder.string(), "folder")
      .add("registered_proof", proof.name(), "registered proof")
      .add("registered_proof_number", proof.number, "number")
      .add("miner_id", request.miner_id, "miner")
      .add("sector", request.sector, "sector")
      .add("ticket", filecoin::to_hex(seal_request.ticket), "ticket")
      .add("comm_d", filecoin::to_hex(sector.comm_d), "comm_d (the data)")
      .add("comm_r", filecoin::to_hex(sector.comm_r), "comm_r (the replica)")
      .add("replica_id", filecoin::to_hex(sector.replica_id), "")
      .add_seconds("seconds", session.elapsed_s(), "time");
  return answer;
}

// Reads and rebuilds the sector, which is checked against its own commitments by that.
base::Result<Answer> write_c1(const WriteC1Request& request, Session& session) {
  CUZK_TRY_STATUS(check_outputs({{"--out", request.out}}, filecoin::sector_files(request.folder),
                                Overwrite::kReplace));
  session.stage("reading the sector");
  CUZK_TRY(const auto sector, filecoin::read_sector(request.folder));
  const auto proof = filecoin::registered_seal_of(sector.config);
  if (!proof) {
    return Error{ErrorKind::kUnsupported,
                 fmt::format("{}: the sector was not sealed under a registered proof",
                             request.folder.string())};
  }
  CUZK_TRY(const Node seed, node_or_random(request.seed_hex, "--seed"));
  session.stage("opening the challenges");
  CUZK_TRY(const auto c1, filecoin::commit_phase_1(sector, *proof, seed));
  CUZK_ASSERT(!c1.partitions.empty());
  const std::string text = request.inner_form
                               ? filecoin::write_c1_inner(c1)
                               : filecoin::write_c1_outer(c1, sector.identity.sector_number);
  CUZK_TRY_STATUS(base::write_file(request.out, std::string_view(text)));
  Answer answer("Wrote the commit-phase-1 output.");
  answer.add("out", request.out.string(), "file")
      .add("form", request.inner_form ? "inner" : "outer", "form")
      .add("partition_count", c1.partitions.size(), "partitions")
      .add("seed", filecoin::to_hex(seed), "seed")
      .add_bytes("file_bytes", text.size(), "size");
  return answer;
}

}  // namespace cuzk::apps
