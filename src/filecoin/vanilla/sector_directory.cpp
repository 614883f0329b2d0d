// Writing and reading sector folders. The manifest is written last, so a folder that has one is
// whole. On reading, labels and data are trusted for nothing: trees and commitments are made from
// them again and must be the ones that manifest, p_aux and replica state.
#include "filecoin/vanilla/sector_directory.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/file.h"

namespace cuzk::filecoin {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::string_view kManifest = kSectorManifest;
constexpr std::string_view kReplica = "replica.dat";
constexpr std::string_view kAux = "p_aux";
constexpr std::uint64_t kManifestByteCountMax = 1 << 16;
constexpr int kManifestVersion = 1;
// Levels above the leaves that upstream leaves out of tree R's cache.
constexpr std::size_t kDiscardedLevels = 2;

// Upstream's names of cache files; layers count from 1.
std::string layer_name(std::size_t layer) {
  return "sc-02-data-layer-" + std::to_string(layer) + ".dat";
}

// A tree in one file, or one file for each of its base trees.
std::string tree_name(std::string_view tree, std::uint64_t index, std::uint64_t count) {
  const std::string suffix = count == 1 ? "" : "-" + std::to_string(index);
  return "sc-02-data-tree-" + std::string(tree) + suffix + ".dat";
}

// Nodes one after the other, as files hold them.
base::Bytes bytes_of(std::span<const Node> nodes) {
  base::Bytes out;
  out.reserve(nodes.size() * kNodeByteCount);
  for (const Node& node : nodes) out.insert(out.end(), node.begin(), node.end());
  return out;
}

// Two things that disagree; malformed is for one that is wrong by itself.
base::Error mismatch(const fs::path& file, const std::string& sentence) {
  return {base::ErrorKind::kMismatch, file.string() + ": " + sentence};
}

// One file that could not be right in any folder.
base::Error malformed(const fs::path& file, const std::string& sentence) {
  return {base::ErrorKind::kMalformed, file.string() + ": " + sentence};
}

// What the files do not say of themselves, and the commitments, so that damage is noticed.
std::string manifest_of(const SealedSector& sector) {
  Json json;
  json["version"] = kManifestVersion;
  json["sector_size"] = sector.config.shape->byte_count;
  if (const auto proof = registered_seal_of(sector.config)) {
    json["registered_proof"] = proof->name();
  }
  json["porep_id"] = to_hex(sector.config.porep_id);
  json["api_version"] = to_string(sector.config.api_version);
  json["kind"] = to_string(sector.config.kind);
  json["prover_id"] = to_hex(sector.identity.prover_id);
  json["sector_number"] = sector.identity.sector_number;
  json["ticket"] = to_hex(sector.identity.ticket);
  json["replica_id"] = to_hex(sector.replica_id);
  json["comm_d"] = to_hex(sector.comm_d);
  json["comm_r"] = to_hex(sector.comm_r);
  return json.dump(2) + "\n";
}

// One file a base tree, from `first_level` on; upper levels are not stored, as they are soon made.
base::Status write_tree(const fs::path& folder, std::string_view tree_letter,
                        const MerkleTree& tree, std::uint64_t base_trees, std::size_t first_level) {
  for (std::uint64_t i = 0; i < base_trees; ++i) {
    CUZK_TRY_STATUS(base::write_file(folder / tree_name(tree_letter, i, base_trees),
                                     tree.base_tree_bytes(i, first_level)));
  }
  return base::ok_status();
}

// First level of tree R that is cached: the discarded ones never reach the base root.
std::size_t first_cached_level(const SectorShape& shape) {
  const std::size_t upper = std::size_t{shape.tree.sub_arity != 0} + (shape.tree.top_arity != 0);
  const std::size_t rows = level_arities(shape.tree, shape.node_count()).size() - upper + 1;
  const std::size_t first = rows <= 2 ? 1 : std::min(kDiscardedLevels, rows - 2) + 1;
  CUZK_ASSERT(first < rows);
  return first;
}

// Fields of a manifest, each with an error that names it. Members that nobody asks for are ignored.
class Manifest {
 public:
  Manifest(const fs::path& file, Json json) : file_(file), json_(std::move(json)) {}

