// Vanilla verification of PoRep proofs. The roots of trees C and R are taken from the first proof
// and tied to comm_r; every other proof must lead to the same two roots. Challenges are checked
// side by side; of several faults the one in the earliest challenge is reported, whatever the
// threads do.
#include "filecoin/porep/verify_vanilla.h"

#include <mutex>

#include "base/check.h"
#include "base/threads.h"
#include "filecoin/identity.h"
#include "filecoin/porep/challenges.h"
#include "filecoin/vanilla/graph.h"
#include "filecoin/vanilla/label.h"

namespace cuzk::filecoin {
namespace {

// The error of one member: its path, then what is wrong with it.
base::Error mismatch(const std::string& where, const std::string& sentence) {
  return {base::ErrorKind::kMismatch, where + ": " + sentence};
}

// `meaning` says what the expected value is, so that the sentence explains itself.
base::Status expect_equal(const Node& found, const Node& expected, const std::string& where,
                          std::string_view meaning) {
  if (found == expected) return base::ok_status();
  return mismatch(where, "is " + to_hex(found) + ", expected " + to_hex(expected) + ", " +
                             std::string(meaning));
}

base::Status expect_equal(std::uint64_t found, std::uint64_t expected, const std::string& where,
                          std::string_view meaning) {
  if (found == expected) return base::ok_status();
  return mismatch(where, "is " + std::to_string(found) + ", expected " + std::to_string(expected) +
                             ", " + std::string(meaning));
}

// Before a node enters Poseidon, which takes field elements only.
base::Status expect_canonical(std::span<const Node> nodes, const std::string& where) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    CUZK_TRY([[maybe_unused]] const Fr value,
             read_fr(nodes[i], where + "[" + std::to_string(i) + "]"));
  }
  return base::ok_status();
}

// Checks the proofs of one sector. The roots of the first proof are the ones all others must have.
// Immutable: challenges are checked on any number of threads.
class Verifier {
 public:
  Verifier(const PorepClaim& claim, const PorepProof& first)
      : claim_(claim),
        graph_(claim.config.shape->node_count(), claim.config.porep_id, claim.config.api_version),
        comm_c_(first.c_x.inclusion.root),
        comm_r_last_(first.comm_r_last_proof.root),
        binary_arities_(level_arities(kBinaryTree, claim.config.shape->node_count())),
        arities_(level_arities(claim.config.shape->tree, claim.config.shape->node_count())) {}

  // That the two roots, hashed, are comm_r: binds all later paths to the public commitment.
  base::Status roots(const std::string& where) const;
  // Everything that one challenge states, cheapest checks first.
  base::Status proof(const PorepProof& proof, std::uint32_t challenge,
                     const std::string& where) const;

 private:
  // Lists of a proof that did not come through the strict reader may have any length.
  base::Status counts(const PorepProof& proof, const std::string& where) const;
  // That the rows are those of `node`, all layers of them, under the root of tree C.
  base::Status column(const ColumnProof& column, std::uint32_t node,
                      const std::string& where) const;
  // Parents and label of one layer. Columns have been checked before, so their rows can be trusted.
  base::Status labeling(const LabelingProof& found, const PorepProof& proof, std::uint32_t layer,
                        std::uint32_t challenge, const std::string& where) const;
  // That the replica leaf is the last label plus the data leaf.
  base::Status encoding(const PorepProof& proof, const std::string& where) const;

  const PorepClaim& claim_;
  Graph graph_;
  Node comm_c_, comm_r_last_;
  std::vector<std::size_t> binary_arities_, arities_;
};

base::Status Verifier::roots(const std::string& where) const {
  CUZK_TRY([[maybe_unused]] const Fr c, read_fr(comm_c_, where + ": the root of tree C"));
  CUZK_TRY([[maybe_unused]] const Fr r, read_fr(comm_r_last_, where + ": the root of tree R"));
  return expect_equal(claim_.comm_r, poseidon_pair(comm_c_, comm_r_last_), "comm_r",
                      "the hash of the roots of trees C and R in the first proof");
}

base::Status Verifier::counts(const PorepProof& proof, const std::string& where) const {
  const std::uint64_t layers = claim_.config.shape->layer_count;
  const std::string columns = where + ".replica_column_proofs";
  CUZK_TRY_STATUS(expect_equal(proof.drg_parents.size(), kBaseParentCount, columns + ".drg_parents",
                               "the number of base parents"));
  CUZK_TRY_STATUS(expect_equal(proof.exp_parents.size(), kExpansionParentCount,
                               columns + ".exp_parents", "the number of expansion parents"));
  CUZK_TRY_STATUS(expect_equal(proof.labeling_proofs.size(), layers, where + ".labeling_proofs",
                               "the number of layers"));
  return base::ok_status();
}

