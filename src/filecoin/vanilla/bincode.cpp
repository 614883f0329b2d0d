// Reading and writing bincode. Every count is compared with what size and arity fix before anything
// behind it is read, so hostile lengths allocate nothing.
#include "filecoin/vanilla/bincode.h"

#include "base/check.h"

namespace cuzk::filecoin {
namespace {

// Levels above the base trees.
std::size_t upper_levels(const TreeShape& shape) {
  return std::size_t{shape.sub_arity != 0} + std::size_t{shape.top_arity != 0};
}

// Appends the levels of `arities` to `out`.
base::Status read_path(base::ByteReader& reader, std::span<const std::size_t> arities,
                       const std::string& field, std::vector<PathElement>& out) {
  // The counts are written although sector size and arity fix them; a different one is refused.
  CUZK_TRY_STATUS(read_count(reader, arities.size(), field + ".path"));
  for (std::size_t l = 0; l < arities.size(); ++l) {
    const std::string element = field + ".path[" + std::to_string(l) + "]";
    CUZK_TRY_STATUS(read_count(reader, arities[l] - 1, element + ".hashes"));
    PathElement& target = out.emplace_back();
    for (std::size_t i = 1; i < arities[l]; ++i) {
      CUZK_TRY(Node hash, read_canonical_node(reader, element + ".hashes"));
      target.hashes.push_back(hash);
    }
    CUZK_TRY(target.index, reader.u64_le(element + ".index"));
    if (target.index >= arities[l]) {
      return reader.malformed(element + ".index is " + std::to_string(target.index) +
                              ", expected below " + std::to_string(arities[l]));
    }
  }
  return base::ok_status();
}

// The reverse of read_path.
void write_path(base::Bytes& out, std::span<const PathElement> path) {
  write_u64(out, path.size());
  for (const PathElement& element : path) {
    write_u64(out, element.hashes.size());
    for (const Node& hash : element.hashes) write_node(out, hash);
    write_u64(out, element.index);
  }
}

}  // namespace

base::Result<Node> read_node(base::ByteReader& reader, std::string_view field) {
  CUZK_TRY(const base::ByteSpan bytes, reader.take(kNodeByteCount, field));
  return node_from_bytes(std::span<const std::uint8_t, kNodeByteCount>(bytes));
}

// The reader's own error, as it knows the byte.
base::Result<Node> read_canonical_node(base::ByteReader& reader, std::string_view field) {
  CUZK_TRY(const Node node, read_node(reader, field));
  const auto value = read_fr(node, field);
  if (!value.ok()) return reader.malformed(value.error().message);
  return node;
}

base::Status read_count(base::ByteReader& reader, std::uint64_t expected, std::string_view field) {
  CUZK_TRY(const std::uint64_t found, reader.u64_le(field));
  if (found == expected) return base::ok_status();
  return reader.malformed(std::string(field) + " has " + std::to_string(found) +
                          " elements, expected " + std::to_string(expected));
}

base::Status expect_end(const base::ByteReader& reader) {
  if (reader.remaining() == 0) return base::ok_status();
  return reader.malformed(std::to_string(reader.remaining()) + " bytes follow the proof");
}

base::Result<MerkleProof> read_merkle_proof(base::ByteReader& reader, const TreeShape& shape,
                                            std::uint64_t leaf_count, const std::string& field) {
  const std::vector<std::size_t> arities = level_arities(shape, leaf_count);
  const std::span<const std::size_t> levels = arities;
  const std::size_t upper = upper_levels(shape), base_count = levels.size() - upper;
  // Root and leaf stand in front of a simple path and behind a compound one.
  CUZK_TRY(const std::uint32_t tag, reader.u32_le(field));
  if (tag != upper) {
    return reader.malformed(field + " has tag " + std::to_string(tag) + ", expected " +
                            std::to_string(upper) + " for a tree of shape " + shape.name());
  }
  MerkleProof out;
  const auto read_ends = [&]() -> base::Status {
    CUZK_TRY(out.root, read_canonical_node(reader, field + ".root"));
    CUZK_TRY(out.leaf, read_canonical_node(reader, field + ".leaf"));
    return base::ok_status();
  };
  if (upper == 0) CUZK_TRY_STATUS(read_ends());
  CUZK_TRY_STATUS(read_path(reader, levels.first(base_count), field, out.path));
  for (std::size_t l = base_count; l < levels.size(); ++l) {
    CUZK_TRY_STATUS(read_path(reader, levels.subspan(l, 1),
                              field + (l == base_count ? ".sub_proof" : ".top_proof"), out.path));
  }
  if (upper != 0) CUZK_TRY_STATUS(read_ends());
  CUZK_ASSERT(out.path.size() == arities.size());
  return out;
}

void write_u32(base::Bytes& out, std::uint32_t value) {
  out.resize(out.size() + 4);
  base::store_u32_le(out.data() + out.size() - 4, value);
}

void write_u64(base::Bytes& out, std::uint64_t value) {
  out.resize(out.size() + 8);
  base::store_u64_le(out.data() + out.size() - 8, value);
}

void write_node(base::Bytes& out, const Node& node) {
  out.insert(out.end(), node.begin(), node.end());
}

void write_merkle_proof(base::Bytes& out, const MerkleProof& proof, const TreeShape& shape) {
  const std::span<const PathElement> path = proof.path;
  const std::size_t upper = upper_levels(shape), base_count = path.size() - upper;
  CUZK_ASSERT(path.size() >= upper);
  write_u32(out, static_cast<std::uint32_t>(upper));
  if (upper == 0) {
    write_node(out, proof.root);
    write_node(out, proof.leaf);
  }
  write_path(out, path.first(base_count));
  for (std::size_t l = base_count; l < path.size(); ++l) write_path(out, path.subspan(l, 1));
  if (upper != 0) {
    write_node(out, proof.root);
    write_node(out, proof.leaf);
  }
}

}  // namespace cuzk::filecoin
