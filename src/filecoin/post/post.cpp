// PoSt claims and challenges. A claim is normalized once, at the border; after that its sectors are
// in order and canonical, and places in the list mean what they mean to the chain.
#include "filecoin/post/post.h"

#include <algorithm>

#include "base/check.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

// A claim that no proof could be about.
base::Error refused(const std::string& sentence) {
  return {base::ErrorKind::kInvalidArgument, sentence};
}

}  // namespace

base::Result<PostClaim> normalized(PostClaim claim) {
  const std::string kind(to_string(claim.kind));
  if (claim.sectors.empty()) return refused("a " + kind + " PoSt needs at least one sector");
  if (claim.kind == PostKind::kWinning && claim.sectors.size() != 1) {
    return refused("a winning PoSt is of one sector, not of " +
                   std::to_string(claim.sectors.size()));
  }
  if (claim.kind == PostKind::kWinning && claim.api_version == ApiVersion::kV1_2_0) {
    return refused("winning PoSt has no API version V1_2_0: its challenges would all be equal");
  }
  CUZK_TRY([[maybe_unused]] const Fr randomness,
           read_fr(claim.randomness, "randomness (its two top bits are to be cleared first)"));
  std::sort(claim.sectors.begin(), claim.sectors.end(),
            [](const PostSector& a, const PostSector& b) { return a.sector_id < b.sector_id; });
  for (std::size_t i = 0; i < claim.sectors.size(); ++i) {
    const PostSector& sector = claim.sectors[i];
    const std::string name = "sector " + std::to_string(sector.sector_id);
    if (i > 0 && claim.sectors[i - 1].sector_id == sector.sector_id) {
      return refused(name + " is given twice");
    }
    CUZK_TRY([[maybe_unused]] const Fr comm_r, read_fr(sector.comm_r, "comm_r of " + name));
  }
  return claim;
}

unsigned post_sector_count(const SectorShape& shape, PostKind kind) {
  return kind == PostKind::kWinning ? kWinningChallengeCount : shape.window_sector_count;
}

unsigned post_challenge_count(PostKind kind) {
  return kind == PostKind::kWinning ? 1 : kWindowChallengeCount;
}

unsigned post_partition_count(const PostClaim& claim) {
  if (claim.kind == PostKind::kWinning) return 1;
  const std::size_t chunk = post_sector_count(*claim.shape, claim.kind);
  return static_cast<unsigned>((claim.sectors.size() + chunk - 1) / chunk);
}

std::uint64_t post_challenge(const Node& randomness, std::uint64_t sector_id,
                             std::uint64_t challenge_index, std::uint64_t node_count) {
  std::array<std::uint8_t, 48> message;
  std::copy(randomness.begin(), randomness.end(), message.begin());
  base::store_u64_le(message.data() + 32, sector_id);
  base::store_u64_le(message.data() + 40, challenge_index);
  // Node counts are powers of two, so the reduction favours none.
  return base::load_u64_le(hash::sha256(message).data()) % node_count;
}

std::vector<std::uint64_t> post_challenges(const PostClaim& claim, std::uint64_t sector_id,
                                           std::uint64_t sector_index) {
  CUZK_ASSERT(claim.shape != nullptr);
  const bool is_winning = claim.kind == PostKind::kWinning;
  const unsigned count = is_winning ? kWinningChallengeCount : kWindowChallengeCount;
  // Up to V1_1_0 challenges are numbered through all sectors of all partitions; a winning proof has
  // one sector repeated, so its numbers are simply 0 to 65.
  const bool by_place = claim.api_version != ApiVersion::kV1_2_0;
  const std::uint64_t first = by_place ? sector_index * count : 0;
  std::vector<std::uint64_t> out;
  for (unsigned n = 0; n < count; ++n) {
    out.push_back(
        post_challenge(claim.randomness, sector_id, first + n, claim.shape->node_count()));
  }
  return out;
}

base::Result<std::vector<Fr>> post_public_inputs(const PostClaim& claim, unsigned partition) {
  if (partition >= post_partition_count(claim)) {
    return refused(std::to_string(claim.sectors.size()) + " sectors make " +
                   std::to_string(post_partition_count(claim)) +
                   " partitions: there is no partition " + std::to_string(partition));
  }
  std::vector<Fr> out;
  if (claim.kind == PostKind::kWinning) {
    const PostSector& sector = claim.sectors.front();
    CUZK_TRY(const Fr comm_r, read_fr(sector.comm_r, "comm_r"));
    for (const std::uint64_t leaf : post_challenges(claim, sector.sector_id, 0)) {
      out.insert(out.end(), {comm_r, Fr::from_u64(leaf)});
    }
    CUZK_ASSERT(out.size() == 2 * kWinningChallengeCount);
    return out;
  }
  // A short last partition repeats its last sector, inputs included, until the circuit is full.
  const std::size_t chunk = post_sector_count(*claim.shape, claim.kind);
  const std::size_t first = chunk * partition;
  const std::size_t last = std::min(first + chunk, claim.sectors.size());
  for (std::size_t i = first; i < first + chunk; ++i) {
    const std::size_t place = std::min(i, last - 1);
    const PostSector& sector = claim.sectors[place];
    CUZK_TRY(const Fr comm_r, read_fr(sector.comm_r, "comm_r"));
    out.push_back(comm_r);
    for (const std::uint64_t leaf : post_challenges(claim, sector.sector_id, place)) {
      out.push_back(Fr::from_u64(leaf));
    }
  }
  CUZK_ASSERT(out.size() == chunk * (1 + kWindowChallengeCount));
  return out;
}

}  // namespace cuzk::filecoin
