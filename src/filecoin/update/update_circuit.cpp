// One description of the update circuit, run by both passes: a prologue of commitments, apex tree
// and challenge bits, then one block per challenge. A block refers to the prologue and to its own
// bits there, so the witness pass runs blocks side by side and joins their values in order.
#include "filecoin/update/update_circuit.h"

#include <algorithm>

#include "base/check.h"
#include "base/threads.h"
#include "filecoin/circuit_values.h"
#include "hash/poseidon.h"
#include "r1cs/builder.h"
#include "r1cs/witness_builder.h"

namespace cuzk::filecoin {
namespace {

namespace gadgets = r1cs::gadgets;

// A node as a private variable.
template <class Cs>
typename Cs::Number new_node(Cs& cs, const Node& node) {
  return cs.new_number(checked_fr(node));
}

// Poseidon of arity 2 under the Merkle tag.
template <class Cs>
typename Cs::Number hash_pair(Cs& cs, const typename Cs::Number& a, const typename Cs::Number& b) {
  const std::array<typename Cs::Number, 2> pair = {a, b};
  return gadgets::poseidon(cs, std::span<const typename Cs::Number>(pair));
}

// The same under the tag of random values: update_randomness as a circuit.
template <class Cs>
typename Cs::Number random_pair(Cs& cs, const typename Cs::Number& a,
                                const typename Cs::Number& b) {
  const std::array<typename Cs::Number, 2> pair = {a, b};
  return gadgets::poseidon(cs, std::span<const typename Cs::Number>(pair),
                           hash::poseidon_custom_tag(1));
}

// sum 2^i bit_i | 1 | number
template <class Cs>
void enforce_bits(Cs& cs, const typename Cs::BitString& bits, const typename Cs::Number& number) {
  if constexpr (Cs::kRecordsRows) {
    cs.enforce(gadgets::bits_as_linear<Fr>(bits, 0, bits.size()),
               r1cs::Linear<Fr>{{r1cs::kOne, Fr::one()}},
               r1cs::Linear<Fr>{{number.variable, Fr::one()}});
  }
}

// What every challenge of a partition refers to.
template <class Cs>
struct Prologue {
  typename Cs::BitString partition_bits, h_select_bits;
  typename Cs::Number phi, root_r_old, root_r_new;
  std::vector<typename Cs::Number> apex_leaves;
  std::vector<typename Cs::BitString> random_bits;  // of each challenge
  // The aux variables made for the first digest of random bits; the next ones follow at once.
  std::uint32_t digest_begin = 0, digest_end = 0;
};

// The rows before the challenges. One object per circuit; synthesize() once.
template <class Cs>
class PrologueCircuit {
 public:
  using Number = typename Cs::Number;
  using BitString = typename Cs::BitString;

  PrologueCircuit(Cs& cs, const SectorShape& shape, const UpdateClaim& claim,
                  const UpdatePartitionProof& proof, unsigned partition)
      : cs_(cs), shape_(shape), claim_(claim), proof_(proof), partition_(partition) {}

  Prologue<Cs> synthesize() {
    const auto scope = cs_.scope("prologue");
    const Number partition = partition_and_selector();
    const Number comm_r_old = public_node(claim_.comm_r_old);
    const Number comm_d_new = public_node(claim_.comm_d_new);
    const Number comm_r_new = public_node(claim_.comm_r_new);
    out_.phi = random_pair(cs_, comm_d_new, comm_r_old);

    const Number comm_c = new_node(cs_, proof_.comm_c);
    out_.root_r_old = new_node(cs_, proof_.challenges[0].proof_r_old.root);
    out_.root_r_new = new_node(cs_, proof_.challenges[0].proof_r_new.root);
    for (const Node& leaf : proof_.apex_leaves) out_.apex_leaves.push_back(new_node(cs_, leaf));
    const std::vector<Number> path = partition_path();
    gadgets::enforce_equal(cs_, hash_pair(cs_, comm_c, out_.root_r_old), comm_r_old);
    gadgets::enforce_equal(cs_, hash_pair(cs_, comm_c, out_.root_r_new), comm_r_new);
    apex_tree(path, comm_d_new);
    challenge_bits(partition, comm_r_new);
    CUZK_ASSERT(out_.random_bits.size() == shape_.update.challenge_count);
    return std::move(out_);
  }

