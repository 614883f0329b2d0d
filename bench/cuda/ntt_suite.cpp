// Device transforms against a plain host transform, itself held against the definition.
//
// Small sizes in every order, direction and set of points; large ones, for which a host transform
// takes too long, by one value (Horner's rule) and by the way back. Then transforms in tiles
// against those at once, times, and sweeps over policies.
#include <array>
#include <bit>
#include <chrono>

#include "bench/cuda/suite.h"
#include "cuda/device/buffer.h"
#include "cuda/poly/ntt.h"
#include "cuda/poly/tiled.h"
#include "poly/ntt_naive.h"

namespace cuzk::bench::cuda {
namespace {

using ::cuzk::cuda::poly::Order;
using ::cuzk::cuda::poly::Points;
using ::cuzk::cuda::poly::Transform;

// The low bit_count bits of i in opposite order.
std::size_t reversed(std::size_t i, std::size_t bit_count) {
  std::size_t out = 0;
  for (std::size_t k = 0; k < bit_count; ++k) out |= (i >> k & 1) << (bit_count - 1 - k);
  return out;
}

// Each value at its bit-reversed index.
template <class F>
std::vector<F> reordered(const std::vector<F>& values) {
  const std::size_t log2 = std::countr_zero(values.size());
  std::vector<F> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[reversed(i, log2)];
  return out;
}

// The root of order 2^size_log2 that Transform::create takes by itself.
template <class F>
F omega_of(std::size_t size_log2) {
  F omega = F::two_adic_root();
  for (std::size_t i = size_log2; i < F::kTwoAdicity; ++i) omega = omega.squared();
  return omega;
}

// Values at shift omega^i: levels of radix 2 over the coefficients in reversed order.
template <class F>
std::vector<F> host_transform(const std::vector<F>& coefficients, const F& omega, const F& shift) {
  const std::size_t n = coefficients.size(), log2 = std::countr_zero(n);
  std::vector<F> values = reordered(coefficients);
  F power = F::one();
  std::vector<F> scaled(n);
  for (std::size_t i = 0; i < n; ++i, power *= shift) {
    scaled[reversed(i, log2)] = coefficients[i] * power;
  }
  values = scaled;
  for (std::size_t level = 1; level <= log2; ++level) {
    F root = omega;
    for (std::size_t i = level; i < log2; ++i) root = root.squared();
    const std::size_t half = std::size_t{1} << (level - 1);
    for (std::size_t start = 0; start < n; start += 2 * half) {
      F twiddle = F::one();
      for (std::size_t i = 0; i < half; ++i, twiddle *= root) {
        const F a = values[start + i], b = values[start + i + half] * twiddle;
        values[start + i] = a + b;
        values[start + i + half] = a - b;
      }
    }
  }
  return values;
}

// The same for the same seed, whatever the number of threads.
template <class F>
std::vector<F> random_values(std::size_t count, std::uint64_t seed) {
  std::vector<F> out(count);
  parallel_for(count, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      out[i] = F::from_montgomery(random_limbs<F>(seed, i));
    }
  });
  return out;
}

// Six runs for the domain and six for the coset: both directions in all three orders.
template <class F>
void check_size(Suite& suite, std::size_t log2) {
  const std::string name =
      std::string(F::Params::kName) + " transform 2^" + std::to_string(log2) + " ";
  auto transform = Transform<F>::create(suite.stream(), log2);
  if (!suite.expect_ok(transform, name)) return;
  const std::vector<F> coefficients = random_values<F>(std::size_t{1} << log2, log2);
  const F omega = omega_of<F>(log2);
  for (const Points points : {Points::kDomain, Points::kCoset}) {
    const F shift = points == Points::kCoset ? F::generator() : F::one();
    const std::string what = name + (points == Points::kCoset ? "coset " : "");
    const std::vector<F> values = host_transform(coefficients, omega, shift);
    if (log2 <= 6) {
      suite.expect(values == poly::ntt_naive<F>(coefficients, omega, shift), what + "host twin");
    }
    const auto run = [&](const std::vector<F>& in, bool is_inverse, Order order) {
      const auto buffer = to_device(suite, in);
      const auto span = buffer.template span<F>(in.size());
      suite.expect_ok(is_inverse ? transform->inverse(suite.stream(), span, order, points)
                                 : transform->forward(suite.stream(), span, order, points),
                      what);
      return to_host(suite, span);
    };
    suite.expect(run(coefficients, false, Order::kNaturalToReversed) == reordered(values),
                 what + "forward, to reversed");
    suite.expect(run(reordered(coefficients), false, Order::kReversedToNatural) == values,
                 what + "forward, from reversed");
    suite.expect(run(coefficients, false, Order::kNatural) == values, what + "forward, natural");
    suite.expect(run(values, true, Order::kNaturalToReversed) == reordered(coefficients),
                 what + "inverse, to reversed");
    suite.expect(run(reordered(values), true, Order::kReversedToNatural) == coefficients,
                 what + "inverse, from reversed");
    suite.expect(run(values, true, Order::kNatural) == coefficients, what + "inverse, natural");
  }
}

