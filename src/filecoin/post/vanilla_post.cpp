// Reading, making and checking vanilla PoSt proofs. Reading demands the form that size and kind
// fix, checking the content that the claim fixes; a proof that passes both satisfies the circuit.
#include "filecoin/post/vanilla_post.h"

#include <atomic>

#include "base/check.h"
#include "base/threads.h"
#include "filecoin/vanilla/bincode.h"

namespace cuzk::filecoin {
namespace {

// Leaves that one sector opens, over all circuits of the proof.
std::size_t opened_leaf_count(PostKind kind) {
  return kind == PostKind::kWinning ? kWinningChallengeCount : kWindowChallengeCount;
}

// A proof that is well formed and not about this claim.
base::Error mismatch(const std::string& sentence) { return {base::ErrorKind::kMismatch, sentence}; }

// One sector of the claim, which has place `sector_index` in it.
base::Status verify_sector(const PostClaim& claim, const PostSector& sector,
                           std::uint64_t sector_index, const PostSectorProof& proof) {
  const std::string where = "the vanilla proof of sector " + std::to_string(sector.sector_id);
  if (proof.sector_id != sector.sector_id) {
    return mismatch(where + " is of sector " + std::to_string(proof.sector_id));
  }
  if (proof.comm_r != sector.comm_r) {
    return mismatch(where + " has comm_r " + to_hex(proof.comm_r) + ", expected " +
                    to_hex(sector.comm_r));
  }
  for (const Node* node : {&proof.comm_c, &proof.comm_r_last}) {
    CUZK_TRY([[maybe_unused]] const Fr value, read_fr(*node, where + ": a root"));
  }
  if (poseidon_pair(proof.comm_c, proof.comm_r_last) != proof.comm_r) {
    return mismatch(where + ": comm_r is not the hash of comm_c and comm_r_last");
  }
  const auto challenges = post_challenges(claim, sector.sector_id, sector_index);
  if (proof.inclusion_proofs.size() != challenges.size()) {
    return mismatch(where + " opens " + std::to_string(proof.inclusion_proofs.size()) +
                    " leaves, expected " + std::to_string(challenges.size()));
  }
  const auto arities = level_arities(claim.shape->tree, claim.shape->node_count());
  for (std::size_t n = 0; n < challenges.size(); ++n) {
    const std::string place = where + ", inclusion_proofs[" + std::to_string(n) + "]";
    if (proof.inclusion_proofs[n].root != proof.comm_r_last) {
      return mismatch(place + ": the root is not comm_r_last");
    }
    CUZK_TRY_STATUS(check_merkle_proof(proof.inclusion_proofs[n], NodeHash::kPoseidon, arities,
                                       challenges[n], place));
  }
  return base::ok_status();
}

}  // namespace

base::Result<PostSectorProof> read_post_sector_proof(base::ByteSpan bytes, const SectorShape& shape,
                                                     PostKind kind, const std::string& source) {
  base::ByteReader reader(bytes, source);
  PostSectorProof out;
  CUZK_TRY(out.sector_id, reader.u64_le("sector_id"));
  CUZK_TRY(out.comm_r, read_canonical_node(reader, "comm_r"));
  // Upstream's type is a list of sectors; one proof is of one.
  CUZK_TRY_STATUS(read_count(reader, 1, "sectors"));
  const std::size_t count = opened_leaf_count(kind);
  CUZK_TRY_STATUS(read_count(reader, count, "inclusion_proofs"));
  for (std::size_t n = 0; n < count; ++n) {
    CUZK_TRY(MerkleProof proof, read_merkle_proof(reader, shape.tree, shape.node_count(),
                                                  "inclusion_proofs[" + std::to_string(n) + "]"));
    out.inclusion_proofs.push_back(std::move(proof));
  }
  CUZK_TRY(out.comm_c, read_canonical_node(reader, "comm_c"));
  CUZK_TRY(out.comm_r_last, read_canonical_node(reader, "comm_r_last"));
  CUZK_TRY_STATUS(expect_end(reader));
  CUZK_ASSERT(out.inclusion_proofs.size() == count);
  return out;
}

base::Bytes write_post_sector_proof(const PostSectorProof& proof, const SectorShape& shape) {
  base::Bytes out;
  write_u64(out, proof.sector_id);
  write_node(out, proof.comm_r);
  write_u64(out, 1);
  write_u64(out, proof.inclusion_proofs.size());
  for (const MerkleProof& inclusion : proof.inclusion_proofs) {
    write_merkle_proof(out, inclusion, shape.tree);
  }
  write_node(out, proof.comm_c);
  write_node(out, proof.comm_r_last);
  return out;
}

PostSectorProof open_post_sector(const SealedSector& sector, const PostClaim& claim,
                                 std::uint64_t sector_index) {
  PostSectorProof out;
  out.sector_id = sector.identity.sector_number;
  out.comm_r = sector.comm_r;
  out.comm_c = sector.comm_c;
  out.comm_r_last = sector.comm_r_last;
  for (const std::uint64_t leaf : post_challenges(claim, out.sector_id, sector_index)) {
    out.inclusion_proofs.push_back(sector.tree_r.proof(leaf));
  }
  return out;
}

base::Status verify_post_proofs(const PostClaim& claim,
                                const std::vector<PostSectorProof>& proofs) {
  if (proofs.size() != claim.sectors.size()) {
    return mismatch(std::to_string(proofs.size()) + " vanilla proofs for " +
                    std::to_string(claim.sectors.size()) + " sectors");
  }
  const auto verify = [&](std::size_t i) {
    return verify_sector(claim, claim.sectors[i], i, proofs[i]);
  };
  // Sectors have nothing to do with each other. The first wrong one in the claim's order is named,
  // whichever thread is faster: what stands before it is always checked to its end.
  std::atomic<std::size_t> first_wrong = proofs.size();
  base::parallel_for(0, proofs.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last && i < first_wrong.load(); ++i) {
      if (verify(i).ok()) continue;
      std::size_t seen = first_wrong.load();
      while (i < seen && !first_wrong.compare_exchange_weak(seen, i)) {
      }
      return;
    }
  });
  return first_wrong.load() == proofs.size() ? base::ok_status() : verify(first_wrong.load());
}

}  // namespace cuzk::filecoin