  base::Result<std::string> text(const char* name) const {
    const auto it = json_.find(name);
    if (it == json_.end() || !it->is_string()) {
      return malformed(file_, std::string(name) + " is missing or no string");
    }
    return it->get<std::string>();
  }
  base::Result<std::uint64_t> number(const char* name) const {
    const auto it = json_.find(name);
    if (it == json_.end() || !it->is_number_unsigned()) {
      return malformed(file_, std::string(name) + " is missing or no unsigned integer");
    }
    return it->get<std::uint64_t>();
  }
  base::Result<Node> node(const char* name) const {
    CUZK_TRY(const std::string hex, text(name));
    auto value = node_from_hex(hex, file_.string() + ": " + name);
    return value;
  }

 private:
  fs::path file_;
  Json json_;
};

// Version first: another version may mean anything by the same fields.
base::Result<Manifest> read_manifest(const fs::path& file) {
  CUZK_TRY(const base::Bytes bytes, base::read_file(file, kManifestByteCountMax));
  Json json = Json::parse(bytes.begin(), bytes.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return malformed(file, "is not a JSON object");
  Manifest manifest(file, std::move(json));
  CUZK_TRY(const std::uint64_t version, manifest.number("version"));
  if (version != kManifestVersion) {
    return base::Error{base::ErrorKind::kUnsupported, file.string() + ": version " +
                                                          std::to_string(version) + ", expected " +
                                                          std::to_string(kManifestVersion)};
  }
  return manifest;
}

// The rules of the sector, by the same check that sealing makes.
base::Result<PorepConfig> config_of(const Manifest& manifest) {
  PorepConfig config;
  CUZK_TRY(const std::uint64_t size, manifest.number("sector_size"));
  CUZK_TRY(config.shape, sector_shape(size));
  CUZK_TRY(config.porep_id, manifest.node("porep_id"));
  CUZK_TRY(const std::string version, manifest.text("api_version"));
  CUZK_TRY(config.api_version, api_version_by_name(version));
  CUZK_TRY(const std::string kind, manifest.text("kind"));
  for (const PorepKind known :
       {PorepKind::kInteractive, PorepKind::kSynthetic, PorepKind::kNonInteractive}) {
    if (kind != to_string(known)) continue;
    config.kind = known;
    CUZK_TRY_STATUS(check_porep_config(config));
    return config;
  }
  return base::Error{base::ErrorKind::kMalformed, "\"" + kind + "\" is no kind of PoRep"};
}

// `count` nodes at the head of a file of `size_bytes` bytes, all canonical.
base::Result<std::vector<Node>> read_nodes(const fs::path& file, std::size_t count,
                                           std::uint64_t size_bytes) {
  CUZK_ASSERT(std::uint64_t{count} * kNodeByteCount <= size_bytes);
  CUZK_TRY(const auto mapped, base::MappedFile::open(file));
  if (mapped->size_bytes() != size_bytes) {
    return malformed(file, "has " + std::to_string(mapped->size_bytes()) + " bytes, expected " +
                               std::to_string(size_bytes));
  }
  std::vector<Node> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = node_from_bytes(mapped->bytes().subspan(i * kNodeByteCount).first<kNodeByteCount>());
    if (!to_fr(out[i])) {
      return malformed(file, "node " + std::to_string(i) + " is not a canonical field element");
    }
  }
  return out;
}

// That what was computed from data and layers is what manifest, p_aux and replica hold.
base::Status check_commitments(const fs::path& folder, const SealedSector& sector,
                               const Manifest& manifest) {
  const fs::path file = folder / kManifest;
  for (const auto& [name, value] :
       {std::pair{"comm_d", &sector.comm_d}, std::pair{"replica_id", &sector.replica_id},
        std::pair{"comm_r", &sector.comm_r}}) {
    CUZK_TRY(const Node stated, manifest.node(name));
    if (stated != *value) {
      return mismatch(file, std::string(name) + " is " + to_hex(stated) +
                                " but data and layers give " + to_hex(*value));
    }
  }
  CUZK_TRY(const base::Bytes aux, base::read_file(folder / kAux, 2 * kNodeByteCount));
  if (aux != bytes_of(std::array<Node, 2>{sector.comm_c, sector.comm_r_last})) {
    return mismatch(folder / kAux, "is not comm_c and comm_r_last of data and layers");
  }
  CUZK_TRY(const auto replica, base::MappedFile::open(folder / kReplica));
  // Byte by byte: the replica is what a sealer would serve.
  const base::Bytes expected = bytes_of(sector.replica);
  if (!std::equal(replica->bytes().begin(), replica->bytes().end(), expected.begin(),
                  expected.end())) {
    return mismatch(folder / kReplica, "is not the replica of data and layers");
  }
  return base::ok_status();
}

}  // namespace

