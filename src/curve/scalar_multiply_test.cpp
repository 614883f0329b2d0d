// Windowed and split multiples against double-and-add.
//
// Scalars sit at the borders of windows and of the split: 0, 1, r - 1, powers of the eigenvalues.
// Points outside the subgroup are included, where splitting by an endomorphism would be wrong.
#include "curve/scalar_multiply.h"

#include <gtest/gtest.h>

#include "curve/samples.h"

namespace cuzk::curve {
namespace {

template <class G>
class ScalarMultiply : public ::testing::Test {
 protected:
  using Scalar = typename G::Scalar;
  using Limbs = field::Limbs<4>;

  // Borders of the splits (powers of the family parameter and their neighbours) and of the windows.
  static std::vector<Scalar> scalars() {
    auto out = field::edge_elements<Scalar>();
    const Scalar z = Scalar::from_u64(G::Curve::kParameter);
    const Scalar one = Scalar::one(), six = Scalar::from_u64(6);
    Scalar power = one;
    for (int i = 0; i < 5; ++i, power *= z) {
      for (const Scalar& x : {power, power * six}) {
        out.insert(out.end(), {x, x - one, x + one, -x});
      }
    }
    for (std::uint64_t k = 3; k < 40; k += 4) out.push_back(Scalar::from_u64(k));
    field::SampleGenerator generator(16);
    for (int i = 0; i < 10; ++i) out.push_back(generator.next<Scalar>());
    return out;
  }
  static Jacobian<G> naive(const Affine<G>& p, const Scalar& k) {
    return Jacobian<G>::from_affine(p).scaled(k.to_canonical().value);
  }
};
using Groups = ::testing::Types<Bls12_381::G1, Bls12_381::G2, Bn254::G1, Bn254::G2>;
TYPED_TEST_SUITE(ScalarMultiply, Groups);

TYPED_TEST(ScalarMultiply, OfAMemberAgreesWithDoubleAndAdd) {
  using G = TypeParam;
  field::SampleGenerator generator(17);
  const Affine<G> p = sample_member<G>(generator);
  for (const auto& k : this->scalars()) {
    const auto expected = this->naive(p, k);
    EXPECT_EQ(scale_member<G>(p, k), expected);
    EXPECT_EQ(scale<G>(p, k.to_canonical().value), expected);
  }
}

TYPED_TEST(ScalarMultiply, OfAnyPointAgreesWithDoubleAndAdd) {
  using G = TypeParam;
  field::SampleGenerator generator(18);
  const Affine<G> p = sample_curve_point<G>(generator);
  field::Limbs<4> ones;
  for (auto& limb : ones.limb) limb = ~field::Limb{0};
  for (const auto& k :
       {field::Limbs<4>{}, field::Limbs<4>{{1}}, G::Scalar::Params::kModulus, ones,
        field::Limbs<4>{{0, 0, 0, field::Limb{1} << 63}}, generator.template next_limbs<4>()}) {
    EXPECT_EQ(scale<G>(p, k), Jacobian<G>::from_affine(p).scaled(k));
  }
}

TYPED_TEST(ScalarMultiply, OfInfinityIsInfinity) {
  using G = TypeParam;
  for (const auto& k : this->scalars()) {
    EXPECT_TRUE(scale_member<G>(Affine<G>::infinity(), k).is_infinity());
  }
}

// Equal, opposite and infinite points, zero scalars, and no points at all.
TYPED_TEST(ScalarMultiply, SumsAgreeWithSumsOfProducts) {
  using G = TypeParam;
  using Scalar = typename G::Scalar;
  auto points = sample_members<G>(3);
  points.push_back(points.back());
  points.push_back(-points.back());
  const auto all = this->scalars();
  EXPECT_TRUE(scale_members<G>({}, {}).is_infinity());
  for (std::size_t size = 1; size <= points.size(); ++size) {
    std::vector<Scalar> scalars(all.end() - static_cast<std::ptrdiff_t>(size), all.end());
    scalars[size / 2] = size % 3 == 0 ? Scalar::zero() : scalars.back();
    auto expected = Jacobian<G>::infinity();
    for (std::size_t i = 0; i < size; ++i) expected += this->naive(points[i], scalars[i]);
    EXPECT_EQ(scale_members<G>(std::span(points).first(size), scalars), expected) << size;
  }
}

}  // namespace
}  // namespace cuzk::curve
