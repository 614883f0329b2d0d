// Reading, making and checking vanilla proofs of updates. Apex leaves are checked twice: each
// challenged one against the path of its data leaf, and all together against the root that the
// first path has.
#include "filecoin/update/vanilla_update.h"

#include "base/check.h"
#include "filecoin/circuit_values.h"
#include "filecoin/vanilla/bincode.h"

namespace cuzk::filecoin {
namespace {

// A proof that is well formed and does not hold.
base::Error mismatch(const std::string& sentence) { return {base::ErrorKind::kMismatch, sentence}; }

// Height in tree D of the apex leaves.
unsigned apex_height(const SectorShape& shape) {
  return shape.node_count_log2() - shape.update.partition_log2() - shape.update.apex_log2();
}

// That the proof leads where all proofs of its tree must.
base::Status expect_root(const MerkleProof& proof, const Node& root, const std::string& where) {
  if (proof.root == root) return base::ok_status();
  return mismatch(where + ": the root is " + to_hex(proof.root) + ", expected " + to_hex(root));
}

// The node that lies `height` levels above the leaf on the proof's path.
Node ancestor(const MerkleProof& proof, unsigned height) {
  CUZK_ASSERT(height <= proof.path.size());
  Node node = proof.leaf;
  for (unsigned l = 0; l < height; ++l) {
    const Node& sibling = proof.path[l].hashes[0];
    const bool is_right = proof.path[l].index == 1;
    node = hash_children(NodeHash::kSha256,
                         std::array<Node, 2>{is_right ? sibling : node, is_right ? node : sibling});
  }
  return node;
}

// One challenge: three paths to the common roots, the apex leaf on the way, and the encoding. The
// proof's counts have been checked.
base::Status verify_challenge(const UpdateClaim& claim, const UpdatePartitionProof& proof,
                              const Fr& phi, std::size_t number, std::uint64_t challenge) {
  const SectorShape& shape = *claim.shape;
  const std::string where = "challenge_proofs[" + std::to_string(number) + "]";
  const UpdateChallengeProof& opened = proof.challenges[number];
  const UpdateChallengeProof& first = proof.challenges[0];
  CUZK_TRY_STATUS(expect_root(opened.proof_r_old, first.proof_r_old.root, where + ".proof_r_old"));
  CUZK_TRY_STATUS(expect_root(opened.proof_d_new, claim.comm_d_new, where + ".proof_d_new"));
  CUZK_TRY_STATUS(expect_root(opened.proof_r_new, first.proof_r_new.root, where + ".proof_r_new"));
  const auto arities = level_arities(shape.tree, shape.node_count());
  const auto binary_arities = level_arities(kBinaryTree, shape.node_count());
  CUZK_TRY_STATUS(check_merkle_proof(opened.proof_r_old, NodeHash::kPoseidon, arities, challenge,
                                     where + ".proof_r_old"));
  CUZK_TRY_STATUS(check_merkle_proof(opened.proof_d_new, NodeHash::kSha256, binary_arities,
                                     challenge, where + ".proof_d_new"));
  CUZK_TRY_STATUS(check_merkle_proof(opened.proof_r_new, NodeHash::kPoseidon, arities, challenge,
                                     where + ".proof_r_new"));
  // The leaves are canonical: check_merkle_proof has read each as an element.
  const unsigned shift = shape.node_count_log2() - shape.update.high_bit_count();
  const Fr rho = update_randomness(phi, Fr::from_u64(challenge >> shift));
  const Fr expected =
      checked_fr(opened.proof_r_old.leaf) + checked_fr(opened.proof_d_new.leaf) * rho;
  if (checked_fr(opened.proof_r_new.leaf) != expected) {
    return mismatch(where + ": the new replica leaf is not the old one plus data times rho");
  }
  const unsigned height = apex_height(shape);
  const std::uint64_t apex = (challenge >> height) % shape.update.apex_leaf_count;
  if (proof.apex_leaves[apex] != ancestor(opened.proof_d_new, height)) {
    return mismatch(where + ": apex leaf " + std::to_string(apex) +
                    " is not on the path of the challenged data leaf");
  }
  return base::ok_status();
}

// Whether the apex leaves are the partition's part of their row of tree D: hashed together they
// must give the node on the first challenge's path.
base::Status verify_apex(const SectorShape& shape, const UpdatePartitionProof& proof) {
  std::vector<Node> leaves = proof.apex_leaves;
  for (const Node& leaf : leaves) {
    CUZK_TRY([[maybe_unused]] const Fr value, read_fr(leaf, "apex_leafs: a leaf"));
  }
  const Node root = MerkleTree::build(NodeHash::kSha256, kBinaryTree, std::move(leaves)).root();
  const unsigned height = shape.node_count_log2() - shape.update.partition_log2();
  if (root == ancestor(proof.challenges[0].proof_d_new, height)) return base::ok_status();
  return mismatch("apex_leafs are not the partition's nodes of tree D");
}

}  // namespace

base::Result<UpdatePartitionProof> read_update_partition_proof(base::ByteSpan bytes,
                                                               const SectorShape& shape,
                                                               const std::string& source) {
  base::ByteReader reader(bytes, source);
  UpdatePartitionProof out;
  CUZK_TRY(out.comm_c, read_canonical_node(reader, "comm_c"));
  CUZK_TRY_STATUS(read_count(reader, shape.update.apex_leaf_count, "apex_leafs"));
  for (unsigned i = 0; i < shape.update.apex_leaf_count; ++i) {
    CUZK_TRY(const Node leaf, read_canonical_node(reader, "apex_leafs[" + std::to_string(i) + "]"));
    out.apex_leaves.push_back(leaf);
  }
  CUZK_TRY_STATUS(read_count(reader, shape.update.challenge_count, "challenge_proofs"));
  const std::uint64_t leaves = shape.node_count();
  for (unsigned i = 0; i < shape.update.challenge_count; ++i) {
    const std::string where = "challenge_proofs[" + std::to_string(i) + "]";
    UpdateChallengeProof& target = out.challenges.emplace_back();
    CUZK_TRY(target.proof_r_old,
             read_merkle_proof(reader, shape.tree, leaves, where + ".proof_r_old"));
    CUZK_TRY(target.proof_d_new,
             read_merkle_proof(reader, kBinaryTree, leaves, where + ".proof_d_new"));
    CUZK_TRY(target.proof_r_new,
             read_merkle_proof(reader, shape.tree, leaves, where + ".proof_r_new"));
  }
  CUZK_TRY_STATUS(expect_end(reader));
  CUZK_ASSERT(out.challenges.size() == shape.update.challenge_count);
  return out;
}

base::Bytes write_update_partition_proof(const UpdatePartitionProof& proof,
                                         const SectorShape& shape) {
  base::Bytes out;
  write_node(out, proof.comm_c);
  write_u64(out, proof.apex_leaves.size());
  for (const Node& leaf : proof.apex_leaves) write_node(out, leaf);
  write_u64(out, proof.challenges.size());
  for (const UpdateChallengeProof& challenge : proof.challenges) {
    write_merkle_proof(out, challenge.proof_r_old, shape.tree);
    write_merkle_proof(out, challenge.proof_d_new, kBinaryTree);
    write_merkle_proof(out, challenge.proof_r_new, shape.tree);
  }
  return out;
}

UpdatePartitionProof open_update_partition(const UpdatedSector& sector, unsigned partition) {
  const SectorShape& shape = *sector.shape;
  UpdatePartitionProof out;
  out.comm_c = sector.comm_c;
  const std::size_t apex_count = shape.update.apex_leaf_count;
  const auto row =
      sector.tree_d.level(apex_height(shape)).subspan(partition * apex_count, apex_count);
  out.apex_leaves.assign(row.begin(), row.end());
  for (const std::uint64_t challenge : update_challenges(shape, sector.comm_r_new, partition)) {
    out.challenges.push_back({sector.tree_r_old.proof(challenge), sector.tree_d.proof(challenge),
                              sector.tree_r.proof(challenge)});
  }
  return out;
}

base::Status verify_update_partition(const UpdateClaim& claim, const UpdatePartitionProof& proof,
                                     unsigned partition) {
  const SectorShape& shape = *claim.shape;
  // For its checks: the partition exists and the commitments are canonical.
  CUZK_TRY([[maybe_unused]] const auto inputs, update_public_inputs(claim, partition));
  if (proof.apex_leaves.size() != shape.update.apex_leaf_count ||
      proof.challenges.size() != shape.update.challenge_count) {
    return mismatch("the proof has " + std::to_string(proof.apex_leaves.size()) +
                    " apex leaves and " + std::to_string(proof.challenges.size()) +
                    " challenges, expected " + std::to_string(shape.update.apex_leaf_count) +
                    " and " + std::to_string(shape.update.challenge_count));
  }
  const UpdateChallengeProof& first = proof.challenges[0];
  for (const auto& [node, name] :
       {std::pair{&proof.comm_c, "comm_c"}, std::pair{&first.proof_r_old.root, "the old root"},
        std::pair{&first.proof_r_new.root, "the new root"}}) {
    CUZK_TRY([[maybe_unused]] const Fr value, read_fr(*node, name));
  }
  if (poseidon_pair(proof.comm_c, first.proof_r_old.root) != claim.comm_r_old) {
    return mismatch("comm_r_old is not the hash of comm_c and the old replica's root");
  }
  if (poseidon_pair(proof.comm_c, first.proof_r_new.root) != claim.comm_r_new) {
    return mismatch("comm_r_new is not the hash of comm_c and the new replica's root");
  }
  const Fr phi = update_phi(checked_fr(claim.comm_d_new), checked_fr(claim.comm_r_old));
  const auto challenges = update_challenges(shape, claim.comm_r_new, partition);
  for (std::size_t i = 0; i < challenges.size(); ++i) {
    CUZK_TRY_STATUS(verify_challenge(claim, proof, phi, i, challenges[i]));
  }
  return verify_apex(shape, proof);
}

}  // namespace cuzk::filecoin
