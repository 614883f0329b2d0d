// Shares of a proof: together they are all of it, once; work follows speed and memory.
#include "cuda/prove/proof_part.h"

#include <random>

#include <gtest/gtest.h>

namespace cuzk::cuda::prove {
namespace {

// A circuit of 2^log2 rows whose variables are bits but for one in `scalar_every`.
class MadeUpCircuit {
 public:
  MadeUpCircuit(unsigned log2, std::size_t inputs, std::size_t aux, std::size_t scalar_every,
                bool is_packed = true)
      : density_(aux), masks_{base::BitVector(inputs), base::BitVector(aux)} {
    std::mt19937_64 random(log2);
    for (std::size_t i = 0; i < aux; ++i) {
      if (random() % 4 == 0) density_.set(i);
      if (i % scalar_every == 0) masks_[1].set(i);
    }
    for (std::size_t i = 0; i < inputs; ++i) masks_[0].set(i);
    const auto all_inputs = SegmentLayout::of(nullptr, false, inputs);
    const auto all_aux = SegmentLayout::of(nullptr, false, aux);
    layouts_[kQueryL] = {{SegmentLayout(), all_aux}};
    layouts_[kQueryA] = {{all_inputs, all_aux}};
    layouts_[kQueryB1] = {{all_inputs, SegmentLayout::of(&density_, is_packed, aux)}};
    layouts_[kQueryB2] = layouts_[kQueryB1];
    work_.domain_log2 = log2;
    work_.h_count = (std::size_t{1} << log2) - 1;
    work_.layouts = &layouts_;
    work_.masks = {masks_[0].words(), masks_[1].words()};
    work_.point_bytes = {96, 96, 96, 96, 192};
  }
  MadeUpCircuit(const MadeUpCircuit&) = delete;

  const SharedWork& work() const { return work_; }
  SharedWork& work() { return work_; }
  const QueryLayout& layout(int query) const { return layouts_[query]; }
  std::size_t point_count(int query) const {
    return query == kQueryH ? work_.h_count : layouts_[query].point_count();
  }
  std::uint64_t bytes_of(const ProofPart& part) const {
    std::uint64_t bytes = 0;
    for (int q = 0; q < kQueryCount; ++q) {
      bytes += part.queries[q].point_count * work_.point_bytes[q];
    }
    return bytes;
  }

 private:
  base::BitVector density_;
  std::array<base::BitVector, 2> masks_;
  std::array<QueryLayout, kQueryCount> layouts_;
  SharedWork work_;
};

// The parts follow each other without gap or overlap, and cover every point of every query.
void expect_whole(const MadeUpCircuit& circuit, const std::vector<ProofPart>& parts) {
  for (int q = 0; q < kQueryCount; ++q) {
    SCOPED_TRACE(q);
    if (q == kQueryB2 && !circuit.work().b_g2_on_device) {
      for (const ProofPart& part : parts) EXPECT_FALSE(part.queries[q].is_used);
      continue;
    }
    std::size_t next_point = 0, next_word = 0;
    for (const ProofPart& part : parts) {
      const QueryPart& query = part.queries[q];
      if (!query.is_used) continue;
      EXPECT_GT(query.point_count, 0u);
      EXPECT_EQ(query.first_point, next_point);
      next_point += query.point_count;
      if (q == kQueryH) continue;
      // Words without points may lie between.
      EXPECT_EQ(circuit.layout(q).point_before(query.words.first), query.first_point);
      EXPECT_GE(query.words.first, next_word);
      EXPECT_EQ(circuit.layout(q).point_before(query.words.last), next_point);
      next_word = query.words.last;
    }
    EXPECT_EQ(next_point, circuit.point_count(q));
  }
  ASSERT_FALSE(parts.empty());
  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i].forms_quotient, i == 0);
}

unsigned sums_of(const ProofPart& part) {
  unsigned count = 0;
  for (const QueryPart& query : part.queries) count += query.is_used;
  return count;
}

TEST(ProofPart, OneDeviceHasAll) {
  const MadeUpCircuit circuit(16, 3, 50000, 50);
  const auto parts = share_proof(circuit.work(), std::vector<SharingDevice>(1));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0], whole_part(circuit.work()));
  EXPECT_TRUE(parts[0].reads_witness());
  expect_whole(circuit, parts);
}