base::Status Verifier::column(const ColumnProof& column, std::uint32_t node,
                              const std::string& where) const {
  CUZK_TRY_STATUS(expect_equal(column.index, node, where + ".column.index", "the node to open"));
  CUZK_TRY_STATUS(expect_equal(column.rows.size(), claim_.config.shape->layer_count,
                               where + ".column.rows", "the number of layers"));
  CUZK_TRY_STATUS(expect_canonical(column.rows, where + ".column.rows"));
  CUZK_TRY_STATUS(expect_equal(column.inclusion.leaf, column_hash(column.rows),
                               where + ".inclusion_proof: the leaf", "the hash of the rows"));
  CUZK_TRY_STATUS(expect_equal(column.inclusion.root, comm_c_, where + ".inclusion_proof: the root",
                               "the root of tree C in the first proof"));
  return check_merkle_proof(column.inclusion, NodeHash::kPoseidon, arities_, node,
                            where + ".inclusion_proof");
}

base::Status Verifier::labeling(const LabelingProof& found, const PorepProof& proof,
                                std::uint32_t layer, std::uint32_t challenge,
                                const std::string& where) const {
  CUZK_TRY_STATUS(expect_equal(found.layer_index, layer, where + ".layer_index", "the layer"));
  CUZK_TRY_STATUS(expect_equal(found.node, challenge, where + ".node", "the challenge"));
  CUZK_TRY_STATUS(expect_equal(found.parents.size(), kLabelParentCount, where + ".parents",
                               "the number of repeated parents"));
  std::vector<Node> labels;
  for (unsigned i = 0; i < kParentCount; ++i) {
    const auto& rows = proof.parent(i).rows;
    CUZK_DEBUG_ASSERT(layer >= 1 && layer <= rows.size());  // column() has counted them
    if (i < kBaseParentCount) labels.push_back(rows[layer - 1]);
    if (i >= kBaseParentCount && layer > 1) labels.push_back(rows[layer - 2]);
  }
  const LabelParents expected = repeat_parents(labels);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CUZK_TRY_STATUS(expect_equal(found.parents[i], expected[i],
                                 where + ".parents[" + std::to_string(i) + "]",
                                 "the label in that parent's column"));
  }
  return expect_equal(
      proof.c_x.rows[layer - 1], label_of_parents(claim_.replica_id, layer, challenge, expected),
      where + ": the challenged node's label", "the label computed from replica_id and parents");
}

base::Status Verifier::encoding(const PorepProof& proof, const std::string& where) const {
  CUZK_TRY_STATUS(
      expect_canonical(std::span(&proof.comm_d_proof.leaf, 1), where + ".comm_d_proofs: leaf"));
  return expect_equal(
      proof.comm_r_last_proof.leaf,
      to_node(to_fr(proof.c_x.rows.back()).value() + to_fr(proof.comm_d_proof.leaf).value()),
      where + ".comm_r_last_proof: the leaf", "the last label plus the data leaf");
}

base::Status Verifier::proof(const PorepProof& proof, std::uint32_t challenge,
                             const std::string& where) const {
  // The order matters: what is indexed or hashed below was counted and seen to be canonical before.
  CUZK_TRY_STATUS(counts(proof, where));
  CUZK_TRY_STATUS(expect_equal(proof.comm_d_proof.root, claim_.comm_d,
                               where + ".comm_d_proofs: the root", "comm_d"));
  CUZK_TRY_STATUS(check_merkle_proof(proof.comm_d_proof, NodeHash::kSha256, binary_arities_,
                                     challenge, where + ".comm_d_proofs"));
  CUZK_TRY_STATUS(expect_equal(proof.comm_r_last_proof.root, comm_r_last_,
                               where + ".comm_r_last_proof: the root",
                               "the root of tree R in the first proof"));
  CUZK_TRY_STATUS(check_merkle_proof(proof.comm_r_last_proof, NodeHash::kPoseidon, arities_,
                                     challenge, where + ".comm_r_last_proof"));
  const std::string columns = where + ".replica_column_proofs";
  CUZK_TRY_STATUS(column(proof.c_x, challenge, columns + ".c_x"));
  const Parents parents = graph_.parents(challenge);
  for (unsigned i = 0; i < kParentCount; ++i) {
    const std::string place =
        i < kBaseParentCount
            ? columns + ".drg_parents[" + std::to_string(i) + "]"
            : columns + ".exp_parents[" + std::to_string(i - kBaseParentCount) + "]";
    CUZK_TRY_STATUS(column(proof.parent(i), parents[i], place));
  }
  const std::uint32_t layers = claim_.config.shape->layer_count;
  for (std::uint32_t layer = 1; layer <= layers; ++layer) {
    CUZK_TRY_STATUS(labeling(proof.labeling_proofs[layer - 1], proof, layer, challenge,
                             where + ".labeling_proofs[" + std::to_string(layer - 1) + "]"));
  }
  CUZK_TRY_STATUS(
      labeling(proof.encoding_proof, proof, layers, challenge, where + ".encoding_proof"));
  return encoding(proof, where);
}