std::vector<fs::path> sector_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool is_cache = name.starts_with("sc-02-data-") && name.ends_with(".dat");
    if (is_cache || name == kManifest || name == kReplica || name == kAux) {
      files.push_back(it->path());
    }
  }
  return files;
}

std::optional<RegisteredSeal> registered_seal_of(const PorepConfig& config) {
  for (unsigned number = 0; number < kRegisteredSealCount; ++number) {
    const RegisteredSeal proof = registered_seal(number).value();
    const PorepConfig known = PorepConfig::of(proof);
    if (known.shape == config.shape && known.porep_id == config.porep_id &&
        known.api_version == config.api_version && known.kind == config.kind) {
      return proof;
    }
  }
  return std::nullopt;
}

base::Status write_sector(const fs::path& folder, const SealedSector& sector) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return base::Error{base::ErrorKind::kIo, folder.string() + ": " + error.message()};
  }
  if (fs::exists(folder / kManifest, error)) {
    return base::Error{base::ErrorKind::kAlreadyExists,
                       folder.string() + " already holds a sector"};
  }
  for (std::size_t l = 0; l < sector.layers.size(); ++l) {
    CUZK_TRY_STATUS(base::write_file(folder / layer_name(l + 1), bytes_of(sector.layers[l])));
  }
  const std::uint64_t base_trees = sector.config.shape->tree.base_tree_count();
  CUZK_TRY_STATUS(write_tree(folder, "d", sector.tree_d, 1, 0));
  CUZK_TRY_STATUS(write_tree(folder, "c", sector.tree_c, base_trees, 0));
  CUZK_TRY_STATUS(write_tree(folder, "r-last", sector.tree_r, base_trees,
                             first_cached_level(*sector.config.shape)));
  CUZK_TRY_STATUS(base::write_file(
      folder / kAux, bytes_of(std::array<Node, 2>{sector.comm_c, sector.comm_r_last})));
  CUZK_TRY_STATUS(base::write_file(folder / kReplica, bytes_of(sector.replica)));
  // Last: a folder with a manifest is whole. A write that failed before leaves files that the next
  // one replaces.
  return base::write_file(folder / kManifest, std::string_view(manifest_of(sector)));
}

base::Result<SealedSector> read_sector(const fs::path& folder) {
  CUZK_TRY(const Manifest manifest, read_manifest(folder / kManifest));
  auto config = config_of(manifest);
  if (!config.ok()) return std::move(config).error().within((folder / kManifest).string());
  const SectorShape& shape = *config->shape;
  if (shape.byte_count > kSealByteCountMax) {
    return base::Error{base::ErrorKind::kUnsupported,
                       (folder / kManifest).string() + ": a sector of " + std::string(shape.name) +
                           " is too large to be held in memory"};
  }
  ReplicaIdentity identity;
  identity.porep_id = config->porep_id;
  CUZK_TRY(identity.prover_id, manifest.node("prover_id"));
  CUZK_TRY(identity.sector_number, manifest.number("sector_number"));
  CUZK_TRY(identity.ticket, manifest.node("ticket"));

  // Tree D's file begins with its leaves, the data; its upper levels are made again.
  const std::size_t count = static_cast<std::size_t>(shape.node_count());
  CUZK_TRY(std::vector<Node> data, read_nodes(folder / tree_name("d", 0, 1), count,
                                              (2 * shape.node_count() - 1) * kNodeByteCount));
  std::vector<std::vector<Node>> layers;
  for (std::size_t l = 1; l <= shape.layer_count; ++l) {
    CUZK_TRY(std::vector<Node> layer, read_nodes(folder / layer_name(l), count, shape.byte_count));
    layers.push_back(std::move(layer));
  }
  SealedSector sector = assemble_sector(
      *config, identity, MerkleTree::build(NodeHash::kSha256, kBinaryTree, std::move(data)),
      std::move(layers));
  CUZK_TRY_STATUS(check_commitments(folder, sector, manifest));
  return sector;
}

}  // namespace cuzk::filecoin
