// The parts of Pippenger's method one by one: plan, digits, sort, sums over chunks, reduction.
#include "msm/bucket_sums.h"

#include <gtest/gtest.h>

#include "curve/samples.h"
#include "msm/msm_naive.h"

namespace cuzk::msm {
namespace {

using curve::Affine;
using curve::Jacobian;

TEST(Plan, TakesTheCheapestWindow) {
  for (const std::size_t n : {1, 10, 1000, 40000, 300000}) {
    PlanInputs inputs;
    inputs.scalar_bits = 255;
    const MultiplyPlan plan = plan_multiply(n, inputs);
    EXPECT_EQ(plan.bucket_count, std::size_t{1} << (plan.window_bits - 1));
    EXPECT_GE(plan.window_bits * plan.window_count, 256u);
    for (std::size_t c = 3; c <= 16; ++c) {
      const std::uint64_t cost = window_count(255, c) * (n + (std::uint64_t{3} << (c - 1)));
      EXPECT_LE(plan.addition_count, cost) << n << " " << c;
    }
  }
}

TEST(Plan, CutsChunksAndTasksWithinTheirLimits) {
  PlanInputs inputs;
  inputs.scalar_bits = 254;
  inputs.chunk_points_max = 1000;
  inputs.thread_count = 96;
  const MultiplyPlan plan = plan_multiply(2500, inputs);
  EXPECT_LE(plan.chunk_points, 1000u);
  EXPECT_GE(plan.chunk_points * 3, 2500u);
  EXPECT_GE(plan.slice_count, 1u);
  EXPECT_GE(plan.task_entries, 1024u);
  const MultiplyPlan large = plan_multiply(1 << 26, {.scalar_bits = 255, .thread_count = 96});
  EXPECT_LE(large.chunk_points, PlanInputs{}.chunk_points_max);
  EXPECT_GT(large.slice_count, 1u);
}

TEST(Plan, ScratchIsBoundedWhateverTheLength) {
  using G = curve::Bls12_381::G1;
  const auto bytes_for = [](std::size_t n) {
    return BucketSums<G>::byte_count(portable_point_kernel<G>(),
                                     plan_multiply(n, {.scalar_bits = 255}), 2);
  };
  EXPECT_LT(bytes_for(1000), std::size_t{8} << 20);
  EXPECT_LT(bytes_for(std::size_t{1} << 27), std::size_t{256} << 20);
}

// sum digit_w 2^(c w) == k, by Horner in the field.
TEST(Digits, RecomposeTheScalar) {
  using F = field::bls12_381::Fr;
  for (std::size_t c = 3; c <= 16; ++c) {
    const std::size_t windows = window_count(F::kBitCount, c);
    const DigitReader<4> reader(c, windows);
    for (const F& x : field::edge_elements<F>()) {
      const auto shifted = reader.shifted(x.to_canonical().value);
      F sum = F::zero();
      for (std::size_t w = windows; w > 0; --w) {
        const RawDigit raw = reader.raw_digit(shifted, w - 1);
        for (std::size_t i = 0; i < c; ++i) sum = sum.doubled();
        if (raw == reader.zero()) continue;
        ASSERT_LT(reader.bucket(raw), 1u << (c - 1));
        const F digit = F::from_u64(reader.bucket(raw) + 1u);
        sum += reader.negative(raw) ? -digit : digit;
      }
      EXPECT_EQ(sum, x) << c;
    }
  }
}

TEST(BucketSort, OrdersEveryDigitOnce) {
  MultiplyPlan plan;
  plan.window_bits = 4;
  plan.window_count = 3;
  plan.bucket_count = 8;
  plan.chunk_points = 500;
  plan.slice_count = 7;
  plan.task_entries = 64;
  BucketSort sort(plan);
  const DigitReader<4> reader(4, 3);
  field::SampleGenerator generator(4);
  for (const std::size_t n : {std::size_t{0}, std::size_t{5}, std::size_t{500}}) {
    std::size_t expected_count = 0;
    for (std::size_t w = 0; w < 3; ++w) {
      for (std::size_t i = 0; i < n; ++i) {
        const auto raw = static_cast<RawDigit>(generator.next_u64() % 16);
        sort.digits(w)[i] = raw;
        if (raw != reader.zero()) ++expected_count;
      }
    }
    sort.run(reader, n);
    ASSERT_EQ(sort.entries().size(), expected_count);
    std::vector<bool> seen(3 * 500);
    for (std::size_t key = 0; key < 24; ++key) {
      for (std::size_t e = sort.starts()[key]; e < sort.starts()[key + 1]; ++e) {
        const std::uint32_t entry = sort.entries()[e];
        const std::size_t w = key / 8, point = entry >> 1;
        const RawDigit raw = sort.digits(w)[point];
        EXPECT_EQ(reader.bucket(raw), key % 8);
        EXPECT_EQ(reader.negative(raw), (entry & 1) != 0);
        EXPECT_FALSE(seen[w * 500 + point]);
        seen[w * 500 + point] = true;
      }
    }
  }
}

template <class G>
std::vector<const PointKernel<G>*> kernels() {
  std::vector<const PointKernel<G>*> out = {&portable_point_kernel<G>()};
  if (const auto* ifma = ifma_point_kernel<G>()) out.push_back(ifma);
  return out;
}

// Small chunks and tasks, so that buckets are cut by borders and merged over chunks; some scalars
// repeat so that one bucket spans several tasks.
template <class G>
void sums_over_chunks(std::size_t n, const MultiplyPlan& plan) {
  field::SampleGenerator generator(n);
  const auto members = curve::sample_members<G>(20);
  std::vector<Affine<G>> points;
  std::vector<ScalarOf<G>> scalars;
  const auto repeated = generator.next<typename G::Scalar>().to_canonical();
  for (std::size_t i = 0; i < n; ++i) {
    points.push_back(members[generator.next_u64() % members.size()]);
    scalars.push_back(generator.next_u64() % 2 == 0
                          ? repeated
                          : generator.next<typename G::Scalar>().to_canonical());
  }
  const PointLoader<G> load = [&](std::size_t first, std::span<Affine<G>> out) {
    std::copy_n(points.begin() + std::ptrdiff_t(first), out.size(), out.begin());
  };
  const auto expected = multiply_naive<G>(points, scalars);
  for (const auto* kernel : kernels<G>()) {
    BucketSums<G> sums(*kernel, plan);
    for (std::size_t first = 0; first < n; first += plan.chunk_points) {
      const std::size_t size = std::min(plan.chunk_points, n - first);
      const auto chunk = std::span<const ScalarOf<G>>(scalars).subspan(first, size);
      ASSERT_TRUE(sums.add_chunk(load, first, chunk));
    }
    EXPECT_EQ(sums.finish(), expected) << kernel->name << " " << plan.window_bits;
  }
}

template <class G>
void sums_over_many_plans() {
  for (const std::size_t c : {3, 5, 9}) {
    MultiplyPlan plan;
    plan.window_bits = c;
    plan.window_count = window_count(G::Scalar::kBitCount, c);
    plan.bucket_count = std::size_t{1} << (c - 1);
    plan.chunk_points = 37;
    plan.slice_count = 3;
    plan.task_entries = 16;
    sums_over_chunks<G>(100, plan);
  }
}

TEST(BucketSums, MergesChunksAndCutBucketsBls12381G1) {
  sums_over_many_plans<curve::Bls12_381::G1>();
}
TEST(BucketSums, MergesChunksAndCutBucketsBn254G2) { sums_over_many_plans<curve::Bn254::G2>(); }

TEST(Reduce, WeighsEachBucketByItsDigit) {
  using G = curve::Bn254::G1;
  for (const auto* kernel : kernels<G>()) {
    for (const std::size_t count : {1, 2, 8, 64}) {
      const auto members = curve::sample_members<G>(6);
      std::vector<Affine<G>> points(count);
      auto expected = Jacobian<G>::infinity();
      for (std::size_t b = 0; b < count; ++b) {
        points[b] = members[b * b % members.size()];
        field::Limbs<1> weight;
        weight[0] = b + 1;
        expected += Jacobian<G>::from_affine(points[b]).scaled(weight);
      }
      RowBuffer rows(count * kernel->row_bytes);
      kernel->pack(points.data(), count, rows.data());
      SegmentSummer<G> summer(*kernel, count);
      const std::vector<WindowParts<G>> parts = {reduce_window(summer, rows.data(), count)};
      EXPECT_EQ(combine_windows<G>(parts, parts[0].size()), expected) << kernel->name << count;
    }
  }
}

}  // namespace
}  // namespace cuzk::msm
