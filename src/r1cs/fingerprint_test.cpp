// The fingerprint against an upstream hash and against rows written out by hand.
//
// It must change with any part of a circuit and with nothing else: the order of the coefficient
// table is not part of one.
#include "r1cs/fingerprint.h"

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "hash/blake2.h"
#include "r1cs/test_circuits.h"

namespace cuzk::r1cs {
namespace {

using F = field::bls12_381::Fr;

Shape<F> mimc_shape() {
  return testing::shape_of<F>([](auto& cs) { testing::mimc_circuit(cs, F::zero(), F::zero()); });
}

// The hash that bellpepper-core's TestConstraintSystem gives for bellperson's MiMC test circuit.
TEST(Fingerprint, OfMimcIsTheUpstreamOne) {
  const Shape<F> shape = mimc_shape();
  EXPECT_EQ(shape.input_count, 2u);
  EXPECT_EQ(shape.aux_count, 645u);
  EXPECT_EQ(shape.constraint_count(), 644u);
  EXPECT_EQ(base::to_hex(fingerprint(shape)),
            "f23d32ca0d541f81c39fa6088246745b1cbd489394f17f8e47e2bbbcd7322fa9");
}

TEST(Fingerprint, IsTheDigestOfTheWrittenOutRows) {
  ShapeBuilder<F> cs;
  const Variable x = cs.new_number().variable, i = cs.new_input().variable;
  cs.enforce({{x, F::from_u64(3)}, {i, F::one()}}, {}, {{kOne, -F::one()}});
  const Shape<F> shape = std::move(cs).finish();
  base::Bytes bytes;
  const auto u64 = [&bytes](std::uint64_t v) {
    std::uint8_t out[8];
    base::store_u64_be(out, v);
    bytes.insert(bytes.end(), out, out + 8);
  };
  const auto term = [&](char kind, std::uint64_t index, const F& coefficient) {
    bytes.push_back(static_cast<std::uint8_t>(kind));
    u64(index);
    for (std::size_t limb = 4; limb > 0; --limb) u64(coefficient.to_canonical().value[limb - 1]);
  };
  for (const std::uint64_t count : {2, 1, 1, 2}) u64(count);  // inputs, aux, rows; terms of A
  term('I', 1, F::one());
  term('A', 0, F::from_u64(3));
  u64(0);
  u64(1);
  term('I', 0, -F::one());
  EXPECT_EQ(fingerprint(shape), hash::blake2s_256(bytes));
}

TEST(Fingerprint, ChangesWithAnyPartOfTheCircuit) {
  const Shape<F> shape = mimc_shape();
  const hash::Digest base = fingerprint(shape);
  Shape<F> changed = shape;
  changed.aux_count += 1;
  EXPECT_NE(fingerprint(changed), base);
  changed = shape;
  changed.c.terms.back().column -= 1;
  EXPECT_NE(fingerprint(changed), base);
  changed = shape;
  changed.coefficients.back() += F::one();
  EXPECT_NE(fingerprint(changed), base);
  changed = shape;
  std::swap(changed.a, changed.b);
  EXPECT_NE(fingerprint(changed), base);
}

TEST(Fingerprint, DoesNotDependOnTheOrderOfTheCoefficientTable) {
  Shape<F> shape = mimc_shape();
  const hash::Digest base = fingerprint(shape);
  std::swap(shape.coefficients[0], shape.coefficients[5]);
  for (SparseMatrix* m : {&shape.a, &shape.b, &shape.c}) {
    for (Term& term : m->terms) {
      if (term.coefficient == 0 || term.coefficient == 5) term.coefficient = 5 - term.coefficient;
    }
  }
  EXPECT_EQ(fingerprint(shape), base);
}

TEST(Fingerprint, TellsFieldsApart) {
  using G = field::bn254::Fr;
  const auto shape =
      testing::shape_of<G>([](auto& cs) { testing::mimc_circuit(cs, G::zero(), G::zero()); });
  EXPECT_NE(fingerprint(shape), fingerprint(mimc_shape()));
}

}  // namespace
}  // namespace cuzk::r1cs
