// Kernels of the transform: one pass over tiles, tables, permutation.
//
// A pass works on blocks of 2^block_log2 neighbouring elements and does `level_count` radix-2
// levels of them. Element index = block 2^block_log2 + row 2^(block_log2 - level_count) + low. The
// rows of one (block, low), a column, form a transform of their own; what depends on `low` is one
// twiddle an element, applied after the rows (natural to reversed: decimation in frequency) or
// before them (reversed to natural: decimation in time, the exact transpose). Inside a column the
// levels go in rounds of radix 8: a thread holds eight elements in registers, and shared memory
// carries them from one round's pattern to the next. A radix-8 butterfly costs four products and
// seven twiddles (radix8.h), against twelve of three radix-2 levels.
#pragma once

#include "cuda/field/word_field.h"
#include "cuda/poly/ntt_policy.h"
#include "cuda/poly/radix8.h"

namespace cuzk::cuda::poly {

// A table of powers: x^e = low[e mod 2^split_log2] * high[e >> split_log2].
template <class T>
struct PowerTable {
  const T* low;
  const T* high;
  int split_log2;

  // value x^e, lazy: two products by factors below p, so that the power itself is never reduced.
  __device__ T times_power(const T& value, std::size_t e) const {
    return product(product(value, low[e & ((std::size_t{1} << split_log2) - 1)]),
                   high[e >> split_log2]);
  }
};

// Whether a pass also multiplies elements: by nothing, by 1 / size, or by powers of the coset
// shift.
enum class Scaling { kNone, kConstant, kPowers };

// All that one launch needs, passed by value; pointers are to device memory. Between passes values
// are lazy, below 2 p, in memory too; the last one brings them below p.
template <class T>
struct NttPass {
  T* values;
  int size_log2, block_log2, level_count, column_count_log2;
  const T* roots;  // of order 2^roots_log2
  int roots_log2;
  EighthRoots<T> eighth;
  bool has_twiddles;
  bool is_last;  // the values leave the transform: below p
  // Twiddles are powers of a root of order 2^twiddle_log2, the block's size; in a tile of columns
  // of a larger transform (tiled.h) that is the whole size, and the tile begins at column
  // low_first.
  int twiddle_log2;
  std::size_t low_first;
  const T* direct;  // powers of order 2^direct_log2, or null: then `powers`, of order 2^powers_log2
  int direct_log2, powers_log2;
  PowerTable<T> powers;
  // What elements are multiplied by when they are first loaded or last stored.
  Scaling scaling;
  bool scales_at_load, scales_by_reversed_index;
  T constant;
  PowerTable<T> coset;
};

// The low `count` bits of i in opposite order.
__device__ inline std::size_t reversed_bits(std::size_t i, int count) {
  return count == 0 ? 0 : __brevll(i) >> (64 - count);
}

// Where slot `x` of this thread lies in a tile for a round of radix 2^kRadixLog2 that works on
// local blocks of 2^local_log2 rows.
struct Slot {
  int row, column, offset;  // offset: the row's place below the stride of the round
};

// The radix is a template argument wherever slots are computed: then all that does not depend on x
// is computed once for the eight slots.
template <int kRadixLog2, class T>
__device__ inline Slot slot_of(const NttPass<T>& pass, int x, int local_log2) {
  constexpr int radix_log2 = kRadixLog2, radix_mask = (1 << kRadixLog2) - 1;
  const int group = threadIdx.x + (x >> radix_log2) * blockDim.x;
  int column, place;
  if (pass.block_log2 == pass.level_count) {  // rows are neighbours in memory: lanes run along them
    const int places_log2 = pass.level_count - radix_log2;
    place = group & ((1 << places_log2) - 1);
    column = group >> places_log2;
  } else {
    column = group & ((1 << pass.column_count_log2) - 1);
    place = group >> pass.column_count_log2;
  }
  const int stride_log2 = local_log2 - radix_log2;
  const int offset = place & ((1 << stride_log2) - 1);
  const int block = place >> stride_log2;
  const int row = (block << local_log2) + offset + ((x & radix_mask) << stride_log2);
  return {row, column, offset};
}

// Where a slot lies in shared memory. Tiles keep the order in which memory is read.
template <class T>
__device__ inline int shared_index(const NttPass<T>& pass, const Slot& slot) {
  const int e = pass.block_log2 == pass.level_count
                    ? (slot.column << pass.level_count) + slot.row
                    : (slot.row << pass.column_count_log2) + slot.column;
  return e + (e >> 5) * 4;  // padding against bank conflicts
}

// The element of row `row` of a column, as the opening numbers them.
template <class T>
__device__ inline std::size_t element_index(const NttPass<T>& pass, std::size_t column, int row) {
  const int low_log2 = pass.block_log2 - pass.level_count;
  const std::size_t low = column & ((std::size_t{1} << low_log2) - 1);
  return (column >> low_log2 << pass.block_log2) + (static_cast<std::size_t>(row) << low_log2) +
         low;
}

// The value of a column's element times its twiddle, in reversed row order.
template <class T>
__device__ inline T column_twiddled(const NttPass<T>& pass, const T& value, std::size_t column,
                                    int row) {
  const int low_log2 = pass.block_log2 - pass.level_count;
  const std::size_t low = pass.low_first + (column & ((std::size_t{1} << low_log2) - 1));
  const std::size_t e = low * reversed_bits(row, pass.level_count);
  if (pass.direct != nullptr) {
    return product(value, pass.direct[e << (pass.direct_log2 - pass.twiddle_log2)]);
  }
  return pass.powers.times_power(value, e << (pass.powers_log2 - pass.twiddle_log2));
}

// value by the constant, or by the power that belongs to element `index`.
template <class T>
__device__ inline T scaled(const NttPass<T>& pass, const T& value, std::size_t index) {
  if (pass.scaling == Scaling::kConstant) return product(value, pass.constant);
  const std::size_t e =
      pass.scales_by_reversed_index ? reversed_bits(index, pass.size_log2) : index;
  return pass.coset.times_power(value, e);
}

// Eight elements of this thread from memory, scaled and twiddled where the pass says so.
template <int kRadixLog2, class T>
__device__ inline void load_tile(const NttPass<T>& pass, std::size_t first_column, T (&v)[8],
                                 int local_log2, bool twiddles) {
  CUZK_UNROLL for (int x = 0; x < 8; ++x) {
    const Slot slot = slot_of<kRadixLog2>(pass, x, local_log2);
    v[x] = pass.values[element_index(pass, first_column + slot.column, slot.row)];
  }
  if (pass.scaling != Scaling::kNone && pass.scales_at_load) {
    CUZK_UNROLL for (int x = 0; x < 8; ++x) {
      const Slot slot = slot_of<kRadixLog2>(pass, x, local_log2);
      v[x] = scaled(pass, v[x], element_index(pass, first_column + slot.column, slot.row));
    }
  }
  if (twiddles && pass.has_twiddles) {
    CUZK_UNROLL for (int x = 0; x < 8; ++x) {
      const Slot slot = slot_of<kRadixLog2>(pass, x, local_log2);
      v[x] = column_twiddled(pass, v[x], first_column + slot.column, slot.row);
    }
  }
}

// The opposite: twiddled and scaled where the pass says so, then to memory.
template <int kRadixLog2, class T>
__device__ inline void store_tile(const NttPass<T>& pass, std::size_t first_column, T (&v)[8],
                                  int local_log2, bool twiddles) {
  const bool scales = pass.scaling != Scaling::kNone && !pass.scales_at_load;
  CUZK_UNROLL for (int x = 0; x < 8; ++x) {
    const Slot slot = slot_of<kRadixLog2>(pass, x, local_log2);
    const std::size_t column = first_column + slot.column;
    const std::size_t index = element_index(pass, column, slot.row);
    if (twiddles && pass.has_twiddles) v[x] = column_twiddled(pass, v[x], column, slot.row);
    if (scales) v[x] = scaled(pass, v[x], index);
    pass.values[index] = pass.is_last ? v[x].normalised() : v[x];
  }
}

// Between rounds: words of an element lie in planes, so that lanes touch neighbouring words.
template <int kRadixLog2, class T>
__device__ inline void write_shared(const NttPass<T>& pass, field::Word* shared, int plane,
                                    const T (&v)[8], int local_log2) {
  CUZK_UNROLL for (int x = 0; x < 8; ++x) {
    const int i = shared_index(pass, slot_of<kRadixLog2>(pass, x, local_log2));
    CUZK_UNROLL for (int w = 0; w < T::W; ++w) shared[w * plane + i] = v[x].word[w];
  }
}
// The caller puts barriers between writing and reading.
template <int kRadixLog2, class T>
__device__ inline void read_shared(const NttPass<T>& pass, const field::Word* shared, int plane,
                                   T (&v)[8], int local_log2) {
  CUZK_UNROLL for (int x = 0; x < 8; ++x) {
    const int i = shared_index(pass, slot_of<kRadixLog2>(pass, x, local_log2));
    CUZK_UNROLL for (int w = 0; w < T::W; ++w) v[x].word[w] = shared[w * plane + i];
  }
}

// Calls `work` with the radix as a constant.
template <int kValue>
struct Radix {
  static constexpr int kLog2 = kValue;
};
template <class Work>
__device__ inline void with_radix(int radix_log2, Work work) {
  if (radix_log2 == 3) {
    work(Radix<3>{});
  } else if (radix_log2 == 2) {
    work(Radix<2>{});
  } else {
    work(Radix<1>{});
  }
}

// The bits of a slot's number in opposite order: the frequency that it holds after its round.
__device__ constexpr int reversed_slot(int t, int radix_log2) {
  int out = 0;
  for (int i = 0; i < radix_log2; ++i) out |= (t >> i & 1) << (radix_log2 - 1 - i);
  return out;
}

// Multiplies slot t of each group by root^(offset * frequency of t).
template <int kRadixLog2, class T>
__device__ inline void twiddle_round(const NttPass<T>& pass, T (&v)[8], int local_log2) {
  if (local_log2 == kRadixLog2) return;  // all offsets are zero
  CUZK_UNROLL for (int x = 0; x < 8; ++x) {
    const int t = x & ((1 << kRadixLog2) - 1);
    if (t == 0) continue;
    const Slot slot = slot_of<kRadixLog2>(pass, x, local_log2);
    const int e = slot.offset * reversed_slot(t, kRadixLog2);
    v[x] = product(v[x], pass.roots[e << (pass.roots_log2 - local_log2)]);
  }
}

// Transforms of two or four elements. Level `half`: pairs (i, i + half) with root^(i) of order 2
// half.
template <int kRadixLog2, bool kToReversed, class T>
__device__ inline void binary_levels(const NttPass<T>& pass, T (&v)[8]) {
  constexpr int kRadix = 1 << kRadixLog2;
  CUZK_UNROLL for (int level = 0; level < kRadixLog2; ++level) {
    const int half = kToReversed ? kRadix >> (level + 1) : 1 << level;
    CUZK_UNROLL for (int x = 0; x < 8; ++x) {
      const int i = x & (2 * half - 1);
      if (i >= half) continue;
      if (!kToReversed && i != 0) v[x + half] = product(v[x + half], pass.eighth.i);
      butterfly(v[x], v[x + half]);
      if (kToReversed && i != 0) v[x + half] = product(v[x + half], pass.eighth.i);
    }
  }
}

// The small transforms of one round, with the twiddles before or after them.
template <int kRadixLog2, bool kToReversed, class T>
__device__ inline void butterfly_round(const NttPass<T>& pass, T (&v)[8], int local_log2) {
  if constexpr (!kToReversed) twiddle_round<kRadixLog2>(pass, v, local_log2);
  if constexpr (kRadixLog2 == 3 && kToReversed) {
    eight_to_reversed(v, pass.eighth);
  } else if constexpr (kRadixLog2 == 3) {
    eight_from_reversed(v, pass.eighth);
  } else {
    binary_levels<kRadixLog2, kToReversed>(pass, v);
  }
  if constexpr (kToReversed) twiddle_round<kRadixLog2>(pass, v, local_log2);
}

// One pass over one tile a block: load, rounds of radix 8 (or what is left of the levels) with
// exchanges through shared memory between them, store. Each element is read and written once; the
// block's threads own the tile alone, so blocks need no order among them.
template <bool kToReversed, class T>
__global__ void __launch_bounds__(kThreadsMax, kBlocksPerMultiprocessor)
    ntt_pass_kernel(const NttPass<T> pass) {
  extern __shared__ field::Word shared[];
  const int tile = blockDim.x << kElementsPerThreadLog2;
  const int plane = tile + (tile >> 5) * 4;
  const std::size_t first_column = std::size_t{blockIdx.x} << pass.column_count_log2;
  const int levels = pass.level_count;
  T v[8];
  // Rounds go from large local blocks to small, or from small to large; the odd radix comes at the
  // large end in both.
  int radix = kToReversed ? (levels % 3 == 0 ? 3 : levels % 3) : min(3, levels);
  int local = kToReversed ? levels : radix;
  // Where a tile is one run of memory, the pattern of whole columns is the one whose lanes touch
  // neighbours; the other end of the pass is brought to it through shared memory.
  const bool is_run = pass.block_log2 == levels && levels > 3;
  const bool reads_run = !kToReversed && is_run, writes_run = kToReversed && is_run;
  if (reads_run) {
    load_tile<3>(pass, first_column, v, levels, true);
    write_shared<3>(pass, shared, plane, v, levels);
  }
  for (int done = 0; done < levels;) {
    const bool is_first = done == 0;
    done += radix;
    const bool is_last = done == levels;
    with_radix(radix, [&](auto constant) {
      constexpr int kLog2 = decltype(constant)::kLog2;
      if (is_first && !reads_run) {
        load_tile<kLog2>(pass, first_column, v, local, !kToReversed);
      } else {
        __syncthreads();
        read_shared<kLog2>(pass, shared, plane, v, local);
      }
      butterfly_round<kLog2, kToReversed>(pass, v, local);
      if (is_last && !writes_run) {
        store_tile<kLog2>(pass, first_column, v, local, kToReversed);
      } else {
        __syncthreads();  // all have read what is overwritten
        write_shared<kLog2>(pass, shared, plane, v, local);
      }
    });
    const int next_radix = min(3, levels - done);
    local = kToReversed ? local - radix : local + next_radix;
    radix = next_radix;
  }
  if (writes_run) {
    __syncthreads();
    read_shared<3>(pass, shared, plane, v, levels);
    store_tile<3>(pass, first_column, v, levels, true);
  }
}

// Transforms of at most four elements by their definition, in one thread.
template <class T>
__global__ void small_ntt_kernel(T* values, int size_log2, const T* roots, bool to_reversed,
                                 bool from_reversed) {
  const int n = 1 << size_log2;
  T in[4], out[4];
  for (int i = 0; i < n; ++i) {
    in[from_reversed ? reversed_bits(i, size_log2) : i] = values[i];
  }
  for (int i = 0; i < n; ++i) {
    out[i] = T::zero();
    for (int j = 0; j < n; ++j) out[i] = out[i] + in[j] * roots[(i * j) & (n - 1)];
  }
  for (int i = 0; i < n; ++i) values[to_reversed ? reversed_bits(i, size_log2) : i] = out[i];
}

// out[i] = first * base^i.
template <class T>
__global__ void powers_kernel(T* out, std::size_t count, T base, T first) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) out[i] = first * base.pow(i);
}

