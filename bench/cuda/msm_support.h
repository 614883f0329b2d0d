// What the suites of multiplications share: bases (i + 1) G on the device, scalars, and the sum
// that such bases must give.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>

#include "bench/cuda/suite.h"
#include "cuda/msm/msm.h"
#include "cuda/msm/multiples.h"

namespace cuzk::bench::cuda {

using ::cuzk::cuda::device::Buffer;
using ::cuzk::cuda::device::DeviceSpan;
using ::cuzk::cuda::msm::MsmPlan;
using ::cuzk::cuda::msm::MsmPolicy;
using ::cuzk::cuda::msm::Scalar;
using ::cuzk::cuda::msm::Terms;

// The first `count` elements of a buffer, for those who only read.
template <class T>
DeviceSpan<const T> reading(const Buffer& buffer, std::size_t count) {
  return {buffer.template span<T>(count).data, count};
}

// Uniform enough integers below the group's order; the same for the same seed.
template <class G>
std::vector<Scalar<G>> random_scalars(std::size_t count, std::uint64_t seed) {
  std::vector<Scalar<G>> out(count);
  parallel_for(count, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      out[i].value = random_limbs<typename G::Scalar>(seed, i);
    }
  });
  return out;
}

// (sum of k_i (i + 1)) G: what any sum over the bases of multiples() must be, for one scaling.
template <class G>
curve::Jacobian<G> closed_form(const std::vector<Scalar<G>>& scalars) {
  using F = typename G::Scalar;
  F sum = F::zero();
  std::mutex lock;
  parallel_for(scalars.size(), [&](std::size_t first, std::size_t last) {
    F part = F::zero();
    // With k's limbs taken for a Montgomery form, those of the product are k (i + 1).
    for (std::size_t i = first; i < last; ++i) {
      part += F::from_montgomery(scalars[i].value) * F::from_u64(i + 1);
    }
    const std::lock_guard<std::mutex> hold(lock);
    sum += part;
  });
  return curve::Jacobian<G>::from_affine(G::generator()).scaled(sum.montgomery_limbs());
}

inline DeviceSpan<std::byte> bytes_of(const Buffer& buffer) {
  return buffer.span<std::byte>(buffer.size_bytes());
}

// (i + 1) G for i < count.
template <class G>
Buffer multiples(Suite& suite, std::size_t count) {
  auto bases = Buffer::create(count * sizeof(curve::Affine<G>));
  if (!suite.expect_ok(bases, "bases")) return {};
  suite.expect_ok(
      ::cuzk::cuda::msm::fill_multiples<G>(suite.stream(), G::generator(), 1,
                                           bases->template span<curve::Affine<G>>(count)),
      "bases");
  suite.expect_ok(suite.stream().synchronize(), "bases");
  return std::move(bases).value();
}

// Milliseconds of host time of one call.
inline double host_ms(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

// The median of `repeats` calls after one to warm up.
inline double median_host_ms(int repeats, const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(host_ms(work));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace cuzk::bench::cuda
