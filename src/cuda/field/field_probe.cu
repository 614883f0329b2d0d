// One kernel an operation; the loop feeds each result back, so that it measures dependent work.
//
// The loop is kept rolled, so that its body is the code of one operation and not of a schedule
// across several. Throughput then comes from many threads, as in the product's kernels.
#include "cuda/device/error.h"
#include "cuda/field/field_probe.h"
#include "cuda/field/word_field.h"

namespace cuzk::cuda::field {
namespace {

// One operation, chosen at compile time so that the loop has no branch.
template <Probe kProbe, class T>
__device__ T apply(const T& a, const T& b) {
  if constexpr (kProbe == Probe::kProduct) return a * b;
  if constexpr (kProbe == Probe::kSquare) return a.squared();
  if constexpr (kProbe == Probe::kSum) return a + b;
  if constexpr (kProbe == Probe::kDifference) return a - b;
  if constexpr (kProbe == Probe::kInverse) return a.inverse();
  if constexpr (kProbe == Probe::kTwoProducts) {
    if constexpr (T::Constants::kSumsTwoProducts) {
      return T::sum_of_products(a, a, b, a);
    } else {
      return a * (a + b);
    }
  }
}

// Elements past `count` have no thread; each thread writes its own and reads no other's.
template <Probe kProbe, class T>
__global__ void __launch_bounds__(256)
    probe_kernel(T* out, const T* a, const T* b, std::size_t count, int repeats) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  T x = a[i];
  const T y = b[i];
  CUZK_NO_UNROLL for (int k = 0; k < repeats; ++k) x = apply<kProbe>(x, y);
  out[i] = x;
}

// A thread an element, in blocks of 256.
template <Probe kProbe, class T>
base::Status launch(const device::Stream& stream, T* out, const T* a, const T* b, std::size_t count,
                    int repeats) {
  probe_kernel<kProbe><<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream.handle()>>>(
      out, a, b, count, repeats);
  return device::launched("probe_kernel");
}

}  // namespace

template <class F>
base::Status run_probe(const device::Stream& stream, Probe probe, device::DeviceSpan<F> out,
                       device::DeviceSpan<F> a, device::DeviceSpan<F> b, int repeats) {
  using T = WordField<typename F::Params>;
  static_assert(sizeof(T) == sizeof(F));
  CUZK_ASSERT(out.size == a.size && out.size == b.size);
  if (out.size == 0) return base::ok_status();
  T* to = reinterpret_cast<T*>(out.data);
  const T* x = reinterpret_cast<const T*>(a.data);
  const T* y = reinterpret_cast<const T*>(b.data);
  switch (probe) {
    case Probe::kProduct: return launch<Probe::kProduct>(stream, to, x, y, out.size, repeats);
    case Probe::kSquare: return launch<Probe::kSquare>(stream, to, x, y, out.size, repeats);
    case Probe::kSum: return launch<Probe::kSum>(stream, to, x, y, out.size, repeats);
    case Probe::kDifference: return launch<Probe::kDifference>(stream, to, x, y, out.size, repeats);
    case Probe::kTwoProducts:
      return launch<Probe::kTwoProducts>(stream, to, x, y, out.size, repeats);
    case Probe::kInverse: return launch<Probe::kInverse>(stream, to, x, y, out.size, repeats);
  }
  return base::ok_status();
}

#define CUZK_CUDA_PROBE(F)                                                                \
  template base::Status run_probe<F>(const device::Stream&, Probe, device::DeviceSpan<F>, \
                                     device::DeviceSpan<F>, device::DeviceSpan<F>, int);
CUZK_CUDA_PROBE(cuzk::field::bls12_381::Fp)
CUZK_CUDA_PROBE(cuzk::field::bls12_381::Fr)
CUZK_CUDA_PROBE(cuzk::field::bn254::Fp)
CUZK_CUDA_PROBE(cuzk::field::bn254::Fr)
#undef CUZK_CUDA_PROBE

}  // namespace cuzk::cuda::field
