// Vectors of field elements in memory that was planned as bytes, and their way to the coset.
#pragma once

#include "cuda/device/buffer.h"
#include "cuda/poly/ntt.h"

namespace cuzk::cuda::prove {

// The bytes as elements; a remainder shorter than one is left out.
template <class F>
device::DeviceSpan<F> elements_of(device::DeviceSpan<std::byte> bytes) {
  return {reinterpret_cast<F*>(bytes.data), bytes.size / sizeof(F)};
}

template <class F>
device::DeviceSpan<const F> reading(device::DeviceSpan<F> values) {
  return {values.data, values.size};
}

// Queues it: values on the domain become values on the coset.
template <class F>
base::Status to_coset(const poly::Transform<F>& transform, const device::Stream& stream,
                      device::DeviceSpan<F> values) {
  CUZK_TRY_STATUS(transform.inverse(stream, values, poly::Order::kNaturalToReversed));
  return transform.forward(stream, values, poly::Order::kReversedToNatural, poly::Points::kCoset);
}

}  // namespace cuzk::cuda::prove
