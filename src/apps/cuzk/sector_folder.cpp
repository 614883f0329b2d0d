// Reading trusts nothing: sizes are compared before nodes are read, nodes before they are used.
#include "apps/cuzk/sector_folder.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "formats/json.h"

namespace cuzk::apps {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using filecoin::kNodeByteCount;
using filecoin::Node;
using formats::Json;

constexpr char kSectorFile[] = "sector.json";
constexpr std::uint64_t kSectorFileBytesMax = 1 << 16;

fs::path layer_path(const fs::path& folder, std::size_t layer) {
  return folder / fmt::format("layer-{}.bin", layer);
}

base::Status write_nodes(const fs::path& path, std::span<const Node> nodes) {
  static_assert(sizeof(Node) == kNodeByteCount);
  return base::write_file(path, base::ByteSpan(reinterpret_cast<const std::uint8_t*>(nodes.data()),
                                               nodes.size_bytes()));
}

base::Result<std::vector<Node>> read_nodes(const fs::path& path, std::uint64_t count) {
  CUZK_TRY(const auto file, base::MappedFile::open(path));
  if (file->size_bytes() != count * kNodeByteCount) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("{}: {} bytes, expected {} for the sector's size", file->name(),
                             file->size_bytes(), count * kNodeByteCount)};
  }
  std::vector<Node> nodes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i] = filecoin::node_from_bytes(
        file->bytes().subspan(i * kNodeByteCount).first<kNodeByteCount>());
    if (!filecoin::to_fr(nodes[i])) {
      return Error{ErrorKind::kMalformed,
                   fmt::format("{}: node {} is not below the group order", file->name(), i)};
    }
  }
  return nodes;
}

// What sector.json says.
struct SectorNote {
  filecoin::RegisteredSeal registered_proof{};
  filecoin::ReplicaIdentity identity;
  Node comm_d{}, comm_r{}, replica_id{};
};

std::string note_text(const SectorOnDisk& on_disk) {
  const filecoin::SealedSector& sector = on_disk.sector;
  const Json note = {{"format", "cuzk sector 1"},
                     {"registered_proof", on_disk.registered_proof.number},
                     {"registered_proof_name", on_disk.registered_proof.name()},
                     {"prover_id", filecoin::to_hex(sector.identity.prover_id)},
                     {"sector", sector.identity.sector_number},
                     {"ticket", filecoin::to_hex(sector.identity.ticket)},
                     {"comm_d", filecoin::to_hex(sector.comm_d)},
                     {"comm_r", filecoin::to_hex(sector.comm_r)},
                     {"replica_id", filecoin::to_hex(sector.replica_id)}};
  return note.dump(2) + "\n";
}

base::Result<std::uint64_t> number_member(const Json& note, std::string_view key,
                                          const std::string& where) {
  CUZK_TRY(const Json* value, formats::json_member(note, key, where));
  if (!value->is_number_unsigned()) {
    return Error{ErrorKind::kMalformed, fmt::format("{}: {} is not a number", where, key)};
  }
  return value->get<std::uint64_t>();
}

base::Result<Node> node_member(const Json& note, std::string_view key, const std::string& where) {
  CUZK_TRY(const Json* value, formats::json_member(note, key, where));
  const std::string place = fmt::format("{}: {}", where, key);
  CUZK_TRY(const std::string text, formats::json_string(*value, place));
  return filecoin::node_from_hex(text, place);
}

base::Result<SectorNote> read_note(const fs::path& folder) {
  const fs::path path = folder / kSectorFile;
  const std::string where = path.string();
  CUZK_TRY(const base::Bytes text, base::read_file(path, kSectorFileBytesMax));
  CUZK_TRY(const Json note, formats::parse_json(text, where));
  SectorNote out;
  CUZK_TRY(const std::uint64_t number, number_member(note, "registered_proof", where));
  CUZK_TRY(out.registered_proof, filecoin::registered_seal(number));
  CUZK_TRY(out.identity.prover_id, node_member(note, "prover_id", where));
  CUZK_TRY(out.identity.sector_number, number_member(note, "sector", where));
  CUZK_TRY(out.identity.ticket, node_member(note, "ticket", where));
  out.identity.porep_id = out.registered_proof.porep_id();
  CUZK_TRY(out.comm_d, node_member(note, "comm_d", where));
  CUZK_TRY(out.comm_r, node_member(note, "comm_r", where));
  CUZK_TRY(out.replica_id, node_member(note, "replica_id", where));
  return out;
}

base::Status check_rebuilt(const fs::path& folder, const SectorNote& note,
                           const filecoin::SealedSector& sector, const std::vector<Node>& replica) {
  const std::pair<const char*, bool> parts[] = {
      {"comm_d", sector.comm_d == note.comm_d},
      {"replica_id", sector.replica_id == note.replica_id},
      {"comm_r", sector.comm_r == note.comm_r},
      {"replica.bin", sector.replica == replica}};
  for (const auto& [name, agrees] : parts) {
    if (agrees) continue;
    return Error{ErrorKind::kMismatch,
                 fmt::format("{}: {} does not agree with the data and labels beside it",
                             folder.string(), name)};
  }
  return base::ok_status();
}

}  // namespace

base::Status write_sector(const fs::path& folder, const SectorOnDisk& on_disk) {
  const filecoin::SealedSector& sector = on_disk.sector;
  CUZK_TRY_STATUS(write_nodes(folder / "data.bin", sector.tree_d.level(0)));
  CUZK_TRY_STATUS(write_nodes(folder / "replica.bin", sector.replica));
  for (std::size_t i = 0; i < sector.layers.size(); ++i) {
    CUZK_TRY_STATUS(write_nodes(layer_path(folder, i + 1), sector.layers[i]));
  }
  return base::write_file(folder / kSectorFile, std::string_view(note_text(on_disk)));
}

base::Result<SectorOnDisk> read_sector(const fs::path& folder) {
  CUZK_TRY(const SectorNote note, read_note(folder));
  const filecoin::SectorShape& shape = *note.registered_proof.shape;
  if (shape.byte_count > filecoin::kSealByteCountMax) {
    return Error{ErrorKind::kUnsupported,
                 fmt::format("{}: a sector of {} is too large to be rebuilt here", folder.string(),
                             shape.name)};
  }
  CUZK_TRY(std::vector<Node> data, read_nodes(folder / "data.bin", shape.node_count()));
  CUZK_TRY(const std::vector<Node> replica, read_nodes(folder / "replica.bin", shape.node_count()));
  std::vector<std::vector<Node>> layers(shape.layer_count);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    CUZK_TRY(layers[i], read_nodes(layer_path(folder, i + 1), shape.node_count()));
  }
  auto tree_d = filecoin::MerkleTree::build(filecoin::NodeHash::kSha256, filecoin::kBinaryTree,
                                            std::move(data));
  SectorOnDisk out{note.registered_proof,
                   filecoin::assemble_sector(filecoin::PorepConfig::of(note.registered_proof),
                                             note.identity, std::move(tree_d), std::move(layers))};
  CUZK_TRY_STATUS(check_rebuilt(folder, note, out.sector, replica));
  return out;
}

bool has_sector(const fs::path& folder) {
  std::error_code failed;
  return fs::exists(folder / kSectorFile, failed);
}

}  // namespace cuzk::apps
