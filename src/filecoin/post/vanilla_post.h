// Vanilla proofs of PoSt: one sector each, in bincode as the proofs API and the proving service
// pass them; and their verification before anything is proved in zero knowledge. The circuit would
// refuse a wrong one too, but only after the proof is made, and without saying where.
#pragma once

#include <string>
#include <vector>

#include "filecoin/post/post.h"
#include "filecoin/vanilla/seal.h"

namespace cuzk::filecoin {

// One sector's part of a PoSt: its commitments and its opened leaves.
struct PostSectorProof {
  std::uint64_t sector_id = 0;
  Node comm_r{}, comm_c{}, comm_r_last{};
  std::vector<MerkleProof> inclusion_proofs;  // in tree R; 10 for window, 66 for winning
  bool operator==(const PostSectorProof&) const = default;
};

// `source` names the bytes in errors. Hashes must be canonical; lengths must be those of the size.
base::Result<PostSectorProof> read_post_sector_proof(base::ByteSpan bytes, const SectorShape& shape,
                                                     PostKind kind, const std::string& source);
// The bytes that the reader takes; the proof must have the form of `shape`.
base::Bytes write_post_sector_proof(const PostSectorProof& proof, const SectorShape& shape);

// Opens the challenged leaves of a sector that is held in memory and has place `sector_index` in
// the claim.
PostSectorProof open_post_sector(const SealedSector& sector, const PostClaim& claim,
                                 std::uint64_t sector_index);

// Whether `proofs`, one per sector of the normalized claim and in its order, hold: ids, comm_r,
// roots, leaves, paths. Sectors are checked side by side. Errors name sector and challenge of the
// first wrong one in that order: kMismatch, or kMalformed for a root that is not canonical.
base::Status verify_post_proofs(const PostClaim& claim, const std::vector<PostSectorProof>& proofs);

}  // namespace cuzk::filecoin
