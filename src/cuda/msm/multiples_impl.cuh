// A thread starts from one double-and-add, goes on by additions, and shares one inversion.
//
// With 16 multiples a thread, each costs an addition, a sixteenth of an inversion and of some 64
// doublings, and the products of Montgomery's trick. Infinity (a multiple of the order, or of
// infinity itself) is left out of the shared inversion.
#pragma once

#include <bit>

#include "cuda/curve/word_point.h"
#include "cuda/device/error.h"
#include "cuda/msm/multiples.h"

namespace cuzk::cuda::msm {

// Points whose inversion one thread shares; they and their prefixes live in local memory.
inline constexpr int kMultiplesPerThread = 16, kMultiplesThreads = 64;

template <class T>
__global__ void __launch_bounds__(kMultiplesThreads)
    fill_multiples_kernel(const curve::AffinePoint<T> base, std::uint64_t first,
                          curve::AffinePoint<T>* out, std::size_t count) {
  const std::size_t begin =
      (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * kMultiplesPerThread;
  if (begin >= count) return;
  const int here = static_cast<int>(min(std::size_t{kMultiplesPerThread}, count - begin));
  const auto step = curve::XyzzPoint<T>::from_affine(base);
  curve::XyzzPoint<T> point = curve::XyzzPoint<T>::infinity();
  for (int bit = 63 - __clzll(first + begin); bit >= 0; --bit) {
    curve::double_point(point);
    if ((first + begin) >> bit & 1) curve::add_point(point, step);
  }
  curve::XyzzPoint<T> points[kMultiplesPerThread];
  T prefix[kMultiplesPerThread];
  T product = T::one();
  for (int i = 0; i < here; ++i) {
    points[i] = point;
    prefix[i] = product;
    if (!point.is_infinity()) product = product * point.zzz;
    curve::add_point(point, step);
  }
  T inverse = product.inverse();
  for (int i = here - 1; i >= 0; --i) {
    const curve::XyzzPoint<T>& p = points[i];
    if (p.is_infinity()) {
      out[begin + i] = {};
      continue;
    }
    const T zzz_inverse = inverse * prefix[i];
    inverse = inverse * p.zzz;
    const T z_inverse = zzz_inverse * p.zz;
    out[begin + i] = {p.x * z_inverse.squared(), p.y * zzz_inverse};
  }
}

template <class G>
base::Status fill_multiples(const device::Stream& stream, const cuzk::curve::Affine<G>& base,
                            std::uint64_t first, device::DeviceSpan<cuzk::curve::Affine<G>> out) {
  using T = curve::Coordinate<G>;
  if (out.size == 0) return base::ok_status();
  constexpr std::size_t kPerBlock = std::size_t{kMultiplesPerThread} * kMultiplesThreads;
  fill_multiples_kernel<<<static_cast<unsigned>((out.size + kPerBlock - 1) / kPerBlock),
                          kMultiplesThreads, 0, stream.handle()>>>(
      std::bit_cast<curve::AffinePoint<T>>(base), first,
      reinterpret_cast<curve::AffinePoint<T>*>(out.data), out.size);
  return device::launched("fill_multiples_kernel");
}

}  // namespace cuzk::cuda::msm

#define CUZK_CUDA_MULTIPLES(G)                                                         \
  template cuzk::base::Status cuzk::cuda::msm::fill_multiples<G>(                      \
      const cuzk::cuda::device::Stream&, const cuzk::curve::Affine<G>&, std::uint64_t, \
      cuzk::cuda::device::DeviceSpan<cuzk::curve::Affine<G>>);