 private:
  // A node as a private variable that is made public.
  Number public_node(const Node& node) {
    const Number number = new_node(cs_, node);
    gadgets::inputize(cs_, number);
    return number;
  }
  // One public number holds the partition (low bits) and the one-hot choice of h (six bits above).
  Number partition_and_selector() {
    const unsigned partition_bits = shape_.update.partition_log2();
    const std::uint64_t value =
        partition_ + (std::uint64_t{shape_.update.high_bit_select()} << partition_bits);
    const Number number = cs_.new_number(Fr::from_u64(value));
    gadgets::inputize(cs_, number);
    const BitString bits = gadgets::alloc_integer_bits(cs_, value, partition_bits + 6);
    enforce_bits(cs_, bits, number);
    out_.partition_bits = bits.slice(0, partition_bits);
    out_.h_select_bits = bits.slice(partition_bits, 6);
    return gadgets::pack_bits(cs_, out_.partition_bits);
  }
  // Siblings from the partition's apex root to the root of tree D, the same for all challenges.
  std::vector<Number> partition_path() {
    std::vector<Number> out;
    const auto& path = proof_.challenges[0].proof_d_new.path;
    CUZK_ASSERT(path.size() >= shape_.update.partition_log2());
    for (std::size_t l = path.size() - shape_.update.partition_log2(); l < path.size(); ++l) {
      out.push_back(new_node(cs_, path[l].hashes[0]));
    }
    return out;
  }
  // Tree D from the apex leaves up to the partition's root, and from there along the partition's
  // path. Hashing it once lets each challenge stop at its apex leaf.
  void apex_tree(const std::vector<Number>& path, const Number& comm_d_new) {
    const auto scope = cs_.scope("apex");
    CUZK_ASSERT(out_.apex_leaves.size() == shape_.update.apex_leaf_count);  // a power of two
    std::vector<Number> row = out_.apex_leaves;
    while (row.size() > 1) {
      std::vector<Number> above;
      for (std::size_t i = 0; i < row.size(); i += 2) {
        above.push_back(gadgets::sha256_numbers(cs_, std::span<const Number>(&row[i], 2)));
      }
      row = std::move(above);
    }
    const std::vector<std::size_t> arities(path.size(), 2);
    gadgets::prove_inclusion_at(cs_, gadgets::Sha256Node{}, arities, out_.partition_bits, row[0],
                                std::span<const Number>(path), comm_d_new);
  }
  // Random bits of all challenges: digests of comm_r_new and a counter, cut into pieces. What is
  // left of a digest after the last whole piece is not used.
  void challenge_bits(const Number& partition, const Number& comm_r_new) {
    const auto scope = cs_.scope("challenge_bits");
    const std::size_t count = shape_.update.challenge_count;
    const std::size_t per_digest = update_challenges_per_digest(shape_);
    const std::size_t random_bits = update_random_bit_count(shape_);
    const std::uint64_t digest_count = (count + per_digest - 1) / per_digest;
    if constexpr (Cs::kRecordsRows) out_.digest_begin = cs_.aux_count();
    for (std::uint64_t j = 0; j < digest_count; ++j) {
      const Number index = digest_index(partition, digest_count, j);
      const Number digest = random_pair(cs_, comm_r_new, index);
      const BitString bits = number_bits(digest);
      for (std::size_t i = 0; i < per_digest && out_.random_bits.size() < count; ++i) {
        out_.random_bits.push_back(bits.slice(i * random_bits, random_bits));
      }
      if constexpr (Cs::kRecordsRows) {
        if (j == 0) out_.digest_end = cs_.aux_count();
      }
    }
  }
  // new index;  partition * digest_count + j | 1 | index
  Number digest_index(const Number& partition, std::uint64_t digest_count, std::uint64_t j) {
    const Fr factor = Fr::from_u64(digest_count), offset = Fr::from_u64(j);
    const Number index = cs_.new_number(cs_.value(partition) * factor + offset);
    if constexpr (Cs::kRecordsRows) {
      cs_.enforce({{r1cs::kOne, offset}, {partition.variable, factor}}, {{r1cs::kOne, Fr::one()}},
                  {{index.variable, Fr::one()}});
    }
    return index;
  }
  // All bits of a number; unlike to_bits_le the row multiplies by ONE.
  BitString number_bits(const Number& number) {
    const auto limbs = Fr(cs_.value(number)).to_canonical().value;
    BitString bits;
    for (unsigned first = 0; first < Fr::kBitCount; first += 64) {
      const unsigned count = std::min<unsigned>(64, Fr::kBitCount - first);
      bits.append(gadgets::alloc_integer_bits(cs_, limbs.bits(first, count), count));
    }
    enforce_bits(cs_, bits, number);
    return bits;
  }

