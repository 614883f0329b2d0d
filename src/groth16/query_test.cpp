// The walk over densities against the definition: a list of (place, value) made one variable at a
// time.
#include "groth16/query.h"

#include <gtest/gtest.h>

#include "groth16/test_circuits.h"

namespace cuzk::groth16 {
namespace {

using F = field::bn254::Fr;

struct Selected {
  std::size_t point_count = 0;
  std::vector<std::size_t> ones;
  std::vector<std::pair<std::uint32_t, F>> scalars;
};

void select_run(const r1cs::CompactWitness<F>& witness, QuerySegment segment, Selected& out) {
  for (std::size_t i = 0; i < witness.size(); ++i) {
    const bool is_selected = segment.density == nullptr || segment.density->get(i);
    if (is_selected && witness.is_scalar(i)) {
      out.scalars.emplace_back(out.point_count, witness.value(i));
    } else if (is_selected && witness.bit(i)) {
      out.ones.push_back(out.point_count);
    }
    if (is_selected || !segment.is_packed) ++out.point_count;
  }
}

r1cs::CompactWitness<F> random_witness(std::size_t size, unsigned scalar_share,
                                       testing::Random& random) {
  r1cs::CompactWitness<F> out;
  for (std::size_t i = 0; i < size; ++i) {
    if (random.next() % 100 < scalar_share) {
      out.push_scalar(random.element<F>());
    } else {
      out.push_bit(random.next() & 1);
    }
  }
  return out;
}

base::BitVector random_density(std::size_t size, unsigned share, testing::Random& random) {
  base::BitVector out(size);
  for (std::size_t i = 0; i < size; ++i) {
    if (random.next() % 100 < share) out.set(i);
  }
  return out;
}

void expect_equal(const QueryWalk<F>& walk, const Selected& expected) {
  ASSERT_EQ(walk.point_count(), expected.point_count);
  ASSERT_EQ(walk.scalar_count(), expected.scalars.size());
  const auto ones = walk.ones();
  ASSERT_EQ(ones.size(), expected.point_count);
  ASSERT_EQ(ones.count(), expected.ones.size());
  for (const std::size_t place : expected.ones) EXPECT_TRUE(ones.get(place));
  // In one piece and in pieces of seven.
  for (const std::size_t piece : {std::max<std::size_t>(walk.scalar_count(), 1), std::size_t{7}}) {
    for (std::size_t first = 0; first < walk.scalar_count(); first += piece) {
      const std::size_t count = std::min(piece, walk.scalar_count() - first);
      std::vector<std::uint32_t> indices(count);
      std::vector<QueryWalk<F>::Canonical> values(count);
      walk.scalars(first, indices, values);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(indices[i], expected.scalars[first + i].first);
        EXPECT_EQ(values[i], expected.scalars[first + i].second.to_canonical());
      }
    }
  }
}

TEST(QueryWalk, EqualsTheDefinitionForEveryDensityAndLayout) {
  testing::Random random(11);
  for (const std::size_t size : {0, 1, 63, 64, 65, 128, 1000}) {
    for (const unsigned scalar_share : {0, 10, 100}) {
      for (const unsigned density_share : {0, 30, 100}) {
        const auto inputs = random_witness(size % 7, 50, random);
        const auto aux = random_witness(size, scalar_share, random);
        const auto input_density = random_density(inputs.size(), density_share, random);
        const auto aux_density = random_density(size, density_share, random);
        for (const bool is_packed : {false, true}) {
          const QuerySegment some_inputs{&input_density, is_packed};
          const QuerySegment some_aux{&aux_density, is_packed};
          for (const auto& segment : {some_inputs, QuerySegment{}}) {
            Selected expected;
            select_run(inputs, segment, expected);
            select_run(aux, some_aux, expected);
            expect_equal(QueryWalk<F>(inputs, segment, aux, some_aux), expected);
          }
        }
      }
    }
  }
}

TEST(QueryWalk, CrossesItsBlocksOfWords) {
  testing::Random random(12);
  const std::size_t size = 64 * 256 * 2 + 77;
  const auto inputs = random_witness(3, 100, random);
  const auto aux = random_witness(size, 5, random);
  const auto density = random_density(size, 40, random);
  Selected expected;
  select_run(inputs, {}, expected);
  select_run(aux, {&density, true}, expected);
  const QueryWalk<F> walk(inputs, {}, aux, {&density, true});
  ASSERT_EQ(walk.scalar_count(), expected.scalars.size());
  std::vector<std::uint32_t> indices(walk.scalar_count());
  std::vector<QueryWalk<F>::Canonical> values(walk.scalar_count());
  walk.scalars(0, indices, values);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    ASSERT_EQ(indices[i], expected.scalars[i].first) << i;
    ASSERT_EQ(values[i], expected.scalars[i].second.to_canonical()) << i;
  }
  EXPECT_EQ(walk.ones().count(), expected.ones.size());
}

}  // namespace
}  // namespace cuzk::groth16
