// Nodes and Merkle proofs in bincode 1.x: fixed-width little-endian integers, u64 lengths, u32
// tags.
//
// A Merkle proof is a tag (0 base only, 1 with a sub level, 2 with sub and top) and then, for 0:
// root, leaf, path; for 1 and 2: base path, sub path, (top path,) root, leaf. A path is a count of
// elements, each a count of hashes, the hashes, the index. Readers demand the form of the tree they
// are told.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "filecoin/vanilla/merkle.h"

namespace cuzk::filecoin {

// The next 32 bytes, whatever they are. Here and below `field` names the place in errors, which are
// kMalformed.
base::Result<Node> read_node(base::ByteReader& reader, std::string_view field);
// A node that must be a canonical field element.
base::Result<Node> read_canonical_node(base::ByteReader& reader, std::string_view field);
// A u64 count that must be `expected`.
base::Status read_count(base::ByteReader& reader, std::uint64_t expected, std::string_view field);
// Fails when bytes are left.
base::Status expect_end(const base::ByteReader& reader);

// A proof in a tree of `shape` with `leaf_count` leaves, its hashes canonical.
base::Result<MerkleProof> read_merkle_proof(base::ByteReader& reader, const TreeShape& shape,
                                            std::uint64_t leaf_count, const std::string& field);

// The same forms appended to `out`. Proofs must have the form of their tree; what was written from
// one that has not is refused by the readers above.
void write_u32(base::Bytes& out, std::uint32_t value);
void write_u64(base::Bytes& out, std::uint64_t value);
void write_node(base::Bytes& out, const Node& node);
void write_merkle_proof(base::Bytes& out, const MerkleProof& proof, const TreeShape& shape);

}  // namespace cuzk::filecoin
