// Sealing: from data to a replica, its trees and its commitments, all in memory.
//
// Meant for samples and tests (2 KiB to 512 MiB): labels are computed in one thread, one after the
// other, as the construction demands. Real sectors are sealed by a sealer; a prover receives their
// vanilla proofs. Source: rust-fil-proofs 19.1, storage-proofs-porep/src/stacked/vanilla/proof.rs;
// Fisch, "Tight proofs of space and replication" (EUROCRYPT 2019).
#pragma once

#include <vector>

#include "filecoin/identity.h"
#include "filecoin/porep/config.h"
#include "filecoin/vanilla/merkle.h"

namespace cuzk::filecoin {

// Largest sector that seal() accepts.
inline constexpr std::uint64_t kSealByteCountMax = std::uint64_t{512} << 20;

// What to seal under: the rules and the identity.
struct SealRequest {
  PorepConfig config;
  Node prover_id{};
  std::uint64_t sector_number = 0;
  Node ticket{};
};

// A sealed sector in memory, layers and trees included: (L + 5) or so times its size. Immutable
// once made, so threads may share it.
struct SealedSector {
  PorepConfig config;
  ReplicaIdentity identity;
  Node comm_d{}, replica_id{}, comm_c{}, comm_r_last{}, comm_r{};
  std::vector<std::vector<Node>> layers;  // layers[0] is layer 1
  std::vector<Node> replica;
  MerkleTree tree_d, tree_c, tree_r;

  // The labels of one node, layer 1 first.
  std::vector<Node> column(std::uint32_t node) const;
};

// Refuses sectors above kSealByteCountMax as kUnsupported: asked before such data are held.
base::Status check_seal_size(const SectorShape& shape);

// Seals `data`, at most the sector's unpadded size; the rest is zeros. Errors: kInvalidArgument for
// too much data or ids that are not canonical, kUnsupported for a size above kSealByteCountMax.
base::Result<SealedSector> seal(const SealRequest& request, base::ByteSpan data);

// The leaves of tree D: data after Fr32 padding, filled with zeros to the sector's size.
base::Result<std::vector<Node>> data_nodes(const SectorShape& shape, base::ByteSpan data);

// key + value in the field; both must be canonical (checked).
Node encode(const Node& key, const Node& value);

// comm_d of the data: the piece commitment of a piece that fills the sector.
base::Result<Node> data_commitment(const SectorShape& shape, base::ByteSpan data);

// comm_d of a padded size (a power of two, at least 32 bytes) of zeros.
Node zero_commitment(std::uint64_t padded_byte_count);

// Builds columns' hashes, replica, trees C and R-last and commitments from the data's tree and the
// label layers (first to last): what seal() does after labelling, and reading a sector from disk.
// Layers and data have the config's lengths (checked) and canonical nodes (checked). On all
// threads.
SealedSector assemble_sector(const PorepConfig& config, const ReplicaIdentity& identity,
                             MerkleTree tree_d, std::vector<std::vector<Node>> layers);

}  // namespace cuzk::filecoin
