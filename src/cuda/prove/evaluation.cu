// Kernels of evaluation.h. A row of the usual few terms takes one thread; a long one takes a warp,
// whose lanes' sums are folded by shuffles.
//
// Rows are read once and their values written once, in order; what is gathered is the witness, most
// of which is bits.
#include <bit>

#include "cuda/device/error.h"
#include "cuda/field/word_field.h"
#include "cuda/prove/evaluation.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::cuda::prove {
namespace {

template <class F>
using DeviceOf = field::WordField<typename F::Params>;

constexpr int kThreads = 128;
constexpr unsigned kWarp = 32;
static_assert(kThreads % kWarp == 0, "a warp a long row");
static_assert(kLongRow >= kWarp, "a long row has a term for every lane");

unsigned blocks_for(std::uint64_t count, unsigned per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

// The same arrays under the device's type of elements: one layout, so nothing is converted.
template <class F>
RunView<DeviceOf<F>> to_device(const RunView<F>& run) {
  return {run.bits, run.mask, run.rank, reinterpret_cast<const DeviceOf<F>*>(run.scalars),
          run.size};
}
template <class F>
WitnessView<DeviceOf<F>> to_device(const WitnessView<F>& witness) {
  return {reinterpret_cast<const DeviceOf<F>*>(witness.inputs), witness.input_count,
          to_device(witness.aux)};
}

// Each row has one writer in a launch, so multiplying into it is no race.
template <class T>
__device__ CUZK_INLINE void put_row(T* place, RowUse use, const T& value) {
  *place = use == RowUse::kStore ? value : place->times(value);
}

// A thread a stored row and copy (blockIdx.y); long rows are left to the other kernel.
template <class T>
__global__ void __launch_bounds__(kThreads)
    evaluate_rows_kernel(const WitnessView<T> witness, const T* coefficients, const MatrixRows rows,
                         RowUse use, T* out) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i >= rows.block.count) return;
  const std::uint64_t first = rows.row_begin[i], last = rows.row_begin[i + 1];
  if (last - first > kLongRow) return;
  const std::uint32_t copy = blockIdx.y;
  const RowTerms row = {rows.terms, first - rows.first_term, last - rows.first_term,
                        rows.block.first_copy + copy};
  put_row(out + rows.block.first_row + copy * rows.block.row_step + i, use,
          sum_terms(witness, coefficients, row, rows.block.steps, 0, 1));
}

// The sum of the lanes' values, in lane 0.
template <class T>
__device__ T warp_sum(T value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) {
    T other;
    for (int w = 0; w < T::W; ++w) {
      other.word[w] = __shfl_down_sync(0xffffffffu, value.word[w], distance);
    }
    value += other;
  }
  return value;
}

// A warp a long row and copy. All lanes take part in the fold, also those whose terms are out.
template <class T>
__global__ void __launch_bounds__(kThreads)
    evaluate_long_rows_kernel(const WitnessView<T> witness, const T* coefficients,
                              const MatrixRows rows, RowUse use, T* out) {
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  if (warp >= rows.long_row_count) return;
  const std::uint64_t i = rows.long_rows[warp] - rows.block.first;
  const std::uint32_t copy = blockIdx.y;
  const RowTerms row = {rows.terms, rows.row_begin[i] - rows.first_term,
                        rows.row_begin[i + 1] - rows.first_term, rows.block.first_copy + copy};
  const T sum = warp_sum(sum_terms(witness, coefficients, row, rows.block.steps, lane, kWarp));
  if (lane == 0) put_row(out + rows.block.first_row + copy * rows.block.row_step + i, use, sum);
}

// Pointwise; `out` may be `a`.
template <class T>
__global__ void multiply_kernel(T* out, const T* a, const T* b, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) out[i] = a[i] * b[i];
}

// A thread an element of `out`: element `first` + i of a vector of which `rows` holds a run of each
// row of 2^row_log2, of `width` elements from element first_in_row on, in reversed order of rows.
template <class T>
__global__ void gather_rows_kernel(T* out, const T* rows, int row_log2, std::size_t width,
                                   std::size_t first, std::size_t first_in_row, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  const std::size_t index = first + i;
  const std::size_t residue = index & ((std::size_t{1} << row_log2) - 1);
  const std::size_t row = row_log2 == 0 ? 0 : __brevll(residue) >> (64 - row_log2);
  out[i] = rows[row * width + ((index >> row_log2) - first_in_row)];
}

// `scale` is a plain integer in the place of a Montgomery form: see quotient_integers.
template <class T>
__global__ void quotient_kernel(T* product, const T* c, T scale, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  product[i] = (product[i] - c[i]) * scale;
}

}  // namespace

