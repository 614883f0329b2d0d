// SHA-256 circuits: the packed pass against the bitwise twin, both against the native hash, shapes
// against upstream.
#include "r1cs/gadgets/sha256.h"

#include <gtest/gtest.h>

#include "r1cs/gadgets/test_support.h"

namespace cuzk::r1cs::gadgets {
namespace {

using namespace testing;

using Twin = BitwiseWords<WitnessCs>;
using Packed = PackedWords<WitnessCs>;

void expect_same_aux(const WitnessCs& a, const WitnessCs& b) {
  const auto &x = a.assignment().aux, &y = b.assignment().aux;
  ASSERT_EQ(x.size(), y.size());
  ASSERT_EQ(x.scalar_mask(), y.scalar_mask());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x.bit(i), y.bit(i)) << i;
}

// A random word in both forms; `style` chooses which bits are constants and which are negated.
struct BothWords {
  Packed::Word packed;
  Twin::Word twin;
};
BothWords random_word(int style, std::mt19937_64& random) {
  BothWords out;
  for (std::size_t i = 0; i < 32; ++i) {
    WitnessBit bit{BitKind::kIs, random() % 2 == 1};
    if (style == 1) bit.kind = BitKind::kConstant;
    if (style == 2) bit.kind = BitKind::kNot;
    if (style == 3) bit.kind = static_cast<BitKind>(random() % 3);
    out.twin[i] = bit;
    out.packed.value |= std::uint32_t{bit.value()} << i;
    out.packed.constant |= std::uint32_t{bit.is_constant()} << i;
    out.packed.negated |= std::uint32_t{bit.kind == BitKind::kNot} << i;
  }
  return out;
}
void expect_same_word(const Packed::Word& packed, const Twin::Word& twin) {
  for (std::size_t i = 0; i < 32; ++i) {
    ASSERT_EQ((packed.value >> i & 1) != 0, twin[i].value()) << i;
    ASSERT_EQ((packed.constant >> i & 1) != 0, twin[i].is_constant()) << i;
    ASSERT_EQ((packed.negated >> i & 1) != 0, twin[i].kind == BitKind::kNot) << i;
  }
}

TEST(PackedWords, DoWhatTheBitwiseTwinDoesForAllKindsOfOperands) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 64 * 4; ++round) {
    const BothWords a = random_word(round % 4, random), b = random_word(round / 4 % 4, random);
    const BothWords c = random_word(round / 16 % 4, random);
    const unsigned turn = 1 + static_cast<unsigned>(random() % 31);
    WitnessCs fast_cs, slow_cs;
    Packed fast(fast_cs);
    Twin slow(slow_cs);
    expect_same_word(fast.exclusive_or(a.packed, b.packed), slow.exclusive_or(a.twin, b.twin));
    expect_same_word(fast.choice(a.packed, b.packed, c.packed),
                     slow.choice(a.twin, b.twin, c.twin));
    expect_same_word(fast.majority(a.packed, b.packed, c.packed),
                     slow.majority(a.twin, b.twin, c.twin));
    expect_same_word(fast.add({&a.packed, &b.packed}), slow.add({&a.twin, &b.twin}));
    expect_same_word(fast.add({&a.packed, &b.packed, &c.packed, &a.packed, &b.packed}),
                     slow.add({&a.twin, &b.twin, &c.twin, &a.twin, &b.twin}));
    expect_same_word(Packed::rotated_right(a.packed, turn), Twin::rotated_right(a.twin, turn));
    expect_same_word(Packed::shifted_right(a.packed, turn), Twin::shifted_right(a.twin, turn));
    fast.finish();
    slow.finish();
    expect_same_aux(fast_cs, slow_cs);
  }
}

TEST(BitwiseWords, SumsHaveTheBitsOfTheLargestSum) {
  EXPECT_EQ(sum_bit_count(2), 33u);
  EXPECT_EQ(sum_bit_count(3), 34u);
  EXPECT_EQ(sum_bit_count(4), 34u);
  EXPECT_EQ(sum_bit_count(5), 35u);
  EXPECT_EQ(sum_bit_count(8), 35u);
  EXPECT_EQ(sum_bit_count(9), 36u);
}

