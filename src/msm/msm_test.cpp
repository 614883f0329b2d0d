// Every operation of msm.h against the obvious sums, with trouble on purpose.
#include "msm/msm.h"

#include <algorithm>
#include <ctime>
#include <random>

#include <gtest/gtest.h>

#include "base/checkpoint_test_support.h"
#include "base/cpu.h"
#include "base/threads.h"
#include "msm/kernels/point_kernel.h"
#include "msm/msm_naive.h"

namespace cuzk::msm {
namespace {

using curve::Affine;
using curve::Jacobian;

// A group and the CPU level that its operations run on.
template <class Group, base::CpuLevel Level>
struct Case {
  using G = Group;
  static constexpr base::CpuLevel kLevel = Level;
};

template <class C>
class MsmTest : public ::testing::Test {
 protected:
  using G = typename C::G;

  void SetUp() override {
    if (base::machine_cpu_level() < C::kLevel) GTEST_SKIP() << to_string(C::kLevel);
    base::force_cpu_level(C::kLevel);
  }
  void TearDown() override { base::force_cpu_level(before_); }
  using Scalar = field::Canonical<typename G::Scalar::Params>;

  // Distinct points: small multiples of the generator, stepped by addition.
  static std::vector<Affine<G>> some_points(std::size_t count, std::uint64_t seed) {
    const auto base = Jacobian<G>::from_affine(G::generator());
    field::Limbs<1> start;
    start[0] = seed | 1;
    const Jacobian<G> step = base.scaled(start);
    std::vector<Jacobian<G>> points;
    for (Jacobian<G> p = step + base; points.size() < count; p += step) points.push_back(p);
    std::vector<Affine<G>> out(count);
    to_affine<G>(points, out);
    return out;
  }
  static Scalar random_scalar(std::mt19937_64& rng) {
    Scalar out;
    for (std::size_t i = 0; i < Scalar::kLimbCount; ++i) out.value[i] = rng();
    out.value[Scalar::kLimbCount - 1] >>= 256 - G::Scalar::kBitCount + 1;
    return out;
  }
  static Scalar minus_one() { return {G::Scalar::Constants::modulus_minus(1)}; }
  static Scalar small(std::uint64_t k) {
    Scalar out;
    out.value[0] = k;
    return out;
  }
  static std::vector<Scalar> some_scalars(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    std::vector<Scalar> out;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t kind = rng() % 8;
      out.push_back(kind == 0   ? small(0)
                    : kind == 1 ? small(1)
                    : kind == 2 ? minus_one()
                    : kind == 3 ? small(rng() % 65537)
                                : random_scalar(rng));
    }
    return out;
  }
  static Jacobian<G> multiply_all(const std::vector<Affine<G>>& points,
                                  const std::vector<Scalar>& scalars) {
    return multiply<G>(PointSource<G>(points), scalars);
  }

 private:
  const base::CpuLevel before_ = base::cpu_level();
};
using base::CpuLevel;
using Cases = ::testing::Types<
    Case<curve::Bls12_381::G1, CpuLevel::kPortable>, Case<curve::Bls12_381::G1, CpuLevel::kIfma>,
    Case<curve::Bls12_381::G2, CpuLevel::kPortable>, Case<curve::Bls12_381::G2, CpuLevel::kIfma>,
    Case<curve::Bn254::G1, CpuLevel::kPortable>, Case<curve::Bn254::G1, CpuLevel::kIfma>,
    Case<curve::Bn254::G2, CpuLevel::kPortable>, Case<curve::Bn254::G2, CpuLevel::kIfma>>;
TYPED_TEST_SUITE(MsmTest, Cases);

TYPED_TEST(MsmTest, RunsTheKernelOfItsLevel) {
  using G = typename TypeParam::G;
  const std::string expected(TypeParam::kLevel == CpuLevel::kIfma ? "ifma" : "portable");
  EXPECT_EQ(point_kernel<G>().name, expected);
}

TYPED_TEST(MsmTest, EqualsTheNaiveSumAtManyLengths) {
  using G = typename TypeParam::G;
  for (const std::size_t n : {0, 1, 2, 3, 7, 8, 9, 31, 64, 65, 257}) {
    const auto points = this->some_points(n, 7 + n);
    const auto scalars = this->some_scalars(n, n);
    EXPECT_EQ(this->multiply_all(points, scalars), multiply_naive<G>(points, scalars)) << n;
  }
}

TYPED_TEST(MsmTest, IsCompleteForEqualOppositeAndInfiniteBases) {
  using G = typename TypeParam::G;
  std::mt19937_64 rng(3);
  auto points = this->some_points(4, 11);
  std::vector<Affine<G>> bases;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto& p = points[rng() % 4];
    const std::uint64_t kind = rng() % 4;
    bases.push_back(kind == 0 ? Affine<G>::infinity() : kind == 1 ? -p : p);
  }
  const auto scalars = this->some_scalars(200, 4);
  EXPECT_EQ(this->multiply_all(bases, scalars), multiply_naive<G>(bases, scalars));
}

