// Pinned host memory: what is copied through it comes back, and how long it takes to be had and to
// be given back, beside the driver's own allocation.
#include <chrono>
#include <cstring>

#include "bench/cuda/suite.h"

namespace cuzk::bench::cuda {
namespace {

using ::cuzk::cuda::device::Buffer;
using ::cuzk::cuda::device::PinnedBuffer;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Through one pinned buffer to the device, back through another.
void check_copies(Suite& suite, std::uint64_t size_bytes, unsigned threads) {
  const std::string what =
      std::to_string(size_bytes) + " pinned bytes, " + std::to_string(threads) + " threads";
  auto from = PinnedBuffer::create(size_bytes, threads);
  auto to = PinnedBuffer::create(size_bytes, threads);
  auto between = Buffer::create(size_bytes);
  if (!suite.expect_ok(from, what) || !suite.expect_ok(to, what)) return;
  if (!suite.expect_ok(between, what)) return;
  for (std::uint64_t i = 0; i < size_bytes; ++i) {
    from->data()[i] = static_cast<std::byte>(mixed(size_bytes, i / 8) >> (i % 8 * 8));
  }
  const auto on_device = between->span<std::byte>(size_bytes);
  suite.expect_ok(
      ::cuzk::cuda::device::upload<std::byte>(suite.stream(), on_device,
                                              std::span<const std::byte>(from->data(), size_bytes)),
      what);
  suite.expect_ok(::cuzk::cuda::device::download<std::byte>(
                      suite.stream(), std::span<std::byte>(to->data(), size_bytes), on_device),
                  what);
  suite.expect_ok(suite.stream().synchronize(), what);
  suite.expect(std::memcmp(from->data(), to->data(), size_bytes) == 0, what + ": not the same");
}

// Milliseconds of `work`, the least of three.
double least_ms(const std::function<void()>& work) {
  double least = 0;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i == 0 || took.count() < least) least = took.count();
  }
  return least;
}

void time_pinning(Suite& suite, std::uint64_t size_bytes) {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const auto ms_by = [&](unsigned count) {
    return least_ms([&suite, size_bytes, count] {
      suite.expect_ok(PinnedBuffer::create(size_bytes, count), "pinned");
    });
  };
  std::printf(
      "pinned %llu MiB, to have and to give back: %.1f ms, by %u threads %.1f (driver %.1f)\n",
      static_cast<unsigned long long>(size_bytes / kMiB), ms_by(1), threads, ms_by(threads),
      ms_by(0));
}

}  // namespace

void check_memory(Suite& suite) {
  for (const unsigned threads : {1u, 5u}) {
    for (const std::uint64_t size : {std::uint64_t{1}, 4 * kMiB - 1, 4 * kMiB}) {
      check_copies(suite, size, threads);
    }
    if (suite.quick()) continue;
    check_copies(suite, 64 * kMiB + 3, threads);
  }
  suite.section("pinned memory");
}

void time_memory(Suite& suite) {
  for (const std::uint64_t mib : {4, 16, 128, 1024, 4096}) time_pinning(suite, mib * kMiB);
}

}  // namespace cuzk::bench::cuda
