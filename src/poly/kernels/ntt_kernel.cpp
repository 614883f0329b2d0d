// The portable passes, and the choice among kernels.
//
// Radix 2, a column at a time: each of the eight columns is copied into its own run of the scratch,
// transformed there, and written back eight values a row. So memory is touched in whole lines
// although columns lie far apart. A row is transformed where it is.
#include "poly/kernels/ntt_kernel.h"

#include <type_traits>

#include "base/check.h"
#include "base/cpu.h"

namespace cuzk::poly {
namespace {

// Decimation in frequency (Gentleman and Sande, 1966): natural order in, bit-reversed order out.
// The first butterfly of each block has the twiddle one and takes no product.
template <class F>
void transform(F* x, const SubTransform<F>& t) {
  const std::size_t size = std::size_t{1} << t.size_log2;
  for (std::size_t half = size / 2; half > 0; half /= 2) {
    const std::size_t stride = size / 2 / half * t.twiddle_stride;
    for (std::size_t base = 0; base < size; base += 2 * half) {
      const F sum = x[base] + x[base + half];
      x[base + half] = x[base] - x[base + half];
      x[base] = sum;
      for (std::size_t j = 1; j < half; ++j) {
        const F low = x[base + j], high = x[base + j + half];
        x[base + j] = low + high;
        x[base + j + half] = (low - high) * t.twiddles[j * stride];
      }
    }
  }
}

// Eight columns; rows need none.
template <class F>
std::size_t scratch_bytes(std::size_t size_log2) {
  return (kLaneCount << size_log2) * sizeof(F);
}

template <class F>
void columns(const ColumnPass<F>& pass, const ColumnRun<F>& run, std::uint8_t* scratch) {
  CUZK_ASSERT(run.first % kLaneCount == 0 && run.count % kLaneCount == 0);
  CUZK_ASSERT(run.first + run.count <= pass.column_count);
  F* const tile = reinterpret_cast<F*>(scratch);
  const std::size_t size = std::size_t{1} << pass.transform.size_log2;
  F start[kLaneCount], ratio[kLaneCount];
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    start[i] = run.start[i];
    ratio[i] = run.ratio[i];
  }
  for (std::size_t c = run.first; c < run.first + run.count; c += kLaneCount) {
    for (std::size_t r = 0; r < size; ++r) {
      const F* row = pass.values + r * pass.column_count + c;
      for (std::size_t i = 0; i < kLaneCount; ++i) {
        tile[i * size + r] = pass.row_factors == nullptr ? row[i] : row[i] * pass.row_factors[r];
      }
    }
    for (std::size_t i = 0; i < kLaneCount; ++i) {
      transform(tile + i * size, pass.transform);
      // The result is in bit-reversed order, so order[k] finds value k for its twist.
      F twist = start[i];
      for (std::size_t k = 0; k < size; ++k, twist *= ratio[i]) {
        tile[i * size + pass.transform.order[k]] *= twist;
      }
      start[i] *= run.start_step;
      ratio[i] *= run.ratio_step;
    }
    for (std::size_t r = 0; r < size; ++r) {
      F* row = pass.values + r * pass.column_count + c;
      for (std::size_t i = 0; i < kLaneCount; ++i) row[i] = tile[i * size + r];
    }
  }
}

template <class F>
void rows(const RowPass<F>& pass, std::size_t first, std::size_t count, std::uint8_t*) {
  const std::size_t size = std::size_t{1} << pass.transform.size_log2;
  for (std::size_t r = first; r < first + count; ++r) {
    F* row = pass.values + r * size;
    transform(row, pass.transform);
    if (pass.column_factors == nullptr) continue;
    for (std::size_t k = 0; k < size; ++k) row[k] *= pass.column_factors[k];
  }
}

}  // namespace

template <class F>
const NttKernel<F>& portable_ntt_kernel() {
  static constexpr NttKernel<F> kernel = {"portable", 1, scratch_bytes<F>, columns<F>, rows<F>};
  return kernel;
}

template <class F>
const NttKernel<F>& ntt_kernel() {
  if (base::cpu_level() < base::CpuLevel::kIfma) return portable_ntt_kernel<F>();
  if constexpr (std::is_same_v<F, field::bls12_381::Fr>) {
    if (const auto* kernel = ifma_ntt_kernel_bls12_381()) return *kernel;
  } else {
    if (const auto* kernel = ifma_ntt_kernel_bn254()) return *kernel;
  }
  return portable_ntt_kernel<F>();
}

template const NttKernel<field::bls12_381::Fr>& portable_ntt_kernel();
template const NttKernel<field::bn254::Fr>& portable_ntt_kernel();
template const NttKernel<field::bls12_381::Fr>& ntt_kernel();
template const NttKernel<field::bn254::Fr>& ntt_kernel();

}  // namespace cuzk::poly