// One value against Horner's rule, and the way back against the input.
template <class F>
void check_large(Suite& suite, std::size_t log2) {
  const std::string name =
      std::string(F::Params::kName) + " transform 2^" + std::to_string(log2) + " ";
  auto transform = Transform<F>::create(suite.stream(), log2);
  if (!suite.expect_ok(transform, name)) return;
  const std::size_t n = std::size_t{1} << log2;
  const std::vector<F> coefficients = random_values<F>(n, log2);
  const auto buffer = to_device(suite, coefficients);
  const auto span = buffer.template span<F>(n);
  suite.expect_ok(transform->forward(suite.stream(), span, Order::kNaturalToReversed), name);
  const std::size_t index = mixed(3, log2) % n;
  const F x = omega_of<F>(log2).pow(index);
  constexpr std::size_t kParts = 64;
  std::vector<F> parts(kParts);
  parallel_for(kParts, [&](std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) {
      F sum = F::zero();
      for (std::size_t i = n / kParts * (p + 1); i > n / kParts * p; --i) {
        sum = sum * x + coefficients[i - 1];
      }
      parts[p] = sum * x.pow(n / kParts * p);
    }
  });
  F expected = F::zero();
  for (const F& part : parts) expected += part;
  const auto found = to_host(suite, span.subset(reversed(index, log2), 1));
  suite.expect(found[0] == expected, name + "value at one point");
  suite.expect_ok(transform->inverse(suite.stream(), span, Order::kReversedToNatural), name);
  suite.expect(to_host(suite, span) == coefficients, name + "and back");
}

// A transform in tiles against the same on the device at once, both ways, and back. `tile_log2` is
// that of the tiles.
template <class F>
void check_tiled(Suite& suite, std::size_t log2, std::size_t tile_log2, double* ms = nullptr) {
  using ::cuzk::cuda::device::PinnedBuffer;
  const std::size_t n = std::size_t{1} << log2;
  const std::string name = std::string(F::Params::kName) + " 2^" + std::to_string(log2) +
                           " in tiles of 2^" + std::to_string(tile_log2) + " ";
  const auto plan = ::cuzk::cuda::poly::plan_tiled<F>(
      log2, (tile_log2 == log2 ? sizeof(F) : 2 * sizeof(F)) << tile_log2);
  suite.expect(plan.tile_log2 == tile_log2, name + "plan");
  auto tiled = ::cuzk::cuda::poly::TiledTransform<F>::create(suite.stream(), plan);
  auto whole = Transform<F>::create(suite.stream(), log2);
  auto second = ::cuzk::cuda::device::Stream::create();
  auto scratch = ::cuzk::cuda::device::Buffer::create(plan.scratch_bytes);
  auto pinned = PinnedBuffer::create(n * sizeof(F));
  if (!suite.expect_ok(tiled, name) || !suite.expect_ok(whole, name) ||
      !suite.expect_ok(second, name) || !suite.expect_ok(scratch, name) ||
      !suite.expect_ok(pinned, name)) {
    return;
  }
  suite.expect_ok(suite.stream().synchronize(), name);
  const std::array<const ::cuzk::cuda::device::Stream*, 2> streams = {&suite.stream(), &*second};
  const auto bytes = scratch->template span<std::byte>(plan.scratch_bytes);
  const std::vector<F> values = random_values<F>(n, log2 + 9);
  const auto host = pinned->template span<F>(n);
  for (const Order order : {Order::kNaturalToReversed, Order::kReversedToNatural}) {
    for (const Points points : {Points::kDomain, Points::kCoset}) {
      for (const bool is_inverse : {false, true}) {
        const auto buffer = to_device(suite, values);
        const auto span = buffer.template span<F>(n);
        suite.expect_ok(is_inverse ? whole->inverse(suite.stream(), span, order, points)
                                   : whole->forward(suite.stream(), span, order, points),
                        name);
        const auto expected = to_host(suite, span);
        std::copy(values.begin(), values.end(), host.begin());
        const auto begin = std::chrono::steady_clock::now();
        suite.expect_ok(is_inverse ? tiled->inverse(streams, host, order, points, bytes)
                                   : tiled->forward(streams, host, order, points, bytes),
                        name);
        const auto end = std::chrono::steady_clock::now();
        if (ms != nullptr) *ms = std::chrono::duration<double, std::milli>(end - begin).count();
        suite.expect(std::equal(host.begin(), host.end(), expected.begin()),
                     name + (is_inverse ? "inverse" : "forward"));
        if (ms != nullptr) return;
      }
    }
  }
}