// Remembers the error of the earliest piece of work, whichever thread finds one first: `place_`
// counts while `status_` is an error. report() from any thread; take() when all are done.
class FirstError {
 public:
  void report(std::size_t place, base::Error error) {
    const std::scoped_lock lock(mutex_);
    if (status_.ok() || place < place_) {
      place_ = place;
      status_ = std::move(error);
    }
  }
  base::Status take() { return std::move(status_); }

 private:
  std::mutex mutex_;
  std::size_t place_ = 0;
  base::Status status_ = base::ok_status();
};

}  // namespace

base::Status check_porep_claim(const PorepClaim& claim) {
  CUZK_TRY_STATUS(check_porep_config(claim.config));
  for (const auto& [name, value] :
       {std::pair{"comm_d", &claim.comm_d}, std::pair{"comm_r", &claim.comm_r},
        std::pair{"replica_id", &claim.replica_id}}) {
    CUZK_TRY([[maybe_unused]] const Fr canonical, read_fr(*value, name));
    if (is_all_zero(*value)) return mismatch(name, "is all zero");
  }
  const bool has_seed = claim.config.kind != PorepKind::kNonInteractive;
  if (has_seed && is_all_zero(claim.seed)) return mismatch("seed", "is all zero");
  return base::ok_status();
}

base::Status verify_vanilla_proofs(const PorepClaim& claim,
                                   const std::vector<PorepPartition>& partitions,
                                   const std::string& where) {
  const SectorShape& shape = *claim.config.shape;
  CUZK_TRY_STATUS(check_porep_claim(claim));
  CUZK_TRY_STATUS(expect_equal(partitions.size(), claim.config.partition_count(), where,
                               "the number of partitions"));
  const std::size_t count = shape.porep_challenges_per_partition;
  for (std::size_t k = 0; k < partitions.size(); ++k) {
    CUZK_TRY_STATUS(expect_equal(partitions[k].size(), count, where + "[" + std::to_string(k) + "]",
                                 "the number of challenges of a partition"));
  }
  const Verifier verifier(claim, partitions[0][0]);
  CUZK_TRY_STATUS(verifier.roots(where + "[0][0]"));

  const PorepChallengeSource source{claim.config.kind, claim.replica_id, claim.comm_r, claim.seed};
  std::vector<std::uint32_t> challenges;
  for (unsigned k = 0; k < partitions.size(); ++k) {
    const auto of_partition =
        porep_challenges(source, shape.node_count(), static_cast<unsigned>(count), k);
    challenges.insert(challenges.end(), of_partition.begin(), of_partition.end());
  }
  CUZK_ASSERT(challenges.size() == partitions.size() * count);
  FirstError first_error;
  base::parallel_for(0, challenges.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::string place =
          where + "[" + std::to_string(i / count) + "][" + std::to_string(i % count) + "]";
      base::Status status = verifier.proof(partitions[i / count][i % count], challenges[i], place);
      if (!status.ok()) return first_error.report(i, std::move(status).error());
    }
  });
  return first_error.take();
}

base::Status verify_c1(const PorepC1& c1, const std::optional<C1Identity>& identity) {
  const PorepConfig config = c1.config();
  if (identity) {
    const Node expected = replica_id(
        {identity->prover_id, identity->sector_number, c1.ticket, config.porep_id}, c1.comm_d);
    CUZK_TRY_STATUS(expect_equal(c1.replica_id, expected, "replica_id",
                                 "the hash of prover id, sector number, ticket, comm_d and "
                                 "registered proof"));
  }
  return verify_vanilla_proofs({config, c1.replica_id, c1.comm_d, c1.comm_r, c1.seed},
                               c1.partitions,
                               "vanilla_proofs." + c1.registered_proof.vanilla_name());
}

}  // namespace cuzk::filecoin