TYPED_TEST(MsmTest, PileUpsAreRight) {
  using G = typename TypeParam::G;
  const std::size_t n = 3000;
  const auto points = this->some_points(n, 5);
  Jacobian<G> sum = Jacobian<G>::infinity();
  for (const auto& p : points) sum += p;
  EXPECT_TRUE(this->multiply_all(points, {n, this->small(0)}).is_infinity());
  EXPECT_EQ(this->multiply_all(points, {n, this->small(1)}), sum);
  EXPECT_EQ(this->multiply_all(points, {n, this->minus_one()}), -sum);
  const std::vector<Affine<G>> equal(n, points[0]);
  EXPECT_EQ(this->multiply_all(equal, {n, this->small(1)}),
            Jacobian<G>::from_affine(points[0]).scaled(this->small(n).value));
}

TYPED_TEST(MsmTest, IndexedPicksItsBases) {
  using G = typename TypeParam::G;
  const auto points = this->some_points(50, 9);
  const std::vector<std::uint32_t> indices = {49, 0, 7, 7, 3};
  const auto scalars = this->some_scalars(5, 8);
  std::vector<Affine<G>> picked;
  for (const auto i : indices) picked.push_back(points[i]);
  EXPECT_EQ(multiply_indexed<G>(PointSource<G>(points), indices, scalars),
            multiply_naive<G>(picked, scalars));
}

TYPED_TEST(MsmTest, BitmapSumsItsBases) {
  using G = typename TypeParam::G;
  for (const std::size_t n : {0, 1, 63, 64, 65, 5000}) {
    auto points = this->some_points(n, 13);
    if (n > 40) {
      points[3] = points[2];
      points[5] = -points[4];
      points[6] = Affine<G>::infinity();
    }
    std::mt19937_64 rng(n);
    std::vector<std::uint64_t> bitmap((n + 63) / 64);
    Jacobian<G> expected = Jacobian<G>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      if (rng() % 3 == 0 && i > 8) continue;
      bitmap[i / 64] |= std::uint64_t{1} << (i % 64);
      expected += points[i];
    }
    EXPECT_EQ(sum_by_bitmap<G>(PointSource<G>(points), bitmap), expected) << n;
  }
}

TYPED_TEST(MsmTest, FixedBaseEqualsScaling) {
  using G = typename TypeParam::G;
  const auto base = this->some_points(1, 77)[0];
  for (const std::size_t n : {1, 5, 300}) {
    const FixedBase<G> table(base, n);
    auto scalars = this->some_scalars(n, n);
    if (n > 3) {
      scalars[0] = this->small(0);
      scalars[1] = this->small(1);
      scalars[2] = this->minus_one();
    }
    std::vector<Affine<G>> out(n);
    table.multiply(scalars, out);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(out[i], Jacobian<G>::from_affine(base).scaled(scalars[i].value).to_affine()) << i;
    }
  }
}

TYPED_TEST(MsmTest, FixedBaseOfInfinityIsInfinity) {
  using G = typename TypeParam::G;
  const FixedBase<G> table(Affine<G>::infinity(), 10);
  const auto scalars = this->some_scalars(10, 1);
  std::vector<Affine<G>> out(10, G::generator());
  table.multiply(scalars, out);
  for (const auto& p : out) EXPECT_TRUE(p.is_infinity());
}

TYPED_TEST(MsmTest, ToAffineKeepsInfinity) {
  using G = typename TypeParam::G;
  const auto base = Jacobian<G>::from_affine(G::generator());
  const std::vector<Jacobian<G>> points = {base, Jacobian<G>::infinity(), base.doubled()};
  std::vector<Affine<G>> out(3);
  to_affine<G>(points, out);
  EXPECT_EQ(out[0], G::generator());
  EXPECT_TRUE(out[1].is_infinity());
  EXPECT_EQ(out[2], base.doubled().to_affine());
}

