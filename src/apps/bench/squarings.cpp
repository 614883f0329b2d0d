// One description for the matrices and for the values.
//
// Squarings are the cheapest circuit with a witness of full-size scalars, so a load of them is
// little work per byte; the chain makes every value depend on x.
#include "apps/bench/squarings.h"

#include <cstddef>

#include "formats/snarkjs/wtns.h"
#include "formats/snarkjs/zkey.h"
#include "groth16/setup.h"
#include "r1cs/builder.h"
#include "r1cs/witness_builder.h"

namespace cuzk::apps {
namespace {

// Rows beside the squarings: the one that ties y, and those of the inputs (ONE and y).
constexpr std::size_t kOtherRows = 3;

// So that squarings and the other rows fill the domain.
std::size_t squaring_count(unsigned constraint_log2) {
  CUZK_ASSERT(constraint_log2 >= 2 && constraint_log2 < 32);
  return (std::size_t{1} << constraint_log2) - kOtherRows;
}

// x^(2^times).
template <class F>
F squared(F x, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) x = x * x;
  return x;
}

// The circuit for either builder; the one of values ignores rows. `x` is any value where shapes are
// recorded.
template <class Cs>
void synthesize(Cs& cs, std::size_t count, const typename Cs::Field& x) {
  using F = typename Cs::Field;
  const auto output = cs.new_input(squared(x, count));
  auto last = cs.new_number(x);
  F value = x;
  for (std::size_t i = 0; i < count; ++i) {
    value = value * value;
    const auto next = cs.new_number(value);
    if constexpr (Cs::kRecordsRows) {
      cs.enforce({{last.variable, F::one()}}, {{last.variable, F::one()}},
                 {{next.variable, F::one()}});
    }
    last = next;
  }
  if constexpr (Cs::kRecordsRows) {
    cs.enforce({{last.variable, F::one()}}, {{r1cs::kOne, F::one()}},
               {{output.variable, F::one()}});
  }
}

}  // namespace

template <class C>
base::Status write_squaring_key(const std::filesystem::path& zkey, unsigned constraint_log2,
                                base::ProgressSink& progress) {
  using Fr = typename C::Fr;
  r1cs::ShapeBuilder<Fr> builder;
  synthesize(builder, squaring_count(constraint_log2), Fr::one());
  const r1cs::Shape<Fr> shape = std::move(builder).finish();
  CUZK_TRY(const auto waste, groth16::random_toxic_waste<C>());
  CUZK_TRY(const auto key,
           groth16::setup<C>(shape, waste, groth16::QapConvention::kOddCosetLagrange, {&progress}));
  return formats::write_zkey<C>(zkey, *key, shape, &progress);
}

template <class C>
SquaringWitness<C> squaring_witness(unsigned constraint_log2, std::uint64_t x) {
  using Fr = typename C::Fr;
  r1cs::WitnessBuilder<Fr> builder;
  const Fr base = Fr::from_u64(x);
  synthesize(builder, squaring_count(constraint_log2), base);
  const auto assignment = std::move(builder).finish();
  return {formats::encode_wtns<C>(assignment), assignment.inputs[1]};
}

#define CUZK_APPS_SQUARINGS(C)                                                        \
  template base::Status write_squaring_key<C>(const std::filesystem::path&, unsigned, \
                                              base::ProgressSink&);                   \
  template SquaringWitness<C> squaring_witness<C>(unsigned, std::uint64_t)
CUZK_APPS_SQUARINGS(curve::Bls12_381);
CUZK_APPS_SQUARINGS(curve::Bn254);
#undef CUZK_APPS_SQUARINGS

}  // namespace cuzk::apps
