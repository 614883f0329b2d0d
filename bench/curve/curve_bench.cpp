// Point operations, pairings and decoding; the time is that of one operation.
//
// Names: <group>/<operation> and <curve>_pairing/<part>. Operands are members made beforehand, so
// no exceptional case (equal points, infinity) is timed. One thread.
#include <benchmark/benchmark.h>

#include "curve/encoding.h"
#include "curve/pairing.h"
#include "curve/samples.h"
#include "curve/scalar_multiply.h"
#include "curve/subgroup.h"

namespace cuzk::curve {
namespace {

template <class G>
void jacobian_add_affine(benchmark::State& state) {
  const auto points = sample_members<G>(8);
  auto sum = Jacobian<G>::from_affine(points[5]).doubled();
  for (auto _ : state) {
    sum += points[6];
    benchmark::DoNotOptimize(sum);
  }
}

template <class G>
void xyzz_add_affine(benchmark::State& state) {
  const auto points = sample_members<G>(8);
  auto sum = Xyzz<G>::from_affine(points[5]);
  for (auto _ : state) {
    sum += points[6];
    benchmark::DoNotOptimize(sum);
  }
}

template <class G>
void jacobian_double(benchmark::State& state) {
  auto p = Jacobian<G>::from_affine(sample_members<G>(1).back());
  for (auto _ : state) {
    p = p.doubled();
    benchmark::DoNotOptimize(p);
  }
}

template <class G>
void scale_naive(benchmark::State& state) {
  const auto p = Jacobian<G>::from_affine(sample_members<G>(1).back());
  field::SampleGenerator generator(14);
  const auto k = generator.next<typename G::Scalar>().to_canonical().value;
  for (auto _ : state) benchmark::DoNotOptimize(p.scaled(k));
}

template <class G>
void scale_of_member(benchmark::State& state) {
  const auto p = sample_members<G>(1).back();
  field::SampleGenerator generator(14);
  const auto k = generator.next<typename G::Scalar>();
  for (auto _ : state) benchmark::DoNotOptimize(scale_member<G>(p, k));
}

// Per point of a sum of sixteen.
template <class G>
void sum_of_members(benchmark::State& state) {
  const std::size_t kCount = 16;
  auto points = sample_members<G>(kCount);
  points.resize(kCount);
  field::SampleGenerator generator(14);
  std::vector<typename G::Scalar> scalars;
  for (std::size_t i = 0; i < kCount; ++i) {
    scalars.push_back(generator.next<typename G::Scalar>());
  }
  for (auto _ : state) benchmark::DoNotOptimize(scale_members<G>(points, scalars));
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kCount),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class G>
void subgroup_check(benchmark::State& state) {
  const auto p = sample_members<G>(1).back();
  for (auto _ : state) benchmark::DoNotOptimize(is_in_subgroup(p));
}

template <class C>
void miller_prepared(benchmark::State& state) {
  const PreparedG2<C> q(C::G2::generator());
  const PairingTerm<C> term = {C::G1::generator(), &q};
  for (auto _ : state) benchmark::DoNotOptimize(miller_loop<C>({&term, 1}));
}

template <class C>
void prepare(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(PreparedG2<C>(C::G2::generator()));
}

template <class C>
void final_exponentiation_alone(benchmark::State& state) {
  const PreparedG2<C> q(C::G2::generator());
  const PairingTerm<C> term = {C::G1::generator(), &q};
  const Gt<C> f = miller_loop<C>({&term, 1});
  for (auto _ : state) benchmark::DoNotOptimize(final_exponentiation<C>(f));
}

void decode_g1(benchmark::State& state) {
  base::Bytes bytes(kG1CompressedBytes);
  encode_compressed(sample_members<Bls12_381::G1>(1).back(), bytes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(decode_g1_compressed(bytes, PointCheck::kOnCurve, "point"));
  }
}
void decode_g2(benchmark::State& state) {
  base::Bytes bytes(kG2CompressedBytes);
  encode_compressed(sample_members<Bls12_381::G2>(1).back(), bytes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(decode_g2_compressed(bytes, PointCheck::kOnCurve, "point"));
  }
}

#define CUZK_GROUP_BENCH(G, NAME)                                       \
  BENCHMARK(jacobian_add_affine<G>)->Name(NAME "/jacobian_add_affine"); \
  BENCHMARK(xyzz_add_affine<G>)->Name(NAME "/xyzz_add_affine");         \
  BENCHMARK(jacobian_double<G>)->Name(NAME "/jacobian_double");         \
  BENCHMARK(scale_naive<G>)->Name(NAME "/scale_naive");                 \
  BENCHMARK(scale_of_member<G>)->Name(NAME "/scale_member");            \
  BENCHMARK(sum_of_members<G>)->Name(NAME "/scale_members_16");         \
  BENCHMARK(subgroup_check<G>)->Name(NAME "/subgroup_check");
CUZK_GROUP_BENCH(Bls12_381::G1, "bls12_381_g1")
CUZK_GROUP_BENCH(Bls12_381::G2, "bls12_381_g2")
CUZK_GROUP_BENCH(Bn254::G1, "bn254_g1")
CUZK_GROUP_BENCH(Bn254::G2, "bn254_g2")
BENCHMARK(miller_prepared<Bls12_381>)->Name("bls12_381_pairing/miller_prepared");
BENCHMARK(miller_prepared<Bn254>)->Name("bn254_pairing/miller_prepared");
BENCHMARK(prepare<Bls12_381>)->Name("bls12_381_pairing/prepare");
BENCHMARK(prepare<Bn254>)->Name("bn254_pairing/prepare");
BENCHMARK(final_exponentiation_alone<Bls12_381>)->Name("bls12_381_pairing/final_exponentiation");
BENCHMARK(final_exponentiation_alone<Bn254>)->Name("bn254_pairing/final_exponentiation");
BENCHMARK(decode_g1)->Name("bls12_381_g1/decode_compressed");
BENCHMARK(decode_g2)->Name("bls12_381_g2/decode_compressed");

}  // namespace
}  // namespace cuzk::curve