// Short rows and long ones by a kernel each; neither is launched for nothing.
template <class F>
base::Status evaluate_rows(const device::Stream& stream, const WitnessView<F>& witness,
                           const F* coefficients, const MatrixRows& rows, RowUse use, F* out) {
  static_assert(sizeof(DeviceOf<F>) == sizeof(F) && sizeof(r1cs::Term) % 4 == 0);
  const auto view = to_device(witness);
  const auto* table = reinterpret_cast<const DeviceOf<F>*>(coefficients);
  auto* target = reinterpret_cast<DeviceOf<F>*>(out);
  // A grid has at most 65535 blocks in y.
  constexpr std::uint32_t kCopiesMax = 65535;
  CUZK_ASSERT(rows.block.copy_count <= kCopiesMax);
  if (rows.block.count > 0) {
    const dim3 grid(blocks_for(rows.block.count, kThreads), rows.block.copy_count);
    evaluate_rows_kernel<<<grid, kThreads, 0, stream.handle()>>>(view, table, rows, use, target);
    CUZK_TRY_STATUS(device::launched("evaluate_rows_kernel"));
  }
  if (rows.long_row_count > 0) {
    const dim3 grid(blocks_for(rows.long_row_count, kThreads / kWarp), rows.block.copy_count);
    evaluate_long_rows_kernel<<<grid, kThreads, 0, stream.handle()>>>(view, table, rows, use,
                                                                      target);
    CUZK_TRY_STATUS(device::launched("evaluate_long_rows_kernel"));
  }
  return base::ok_status();
}

template <class F>
base::Status multiply_into(const device::Stream& stream, device::DeviceSpan<F> out,
                           device::DeviceSpan<const F> a, device::DeviceSpan<const F> b) {
  if (out.size == 0) return base::ok_status();
  multiply_kernel<<<blocks_for(out.size, kThreads), kThreads, 0, stream.handle()>>>(
      reinterpret_cast<DeviceOf<F>*>(out.data), reinterpret_cast<const DeviceOf<F>*>(a.data),
      reinterpret_cast<const DeviceOf<F>*>(b.data), out.size);
  return device::launched("multiply_kernel");
}

template <class F>
base::Status gather_rows(const device::Stream& stream, device::DeviceSpan<const F> rows,
                         const InterleavedRows& layout, std::size_t first,
                         device::DeviceSpan<F> out) {
  if (out.size == 0) return base::ok_status();
  CUZK_ASSERT(rows.size >= layout.width << layout.row_log2 && layout.row_log2 < 64);
  CUZK_ASSERT(first >> layout.row_log2 >= layout.first_in_row);
  CUZK_ASSERT((first + out.size - 1) >> layout.row_log2 < layout.first_in_row + layout.width);
  gather_rows_kernel<<<blocks_for(out.size, kThreads), kThreads, 0, stream.handle()>>>(
      reinterpret_cast<DeviceOf<F>*>(out.data), reinterpret_cast<const DeviceOf<F>*>(rows.data),
      layout.row_log2, layout.width, first, layout.first_in_row, out.size);
  return device::launched("gather_rows_kernel");
}

template <class F>
base::Status multiply_pointwise(const device::Stream& stream, device::DeviceSpan<F> a,
                                device::DeviceSpan<const F> b) {
  return multiply_into<F>(stream, a, {a.data, a.size}, b);
}

template <class F>
base::Status quotient_integers(const device::Stream& stream, device::DeviceSpan<F> product,
                               device::DeviceSpan<const F> c, const F& scale) {
  // A Montgomery product with the plain integer of `scale` instead of its Montgomery form leaves
  // the plain integer of the product: the change of form costs nothing.
  DeviceOf<F> plain_one = DeviceOf<F>::zero();
  plain_one.word[0] = 1;
  const DeviceOf<F> factor = std::bit_cast<DeviceOf<F>>(scale) * plain_one;
  quotient_kernel<<<blocks_for(product.size, kThreads), kThreads, 0, stream.handle()>>>(
      reinterpret_cast<DeviceOf<F>*>(product.data), reinterpret_cast<const DeviceOf<F>*>(c.data),
      factor, product.size);
  return device::launched("quotient_kernel");
}

#define CUZK_CUDA_EVALUATION(F)                                                                  \
  template base::Status evaluate_rows<F>(const device::Stream&, const WitnessView<F>&, const F*, \
                                         const MatrixRows&, RowUse, F*);                         \
  template base::Status multiply_pointwise<F>(const device::Stream&, device::DeviceSpan<F>,      \
                                              device::DeviceSpan<const F>);                      \
  template base::Status multiply_into<F>(const device::Stream&, device::DeviceSpan<F>,           \
                                         device::DeviceSpan<const F>,                            \
                                         device::DeviceSpan<const F>);                           \
  template base::Status quotient_integers<F>(const device::Stream&, device::DeviceSpan<F>,       \
                                             device::DeviceSpan<const F>, const F&);             \
  template base::Status gather_rows<F>(const device::Stream&, device::DeviceSpan<const F>,       \
                                       const InterleavedRows&, std::size_t,                      \
                                       device::DeviceSpan<F>);
CUZK_CUDA_EVALUATION(cuzk::field::bls12_381::Fr)
CUZK_CUDA_EVALUATION(cuzk::field::bn254::Fr)
#undef CUZK_CUDA_EVALUATION

}  // namespace cuzk::cuda::prove
