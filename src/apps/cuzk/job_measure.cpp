// Transforms and sums: the device's through cuda/measure.h, the CPU's here, with the same checks.
//
// Inputs are powers of one element, because then results have closed forms that cost a handful of
// multiplications and need no second implementation: a sum as a whole, a transform at the point 1,
// and by its inverse at all others. The first run is not timed; it brings tables and pages.
#include "apps/cuzk/job_measure.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/cpu.h"
#include "base/threads.h"
#include "cuda/measure.h"
#include "msm/msm.h"
#include "poly/domain.h"

namespace cuzk::apps {
namespace {

// As the parser's range; asked again here because requests are made by code too.
constexpr std::size_t kSizeLog2Max = 28;

// Median and least of `repeats` runs, after one that is thrown away.
template <class Work>
cuda::Measured timed(unsigned repeats, const Work& work) {
  CUZK_ASSERT(repeats > 0);
  std::vector<double> times;
  for (unsigned i = 0; i <= repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (i > 0) times.push_back(taken.count());
  }
  std::sort(times.begin(), times.end());
  CUZK_ASSERT(times.size() == repeats);
  cuda::Measured out;
  out.median_ms = times[times.size() / 2];
  out.least_ms = times.front();
  CUZK_ASSERT(out.least_ms <= out.median_ms);
  return out;
}

// A geometric sequence: its elements look random, and sums over it have closed forms.
template <class F>
std::vector<F> powers(std::size_t count, const F& ratio) {
  std::vector<F> out(count);
  F value = F::one();
  for (F& element : out) {
    element = value;
    value *= ratio;
  }
  return out;
}

// Forward, with its value at 1 checked, and back, with all values compared; then forward is timed.
template <class C>
base::Result<cuda::Measured> cpu_transform(const MeasureRequest& request) {
  using F = typename C::Fr;
  CUZK_TRY(const auto domain, poly::Domain<F>::create(request.size_log2));
  CUZK_ASSERT(domain.size() == std::size_t{1} << request.size_log2);
  const F ratio = F::generator() + F::from_u64(12345);
  const auto coefficients = powers<F>(domain.size(), ratio);
  auto values = coefficients;
  domain.forward(std::span(values));
  // The value at 1: (ratio^n - 1) / (ratio - 1).
  const F expected = (ratio.pow(static_cast<std::uint64_t>(domain.size())) - F::one()) *
                     (ratio - F::one()).inverse();
  const bool is_forward_right = values[0] == expected;
  domain.inverse(std::span(values));
  const bool is_right = is_forward_right && values == coefficients;
  auto out = timed(request.repeats, [&] { domain.forward(std::span(values)); });
  out.is_right = is_right;
  return out;
}

// Over the bases (i + 1) G, made by additions.
template <class G>
base::Result<cuda::Measured> cpu_multiply(const MeasureRequest& request) {
  using F = typename G::Scalar;
  using Canonical = field::Canonical<typename F::Params>;
  const std::size_t n = std::size_t{1} << request.size_log2;
  std::vector<curve::Affine<G>> bases(n);
  // A piece makes its first point by scaling and the others by additions, so that pieces are
  // independent and long enough for the scaling not to matter.
  constexpr std::size_t kGrain = 4096;
  base::parallel_for(0, n, kGrain, [&](std::size_t begin, std::size_t end) {
    const auto g = curve::Jacobian<G>::from_affine(G::generator());
    auto point = g.scaled(F::from_u64(begin + 1).to_canonical().value);
    for (std::size_t i = begin; i < end; ++i) {
      bases[i] = point.to_affine();
      point += G::generator();
    }
  });
  const auto values = powers<F>(n, F::generator() + F::from_u64(12345));
  std::vector<Canonical> scalars(n);
  F weight = F::zero();
  for (std::size_t i = 0; i < n; ++i) {
    scalars[i] = values[i].to_canonical();
    weight += values[i] * F::from_u64(i + 1);
  }
  // sum of ratio^i (i + 1) G, so the weights add up to one scalar of G.
  const msm::PointSource<G> source{std::span<const curve::Affine<G>>(bases)};
  CUZK_ASSERT(source.size() == scalars.size());
  auto found = curve::Jacobian<G>::infinity();
  auto out = timed(request.repeats,
                   [&] { found = msm::multiply<G>(source, std::span<const Canonical>(scalars)); });
  out.is_right =
      found == curve::Jacobian<G>::from_affine(G::generator()).scaled(weight.to_canonical().value);
  return out;
}

// `measured` as an answer, or why there is none; a wrong result is an error, never a time.
base::Result<Answer> answer_of(const std::string& what, const MeasureRequest& request,
                               const base::Result<cuda::Measured>& measured) {
  if (!measured.ok()) return measured.error();
  if (!measured->is_right) {
    return base::Error{base::ErrorKind::kInternal,
                       what + " gave a wrong result; do not use this processor for proofs"};
  }
  Answer answer(fmt::format("{} of 2^{} on {}: {:.3f} ms, and the result is right.", what,
                            request.size_log2, request.backend.backend, measured->median_ms));
  answer.add("operation", what, "")
      .add("size_log2", request.size_log2, "")
      .add("curve", request.curve, "curve")
      .add("backend", request.backend.backend, "")
      .add("median_ms", measured->median_ms, "")
      .add_as("least_ms", measured->least_ms, "least", fmt::format("{:.3f} ms", measured->least_ms))
      .add("repeats", request.repeats, "runs");
  if (request.backend.backend == "cpu") {
    answer.add("threads", base::thread_count(), "threads")
        .add("cpu_level", base::to_string(base::cpu_level()), "CPU level");
  }
  return answer;
}

std::vector<std::string> devices_of(const MeasureRequest& request) {
  return request.backend.devices.empty() ? std::vector<std::string>{"0"} : request.backend.devices;
}

base::Status check(const MeasureRequest& request) {
  if (request.size_log2 <= kSizeLog2Max) return base::ok_status();
  return base::Error{
      base::ErrorKind::kInvalidArgument,
      fmt::format("--size-log2 is {}, the most is {}", request.size_log2, kSizeLog2Max)};
}

template <class C>
base::Result<Answer> measure_sums_over(const MeasureRequest& request) {
  const bool on_device = request.backend.backend == "cuda";
  const auto measure = [&]<class G>(std::type_identity<G>) {
    return on_device
               ? cuda::measure_multiply<G>(devices_of(request), request.size_log2, request.repeats)
               : cpu_multiply<G>(request);
  };
  return request.group == "g2"
             ? answer_of("sum in G2", request, measure(std::type_identity<typename C::G2>()))
             : answer_of("sum in G1", request, measure(std::type_identity<typename C::G1>()));
}

template <class C>
base::Result<Answer> measure_transforms_over(const MeasureRequest& request) {
  return answer_of("transform", request,
                   request.backend.backend == "cuda"
                       ? cuda::measure_transform<C>(devices_of(request).front(), request.size_log2,
                                                    request.repeats)
                       : cpu_transform<C>(request));
}

}  // namespace

base::Result<Answer> measure_transforms(const MeasureRequest& request, Session& session) {
  CUZK_TRY_STATUS(check(request));
  session.stage("transforms");
  return request.curve == "bn254" ? measure_transforms_over<curve::Bn254>(request)
                                  : measure_transforms_over<curve::Bls12_381>(request);
}

base::Result<Answer> measure_sums(const MeasureRequest& request, Session& session) {
  CUZK_TRY_STATUS(check(request));
  session.stage("sums");
  return request.curve == "bn254" ? measure_sums_over<curve::Bn254>(request)
                                  : measure_sums_over<curve::Bls12_381>(request);
}

}  // namespace cuzk::apps