TYPED_TEST(MsmTest, SameSumForAnyThreadCount) {
  using G = typename TypeParam::G;
  const auto points = this->some_points(700, 21);
  const auto scalars = this->some_scalars(700, 22);
  const auto expected = multiply_naive<G>(points, scalars);
  for (const std::size_t threads : {1, 2, 7}) {
    base::set_thread_count(threads);
    EXPECT_EQ(this->multiply_all(points, scalars), expected) << threads;
  }
  base::set_thread_count(0);
}

// A budget of `bytes` above what is held, for as long as it lives.
class SmallBudget {
 public:
  explicit SmallBudget(std::uint64_t bytes) {
    auto& ledger = base::Ledger::process();
    ledger.set_budget(ledger.snapshot().total.used_bytes + bytes);
  }
  ~SmallBudget() { base::Ledger::process().set_budget(0); }
};

template <class Body>
std::uint64_t scratch_peak_bytes(const Body& body) {
  auto& ledger = base::Ledger::process();
  const std::uint64_t before = ledger.snapshot().of(kScratchCategory).used_bytes;
  ledger.reset_peaks();
  body();
  return ledger.snapshot().of(kScratchCategory).peak_bytes - before;
}

// What the ledger sees is most of what the formulas promise, and never more; when it is over,
// nothing is held.
TYPED_TEST(MsmTest, TakesWhatItsFormulaSaysAndGivesItBack) {
  using G = typename TypeParam::G;
  for (const std::size_t n : {20000, 70000}) {
    const std::vector<Affine<G>> points(n, G::generator());
    std::vector<field::Canonical<typename G::Scalar::Params>> scalars(n);
    for (std::size_t i = 0; i < n; ++i) scalars[i].value[0] = i;
    const PointSource<G> source{std::span<const Affine<G>>(points)};
    const std::uint64_t multiply_peak =
        scratch_peak_bytes([&] { (void)multiply<G>(source, std::span(std::as_const(scalars))); });
    EXPECT_LE(multiply_peak, multiply_scratch_bytes<G>(n));
    EXPECT_GT(multiply_peak, multiply_scratch_bytes<G>(n) / 4);
    const std::vector<std::uint64_t> bitmap(n / 64);
    const std::uint64_t bitmap_peak =
        scratch_peak_bytes([&] { (void)sum_by_bitmap<G>(source.subset(0, n / 64 * 64), bitmap); });
    EXPECT_LE(bitmap_peak, bitmap_scratch_bytes<G>(n));
    EXPECT_GT(bitmap_peak, 0u);
  }
  EXPECT_EQ(base::Ledger::process().snapshot().of(kScratchCategory).used_bytes, 0u);
}

// Refused at any place, the operation ends with the ledger's sentence and holds nothing.
TYPED_TEST(MsmTest, RefusedMemoryIsThrownAndLeavesNothingBehind) {
  using G = typename TypeParam::G;
  const std::size_t n = 4096;
  const std::vector<Affine<G>> points(n, G::generator());
  const std::vector<field::Canonical<typename G::Scalar::Params>> scalars(n);
  const PointSource<G> source{std::span<const Affine<G>>(points)};
  const std::uint64_t whole = multiply_scratch_bytes<G>(n);
  std::size_t refused_count = 0;
  for (std::uint64_t bytes = 4096; bytes < whole; bytes += whole / 8) {
    const SmallBudget budget(bytes);
    try {
      EXPECT_TRUE(multiply<G>(source, std::span(scalars)).is_infinity());
    } catch (const base::OutOfMemory& refused) {
      ++refused_count;
      EXPECT_EQ(refused.error().kind, base::ErrorKind::kResourceExhausted);
      EXPECT_NE(refused.error().message.find(kScratchOwner), std::string::npos);
    }
    EXPECT_EQ(base::Ledger::process().snapshot().of(kScratchCategory).used_bytes, 0u);
  }
  EXPECT_GE(refused_count, 2u);
  const SmallBudget budget(whole);
  EXPECT_NO_THROW((void)multiply<G>(source, std::span(scalars)));
  const SmallBudget none(4096);
  EXPECT_THROW((FixedBase<G>(G::generator(), 100000)), base::OutOfMemory);
  const std::vector<std::uint64_t> bitmap(n / 64, ~std::uint64_t{0});
  EXPECT_THROW((void)sum_by_bitmap<G>(source, bitmap), base::OutOfMemory);
}

