// Proofs of spacetime: what is claimed, which leaves are challenged, what a vanilla proof holds.
//
// A window PoSt opens ten leaves of tree R of each sector; a winning PoSt opens 66 of one sector,
// as 66 circuit sectors of one challenge each. Sectors are taken in ascending order of their number
// and split into partitions; a partition with too few repeats its last sector. Source:
// rust-fil-proofs 19.1, storage-proofs-post/src/fallback and
// filecoin-proofs/src/api/{winning,window}_post.rs.
#pragma once

#include <cstdint>
#include <vector>

#include "filecoin/registered_proof.h"
#include "filecoin/vanilla/merkle.h"

namespace cuzk::filecoin {

// A sector as the chain knows it: everything else of it stays with the miner.
struct PostSector {
  std::uint64_t sector_id = 0;
  Node comm_r{};
};

// What a verifier of a PoSt is given.
struct PostClaim {
  const SectorShape* shape = nullptr;
  PostKind kind = PostKind::kWindow;
  ApiVersion api_version = ApiVersion::kV1_2_0;
  Node randomness{};
  std::vector<PostSector> sectors;
};

// The claim with its sectors in ascending order. Errors: none or equal sectors, more than one
// sector for winning, a commitment or randomness that is not canonical (callers clear the two top
// bits of its last byte), the winning kind with an API version that has no such proofs.
base::Result<PostClaim> normalized(PostClaim claim);

// Sectors and challenges of one circuit of this kind.
unsigned post_sector_count(const SectorShape& shape, PostKind kind);
unsigned post_challenge_count(PostKind kind);

// Partitions that the claim's sectors make; each is proved on its own.
unsigned post_partition_count(const PostClaim& claim);

// The leaf that challenge `challenge_index` opens.
std::uint64_t post_challenge(const Node& randomness, std::uint64_t sector_id,
                             std::uint64_t challenge_index, std::uint64_t node_count);

// The leaves opened in the sector at place `sector_index` over all partitions. Up to API version
// V1_1_0 they depend on that place. For winning the sector takes 66 places, so `sector_index` is 0
// and all 66 leaves are returned.
std::vector<std::uint64_t> post_challenges(const PostClaim& claim, std::uint64_t sector_id,
                                           std::uint64_t sector_index);

// Public inputs, without ONE, of a partition of a normalized claim: per circuit sector comm_r and
// its leaves.
base::Result<std::vector<Fr>> post_public_inputs(const PostClaim& claim, unsigned partition);

}  // namespace cuzk::filecoin