std::vector<bool> random_message(std::size_t bits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<bool> out(bits);
  for (std::size_t i = 0; i < bits; ++i) out[i] = random() % 2 == 1;
  return out;
}
hash::Digest native_hash(const std::vector<bool>& message) {
  base::Bytes bytes(message.size() / 8);
  for (std::size_t i = 0; i < message.size(); ++i) {
    bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | message[i] << (7 - i % 8));
  }
  return hash::sha256(bytes);
}
template <class Bits>
hash::Digest digest_bytes(const Bits& bits) {
  hash::Digest out{};
  EXPECT_EQ(bits.size(), 256u);
  for (std::size_t i = 0; i < 256; ++i) {
    out[i / 8] = static_cast<std::uint8_t>(out[i / 8] | bits[i].value() << (7 - i % 8));
  }
  return out;
}

TEST(Sha256Circuit, EqualsTheNativeHashAndItsBitwiseTwin) {
  for (const std::size_t bits : {0, 8, 256, 440, 448, 504, 512, 1024}) {
    const std::vector<bool> message = random_message(bits, bits);
    WitnessCs fast, slow;
    const auto digest = sha256(fast, new_bits(fast, message));
    const auto twin = sha256<WitnessCs, Twin>(slow, new_bits(slow, message));
    EXPECT_EQ(digest_bytes(digest), native_hash(message)) << bits;
    EXPECT_EQ(digest_bytes(twin), native_hash(message)) << bits;
    expect_same_aux(fast, slow);
  }
}

TEST(Sha256Circuit, HashesConstantAndMixedMessagesLikeTheTwin) {
  // Constants, variables and negated variables in one message; and constants only, which allocate
  // nothing at all.
  for (const bool only_constants : {false, true}) {
    const std::vector<bool> message = random_message(512, 77);
    const auto make = [&](WitnessCs& cs) {
      WitnessBits bits;
      for (std::size_t i = 0; i < message.size(); ++i) {
        const std::size_t kind = only_constants ? 0 : i / 50 % 3;
        bits.push_back(kind == 0   ? WitnessBit::constant(message[i])
                       : kind == 1 ? alloc_bit(cs, message[i])
                                   : alloc_bit(cs, !message[i]).negated());
      }
      return bits;
    };
    WitnessCs fast, slow;
    const auto digest = sha256(fast, make(fast));
    const auto twin = sha256<WitnessCs, Twin>(slow, make(slow));
    EXPECT_EQ(digest_bytes(digest), native_hash(message));
    EXPECT_EQ(digest_bytes(twin), native_hash(message));
    expect_same_aux(fast, slow);
    EXPECT_EQ(fast.assignment().aux.size() == 0, only_constants);
    EXPECT_EQ(digest[0].is_constant(), only_constants);
  }
}

// facts: "compression" rows of the SHA-256 cost table. 512 allocated bits come first.
Counts compression_cost(bool allocated_state, bool padding_block) {
  ShapeCs cs;
  ShapeBits bits = new_bits(cs, std::vector<bool>(512));
  WordState<Words<ShapeCs>> state = sha256_initial_words<Words<ShapeCs>>();
  if (allocated_state) {
    for (auto& word : state) {
      for (auto& bit : word) bit = alloc_bit(cs, false);
    }
  }
  if (padding_block) {
    bits = {};
    bits.append_constant(1, 1);
    for (int i = 0; i < 511 - 10; ++i) bits.append_constant(0, 1);
    bits.append_constant(1, 10);  // the length 512, most significant bit first
  }
  const CircuitPosition before = cs.position();
  sha256_compress_bits<Words<ShapeCs>>(cs, bits, 0, state);
  const Shape<F> shape = std::move(cs).finish();
  // Allocated bits have one row of 2, 1 and 0 terms each.
  const std::size_t bits_before = before.aux;
  return counts_of(shape) - Counts{before.rows, before.aux, 1, 2 * bits_before, bits_before, 0};
}

TEST(Sha256Circuit, CompressionsCostWhatTheTableSays) {
  EXPECT_EQ(compression_cost(false, false), (Counts{25840, 25814, 0, 59456, 25872, 56886}));
  EXPECT_EQ(compression_cost(true, false), (Counts{26192, 26166, 0, 60848, 26192, 57686}));
  EXPECT_EQ(compression_cost(true, true), (Counts{19034, 19014, 0, 43455, 19034, 39494}));
}