// Set aside at many borders and taken up again, the sums are the same; and a border comes with each
// task of at most 16384 digits, so that a stop is noticed soon.
TYPED_TEST(MsmTest, IsTheSameHoweverOftenItIsSetAside) {
  using G = typename TypeParam::G;
  const std::size_t n = 3000;
  const auto points = this->some_points(n, 5);
  const auto scalars = this->some_scalars(n, 6);
  const PointSource<G> source(points);
  const auto expected = multiply<G>(source, std::span(scalars));
  std::vector<std::uint32_t> indices(n);
  for (std::uint32_t i = 0; i < n; ++i) indices[i] = i;
  std::vector<std::uint64_t> bitmap(n / 64 + 1, 0x5555'5555'5555'5555u);
  bitmap.back() &= (std::uint64_t{1} << n % 64) - 1;
  const auto bit_sum = sum_by_bitmap<G>(source, bitmap);
  for (const int every : {2, 5}) {
    base::testing::CountingCheckpoint checkpoint(every, -1);
    EXPECT_EQ((multiply<G>(source, std::span(scalars), &checkpoint)), expected);
    EXPECT_EQ((multiply_indexed<G>(source, indices, scalars, &checkpoint)), expected);
    EXPECT_EQ((sum_by_bitmap<G>(source, bitmap, &checkpoint)), bit_sum);
    EXPECT_GT(checkpoint.pass_count, 3);
  }
  base::testing::CountingCheckpoint idle(1 << 30, -1);
  EXPECT_EQ((multiply<G>(source, std::span(scalars), &idle)), expected);
  EXPECT_EQ(idle.pass_count, 0);
  EXPECT_GE(idle.asked_count(), int(n * 256 / 16 / 16384));
}

TYPED_TEST(MsmTest, StopsAtTheBorderWhereTheCheckpointSaysNo) {
  using G = typename TypeParam::G;
  const std::size_t n = 3000;
  const auto points = this->some_points(n, 7);
  const auto scalars = this->some_scalars(n, 8);
  const PointSource<G> source(points);
  std::vector<std::uint64_t> bitmap(n / 64 + 1, ~std::uint64_t{0});
  bitmap.back() = 0;
  for (const int stop_at : {1, 2, 4}) {
    base::testing::CountingCheckpoint checkpoint(2, stop_at);
    EXPECT_TRUE((multiply<G>(source, std::span(scalars), &checkpoint).is_infinity()));
    EXPECT_EQ(checkpoint.pass_count, stop_at);
    EXPECT_TRUE((sum_by_bitmap<G>(source, bitmap, &checkpoint).is_infinity()));
  }
  EXPECT_EQ(base::Ledger::process().snapshot().of(base::MemoryCategory::kMsmScratch).used_bytes,
            0u);
}

// Best of three, in processor time, so that a busy machine does not decide.
template <class Body>
double best_seconds(const Body& body) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    body();
    best = std::min(best, double(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

// Witnesses of zeros, of ones, of one repeated value, and equal bases: at most twice the time of
// random ones.
TEST(MsmTime, PileUpsCostNoMoreThanTwiceARandomInput) {
  base::set_thread_count(1);  // waiting threads would count as work
  using G = curve::Bn254::G1;
  using Scalar = field::Canonical<G::Scalar::Params>;
  const std::size_t n = 1 << 14;
  std::mt19937_64 rng(1);
  std::vector<Scalar> random(n);
  for (auto& scalar : random) {
    for (std::size_t i = 0; i < 4; ++i) scalar.value[i] = rng();
    scalar.value[3] >>= 3;
  }
  std::vector<Affine<G>> points(n);
  FixedBase<G>(G::generator(), n).multiply(random, points);
  const auto seconds = [&](const std::vector<Affine<G>>& bases,
                           const std::vector<Scalar>& scalars) {
    return best_seconds([&] { (void)multiply<G>(PointSource<G>(bases), scalars); });
  };
  const double usual = seconds(points, random);
  Scalar one, minus_one{G::Scalar::Constants::modulus_minus(1)};
  one.value[0] = 1;
  EXPECT_LE(seconds(points, std::vector<Scalar>(n)), 2 * usual);
  EXPECT_LE(seconds(points, std::vector<Scalar>(n, one)), 2 * usual);
  EXPECT_LE(seconds(points, std::vector<Scalar>(n, minus_one)), 2 * usual);
  EXPECT_LE(seconds(points, std::vector<Scalar>(n, random[0])), 2 * usual);
  EXPECT_LE(seconds(std::vector<Affine<G>>(n, points[0]), random), 2 * usual);
  EXPECT_LE(seconds(std::vector<Affine<G>>(n), random), 2 * usual);
  base::set_thread_count(0);
}

}  // namespace
}  // namespace cuzk::msm