// values[i] *= coset^index(i), or *= constant.
template <class T>
__global__ void scale_kernel(const NttPass<T> pass) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < std::size_t{1} << pass.size_log2)
    pass.values[i] = scaled(pass, pass.values[i], i).normalised();
}

// The same for a tile of columns, or for a run in reversed order from index `first` on.
template <class T>
__global__ void scale_tile_kernel(const NttPass<T> pass, std::size_t count, int row_log2,
                                  int width_log2, std::size_t first, bool is_reversed) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  std::size_t index;
  if (is_reversed) {
    index = reversed_bits(first + i, pass.size_log2);
  } else {
    const std::size_t row = i >> width_log2, low = i & ((std::size_t{1} << width_log2) - 1);
    index = (row << (pass.size_log2 - row_log2)) + first + low;
  }
  pass.values[i] = pass.coset.times_power(pass.values[i], index).normalised();
}

// Swaps each pair once: the thread of the smaller index does it, fixed points are left alone.
template <class T>
__global__ void reverse_order_kernel(T* values, int size_log2) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= std::size_t{1} << size_log2) return;
  const std::size_t j = reversed_bits(i, size_log2);
  if (i >= j) return;
  const T a = values[i], b = values[j];
  values[i] = b;
  values[j] = a;
}

}  // namespace cuzk::cuda::poly