TEST(Sha256Circuit, TreeNodeCostsWhatTheTableSays) {
  const Shape<F> shape = shape_of<F>([](auto& cs) {
    using Cs = std::decay_t<decltype(cs)>;
    const auto numbers = new_numbers(cs, {F::zero(), F::zero()});
    sha256_numbers(cs, std::span<const typename Cs::Number>(numbers));
  });
  EXPECT_EQ(counts_of(shape) - (Counts{0, 2, 1, 0, 0, 0}),
            (Counts{45379, 45331, 0, 104170, 45409, 96869}));
}

TEST(Sha256Circuit, HasTheUpstreamShapes) {
  CUZK_DATA_OR_SKIP(path, "upstream/circuits.json");
  ShapeCs cs;
  sha256(cs, new_bits(cs, std::vector<bool>(512)));
  expect_upstream(std::move(cs).finish(),
                  upstream_circuit(path, "sha256_full_hash_512_allocated_bits"));
  ShapeCs block;
  const ShapeBits bits = new_bits(block, std::vector<bool>(512));
  sha256_compress_bits<Words<ShapeCs>>(block, bits, 0, sha256_initial_words<Words<ShapeCs>>());
  expect_upstream(
      std::move(block).finish(),
      upstream_circuit(path, "sha256_full_block_512_allocated_bits(compression only, IV const)"));
}

TEST(Sha256Circuit, WitnessSatisfiesAndTamperingIsNoticed) {
  const std::vector<bool> message = random_message(512, 5);
  const auto circuit = [&](auto& cs) {
    auto digest = sha256(cs, new_bits(cs, message));
    pack_into_inputs(cs, digest);
  };
  const Shape<F> shape = shape_of<F>(circuit);
  const Assignment<F> witness = assignment_of<F>(circuit);
  const auto status = check_satisfied(shape, witness);
  ASSERT_TRUE(status.ok()) << status.error().message;
  expect_every_change_caught(shape, witness, 60);
}

TEST(Sha256Circuit, BrokenBitIsNamedWithItsPath) {
  ShapeCs cs(ShapeCs::PathRecording::kOn);
  WitnessCs witness_cs;
  const std::vector<bool> message = random_message(512, 6);
  sha256(cs, new_bits(cs, message));
  sha256(witness_cs, new_bits(witness_cs, message));
  const Paths paths = cs.take_paths();
  const Shape<F> shape = std::move(cs).finish();
  const Assignment<F> good = std::move(witness_cs).finish();
  // The first xor of the message schedule: row 512, variable 512.
  const Assignment<F> bad = with_aux(good, 512, F::one() - good.aux.value(512));
  const auto status = check_satisfied(shape, bad, &paths);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("constraint 512 in sha256 of 45386 is broken"),
            std::string::npos)
      << status.error().message;
}

TEST(Sha256Circuit, NumbersHashLikeTreeNodes) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 6; ++round) {
    const std::vector<F> values = {troublesome_element(random), troublesome_element(random)};
    hash::Digest left, right;
    field::store_le(values[0].to_canonical().value, left.data());
    field::store_le(values[1].to_canonical().value, right.data());
    const hash::Digest expected = hash::sha256_tree_node(left, right);
    WitnessCs cs;
    const auto numbers = new_numbers(cs, values);
    const auto node = sha256_numbers(cs, std::span<const WitnessCs::Number>(numbers));
    hash::Digest found;
    field::store_le(cs.value(node).to_canonical().value, found.data());
    EXPECT_EQ(found, expected);
  }
}

TEST(Sha256Circuit, RunsOverTheOtherField) {
  using G = field::bn254::Fr;
  const auto circuit = [](auto& cs) { sha256_chain_circuit(cs, 2, G::from_u64(12345)); };
  const auto status = check_satisfied(shape_of<G>(circuit), assignment_of<G>(circuit));
  EXPECT_TRUE(status.ok()) << status.error().message;
}

}  // namespace
}  // namespace cuzk::r1cs::gadgets
