// The kernel of fixed-base products: a thread takes sixteen scalars, then one inversion for all.
//
// Additions are complete, for multiples may meet: the scalars of a key can be anything. A scalar
// costs a mixed addition for each digit that is not zero; the digits are signed (msm/digits.h), so
// the table holds half as many multiples and the kernel negates y.
#pragma once

#include "cuda/device/error.h"
#include "cuda/msm/multiples_impl.cuh"
#include "cuda/setup/fixed_base_kernel.h"

namespace cuzk::cuda::setup {

// `entries` multiples a window; scalars are four 64-bit words each, below the group's order.
template <class T>
__global__ void __launch_bounds__(msm::kMultiplesThreads)
    fixed_base_kernel(const curve::AffinePoint<T>* table, std::size_t entries,
                      msm::WindowLayout layout, msm::ScalarParams params, msm::ScalarForm form,
                      const std::uint64_t* scalars, curve::AffinePoint<T>* out, std::size_t count) {
  constexpr std::size_t kEach = msm::kMultiplesPerThread;
  const std::size_t begin = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * kEach;
  if (begin >= count) return;
  const int here = static_cast<int>(min(kEach, count - begin));
  // XYZZ sums first: turned into affine points one by one, each would cost an inversion.
  curve::XyzzPoint<T> points[kEach];
  for (int i = 0; i < here; ++i) {
    std::uint64_t scalar[4];
    for (int k = 0; k < 4; ++k) scalar[k] = scalars[4 * (begin + i) + k];
    if (form == msm::ScalarForm::kMontgomery) msm::from_montgomery(scalar, params);
    const msm::RecodedScalar recoded = msm::recode(scalar, params);
    curve::XyzzPoint<T> sum = curve::XyzzPoint<T>::infinity();
    for (int w = 0; w < layout.window_count; ++w) {
      const std::uint32_t digit = msm::digit_at(recoded, layout.first_bit[w], layout.bit_count[w]);
      if (digit == msm::kNoDigit) continue;
      curve::AffinePoint<T> point = table[w * entries + (digit & ~msm::kSignBit)];
      if ((digit & msm::kSignBit) != 0) point.y = -point.y;
      curve::add_point(sum, point);
    }
    points[i] = sum;
  }
  msm::write_affine(points, here, out + begin);
}

template <class G>
base::Status multiply_by_table(const device::Stream& stream,
                               device::DeviceSpan<const cuzk::curve::Affine<G>> table,
                               const msm::WindowLayout& layout, const msm::ScalarParams& params,
                               device::DeviceSpan<const msm::Scalar<G>> scalars,
                               msm::ScalarForm form,
                               device::DeviceSpan<cuzk::curve::Affine<G>> out) {
  using T = curve::Coordinate<G>;
  static_assert(sizeof(curve::AffinePoint<T>) == sizeof(cuzk::curve::Affine<G>));
  static_assert(sizeof(msm::Scalar<G>) == 4 * sizeof(std::uint64_t), "four words a scalar");
  constexpr std::size_t kPerBlock = std::size_t{msm::kMultiplesPerThread} * msm::kMultiplesThreads;
  fixed_base_kernel<<<static_cast<unsigned>((out.size + kPerBlock - 1) / kPerBlock),
                      msm::kMultiplesThreads, 0, stream.handle()>>>(
      reinterpret_cast<const curve::AffinePoint<T>*>(table.data), layout.bucket_count_max(), layout,
      params, form, reinterpret_cast<const std::uint64_t*>(scalars.data),
      reinterpret_cast<curve::AffinePoint<T>*>(out.data), out.size);
  return device::launched("fixed_base_kernel");
}

}  // namespace cuzk::cuda::setup

#define CUZK_CUDA_MULTIPLY_BY_TABLE(G)                                            \
  template cuzk::base::Status cuzk::cuda::setup::multiply_by_table<G>(            \
      const cuzk::cuda::device::Stream&,                                          \
      cuzk::cuda::device::DeviceSpan<const cuzk::curve::Affine<G>>,               \
      const cuzk::cuda::msm::WindowLayout&, const cuzk::cuda::msm::ScalarParams&, \
      cuzk::cuda::device::DeviceSpan<const cuzk::cuda::msm::Scalar<G>>,           \
      cuzk::cuda::msm::ScalarForm, cuzk::cuda::device::DeviceSpan<cuzk::curve::Affine<G>>);