// Device times of what proofs run and of both orders that cost a permutation. N natural, R
// reversed.
template <class F>
void time_size(Suite& suite, std::size_t log2) {
  auto transform = Transform<F>::create(suite.stream(), log2);
  if (!suite.expect_ok(transform, "transform")) return;
  const std::size_t n = std::size_t{1} << log2;
  const auto buffer = to_device(suite, random_values<F>(n, 1));
  const auto span = buffer.template span<F>(n);
  const int repeats = log2 > 24 ? 5 : 15;
  const auto time = [&](bool is_inverse, Order order, Points points) {
    return suite.median_ms(repeats, [&] {
      return is_inverse ? transform->inverse(suite.stream(), span, order, points)
                        : transform->forward(suite.stream(), span, order, points);
    });
  };
  std::printf(
      "%s 2^%zu ms: forward NR %.3f, inverse NR %.3f, inverse RN %.3f, coset forward RN %.3f, "
      "coset inverse NN %.3f, forward NN %.3f\n",
      F::Params::kName, log2, time(false, Order::kNaturalToReversed, Points::kDomain),
      time(true, Order::kNaturalToReversed, Points::kDomain),
      time(true, Order::kReversedToNatural, Points::kDomain),
      time(false, Order::kReversedToNatural, Points::kCoset),
      time(true, Order::kNatural, Points::kCoset), time(false, Order::kNatural, Points::kDomain));
  std::fflush(stdout);
}

}  // namespace

void check_transforms(Suite& suite) {
  for (std::size_t log2 = 0; log2 <= (suite.quick() ? 11 : 14); ++log2) {
    if (suite.tiny() && log2 != 2 && log2 != 5 && log2 != 11) continue;
    check_size<field::bls12_381::Fr>(suite, log2);
    if (!suite.tiny()) check_size<field::bn254::Fr>(suite, log2);
  }
  if (!suite.quick()) {
    for (const std::size_t log2 : {16, 17, 18, 19, 20, 21}) {
      check_size<field::bls12_381::Fr>(suite, log2);
    }
    for (const std::size_t log2 : {22, 25, 27}) {
      check_large<field::bls12_381::Fr>(suite, log2);
    }
    check_large<field::bn254::Fr>(suite, 26);
  }
  for (const auto& [log2, tile_log2] : std::vector<std::pair<std::size_t, std::size_t>>{
           {5, 5}, {12, 10}, {13, 10}, {13, 11}, {14, 11}, {14, 14}, {20, 10}, {20, 13}}) {
    if ((suite.quick() && log2 > 13) || (suite.tiny() && log2 > 12)) continue;
    check_tiled<field::bls12_381::Fr>(suite, log2, tile_log2);
    check_tiled<field::bn254::Fr>(suite, log2, tile_log2);
  }
  suite.expect(!Transform<field::bn254::Fr>::create(suite.stream(), 29).ok(), "2^29 is refused");
  suite.section("transforms");
}

void time_transforms(Suite& suite) {
  if (suite.quick()) return;
  for (const std::size_t log2 : {20, 22, 24, 26, 27}) {
    time_size<field::bls12_381::Fr>(suite, log2);
  }
  time_size<field::bn254::Fr>(suite, 27);
  for (const std::size_t tile_log2 : {20, 24}) {
    double ms = 0;
    check_tiled<field::bls12_381::Fr>(suite, 26, tile_log2, &ms);
    std::printf("BLS12-381 Fr 2^26 from the host in tiles of 2^%zu: %.1f ms\n", tile_log2, ms);
  }
}

void sweep_transforms(Suite& suite, std::size_t size_log2) {
  using F = field::bls12_381::Fr;
  const std::size_t n = std::size_t{1} << size_log2;
  const auto buffer = to_device(suite, random_values<F>(n, 1));
  const auto span = buffer.span<F>(n);
  for (const int tile_log2 : {10, 11}) {
    for (const int levels : {8, 9, 10}) {
      ::cuzk::cuda::poly::NttPolicy policy;
      policy.tile_log2 = tile_log2;
      policy.pass_levels_max = levels;
      auto transform = Transform<F>::create(suite.stream(), size_log2, omega_of<F>(size_log2),
                                            F::generator(), policy);
      if (!suite.expect_ok(transform, "transform")) return;
      const auto time = [&](Order order, Points points) {
        return suite.median_ms(
            5, [&] { return transform->forward(suite.stream(), span, order, points); });
      };
      std::printf("2^%zu, tile 2^%d, %d levels: forward NR %.3f, RN %.3f, coset RN %.3f ms\n",
                  size_log2, tile_log2, levels, time(Order::kNaturalToReversed, Points::kDomain),
                  time(Order::kReversedToNatural, Points::kDomain),
                  time(Order::kReversedToNatural, Points::kCoset));
    }
  }
}

void trace_transforms(Suite& suite, std::size_t size_log2) {
  using F = field::bls12_381::Fr;
  auto transform = Transform<F>::create(suite.stream(), size_log2);
  if (!suite.expect_ok(transform, "transform")) return;
  const std::size_t n = std::size_t{1} << size_log2;
  const auto buffer = to_device(suite, random_values<F>(n, 1));
  const auto span = buffer.span<F>(n);
  suite.expect_ok(transform->forward(suite.stream(), span, Order::kNaturalToReversed), "forward");
  suite.expect_ok(
      transform->forward(suite.stream(), span, Order::kReversedToNatural, Points::kCoset), "coset");
  suite.expect_ok(suite.stream().synchronize(), "transforms");
}

}  // namespace cuzk::bench::cuda
