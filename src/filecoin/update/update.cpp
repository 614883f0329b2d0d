// Encoding and challenges of sector updates. rho has only 2^h values, each for a run of consecutive
// leaves, so all are computed once; the replica then costs one multiplication a leaf.
#include "filecoin/update/update.h"

#include "base/check.h"
#include "base/threads.h"
#include "filecoin/circuit_values.h"
#include "hash/poseidon.h"

namespace cuzk::filecoin {
namespace {

// Identifier of the domain "generate randomness".
constexpr std::uint64_t kRandomnessDomain = 1;

}  // namespace

Fr update_randomness(const Fr& left, const Fr& right) {
  return hash::poseidon(std::array<Fr, 2>{left, right},
                        hash::poseidon_custom_tag(kRandomnessDomain));
}

Fr update_phi(const Fr& comm_d_new, const Fr& comm_r_old) {
  return update_randomness(comm_d_new, comm_r_old);
}

unsigned update_random_bit_count(const SectorShape& shape) {
  return shape.node_count_log2() - shape.update.partition_log2();
}

// A digest has as many usable bits as always fit below the group order.
unsigned update_challenges_per_digest(const SectorShape& shape) {
  return (static_cast<unsigned>(Fr::kBitCount) - 1) / update_random_bit_count(shape);
}

std::vector<std::uint64_t> update_challenges(const SectorShape& shape, const Node& comm_r_new,
                                             unsigned partition, std::size_t count) {
  CUZK_ASSERT(partition < shape.update.partition_count && count <= shape.update.challenge_count);
  const unsigned bits = update_random_bit_count(shape);
  const unsigned per_digest = update_challenges_per_digest(shape);
  CUZK_ASSERT(bits > 0 && bits <= 64 && per_digest > 0);
  // Digests are numbered through all partitions, so no two partitions share one.
  const std::uint64_t digest_count = (shape.update.challenge_count + per_digest - 1) / per_digest;
  const Fr commitment = checked_fr(comm_r_new);
  std::vector<std::uint64_t> out;
  for (std::uint64_t j = 0; out.size() < count; ++j) {
    const Fr digest = update_randomness(commitment, Fr::from_u64(partition * digest_count + j));
    const auto limbs = digest.to_canonical().value;
    for (unsigned i = 0; i < per_digest && out.size() < count; ++i) {
      out.push_back(std::uint64_t{partition} << bits | limbs.bits(std::size_t{i} * bits, bits));
    }
  }
  return out;
}

std::vector<std::uint64_t> update_challenges(const SectorShape& shape, const Node& comm_r_new,
                                             unsigned partition) {
  return update_challenges(shape, comm_r_new, partition, shape.update.challenge_count);
}

base::Result<std::vector<Fr>> update_public_inputs(const UpdateClaim& claim, unsigned partition) {
  const UpdateShape& update = claim.shape->update;
  if (partition >= update.partition_count) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "an update of a " + std::string(claim.shape->name) + " sector has " +
                           std::to_string(update.partition_count) +
                           " partitions: there is no partition " + std::to_string(partition)};
  }
  std::vector<Fr> out = {Fr::from_u64(
      partition + (std::uint64_t{update.high_bit_select()} << update.partition_log2()))};
  for (const auto& [node, name] :
       {std::pair{&claim.comm_r_old, "comm_r_old"}, std::pair{&claim.comm_d_new, "comm_d_new"},
        std::pair{&claim.comm_r_new, "comm_r_new"}}) {
    CUZK_TRY(const Fr value, read_fr(*node, name));
    out.push_back(value);
  }
  return out;
}

base::Result<UpdatedSector> update_sector(const SealedSector& sector, base::ByteSpan data) {
  const SectorShape& shape = *sector.config.shape;
  CUZK_TRY(std::vector<Node> nodes, data_nodes(shape, data));
  UpdatedSector out;
  out.shape = &shape;
  out.comm_c = sector.comm_c;
  out.root_r_old = sector.comm_r_last;
  out.comm_r_old = sector.comm_r;
  out.tree_r_old = sector.tree_r;
  out.tree_d = MerkleTree::build(NodeHash::kSha256, kBinaryTree, std::move(nodes));
  out.comm_d_new = out.tree_d.root();

  const Fr phi = update_phi(checked_fr(out.comm_d_new), checked_fr(out.comm_r_old));
  const unsigned high_bits = shape.update.high_bit_count();
  // h is the one candidate that the public selector names (update_public_inputs).
  std::vector<Fr> rho;
  for (std::uint64_t high = 0; high < std::uint64_t{1} << high_bits; ++high) {
    rho.push_back(update_randomness(phi, Fr::from_u64(high)));
  }
  // Nodes with the same high bits share one rho: so many hashes, not one a node.
  const unsigned shift = shape.node_count_log2() - high_bits;
  CUZK_ASSERT(out.tree_d.leaf_count() == sector.replica.size());
  out.replica.resize(sector.replica.size());
  base::parallel_for(0, out.replica.size(), 1024, [&](std::size_t first, std::size_t last) {
    for (std::size_t x = first; x < last; ++x) {
      out.replica[x] = to_node(checked_fr(sector.replica[x]) +
                               checked_fr(out.tree_d.level(0)[x]) * rho[x >> shift]);
    }
  });
  out.tree_r = MerkleTree::build(NodeHash::kPoseidon, shape.tree, out.replica);
  out.root_r_new = out.tree_r.root();
  out.comm_r_new = poseidon_pair(out.comm_c, out.root_r_new);
  return out;
}

}  // namespace cuzk::filecoin
