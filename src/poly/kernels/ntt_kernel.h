// The inner passes of a transform, behind a table per CPU level.
//
// A vector of m = R C values is seen as R rows of C columns. The column pass transforms each column
// and multiplies the result by the twist; the row pass transforms each row. Both work on eight
// columns or rows at a time, in scratch of the caller, and leave each sub-transform in bit-reversed
// order, which together is the bit-reversed order of the whole (domain.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::poly {

// Columns or rows that a kernel takes at a time; counts and first indices are multiples of it.
inline constexpr std::size_t kLaneCount = 8;
static_assert((kLaneCount & (kLaneCount - 1)) == 0, "so that it divides every large enough 2^k");

// All constants (twiddles, factors, ratios) are multiplied by the kernel's constant_scale.
template <class F>
struct SubTransform {
  std::size_t size_log2 = 0;
  const F* twiddles = nullptr;  // twiddles[j * twiddle_stride] = (root of order 2^size_log2)^j
  std::size_t twiddle_stride = 1;
  const std::uint32_t* order = nullptr;  // order[k] = k with its size_log2 bits reversed
};

// value(row, column) *= row_factors[row] (when given), then the transform down each column, then
// value(k, column) *= start(column) ratio(column)^k.
template <class F>
struct ColumnPass {
  F* values = nullptr;
  std::size_t column_count = 0;
  SubTransform<F> transform;
  const F* row_factors = nullptr;
};
// One run of columns. start and ratio of the first eight; eight further on, both grow by their
// step.
template <class F>
struct ColumnRun {
  std::size_t first = 0, count = 0;
  F start[kLaneCount], ratio[kLaneCount];
  F start_step, ratio_step;
};

// The transform along each row, then value(row, position) *= column_factors[position] (when given).
// Results are fully reduced.
template <class F>
struct RowPass {
  F* values = nullptr;
  SubTransform<F> transform;
  const F* column_factors = nullptr;
};

// Pure functions; any thread may call them at once, on ranges of columns or rows that do not
// overlap and with a scratch each. Between the passes values may be anything below 2 p: only rows()
// promises the reduced form.
template <class F>
struct NttKernel {
  const char* name;
  std::uint64_t constant_scale;
  // Scratch for sub-transforms of that size, to be aligned to 64 bytes.
  std::size_t (*scratch_bytes)(std::size_t size_log2);
  void (*columns)(const ColumnPass<F>& pass, const ColumnRun<F>& run, std::uint8_t* scratch);
  void (*rows)(const RowPass<F>& pass, std::size_t first, std::size_t count, std::uint8_t* scratch);
};

template <class F>
const NttKernel<F>& portable_ntt_kernel();
// AVX-512 IFMA; nullptr when this build does not have it. The machine must be asked beforehand.
const NttKernel<field::bls12_381::Fr>* ifma_ntt_kernel_bls12_381();
const NttKernel<field::bn254::Fr>* ifma_ntt_kernel_bn254();

// The kernel of the active CPU level (base/cpu.h).
template <class F>
const NttKernel<F>& ntt_kernel();

}  // namespace cuzk::poly