TEST(ProofPart, PartsAreTheWholeOnceForAnyDevices) {
  std::mt19937_64 random(1);
  for (const unsigned log2 : {1u, 10u, 18u, 22u}) {
    const std::size_t aux = (std::size_t{1} << log2) * 3 / 4;
    const MadeUpCircuit circuit(log2, 1 + random() % 130, aux, 40, random() % 2 == 0);
    for (int i = 0; i < 40; ++i) {
      std::vector<SharingDevice> devices(1 + random() % 9);
      for (auto& device : devices) {
        device.speed = 1 + static_cast<double>(random() % 8);
        if (random() % 3 == 0) device.point_bytes_max = random() % (1 << 20);
      }
      expect_whole(circuit, share_proof(circuit.work(), devices, i % 2 == 0));
    }
  }
}

TEST(ProofPart, EqualCardsHalveALargeProof) {
  const MadeUpCircuit circuit(24, 2, (1 << 24) - 2, 64);  // in PoRep's proportions
  const auto parts = share_proof(circuit.work(), std::vector<SharingDevice>(2));
  expect_whole(circuit, parts);
  // The first has transforms and more than a third of H, the other the rest of H and all else.
  const double share = static_cast<double>(parts[0].queries[kQueryH].point_count) / (1 << 24);
  EXPECT_GT(share, 0.35);
  EXPECT_LT(share, 0.65);
  EXPECT_EQ(sums_of(parts[0]), 1u);
  EXPECT_EQ(sums_of(parts[1]), 5u);
}

TEST(ProofPart, WhatIsTooShortToBeWorthACutStaysWhole) {
  const MadeUpCircuit circuit(10, 2, 1000, 64);
  const auto parts = share_proof(circuit.work(), std::vector<SharingDevice>(3));
  expect_whole(circuit, parts);
  for (int q = 0; q < kQueryCount; ++q) {
    unsigned holders = 0;
    for (const ProofPart& part : parts) holders += part.queries[q].is_used;
    EXPECT_EQ(holders, 1u);
  }
  // Unless a test wants every way of a cut.
  const auto fine = share_proof(circuit.work(), std::vector<SharingDevice>(3), true);
  EXPECT_TRUE(fine[1].queries[kQueryH].is_used);
}

TEST(ProofPart, AFastCardTakesMore) {
  const MadeUpCircuit circuit(24, 2, (1 << 24) - 2, 64);
  std::vector<SharingDevice> devices(2);
  devices[0].speed = 4;
  const auto parts = share_proof(circuit.work(), devices);
  expect_whole(circuit, parts);
  EXPECT_EQ(parts[0].queries[kQueryH].point_count, circuit.work().h_count);
  const auto equal = share_proof(circuit.work(), std::vector<SharingDevice>(2));
  EXPECT_GT(circuit.bytes_of(parts[0]), circuit.bytes_of(equal[0]));
  EXPECT_LT(circuit.bytes_of(parts[1]), circuit.bytes_of(equal[1]));
}

TEST(ProofPart, OfManyCardsTheFirstMayHaveTheTransformsAlone) {
  const MadeUpCircuit circuit(24, 2, (1 << 24) - 2, 64);
  const auto parts = share_proof(circuit.work(), std::vector<SharingDevice>(12));
  expect_whole(circuit, parts);
  EXPECT_EQ(sums_of(parts[0]), 0u);
  EXPECT_FALSE(parts[1].reads_witness());  // a part of H alone
}

TEST(ProofPart, FullMemoryPassesWorkOn) {
  const MadeUpCircuit circuit(22, 2, (1 << 22) - 2, 64);
  std::vector<SharingDevice> devices(3);
  devices[0].point_bytes_max = std::uint64_t{100} << 20;
  devices[1].point_bytes_max = std::uint64_t{200} << 20;
  const auto parts = share_proof(circuit.work(), devices);
  expect_whole(circuit, parts);
  EXPECT_LE(circuit.bytes_of(parts[0]), devices[0].point_bytes_max);
  EXPECT_LE(circuit.bytes_of(parts[1]), devices[1].point_bytes_max);
}

TEST(ProofPart, TheHostsSumIsInNoPart) {
  MadeUpCircuit circuit(18, 2, 200000, 64);
  circuit.work().b_g2_on_device = false;
  expect_whole(circuit, share_proof(circuit.work(), std::vector<SharingDevice>(4), true));
  expect_whole(circuit, {whole_part(circuit.work())});
}

}  // namespace
}  // namespace cuzk::cuda::prove
