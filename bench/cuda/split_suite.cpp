// One multiplication split over all visible devices, against the same on the first alone. With one
// device the parts run on it one after another, which checks the sums and times nothing.
#include "bench/cuda/msm_support.h"
#include "cuda/msm/split.h"

namespace cuzk::bench::cuda {
namespace {

using G = curve::Bls12_381::G1;
using ::cuzk::cuda::device::DeviceInfo;
using ::cuzk::cuda::device::Stream;
using ::cuzk::cuda::msm::TermRange;

// One device's range: (first + i + 1) G and its scalars, on the device, with all that a sum needs.
struct Part {
  DeviceInfo device;
  MsmPlan plan;
  Stream stream;
  Buffer bases, scalars, scratch;

  static base::Result<Part> create(const DeviceInfo& device, TermRange range,
                                   const std::vector<Scalar<G>>& all) {
    Part part;
    part.device = device;
    CUZK_TRY_STATUS(::cuzk::cuda::device::use_device(device));
    CUZK_TRY(part.stream, Stream::create());
    CUZK_TRY(part.plan, ::cuzk::cuda::msm::plan_msm<G>(range.count));
    CUZK_TRY(part.bases, Buffer::create(range.count * sizeof(curve::Affine<G>)));
    CUZK_TRY(part.scalars, Buffer::create(range.count * sizeof(Scalar<G>)));
    CUZK_TRY(part.scratch, Buffer::create(part.plan.scratch_bytes + part.plan.sums_bytes));
    CUZK_TRY_STATUS(
        ::cuzk::cuda::msm::fill_multiples<G>(part.stream, G::generator(), range.first + 1,
                                             part.bases.span<curve::Affine<G>>(range.count)));
    CUZK_TRY_STATUS(::cuzk::cuda::device::upload<Scalar<G>>(
        part.stream, part.scalars.span<Scalar<G>>(range.count),
        std::span(all).subspan(range.first, range.count)));
    CUZK_TRY_STATUS(part.stream.synchronize());
    return part;
  }
  base::Result<curve::Jacobian<G>> run() const {
    CUZK_TRY_STATUS(::cuzk::cuda::device::use_device(device));
    Terms<G> terms;
    terms.bases = reading<curve::Affine<G>>(bases, plan.count);
    terms.scalars = reading<Scalar<G>>(scalars, plan.count);
    return ::cuzk::cuda::msm::multiply<G>(stream, plan, terms, bytes_of(scratch));
  }
};

// The sum over the parts, each on a thread of its own; its median time goes to *ms.
void expect_split(Suite& suite, const std::vector<Part>& parts, const curve::Jacobian<G>& expected,
                  int repeats, double* ms) {
  *ms = median_host_ms(repeats, [&] {
    std::vector<curve::Jacobian<G>> sums(parts.size(), curve::Jacobian<G>::infinity());
    std::vector<char> is_done(parts.size(), 0);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      threads.emplace_back([&, i] {
        auto sum = parts[i].run();
        is_done[i] = sum.ok();
        if (sum.ok()) sums[i] = *sum;
      });
    }
    for (std::thread& thread : threads) thread.join();
    auto total = curve::Jacobian<G>::infinity();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      suite.expect(is_done[i] != 0, "part of a split sum");
      total += sums[i];
    }
    suite.expect(total == expected, "split sum");
  });
}

// Milliseconds of the sum by ranges in the ratio of `rates`, over `devices` in turn.
double run_split(Suite& suite, const std::vector<DeviceInfo>& devices,
                 const std::vector<double>& rates, const std::vector<Scalar<G>>& scalars,
                 const curve::Jacobian<G>& expected, int repeats) {
  const auto ranges = ::cuzk::cuda::msm::split_terms(scalars.size(), rates);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto part = Part::create(devices[i % devices.size()], ranges[i], scalars);
    if (!suite.expect_ok(part, "part")) return 0;
    parts.push_back(std::move(part).value());
  }
  double ms = 0;
  expect_split(suite, parts, expected, repeats, &ms);
  return ms;
}

}  // namespace

void check_splits(Suite& suite) {
  auto devices = ::cuzk::cuda::device::devices();
  if (!suite.expect_ok(devices, "devices")) return;
  const auto scalars = random_scalars<G>(suite.quick() ? 300 : 100001, 9);
  const auto expected = closed_form<G>(scalars);
  for (const std::vector<double>& rates :
       {std::vector<double>{1}, {1, 1}, {3, 1}, {1, 0}, {1, 2, 3}}) {
    if (suite.tiny() && rates.size() != 3) continue;
    run_split(suite, *devices, rates, scalars, expected, 1);
  }
  suite.section("split sums");
}

void time_splits(Suite& suite) {
  auto devices = ::cuzk::cuda::device::devices();
  if (suite.quick() || !suite.expect_ok(devices, "devices") || devices->size() < 2) return;
  const auto scalars = random_scalars<G>(std::size_t{1} << 26, 9);
  const auto expected = closed_form<G>(scalars);
  const std::vector<double> all(devices->size(), 1.0);
  const double one_ms = run_split(suite, *devices, {1.0}, scalars, expected, 5);
  const double all_ms = run_split(suite, *devices, all, scalars, expected, 5);
  std::printf("%s 2^26 on one device: %.2f ms; split over %zu: %.2f ms, %.3f of it\n", G::kName,
              one_ms, devices->size(), all_ms, all_ms / one_ms);
}

}  // namespace cuzk::bench::cuda
