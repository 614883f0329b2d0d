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
#include "cuda/msm/multiples_table.h"

namespace cuzk::cuda::msm {

// Points whose inversion one thread shares; they and their prefixes live in local memory.
inline constexpr int kMultiplesPerThread = 16, kMultiplesThreads = 64;
static_assert(kMultiplesThreads % 32 == 0);

// Writes `count` points of a thread as affine ones, with one inversion.
template <class T>
__device__ void write_affine(const curve::XyzzPoint<T>* points, int count,
                             curve::AffinePoint<T>* out) {
  T prefix[kMultiplesPerThread];
  T product = T::one();
  for (int i = 0; i < count; ++i) {
    prefix[i] = product;
    if (!points[i].is_infinity()) product = product.times(points[i].zzz);
  }
  T inverse = product.inverse();
  for (int i = count - 1; i >= 0; --i) {
    const curve::XyzzPoint<T>& p = points[i];
    if (p.is_infinity()) {
      out[i] = {};
      continue;
    }
    const T zzz_inverse = inverse.times(prefix[i]);
    inverse = inverse.times(p.zzz);
    const T z_inverse = zzz_inverse.times(p.zz);
    out[i] = {p.x.times(z_inverse.squared_there()), p.y.times(zzz_inverse)};
  }
}

// to[i] = 2^shift from[i].
template <class T>
__global__ void __launch_bounds__(kMultiplesThreads)
    shift_points_kernel(const curve::AffinePoint<T>* from, curve::AffinePoint<T>* to,
                        std::size_t count, int shift) {
  const std::size_t begin =
      (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * kMultiplesPerThread;
  if (begin >= count) return;
  const int here = static_cast<int>(min(std::size_t{kMultiplesPerThread}, count - begin));
  curve::XyzzPoint<T> points[kMultiplesPerThread];
  for (int i = 0; i < here; ++i) {
    curve::XyzzPoint<T> point = curve::XyzzPoint<T>::from_affine(from[begin + i]);
    for (int k = 0; k < shift; ++k) curve::double_point(point);
    points[i] = point;
  }
  write_affine(points, here, to + begin);
}

// out[i] = (first + i) base. For first + begin = 0 the loop over bits does not run (__clzll(0) is
// 64), and the sum stays infinity.
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
  for (int i = 0; i < here; ++i) {
    points[i] = point;
    curve::add_point(point, step);
  }
  write_affine(points, here, out + begin);
}

template <class G>
base::Status fill_multiples(const device::Stream& stream, const cuzk::curve::Affine<G>& base,
                            std::uint64_t first, device::DeviceSpan<cuzk::curve::Affine<G>> out) {
  using T = curve::Coordinate<G>;
  static_assert(sizeof(curve::AffinePoint<T>) == sizeof(cuzk::curve::Affine<G>));
  if (out.size == 0) return base::ok_status();
  constexpr std::size_t kPerBlock = std::size_t{kMultiplesPerThread} * kMultiplesThreads;
  fill_multiples_kernel<<<static_cast<unsigned>((out.size + kPerBlock - 1) / kPerBlock),
                          kMultiplesThreads, 0, stream.handle()>>>(
      std::bit_cast<curve::AffinePoint<T>>(base), first,
      reinterpret_cast<curve::AffinePoint<T>*>(out.data), out.size);
  return device::launched("fill_multiples_kernel");
}

// The sum's own layout says how far tables are apart, so both always agree.
template <class G>
base::Status fill_table(const device::Stream& stream, int table_count,
                        device::DeviceSpan<cuzk::curve::Affine<G>> table) {
  using T = curve::Coordinate<G>;
  const std::size_t stride = table.size / static_cast<std::size_t>(table_count);
  CUZK_ASSERT(stride * static_cast<std::size_t>(table_count) == table.size);
  if (stride == 0) return base::ok_status();
  const int shift =
      WindowLayout::shared(static_cast<int>(G::Scalar::kBitCount), table_count, 1).table_shift;
  constexpr std::size_t kPerBlock = std::size_t{kMultiplesPerThread} * kMultiplesThreads;
  const unsigned blocks = static_cast<unsigned>((stride + kPerBlock - 1) / kPerBlock);
  auto* points = reinterpret_cast<curve::AffinePoint<T>*>(table.data);
  // Each table from the one before, so that none takes more than `shift` doublings a point.
  for (int t = 1; t < table_count; ++t, points += stride) {
    shift_points_kernel<<<blocks, kMultiplesThreads, 0, stream.handle()>>>(points, points + stride,
                                                                           stride, shift);
    CUZK_TRY_STATUS(device::launched("shift_points_kernel"));
  }
  return base::ok_status();
}

}  // namespace cuzk::cuda::msm

#define CUZK_CUDA_MULTIPLES(G)                                                         \
  template cuzk::base::Status cuzk::cuda::msm::fill_table<G>(                          \
      const cuzk::cuda::device::Stream&, int,                                          \
      cuzk::cuda::device::DeviceSpan<cuzk::curve::Affine<G>>);                         \
  template cuzk::base::Status cuzk::cuda::msm::fill_multiples<G>(                      \
      const cuzk::cuda::device::Stream&, const cuzk::curve::Affine<G>&, std::uint64_t, \
      cuzk::cuda::device::DeviceSpan<cuzk::curve::Affine<G>>);
