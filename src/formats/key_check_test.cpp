// Points of key files: each level of checking, in both layouts.
#include "formats/key_check.h"

#include <gtest/gtest.h>

#include "curve/encoding.h"
#include "field/square_root.h"
#include "formats/test_support.h"

namespace cuzk::formats {
namespace {

using base::Bytes;
using base::ErrorKind;
using msm::PointLayout;
using testing::accepted;
using testing::refused;
using Bls = curve::Bls12_381;
using Bn = curve::Bn254;

// A point of the curve outside the subgroup (all but one in the cofactor are): the first x that
// fits.
template <class G>
curve::Affine<G> stray_point() {
  using Field = typename G::Field;
  Field x = Field::one();
  for (;; x += Field::one()) {
    const auto y = field::square_root(x.squared() * x + G::b());
    if (y) return {x, *y};
  }
}

template <class P>
Bytes native(const P& point) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&point);
  return Bytes(begin, begin + sizeof point);
}

template <class P>
Bytes encoded(const P& point) {
  Bytes out(sizeof point);
  curve::encode_uncompressed(point, out);
  return out;
}

template <class G>
auto read(const Bytes& bytes, PointLayout layout, KeyCheck check,
          Infinity infinity = Infinity::kAccepted) {
  return read_point<G>(bytes.data(), layout, check, infinity, "key: point");
}

template <class G>
void expect_levels(const Bytes& good, const Bytes& off_curve, const Bytes& stray,
                   PointLayout layout) {
  for (const KeyCheck check :
       {KeyCheck::kNone, KeyCheck::kCanonical, KeyCheck::kOnCurve, KeyCheck::kSubgroup}) {
    const auto point = read<G>(good, layout, check);
    ASSERT_TRUE(accepted(point));
    EXPECT_EQ(*point, G::generator());
    EXPECT_EQ(read<G>(off_curve, layout, check).ok(), check < KeyCheck::kOnCurve);
    EXPECT_EQ(read<G>(stray, layout, check).ok(), check < KeyCheck::kSubgroup);
  }
}

TEST(KeyCheck, LevelsOfTheEncodedLayout) {
  auto g1 = encoded(Bls::G1::generator());
  g1[95] ^= 1;
  expect_levels<Bls::G1>(encoded(Bls::G1::generator()), g1, encoded(stray_point<Bls::G1>()),
                         PointLayout::kZcashUncompressed);
  auto g2 = encoded(Bls::G2::generator());
  g2[191] ^= 1;
  expect_levels<Bls::G2>(encoded(Bls::G2::generator()), g2, encoded(stray_point<Bls::G2>()),
                         PointLayout::kZcashUncompressed);
}

TEST(KeyCheck, LevelsOfTheNativeLayout) {
  auto g1 = Bls::G1::generator();
  g1.y += Bls::Fp::one();
  expect_levels<Bls::G1>(native(Bls::G1::generator()), native(g1), native(stray_point<Bls::G1>()),
                         PointLayout::kNative);
  auto g2 = Bn::G2::generator();
  g2.y += Bn::Fp2::one();
  expect_levels<Bn::G2>(native(Bn::G2::generator()), native(g2), native(stray_point<Bn::G2>()),
                        PointLayout::kNative);
}

TEST(KeyCheck, NativeCoordinatesMustBeBelowThePrime) {
  for (std::size_t coordinate = 0; coordinate < 4; ++coordinate) {
    Bytes bytes = native(Bn::G2::generator());
    field::store_le(Bn::Fp::Params::kModulus, bytes.data() + 32 * coordinate);
    EXPECT_TRUE(refused(read<Bn::G2>(bytes, PointLayout::kNative, KeyCheck::kNone),
                        ErrorKind::kMalformed, {"key: point", "not below the field's modulus"}));
  }
}

TEST(KeyCheck, InfinityIsTheCallersChoice) {
  const Bytes native_zero = native(Bn::G1Affine::infinity());
  EXPECT_TRUE(accepted(read<Bn::G1>(native_zero, PointLayout::kNative, KeyCheck::kSubgroup)));
  EXPECT_TRUE(
      refused(read<Bn::G1>(native_zero, PointLayout::kNative, KeyCheck::kNone, Infinity::kRefused),
              ErrorKind::kMalformed, {"infinity"}));
  const Bytes flagged = encoded(Bls::G1Affine::infinity());
  EXPECT_TRUE(
      accepted(read<Bls::G1>(flagged, PointLayout::kZcashUncompressed, KeyCheck::kSubgroup)));
  EXPECT_FALSE(read<Bls::G1>(flagged, PointLayout::kZcashUncompressed, KeyCheck::kSubgroup,
                             Infinity::kRefused)
                   .ok());
}

TEST(KeyCheck, ScansNameTheFirstBadPoint) {
  std::vector<Bn::G1Affine> points(5000, Bn::G1::generator());
  const msm::PointSource<Bn::G1> source{std::span<const Bn::G1Affine>(points)};
  const auto check = [&](KeyCheck level) {
    return check_points(source, level, Infinity::kRefused, "key: section A", nullptr);
  };
  EXPECT_TRUE(accepted(check(KeyCheck::kSubgroup)));
  for (const std::size_t at : {4999u, 3210u, 1234u, 0u}) {
    points[at].x += Bn::Fp::one();
    EXPECT_TRUE(refused(check(KeyCheck::kOnCurve), ErrorKind::kMalformed,
                        {"key: section A: point " + std::to_string(at) + " of 5000"}));
  }
  EXPECT_TRUE(accepted(check(KeyCheck::kCanonical)));
  points[77] = Bn::G1Affine::infinity();
  EXPECT_TRUE(
      refused(check(KeyCheck::kCanonical), ErrorKind::kMalformed, {"point 77", "infinity"}));
  EXPECT_TRUE(accepted(check(KeyCheck::kNone)));
  EXPECT_TRUE(accepted(check_points(msm::PointSource<Bn::G1>(), KeyCheck::kSubgroup,
                                    Infinity::kRefused, "empty", nullptr)));
}

// Puts a point right as soon as the scan has seen it, as a writer of the mapped file could.
class HealingSink final : public base::ProgressSink {
 public:
  explicit HealingSink(Bn::G1Affine& point) : point_(point) {}
  void begin_stage(std::string_view, std::uint64_t) override {}
  void advance(std::uint64_t) override { point_ = Bn::G1::generator(); }

 private:
  Bn::G1Affine& point_;
};

TEST(KeyCheck, APointThatChangesDuringTheCheckIsRefusedAllTheSame) {
  std::vector<Bn::G1Affine> points(10, Bn::G1::generator());
  points[3].x += Bn::Fp::one();
  HealingSink sink(points[3]);
  EXPECT_TRUE(refused(check_points(msm::PointSource<Bn::G1>{std::span<const Bn::G1Affine>(points)},
                                   KeyCheck::kOnCurve, Infinity::kRefused, "key: section A", &sink),
                      ErrorKind::kIo, {"key: section A: point 3 of 10", "changed"}));
}

}  // namespace
}  // namespace cuzk::formats
