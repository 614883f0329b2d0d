// Device field operations against the host fields, bit for bit; then their rates.
//
// Every pair of the samples (borders of words, limbs and the modulus, then random ones) goes
// through each operation: a thousand squared pairs a field, fewer under checkers.
#include "bench/cuda/suite.h"
#include "cuda/field/field_probe.h"
#include "cuda/field/samples.h"

namespace cuzk::bench::cuda {
namespace {

using ::cuzk::cuda::field::Probe;
using ::cuzk::cuda::field::run_probe;

// The host's answer; what kTwoProducts is over either kind of field comes to the same value.
template <class F>
F expected_of(Probe probe, const F& a, const F& b) {
  switch (probe) {
    case Probe::kProduct: return a * b;
    case Probe::kSquare: return a.squared();
    case Probe::kSum: return a + b;
    case Probe::kDifference: return a - b;
    case Probe::kTwoProducts: return a * a + b * a;
    case Probe::kInverse: return a.inverse();
  }
  return F::zero();
}

template <class F>
void check_field(Suite& suite) {
  const std::vector<F> samples = ::cuzk::cuda::field::field_samples<F>(suite.tiny()    ? 4
                                                                       : suite.quick() ? 60
                                                                                       : 1000,
                                                                       9);
  std::vector<F> a, b;
  for (const F& x : samples) {
    for (const F& y : samples) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const auto in_a = to_device(suite, a), in_b = to_device(suite, b), out = to_device(suite, a);
  for (const Probe probe : {Probe::kProduct, Probe::kSquare, Probe::kSum, Probe::kDifference,
                            Probe::kTwoProducts, Probe::kInverse}) {
    const std::size_t count = probe == Probe::kInverse ? samples.size() : a.size();
    // Each row of `a` holds one element: inverses are taken of `b`'s first row.
    const auto& left = probe == Probe::kInverse ? in_b : in_a;
    const auto& left_host = probe == Probe::kInverse ? b : a;
    suite.expect_ok(run_probe<F>(suite.stream(), probe, out.template span<F>(count),
                                 left.template span<F>(count), in_b.template span<F>(count), 1),
                    "probe");
    const std::vector<F> found = to_host(suite, out.template span<F>(count));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!(found[i] == expected_of(probe, left_host[i], b[i]))) ++wrong;
    }
    suite.expect(wrong == 0, std::string(F::Params::kName) + " probe " +
                                 std::to_string(static_cast<int>(probe)) + ": " +
                                 std::to_string(wrong) + " of " + std::to_string(count) + " wrong");
  }
}

// Each operation's input is the last one's result, so the rate is that of dependent operations on a
// device full of threads.
template <class F>
void time_field(Suite& suite, const char* name, Probe probe) {
  constexpr std::size_t kCount = std::size_t{1} << 20;
  constexpr int kRepeats = 1000;
  std::vector<F> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    values[i] = F::from_montgomery(random_limbs<F>(5, i));
  }
  const auto a = to_device(suite, values), b = to_device(suite, values);
  const double ms = suite.median_ms(5, [&] {
    return run_probe<F>(suite.stream(), probe, a.template span<F>(kCount),
                        a.template span<F>(kCount), b.template span<F>(kCount), kRepeats);
  });
  std::printf("%-16s %-12s %8.2f G/s\n", F::Params::kName, name,
              static_cast<double>(kCount) * kRepeats / ms / 1e6);
}

}  // namespace

void check_fields(Suite& suite) {
  check_field<field::bls12_381::Fp>(suite);
  check_field<field::bls12_381::Fr>(suite);
  check_field<field::bn254::Fp>(suite);
  check_field<field::bn254::Fr>(suite);
  suite.section("fields");
}

void time_fields(Suite& suite) {
  if (suite.quick()) return;
  using field::bls12_381::Fp;
  using field::bls12_381::Fr;
  time_field<Fp>(suite, "product", Probe::kProduct);
  time_field<Fp>(suite, "square", Probe::kSquare);
  time_field<Fp>(suite, "2 products", Probe::kTwoProducts);
  time_field<Fp>(suite, "sum", Probe::kSum);
  time_field<Fr>(suite, "product", Probe::kProduct);
  time_field<Fr>(suite, "square", Probe::kSquare);
  time_field<Fr>(suite, "sum", Probe::kSum);
  time_field<field::bn254::Fp>(suite, "product", Probe::kProduct);
  time_field<field::bn254::Fp>(suite, "2 products", Probe::kTwoProducts);
}

}  // namespace cuzk::bench::cuda
