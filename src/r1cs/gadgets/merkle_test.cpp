// Merkle inclusion: shapes against upstream, true openings accepted, false ones refused.
//
// A false opening differs in one thing: leaf, index, sibling or root. Shapes skip without data.
#include "r1cs/gadgets/merkle.h"

#include <gtest/gtest.h>

#include "r1cs/gadgets/test_support.h"

namespace cuzk::r1cs::gadgets {
namespace {

using namespace testing;

F native_node(PoseidonNode, const std::vector<F>& children) { return hash::poseidon(children); }
F native_node(Sha256Node, const std::vector<F>& children) {
  base::Bytes message(32 * children.size());
  for (std::size_t i = 0; i < children.size(); ++i) {
    field::store_le(children[i].to_canonical().value, &message[32 * i]);
  }
  const hash::Digest digest = hash::truncated_to_254_bits(hash::sha256(message));
  return F::from_canonical(*field::bls12_381::FrCanonical::from_bytes_le(digest.data()));
}

// A random leaf, opening and the root they give natively.
struct Sample {
  std::vector<std::size_t> arities;
  F leaf, root;
  MerkleOpening<F> opening;
};
template <class NodeHash>
Sample random_sample(NodeHash node_hash, std::vector<std::size_t> arities, std::uint64_t index,
                     std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Sample out{std::move(arities), troublesome_element(random), {}, {index, {}}};
  F node = out.leaf;
  for (const std::size_t arity : out.arities) {
    std::vector<F> children;
    for (std::size_t i = 1; i < arity; ++i) children.push_back(troublesome_element(random));
    out.opening.siblings.insert(out.opening.siblings.end(), children.begin(), children.end());
    children.insert(children.begin() + static_cast<std::ptrdiff_t>(index % arity), node);
    index /= arity;
    node = native_node(node_hash, children);
  }
  out.root = node;
  return out;
}

// Upstream's test circuit: leaf, path, packed index, then the root, public or not.
template <class NodeHash>
auto upstream_test_circuit(NodeHash node_hash, const Sample& sample, bool is_private) {
  return [=](auto& cs) {
    const auto leaf = cs.new_number(sample.leaf);
    const auto computed = compute_root(cs, node_hash, sample.arities, leaf, sample.opening);
    pack_into_inputs(cs, computed.index_bits);
    const auto root = cs.new_number(sample.root);
    enforce_equal(cs, computed.root, root);
    if (!is_private) inputize(cs, root);
  };
}

struct UpstreamCase {
  const char* name;
  std::vector<std::size_t> arities;
};

TEST(Merkle, PoseidonInclusionsHaveTheUpstreamShapes) {
  CUZK_DATA_OR_SKIP(path, "upstream/circuits.json");
  const UpstreamCase cases[] = {
      {"por_poseidon_2_leaves64", {2, 2, 2, 2, 2, 2}},
      {"por_poseidon_4_leaves64", {4, 4, 4}},
      {"por_poseidon_8_leaves64", {8, 8}},
      {"por_poseidon_8_2_leaves128", {8, 8, 2}},
      {"por_poseidon_8_4_2_leaves512", {8, 8, 4, 2}},
      {"por_poseidon_8_8_leaves512", {8, 8, 8}},
      {"por_poseidon_8_8_2_leaves1024", {8, 8, 8, 2}},
      {"por_poseidon_8_2_4_leaves512", {8, 8, 2, 4}},
  };
  for (const UpstreamCase& c : cases) {
    const Sample sample = random_sample(PoseidonNode{}, c.arities, 5, 1);
    expect_upstream(shape_of<F>(upstream_test_circuit(PoseidonNode{}, sample, false)),
                    upstream_circuit(path, std::string(c.name) + "_public"));
  }
  for (const UpstreamCase& c : {cases[0], cases[1], cases[2]}) {
    const Sample sample = random_sample(PoseidonNode{}, c.arities, 5, 1);
    expect_upstream(shape_of<F>(upstream_test_circuit(PoseidonNode{}, sample, true)),
                    upstream_circuit(path, std::string(c.name) + "_private"));
  }
}

TEST(Merkle, Sha256InclusionsHaveTheUpstreamShapes) {
  CUZK_DATA_OR_SKIP(path, "upstream/circuits.json");
  const UpstreamCase cases[] = {{"por_sha256_2_leaves64", {2, 2, 2, 2, 2, 2}},
                                {"por_sha256_4_leaves64", {4, 4, 4}},
                                {"por_sha256_8_leaves64", {8, 8}}};
  for (const UpstreamCase& c : cases) {
    const Sample sample = random_sample(Sha256Node{}, c.arities, 5, 1);
    expect_upstream(shape_of<F>(upstream_test_circuit(Sha256Node{}, sample, false)),
                    upstream_circuit(path, std::string(c.name) + "_public"));
  }
}

template <class NodeHash>
auto inclusion_circuit(NodeHash node_hash, const Sample& sample) {
  return [=](auto& cs) {
    const auto leaf = cs.new_number(sample.leaf), root = cs.new_number(sample.root);
    prove_inclusion(cs, node_hash, sample.arities, leaf, root, sample.opening);
  };
}

TEST(Merkle, AcceptsTrueOpeningsAndPublishesTheIndex) {
  for (const std::vector<std::size_t>& arities :
       {std::vector<std::size_t>{2, 2, 2}, {8, 8, 8, 2}, {8, 4}, {4, 4}}) {
    std::uint64_t leaves = 1;
    for (const std::size_t arity : arities) leaves *= arity;
    for (const std::uint64_t index : {std::uint64_t{0}, leaves / 2 + 1, leaves - 1}) {
      const Sample sample = random_sample(PoseidonNode{}, arities, index, index);
      const auto circuit = inclusion_circuit(PoseidonNode{}, sample);
      const Assignment<F> witness = assignment_of<F>(circuit);
      const auto status = check_satisfied(shape_of<F>(circuit), witness);
      ASSERT_TRUE(status.ok()) << status.error().message;
      ASSERT_EQ(witness.inputs.size(), 2u);
      EXPECT_EQ(witness.inputs[1], F::from_u64(index));
    }
  }
}

TEST(Merkle, AcceptsATrueSha256Opening) {
  const Sample sample = random_sample(Sha256Node{}, {2, 2}, 2, 4);
  const auto circuit = inclusion_circuit(Sha256Node{}, sample);
  const Shape<F> shape = shape_of<F>(circuit);
  const Assignment<F> witness = assignment_of<F>(circuit);
  const auto status = check_satisfied(shape, witness);
  ASSERT_TRUE(status.ok()) << status.error().message;
  expect_every_change_caught(shape, witness, 40);
}

TEST(Merkle, RefusesWrongLeafIndexSiblingAndRoot) {
  const Sample good = random_sample(PoseidonNode{}, {8, 8}, 19, 8);
  const auto accepted = [](const Sample& sample) {
    const auto circuit = inclusion_circuit(PoseidonNode{}, sample);
    return check_satisfied(shape_of<F>(circuit), assignment_of<F>(circuit)).ok();
  };
  ASSERT_TRUE(accepted(good));
  Sample bad = good;
  bad.leaf += F::one();
  EXPECT_FALSE(accepted(bad));
  bad = good;
  bad.root += F::one();
  EXPECT_FALSE(accepted(bad));
  bad = good;
  bad.opening.index ^= 1;
  EXPECT_FALSE(accepted(bad));
  for (std::size_t i = 0; i < good.opening.siblings.size(); ++i) {
    bad = good;
    bad.opening.siblings[i] += F::one();
    EXPECT_FALSE(accepted(bad)) << i;
  }
}

TEST(Merkle, GivenBitsAndSiblingsAreUsedWithoutPublishing) {
  const Sample sample = random_sample(PoseidonNode{}, {8, 2}, 11, 3);
  const auto circuit = [&](auto& cs) {
    using Cs = std::decay_t<decltype(cs)>;
    const auto bits = alloc_integer_bits(cs, sample.opening.index, 4);
    const auto leaf = cs.new_number(sample.leaf), root = cs.new_number(sample.root);
    const auto siblings = new_numbers(cs, sample.opening.siblings);
    prove_inclusion_at(cs, PoseidonNode{}, sample.arities, bits, leaf,
                       std::span<const typename Cs::Number>(siblings), root);
  };
  const Shape<F> shape = shape_of<F>(circuit);
  EXPECT_EQ(shape.input_count, 1u);
  const Assignment<F> witness = assignment_of<F>(circuit);
  const auto status = check_satisfied(shape, witness);
  ASSERT_TRUE(status.ok()) << status.error().message;
  expect_every_change_caught(shape, witness, 50);
}

// An empty path says that the leaf is the root: one row.
TEST(Merkle, APathWithoutLevelsIsAnEquality) {
  const auto circuit = [](auto& cs) {
    using Cs = std::decay_t<decltype(cs)>;
    const auto leaf = cs.new_number(F::from_u64(4)), root = cs.new_number(F::from_u64(4));
    prove_inclusion_at(cs, PoseidonNode{}, {}, typename Cs::BitString{}, leaf, {}, root);
  };
  const Shape<F> shape = shape_of<F>(circuit);
  EXPECT_EQ(shape.constraint_count(), 1u);
  EXPECT_TRUE(check_satisfied(shape, assignment_of<F>(circuit)).ok());
}

// facts: cost of one level, beyond the two rows and one input of the path.
TEST(Merkle, LevelsCostWhatTheTableSays) {
  const auto cost = [](auto node_hash, std::size_t arity) {
    const auto shape_with = [&](std::size_t levels) {
      Sample sample;
      sample.arities.assign(levels, arity);
      sample.opening.siblings.resize(levels * (arity - 1));
      return counts_of(shape_of<F>(inclusion_circuit(node_hash, sample)));
    };
    Counts level = shape_with(3) - shape_with(2);
    level.nnz_a -= arity == 2 ? 1 : arity == 4 ? 2 : 3;  // the index bits in the packing row
    return level;
  };
  EXPECT_EQ(cost(PoseidonNode{}, 2), (Counts{314, 315, 0, 2125, 316, 390}));
  EXPECT_EQ(cost(PoseidonNode{}, 4), (Counts{387, 390, 0, 2593, 391, 483}));
  EXPECT_EQ(cost(PoseidonNode{}, 8), (Counts{530, 537, 0, 3647, 539, 666}));
  EXPECT_EQ(cost(Sha256Node{}, 2), (Counts{45382, 45335, 0, 104176, 45412, 96873}));
}

}  // namespace
}  // namespace cuzk::r1cs::gadgets
