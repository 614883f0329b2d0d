// Device multiplications against sums that are known in closed form: over bases (i + 1) G the
// answer is (sum of k_i (i + 1)) G, for any scalars. Small cases with hostile bases go term by
// term.
#include "bench/cuda/msm_support.h"
#include "cuda/msm/bitmap.h"

namespace cuzk::bench::cuda {
namespace {

// One multiplication by `policy`, planned, run and compared; `what` names it in a failure.
template <class G>
void expect_product(Suite& suite, const Buffer& bases, const std::vector<Scalar<G>>& scalars,
                    const curve::Jacobian<G>& expected, const std::string& what,
                    const MsmPolicy& policy = {}) {
  auto plan = ::cuzk::cuda::msm::plan_msm<G>(scalars.size(), policy);
  if (!suite.expect_ok(plan, what)) return;
  auto scratch = Buffer::create(plan->scratch_bytes + plan->sums_bytes);
  if (!suite.expect_ok(scratch, what)) return;
  const Buffer on_device = to_device(suite, scalars);
  Terms<G> terms;
  terms.bases = reading<curve::Affine<G>>(bases, scalars.size());
  terms.scalars = reading<Scalar<G>>(on_device, scalars.size());
  auto found = ::cuzk::cuda::msm::multiply<G>(suite.stream(), *plan, terms, bytes_of(*scratch));
  if (!suite.expect_ok(found, what)) return;
  suite.expect(*found == expected, std::string(G::kName) + " " + what);
}

// The bases that all other checks count on, one by one against additions on the host.
template <class G>
void check_multiples(Suite& suite) {
  const std::size_t count = suite.tiny() ? 20 : 200;
  const Buffer bases = multiples<G>(suite, count);
  const auto found = to_host(suite, bases.template span<curve::Affine<G>>(count));
  auto expected = curve::Jacobian<G>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    expected += G::generator();
    suite.expect(found[i] == expected.to_affine(), std::string(G::kName) + " multiple");
  }
}

// Random scalars at lengths around the borders of blocks, tiles and runs.
template <class G>
void check_lengths(Suite& suite, const std::vector<std::size_t>& lengths,
                   const MsmPolicy& policy = {}) {
  const Buffer bases = multiples<G>(suite, *std::max_element(lengths.begin(), lengths.end()));
  for (const std::size_t count : lengths) {
    const auto scalars = random_scalars<G>(count, count);
    expect_product<G>(suite, bases, scalars, closed_form<G>(scalars),
                      "length " + std::to_string(count), policy);
  }
}

// Scalars that crowd the buckets or use their borders.
template <class G>
void check_scalars(Suite& suite, std::size_t count, const MsmPolicy& policy = {}) {
  using F = typename G::Scalar;
  const Buffer bases = multiples<G>(suite, count);
  const auto whole = [](const F& x) { return x.to_canonical(); };
  const F half = F::from_u64(2).inverse();
  const std::vector<std::pair<std::string, std::function<F(std::size_t)>>> kinds = {
      {"all zero", [](std::size_t) { return F::zero(); }},
      {"all one", [](std::size_t) { return F::one(); }},
      {"all -1", [](std::size_t) { return -F::one(); }},
      {"all equal", [&](std::size_t) { return half - F::from_u64(77); }},
      {"bits", [](std::size_t i) { return F::from_u64(mixed(1, i) & 1); }},
      {"small", [](std::size_t i) { return F::from_u64(mixed(2, i) % 300); }},
      {"around r / 2", [&](std::size_t i) { return half - F::from_u64(i % 5); }},
      {"two values", [&](std::size_t i) { return i % 2 == 0 ? F::one() : half; }},
      {"one nonzero", [&](std::size_t i) { return i == count / 2 ? half : F::zero(); }},
      {"powers of two", [](std::size_t i) { return F::from_u64(2).pow(i % 254); }},
  };
  for (const auto& [name, scalar] : kinds) {
    if (suite.tiny() && name != "all equal" && name != "bits") continue;
    std::vector<Scalar<G>> scalars(count);
    for (std::size_t i = 0; i < count; ++i) scalars[i] = whole(scalar(i));
    expect_product<G>(suite, bases, scalars, closed_form<G>(scalars), name, policy);
  }
}

// Infinite, equal and opposite bases, all of them multiples of G by `weights`.
template <class G>
void check_bases(Suite& suite, std::size_t count, const MsmPolicy& policy = {}) {
  using F = typename G::Scalar;
  const auto g = curve::Jacobian<G>::from_affine(G::generator());
  for (int kind = suite.tiny() ? 3 : 0; kind < 4; ++kind) {
    std::vector<curve::Affine<G>> points(count);
    F sum = F::zero();
    auto scalars = random_scalars<G>(count, kind + 40);
    for (std::size_t i = 0; i < count; ++i) {
      int weight = 1;                                   // 0: all equal
      if (kind == 1) weight = i % 2 == 0 ? 1 : -1;      // opposite in pairs
      if (kind == 2) weight = static_cast<int>(i % 3);  // infinity, G, 2 G
      if (kind == 3) weight = static_cast<int>(mixed(4, i) % 5) - 2;
      if (kind != 2) scalars[i] = scalars[i % 7];  // meet in the same buckets
      const F factor = weight < 0 ? -F::from_u64(-weight) : F::from_u64(weight);
      points[i] = g.scaled(F(factor).to_canonical().value).to_affine();
      sum += factor * F::from_canonical(scalars[i]);
    }
    const Buffer bases = to_device(suite, points);
    expect_product<G>(suite, bases, scalars, g.scaled(sum.to_canonical().value),
                      "bases of kind " + std::to_string(kind), policy);
  }
}

// Rounds of batched additions at sizes that would not take them by themselves, with points fetched
// alone and together.
template <class G>
void check_rounds(Suite& suite) {
  std::vector<std::size_t> lengths = {257};
  if (!suite.tiny()) lengths = {1, 2, 3, 33, 257, 1025, 4096, 4097};
  if (!suite.quick()) lengths.insert(lengths.end(), {100000, (1 << 18) + 1});
  for (const std::uint64_t wide_bytes_min : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    MsmPolicy policy;
    policy.affine_count_min = 0;
    policy.affine_entries_min = 0;
    policy.wide_bytes_min = wide_bytes_min;
    check_lengths<G>(suite, lengths, policy);
    check_bases<G>(suite, suite.tiny() ? 30 : suite.quick() ? 100 : 1000, policy);
    if (suite.tiny()) continue;
    check_scalars<G>(suite, suite.quick() ? 300 : 20000, policy);
    // Small windows fill buckets: long lists, and runs of many threads in one bucket.
    policy.window_count = 32;
    check_scalars<G>(suite, suite.quick() ? 600 : 20000, policy);
  }
}

// Sums by bitmap over (i + 1) G: the answer is (sum of i + 1 over set bits) G. `density` is of 256.
template <class G>
double check_bitmap(Suite& suite, const Buffer& bases, std::size_t count, unsigned density,
                    int repeats) {
  using F = typename G::Scalar;
  std::vector<std::uint64_t> bitmap((count + 63) / 64 + 1, ~std::uint64_t{0});
  unsigned __int128 sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_set = (mixed(density, i) & 255) < density;
    if (is_set) sum += i + 1;
    if (!is_set) bitmap[i / 64] &= ~(std::uint64_t{1} << (i % 64));
  }
  const Buffer on_device = to_device(suite, bitmap);
  auto scratch = Buffer::create(::cuzk::cuda::msm::bitmap_scratch_bytes<G>(count) +
                                ::cuzk::cuda::msm::kBitmapSumBytes<G>);
  if (!suite.expect_ok(scratch, "scratch")) return 0;
  const F two32 = F::from_u64(std::uint64_t{1} << 32);
  const F weight = F::from_u64(static_cast<std::uint64_t>(sum >> 64)) * two32 * two32 +
                   F::from_u64(static_cast<std::uint64_t>(sum));
  const auto expected =
      curve::Jacobian<G>::from_affine(G::generator()).scaled(weight.to_canonical().value);
  std::vector<double> times;
  for (int i = 0; i <= repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    auto found = ::cuzk::cuda::msm::sum_by_bitmap<G>(
        suite.stream(), reading<curve::Affine<G>>(bases, count),
        reading<std::uint64_t>(on_device, bitmap.size()), bytes_of(*scratch));
    const auto end = std::chrono::steady_clock::now();
    if (!suite.expect_ok(found, "bitmap")) return 0;
    suite.expect(*found == expected, std::string(G::kName) + " bitmap of " + std::to_string(count) +
                                         " density " + std::to_string(density));
    times.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// From no bit set to all, at lengths around words. Bits past the end are set: they must be ignored.
template <class G>
void check_bitmaps(Suite& suite) {
  const Buffer bases = multiples<G>(suite, suite.quick() ? 5000 : 300000);
  for (const unsigned density : {0u, 1u, 128u, 256u}) {
    if (suite.tiny() && density != 128) continue;
    for (const std::size_t count : {0, 1, 2, 63, 64, 65, 1000, 4097}) {
      if (suite.tiny() && count > 65) continue;
      check_bitmap<G>(suite, bases, count, density, 0);
    }
    if (!suite.quick()) check_bitmap<G>(suite, bases, 300000, density, 0);
  }
}

// The median of a few multiplications under `policy`, in milliseconds of host time; the result goes
// to `found`.
template <class G>
double timed_product(Suite& suite, const MsmPlan& plan, const Buffer& bases, const Buffer& scalars,
                     int repeats, curve::Jacobian<G>& found) {
  auto scratch = Buffer::create(plan.scratch_bytes + plan.sums_bytes);
  if (!suite.expect_ok(scratch, "scratch")) return 0;
  Terms<G> terms;
  terms.bases = reading<curve::Affine<G>>(bases, plan.count);
  terms.scalars = reading<Scalar<G>>(scalars, plan.count);
  return median_host_ms(repeats, [&] {
    auto result = ::cuzk::cuda::msm::multiply<G>(suite.stream(), plan, terms, bytes_of(*scratch));
    if (suite.expect_ok(result, "multiplication")) found = *result;
  });
}

void print_product(const char* name, std::size_t log2, const MsmPlan& plan, double ms) {
  std::printf(
      "%s 2^%zu: %.2f ms, %d windows (%d sets at once), %d affine rounds, %.2f G additions a "
      "second, scratch %.1f GiB\n",
      name, log2, ms, plan.layout.window_count, plan.sets_at_once, plan.affine_rounds,
      static_cast<double>(plan.count) * plan.layout.window_count / ms / 1e6,
      static_cast<double>(plan.scratch_bytes) / (1 << 30));
  std::fflush(stdout);
}

// Host times at each size, each result compared with the closed form.
template <class G>
void time_group(Suite& suite, const std::vector<std::size_t>& sizes_log2) {
  const std::size_t largest = std::size_t{1} << sizes_log2.back();
  const Buffer bases = multiples<G>(suite, largest);
  const auto scalars = random_scalars<G>(largest, 77);
  const Buffer on_device = to_device(suite, scalars);
  for (const std::size_t log2 : sizes_log2) {
    const std::size_t count = std::size_t{1} << log2;
    auto plan = ::cuzk::cuda::msm::plan_msm<G>(count);
    if (!suite.expect_ok(plan, "plan")) return;
    curve::Jacobian<G> found;
    const double ms = timed_product<G>(suite, *plan, bases, on_device, 5, found);
    const auto expected =
        closed_form<G>(std::vector<Scalar<G>>(scalars.begin(), scalars.begin() + count));
    suite.expect(found == expected, std::string(G::kName) + " timed result");
    print_product(G::kName, log2, *plan, ms);
  }
}

// G1 of BLS12-381 takes every length up to 1025, the others samples: their kernels are the same.
template <class G>
void check_group(Suite& suite) {
  check_multiples<G>(suite);
  std::vector<std::size_t> lengths = {0, 1, 2, 3, 5, 31, 32, 33, 100, 255, 256, 257, 1025};
  if (suite.tiny()) lengths = {0, 1, 33, 257};
  if (!suite.quick()) {
    constexpr bool kEach = std::is_same_v<G, curve::Bls12_381::G1>;
    for (std::size_t i = 0; i <= 1025; i += kEach || i < 70 ? 1 : 11) lengths.push_back(i);
    for (std::size_t log2 = 11; log2 <= (kEach ? 20 : 17); ++log2) {
      for (int d = -1; d <= 1; ++d) lengths.push_back((std::size_t{1} << log2) + d);
    }
  }
  check_lengths<G>(suite, lengths);
  check_scalars<G>(suite, suite.tiny() ? 40 : suite.quick() ? 300 : 30000);
  check_bases<G>(suite, suite.tiny() ? 30 : suite.quick() ? 100 : 1000);
  check_rounds<G>(suite);
  check_bitmaps<G>(suite);
  suite.section(G::kName);
}

// Random lengths up to 2^26.
void check_random_lengths(Suite& suite) {
  std::vector<std::size_t> lengths = {3000001};
  for (std::uint64_t i = 0; i < 6; ++i) {
    const std::size_t log2 = 20 + i;
    lengths.push_back((std::size_t{1} << log2) + mixed(70, i) % (std::size_t{1} << log2));
  }
  lengths.push_back(std::size_t{1} << 26);
  check_lengths<curve::Bls12_381::G1>(suite, lengths);
}

}  // namespace

void check_multiplications(Suite& suite) {
  check_group<curve::Bls12_381::G1>(suite);
  if (suite.tiny()) return;  // the kernels of the others are the same
  check_group<curve::Bls12_381::G2>(suite);
  check_group<curve::Bn254::G1>(suite);
  check_group<curve::Bn254::G2>(suite);
  if (!suite.quick()) check_random_lengths(suite);
}

void time_multiplications(Suite& suite) {
  if (suite.quick()) return;
  time_group<curve::Bls12_381::G1>(suite, {16, 18, 20, 22, 24, 26});
  time_group<curve::Bls12_381::G2>(suite, {20, 22});
  time_group<curve::Bn254::G1>(suite, {22});
  const std::size_t count = std::size_t{1} << 26;
  const Buffer bases = multiples<curve::Bls12_381::G1>(suite, count);
  for (const unsigned density : {128u, 256u}) {
    const double ms = check_bitmap<curve::Bls12_381::G1>(suite, bases, count, density, 3);
    std::printf("BLS12-381 G1 bitmap 2^26, %u of 256 set: %.2f ms, %.2f G additions a second\n",
                density, ms, static_cast<double>(count) * density / 256 / ms / 1e6);
  }
}

void trace_multiplications(Suite& suite, std::size_t size_log2) {
  const std::size_t count = std::size_t{1} << size_log2;
  const auto run = [&]<class G>(G) {
    const Buffer bases = multiples<G>(suite, count);
    const Buffer scalars = to_device(suite, random_scalars<G>(count, 77));
    auto plan = ::cuzk::cuda::msm::plan_msm<G>(count);
    if (!suite.expect_ok(plan, "plan")) return;
    curve::Jacobian<G> found;
    timed_product<G>(suite, *plan, bases, scalars, 1, found);
  };
  run(curve::Bls12_381::G1{});
  if (size_log2 <= 22) run(curve::Bls12_381::G2{});
}

void sweep_multiplications(Suite& suite, std::size_t size_log2) {
  using G = curve::Bls12_381::G1;
  const std::size_t count = std::size_t{1} << size_log2;
  const Buffer bases = multiples<G>(suite, count);
  const auto scalars = random_scalars<G>(count, 77);
  const Buffer on_device = to_device(suite, scalars);
  const auto expected = closed_form<G>(scalars);
  const int windows = ::cuzk::cuda::msm::plan_msm<G>(count)->layout.window_count;
  const auto run = [&](const MsmPolicy& policy) {
    auto plan = ::cuzk::cuda::msm::plan_msm<G>(count, policy);
    if (!suite.expect_ok(plan, "plan")) return;
    curve::Jacobian<G> found;
    const double ms = timed_product<G>(suite, *plan, bases, on_device, 3, found);
    suite.expect(found == expected, "result in the sweep");
    std::printf("points together from %llu MiB of bases on, ",
                static_cast<unsigned long long>(policy.wide_bytes_min >> 20));
    print_product(G::kName, size_log2, *plan, ms);
  };
  for (int more = -1; more <= 1; ++more) {
    for (int rounds = 0; rounds <= 4; ++rounds) {
      MsmPolicy policy;
      policy.window_count = windows + more;
      policy.affine_rounds_max = rounds;
      policy.late_rounds_max = 0;
      policy.affine_entries_min = 1.5;
      policy.affine_count_min = 0;
      run(policy);
    }
  }
  for (const std::uint64_t bytes : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    MsmPolicy policy;
    policy.wide_bytes_min = bytes;
    run(policy);
  }
}

}  // namespace cuzk::bench::cuda
