// Sums over queries against one scalar multiplication a variable, in pieces of every small size.
#include "groth16/query_sum.h"

#include <gtest/gtest.h>

#include "base/checkpoint_test_support.h"
#include "groth16/test_circuits.h"

namespace cuzk::groth16 {
namespace {

using C = curve::Bn254;
using Fr = C::Fr;
using G1 = C::G1;
using Points = std::vector<C::G1Affine>;

Points random_points(std::size_t count, testing::Random& random) {
  Points points;
  const auto g = C::G1Jacobian::from_affine(G1::generator());
  while (points.size() < count) {
    points.push_back(g.scaled(random.element<Fr>().to_canonical().value).to_affine());
  }
  return points;
}

r1cs::CompactWitness<Fr> random_witness(std::size_t size, testing::Random& random) {
  r1cs::CompactWitness<Fr> out;
  for (std::size_t i = 0; i < size; ++i) {
    if (random.next() % 3 == 0) {
      out.push_scalar(random.element<Fr>());
    } else {
      out.push_bit(random.next() & 1);
    }
  }
  return out;
}

C::G1Jacobian naive_sum(const Points& points, const std::vector<Fr>& scalars) {
  auto sum = C::G1Jacobian::infinity();
  for (std::size_t i = 0; i < points.size(); ++i) {
    sum += C::G1Jacobian::from_affine(points[i]).scaled(scalars[i].to_canonical().value);
  }
  return sum;
}

TEST(QuerySum, EqualsTheDefinitionForEveryPieceSize) {
  testing::Random random(21);
  const auto inputs = random_witness(4, random), aux = random_witness(70, random);
  const auto points = random_points(74, random);
  std::vector<Fr> values;
  for (std::size_t i = 0; i < 4; ++i) values.push_back(inputs.value(i));
  for (std::size_t i = 0; i < 70; ++i) values.push_back(aux.value(i));
  const auto expected = naive_sum(points, values);
  const msm::PointSource<G1> source{std::span<const C::G1Affine>(points)};
  const QueryWalk<Fr> walk(inputs, {}, aux, {});
  const std::size_t count = walk.scalar_count();
  ASSERT_GT(count, 3u);
  auto selected = SelectedScalars<Fr>::allocate(count, base::MemoryCategory::kPending, "test");
  ASSERT_TRUE(selected.ok());
  walk.scalars(0, selected->indices.span(), selected->values.span());
  const auto ones = walk.ones();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, count - 1, count, count + 1}) {
    EXPECT_EQ((sum_walk<G1, Fr>(source, walk, {}, "test", piece).value()), expected) << piece;
    EXPECT_EQ((sum_selected<G1, Fr>(source, ones, *selected, {}, "test", piece).value()), expected)
        << piece;
  }
  std::vector<C::FrCanonical> all;
  for (const Fr& value : values) all.push_back(value.to_canonical());
  for (const std::size_t piece : {1, 7, 73, 74, 75}) {
    EXPECT_EQ(sum_all<G1>(source, all, {}, "test", piece).value(), expected) << piece;
  }
}

TEST(QuerySum, OfNothingIsInfinity) {
  const r1cs::CompactWitness<Fr> none;
  const QueryWalk<Fr> walk(none, {}, none, {});
  EXPECT_TRUE((sum_walk<G1, Fr>({}, walk, {}, "test").value().is_infinity()));
  EXPECT_TRUE((sum_selected<G1, Fr>({}, walk.ones(), {}, {}, "test").value().is_infinity()));
  EXPECT_TRUE(sum_all<G1>({}, {}, {}, "test").value().is_infinity());
}

TEST(QuerySum, StopsBetweenPieces) {
  testing::Random random(22);
  const auto points = random_points(3, random);
  const msm::PointSource<G1> source{std::span<const C::G1Affine>(points)};
  const std::vector<C::FrCanonical> scalars(3, Fr::from_u64(5).to_canonical());
  std::stop_source stop;
  class StopAfterFirst final : public base::ProgressSink {
   public:
    explicit StopAfterFirst(std::stop_source& stop) : stop_(stop) {}
    void begin_stage(std::string_view, std::uint64_t) override {}
    void advance(std::uint64_t units) override {
      done += units;
      stop_.request_stop();
    }
    std::uint64_t done = 0;

   private:
    std::stop_source& stop_;
  } sink(stop);
  const auto sum = sum_all<G1>(source, scalars, {&sink, stop.get_token()}, "test", 1);
  ASSERT_FALSE(sum.ok());
  EXPECT_EQ(sum.error().kind, base::ErrorKind::kCancelled);
  EXPECT_EQ(sink.done, 1u);
}

// A stop inside the only piece of a query is noticed before its end.
TEST(QuerySum, StopsInsideAPiece) {
  testing::Random random(23);
  const auto points = random_points(2000, random);
  const msm::PointSource<G1> source{std::span<const C::G1Affine>(points)};
  std::vector<C::FrCanonical> scalars;
  for (std::size_t i = 0; i < points.size(); ++i) {
    scalars.push_back((-Fr::from_u64(i + 1)).to_canonical());
  }
  base::testing::CountingCheckpoint goes_on(3, -1), says_no(3, 2);
  Control control;
  control.checkpoint = &goes_on;
  const auto whole = sum_all<G1>(source, scalars, control, "test");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(*whole, sum_all<G1>(source, scalars, {}, "test").value());
  EXPECT_GT(goes_on.pass_count, 2);
  control.checkpoint = &says_no;
  const auto stopped = sum_all<G1>(source, scalars, control, "test");
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::kCancelled);
  EXPECT_EQ(stopped.error().message, "cancelled while working on test");
}

}  // namespace
}  // namespace cuzk::groth16
