// The device suite: checks against host arithmetic and timings, in one program that needs only
// nvcc, a C++ compiler and the standard library. tools/cuda_suite.sh builds and runs it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/device/device.h"
#include "field/limbs.h"

namespace cuzk::bench::cuda {

// Counts failures; prints each with what was found, and goes on, so that one run tells of all that
// is wrong. For one thread.
class Suite {
 public:
  Suite(::cuzk::cuda::device::Stream stream, bool quick, bool tiny)
      : stream_(std::move(stream)), quick_(quick || tiny), tiny_(tiny) {}
  const ::cuzk::cuda::device::Stream& stream() const { return stream_; }
  // Small sizes only: for runs under a memory or race checker.
  bool quick() const { return quick_; }
  // Each kernel a few times: for the slowest checkers. Implies quick().
  bool tiny() const { return tiny_; }
  int failure_count() const { return failure_count_; }

  void expect(bool holds, const std::string& what) {
    ++check_count_;
    if (holds) return;
    ++failure_count_;
    if (failure_count_ <= 40) std::printf("FAILED %s\n", what.c_str());
    std::fflush(stdout);
  }
  template <class Status>
  bool expect_ok(const Status& status, const std::string& what) {
    expect(status.ok(), what + (status.ok() ? "" : ": " + status.error().message));
    return status.ok();
  }
  void section(const std::string& name) {
    std::printf("%s: %d checks so far, %d failed\n", name.c_str(), check_count_, failure_count_);
    std::fflush(stdout);
  }
  // Median of `repeats` timed runs after one to warm up, in milliseconds of device time.
  double median_ms(int repeats, const std::function<base::Status()>& work);

 private:
  ::cuzk::cuda::device::Stream stream_;
  bool quick_, tiny_;
  int check_count_ = 0, failure_count_ = 0;
};

// Calls work(first, last) for parts of [0, count) on all processors.
inline void parallel_for(std::size_t count,
                         const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    all.emplace_back(
        [&work, t, threads, count] { work(count * t / threads, count * (t + 1) / threads); });
  }
  for (std::thread& thread : all) thread.join();
}

// A well-mixed function of (seed, i): Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators" (2014).
inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Uniform enough limbs below F's modulus.
template <class F>
cuzk::field::Limbs<F::kLimbCount> random_limbs(std::uint64_t seed, std::uint64_t i) {
  constexpr std::size_t N = F::kLimbCount;
  cuzk::field::Limbs<N> limbs;
  for (std::size_t k = 0; k < N; ++k) limbs[k] = mixed(seed, i * N + k);
  limbs[N - 1] >>= 64 * N - F::kBitCount;
  cuzk::field::Limbs<N> reduced;
  if (cuzk::field::sub_borrow(reduced, limbs, F::Params::kModulus) == 0) return reduced;
  return limbs;
}

// Allocates and fills device memory; on failure records it and returns an empty buffer.
template <class T>
::cuzk::cuda::device::Buffer to_device(Suite& suite, const std::vector<T>& values) {
  auto buffer = ::cuzk::cuda::device::Buffer::create(values.size() * sizeof(T));
  if (!suite.expect_ok(buffer, "allocation")) return {};
  suite.expect_ok(::cuzk::cuda::device::upload<T>(suite.stream(),
                                                  buffer->template span<T>(values.size()), values),
                  "upload");
  suite.expect_ok(suite.stream().synchronize(), "upload");
  return std::move(buffer).value();
}
template <class T>
std::vector<T> to_host(Suite& suite, ::cuzk::cuda::device::DeviceSpan<T> span) {
  std::vector<T> out(span.size);
  suite.expect_ok(::cuzk::cuda::device::download<T>(suite.stream(), out, span), "download");
  suite.expect_ok(suite.stream().synchronize(), "download");
  return out;
}

void check_memory(Suite& suite);
void time_memory(Suite& suite);
void check_fields(Suite& suite);
void time_fields(Suite& suite);
void check_transforms(Suite& suite);
void time_transforms(Suite& suite);
void check_multiplications(Suite& suite);
void time_multiplications(Suite& suite);
void check_forms_of_multiplication(Suite& suite);
void time_forms_of_multiplication(Suite& suite);
void check_fixed_bases(Suite& suite);
void time_fixed_bases(Suite& suite);
void check_splits(Suite& suite);
void time_splits(Suite& suite);
// One warm run of each main operation at 2^size_log2, for a profiler.
void trace_transforms(Suite& suite, std::size_t size_log2);
void trace_multiplications(Suite& suite, std::size_t size_log2);
// Transforms and multiplications at 2^size_log2 under many policies.
void sweep_transforms(Suite& suite, std::size_t size_log2);
void sweep_multiplications(Suite& suite, std::size_t size_log2);

}  // namespace cuzk::bench::cuda