  Cs& cs_;
  const SectorShape& shape_;
  const UpdateClaim& claim_;
  const UpdatePartitionProof& proof_;
  unsigned partition_;
  Prologue<Cs> out_;
};

// The rows of one challenge: one object each, so that challenges may run on different threads.
template <class Cs>
class ChallengeCircuit {
 public:
  using Number = typename Cs::Number;
  using BitString = typename Cs::BitString;

  ChallengeCircuit(Cs& cs, const SectorShape& shape, const Prologue<Cs>& prologue,
                   const UpdatePartitionProof& proof, std::size_t number)
      : cs_(cs), shape_(shape), prologue_(prologue), opened_(proof.challenges[number]) {
    index_bits_ = prologue.random_bits[number];
    index_bits_.append(prologue.partition_bits);  // above the random bits
    CUZK_ASSERT(index_bits_.size() == shape.node_count_log2());
  }

  void synthesize() {
    const Number rho = random_pair(cs_, prologue_.phi, high_bits());
    const Number leaf_r_old = new_node(cs_, opened_.proof_r_old.leaf);
    const Number leaf_d_new = new_node(cs_, opened_.proof_d_new.leaf);
    const Number product = gadgets::multiply(cs_, leaf_d_new, rho);
    const Number leaf_r_new = gadgets::add(cs_, leaf_r_old, product);
    replica_path(opened_.proof_r_old, leaf_r_old, prologue_.root_r_old);
    replica_path(opened_.proof_r_new, leaf_r_new, prologue_.root_r_new);
    data_path(leaf_d_new);
  }

 private:
  // The number of the top h index bits, h chosen by the selector.
  Number high_bits() {
    std::vector<Number> chosen;
    Fr sum = Fr::zero();
    for (unsigned i = 0; i < 6; ++i) {
      const unsigned count = shape_.update.high_bit_counts[i];
      const Number candidate =
          gadgets::pack_bits(cs_, index_bits_.slice(index_bits_.size() - count, count));
      chosen.push_back(times_bit(candidate, prologue_.h_select_bits[i]));
      sum += cs_.value(chosen.back());
    }
    const Number high = cs_.new_number(sum);
    if constexpr (Cs::kRecordsRows) {
      r1cs::Linear<Fr> terms;
      for (const Number& z : chosen) terms.add(z.variable);
      cs_.enforce(terms, r1cs::Linear<Fr>{{r1cs::kOne, Fr::one()}},
                  r1cs::Linear<Fr>{{high.variable, Fr::one()}});
    }
    return high;
  }
  // new z;  number | bit | z
  Number times_bit(const Number& number, const typename Cs::Bit& bit) {
    const Number z = cs_.new_number(bit.value() ? Fr(cs_.value(number)) : Fr::zero());
    if constexpr (Cs::kRecordsRows) {
      cs_.enforce(r1cs::Linear<Fr>{{number.variable, Fr::one()}}, gadgets::linear<Fr>(bit),
                  r1cs::Linear<Fr>{{z.variable, Fr::one()}});
    }
    return z;
  }
  // All siblings of a path as new variables, leaf side first.
  std::vector<Number> siblings_of(std::span<const PathElement> path) {
    std::vector<Number> out;
    for (const PathElement& element : path) {
      for (const Node& hash : element.hashes) out.push_back(new_node(cs_, hash));
    }
    return out;
  }
  // Siblings are allocated before the walk, unlike in the PoRep circuit, where levels interleave.
  void replica_path(const MerkleProof& proof, const Number& leaf, const Number& root) {
    const std::vector<Number> siblings = siblings_of(proof.path);
    gadgets::prove_inclusion_at(cs_, gadgets::PoseidonNode{},
                                level_arities(shape_.tree, shape_.node_count()), index_bits_, leaf,
                                std::span<const Number>(siblings), root);
  }
  // The data leaf up to its apex leaf, which the index bits above the path select.
  void data_path(const Number& leaf) {
    const std::size_t apex_bits = shape_.update.apex_log2();
    const std::size_t height = index_bits_.size() - shape_.update.partition_log2() - apex_bits;
    const Number apex = gadgets::select(cs_, std::span<const Number>(prologue_.apex_leaves),
                                        index_bits_.slice(height, apex_bits));
    const std::vector<Number> siblings =
        siblings_of(std::span(opened_.proof_d_new.path).first(height));
    gadgets::prove_inclusion_at(cs_, gadgets::Sha256Node{}, std::vector<std::size_t>(height, 2),
                                index_bits_.slice(0, height), leaf,
                                std::span<const Number>(siblings), apex);
  }

