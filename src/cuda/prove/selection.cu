// Kernels of selection.h: a thread a word of 64 variables, then a thread a selected scalar, so that
// a few words full of scalars do not hold up the rest.
//
// What a single thread does is in witness_view.h, where host tests reach it.
#include "cuda/device/error.h"
#include "cuda/field/word_field.h"
#include "cuda/msm/block_scan.cuh"
#include "cuda/prove/selection.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::cuda::prove {
namespace {

template <class F>
using DeviceOf = field::WordField<typename F::Params>;

constexpr int kThreads = 256;
static_assert(kThreads % 32 == 0 && kThreads <= 1024, "as block_exclusive_sum wants");
static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t), "atomicOr of bitmap words");

unsigned blocks_for(std::uint64_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

// Atomics, since packed words of two threads may meet in one word of the bitmap.
__global__ void select_ones_kernel(const std::uint64_t* bits, const SelectedWords words,
                                   std::uint64_t* bitmap) {
  const std::size_t word = words.first_word + blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (word >= words.last_word) return;
  const PlacedBits placed = place_ones(words.segment, word, bits[word], words.first_point);
  if (placed.low != 0) {
    atomicOr(reinterpret_cast<unsigned long long*>(bitmap + placed.word), placed.low);
  }
  if (placed.high != 0) {
    atomicOr(reinterpret_cast<unsigned long long*>(bitmap + placed.word + 1), placed.high);
  }
}

// A block counts its scalars, reserves that many places with one atomic, and fills them. All its
// threads take part in the sum, those past the last word with nothing.
__global__ void __launch_bounds__(kThreads)
    select_scalars_kernel(const std::uint64_t* mask, const std::uint32_t* rank,
                          const SelectedWords words, std::uint32_t mark,
                          const SelectedPairs pairs) {
  __shared__ std::uint32_t base;
  const std::size_t word = words.first_word + blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const bool is_inside = word < words.last_word;
  const std::uint64_t selected = is_inside ? selected_word(words.segment, word) : 0;
  const std::uint64_t marked = is_inside ? mask[word] : 0;
  std::uint64_t left = marked & selected;
  std::uint32_t total;
  const std::uint32_t offset = msm::block_exclusive_sum(bit_count(left), total);
  if (threadIdx.x == 0 && total > 0) base = atomicAdd(pairs.count, total);
  __syncthreads();
  if (left == 0) return;
  const std::uint32_t first = word_point(words.segment, word) - words.first_point;
  std::uint32_t at = base + offset;
  for (; left != 0; left &= left - 1, ++at) {
    const unsigned bit = lowest_bit(left);
    pairs.points[at] = first + point_in_word(words.segment, selected, bit);
    pairs.scalars[at] = (rank[word] + bit_count(marked & below_bit(bit))) | mark;
  }
}

// A Montgomery product with the plain integer one takes the factor R away: plain integers come out.
template <class T>
__global__ void gather_values_kernel(const SelectedPairs pairs, std::uint32_t count,
                                     const T* input_scalars, const T* aux_scalars, T* values) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t place = pairs.scalars[i];
  T plain_one = T::zero();
  plain_one.word[0] = 1;
  const T* scalars = (place & kInputsMark) != 0 ? input_scalars : aux_scalars;
  values[i] = scalars[place & ~kInputsMark] * plain_one;
}

}  // namespace

// Launches, a thread a word; a run without words launches nothing.
template <class F>
base::Status select_ones(const device::Stream& stream, const RunView<F>& run,
                         const SelectedWords& words, std::uint64_t* bitmap) {
  const std::size_t count = words.last_word - words.first_word;
  if (count == 0) return base::ok_status();
  select_ones_kernel<<<blocks_for(count), kThreads, 0, stream.handle()>>>(run.bits, words, bitmap);
  return device::launched("select_ones_kernel");
}

template <class F>
base::Status select_scalars(const device::Stream& stream, const RunView<F>& run,
                            const SelectedWords& words, std::uint32_t mark,
                            const SelectedPairs& pairs) {
  const std::size_t count = words.last_word - words.first_word;
  if (count == 0) return base::ok_status();
  select_scalars_kernel<<<blocks_for(count), kThreads, 0, stream.handle()>>>(run.mask, run.rank,
                                                                             words, mark, pairs);
  return device::launched("select_scalars_kernel");
}

template <class F>
base::Status gather_values(const device::Stream& stream, const SelectedPairs& pairs,
                           std::uint32_t count, const F* input_scalars, const F* aux_scalars,
                           F* values) {
  if (count == 0) return base::ok_status();
  gather_values_kernel<<<blocks_for(count), kThreads, 0, stream.handle()>>>(
      pairs, count, reinterpret_cast<const DeviceOf<F>*>(input_scalars),
      reinterpret_cast<const DeviceOf<F>*>(aux_scalars), reinterpret_cast<DeviceOf<F>*>(values));
  return device::launched("gather_values_kernel");
}

#define CUZK_CUDA_SELECTION(F)                                                        \
  template base::Status select_ones<F>(const device::Stream&, const RunView<F>&,      \
                                       const SelectedWords&, std::uint64_t*);         \
  template base::Status select_scalars<F>(const device::Stream&, const RunView<F>&,   \
                                          const SelectedWords&, std::uint32_t,        \
                                          const SelectedPairs&);                      \
  template base::Status gather_values<F>(const device::Stream&, const SelectedPairs&, \
                                         std::uint32_t, const F*, const F*, F*);
CUZK_CUDA_SELECTION(cuzk::field::bls12_381::Fr)
CUZK_CUDA_SELECTION(cuzk::field::bn254::Fr)
#undef CUZK_CUDA_SELECTION

}  // namespace cuzk::cuda::prove