  Cs& cs_;
  const SectorShape& shape_;
  const Prologue<Cs>& prologue_;
  const UpdateChallengeProof& opened_;
  BitString index_bits_;
};

// A proof with the circuit's lengths and zeros for values: all that the shape pass looks at.
UpdatePartitionProof blank_proof(const SectorShape& shape) {
  const auto replica = blank_merkle_proof(level_arities(shape.tree, shape.node_count()));
  const auto data = blank_merkle_proof(level_arities(kBinaryTree, shape.node_count()));
  UpdatePartitionProof out;
  out.apex_leaves.resize(shape.update.apex_leaf_count);
  out.challenges.assign(shape.update.challenge_count, {replica, data, replica});
  return out;
}

}  // namespace

r1cs::Shape<Fr> update_circuit_shape(const UpdateCircuit& circuit, r1cs::Paths* paths) {
  using Builder = r1cs::ShapeBuilder<Fr>;
  Builder cs(paths != nullptr ? Builder::PathRecording::kOn : Builder::PathRecording::kOff);
  const SectorShape& shape = *circuit.shape;
  const UpdatePartitionProof blank = blank_proof(shape);
  const UpdateClaim no_claim{&shape};
  const auto prologue = PrologueCircuit<Builder>(cs, shape, no_claim, blank, 0).synthesize();
  const auto record = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const auto scope = cs.scope("challenge", i);
      ChallengeCircuit<Builder>(cs, shape, prologue, blank, i).synthesize();
    }
  };
  // Challenges whose bits come from one digest are the block that repeats, with the next digest's.
  const std::size_t count = blank.challenges.size();
  const std::size_t period = std::min<std::size_t>(update_challenges_per_digest(shape), count);
  const r1cs::CircuitPosition start = cs.position();
  record(0, period);
  const std::uint32_t step = prologue.digest_end - prologue.digest_begin;
  cs.repeat_since(start, count / period - 1, {prologue.digest_begin, prologue.digest_end, step},
                  period);
  record(count / period * period, count);
  if (paths != nullptr) *paths = cs.take_paths();
  return std::move(cs).finish();
}

r1cs::Assignment<Fr> update_circuit_assignment(const UpdateCircuit& circuit,
                                               const UpdateClaim& claim,
                                               const UpdatePartitionProof& proof,
                                               unsigned partition) {
  using Builder = r1cs::WitnessBuilder<Fr>;
  const SectorShape& shape = *circuit.shape;
  CUZK_ASSERT(partition < shape.update.partition_count);
  CUZK_ASSERT(proof.challenges.size() == shape.update.challenge_count);
  Builder cs;
  const auto prologue = PrologueCircuit<Builder>(cs, shape, claim, proof, partition).synthesize();
  std::vector<Builder> parts(proof.challenges.size());
  base::parallel_for(0, parts.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      ChallengeCircuit<Builder>(parts[i], shape, prologue, proof, i).synthesize();
    }
  });
  for (Builder& part : parts) {
    cs.append(part);
    part = Builder();  // its values are in cs now
  }
  return std::move(cs).finish();
}

}  // namespace cuzk::filecoin
