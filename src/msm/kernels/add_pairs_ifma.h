// Batched affine additions, eight pairs side by side. For *_ifma.cpp only.
//
// Forward pass over the vectors of a block: denominator d = x2 - x1, prefix product of norm(d).
// One inversion. Backward pass: slope = (y2 - y1) / d, x3 = slope^2 - x1 - x2,
// y3 = slope (x1 - x3) - y1. Over Fp that is 6 products a pair; over Fp2, in units of Fp products,
// 1.5 + 3 + 2 for the inversion and 3 + 2 + 3 for the rest.
//
// A vector that may hold an exceptional pair (equal x, an infinite operand) is found by comparing
// lowest limbs; `classify` then decides exactly and leaves masks for the backward pass.
// Denominators of pairs that need none become one.
//
// Bounds in units of p: rows 1 + 2^-11; d and the numerator below 5.1; products below 2.
#pragma once

#if defined(__AVX512IFMA__)

#include "msm/kernels/coordinate_ifma.h"
#include "msm/kernels/ifma_entry.h"
#include "msm/kernels/pack_ifma.h"
#include "msm/kernels/point_kernel.h"

namespace cuzk::msm::ifma {

// Pairs of a block share an inversion (2 us): 1024 of them make it 2 ns each, and the rows and
// entries of two blocks stay in a second-level cache of 1 MiB.
inline constexpr std::size_t kBlockVectors = 128;

// Lanes by what happens to them; lanes in none of them are plain chords.
struct ExceptionMasks {
  __mmask8 tangent = 0, infinity = 0, left = 0, right = 0;
  bool any() const { return (tangent | infinity | left | right) != 0; }
};

// What the forward pass leaves for the backward pass. Over Fp the norm is the denominator itself.
template <class E>
struct BlockEntry;
template <class P>
struct BlockEntry<Vec<P>> {
  Vec<P> denominator, prefix;
  ExceptionMasks exceptions;
  CUZK_IFMA_INLINE void set_norm() {}
  CUZK_IFMA_INLINE const Vec<P>& norm() const { return denominator; }
};
template <class P>
struct BlockEntry<Vec2<P>> {
  Vec2<P> denominator;
  Vec<P> prefix, stored_norm;
  ExceptionMasks exceptions;
  CUZK_IFMA_INLINE void set_norm() {
    dot2(stored_norm, denominator.c0, denominator.c0, denominator.c1, denominator.c1);
  }
  CUZK_IFMA_INLINE const Vec<P>& norm() const { return stored_norm; }
};

// The operands of eight pairs; a short last vector repeats its last pair.
struct Operands {
  const std::uint8_t* left[8];
  const std::uint8_t* right[8];
  std::uint8_t* out[8];
  __mmask8 left_negated = 0, right_negated = 0;
};

template <class E>
struct Arrays {
  static constexpr std::size_t kRowBytes = 2 * Coordinate<E>::kBytes;
  const std::uint8_t* left_rows;
  const std::uint8_t* right_rows;
  std::uint8_t* out_rows;

  CUZK_IFMA_INLINE const std::uint8_t* left(const AddPair& pair) const {
    return left_rows + std::size_t{pair.left >> 1} * kRowBytes;
  }
  CUZK_IFMA_INLINE const std::uint8_t* right(const AddPair& pair) const {
    return right_rows + std::size_t{pair.right >> 1} * kRowBytes;
  }
  CUZK_IFMA_INLINE std::uint8_t* out(const AddPair& pair) const {
    return out_rows + std::size_t{pair.out} * kRowBytes;
  }
};

template <class E>
CUZK_IFMA_INLINE Operands operands_of(const Arrays<E>& arrays, const AddPair* pairs,
                                      std::size_t count) {
  Operands out;
  unsigned left = 0, right = 0;
  CUZK_UNROLL for (std::size_t i = 0; i < 8; ++i) {
    const AddPair& pair = pairs[i < count ? i : count - 1];
    out.left[i] = arrays.left(pair);
    out.right[i] = arrays.right(pair);
    out.out[i] = arrays.out(pair);
    left |= (pair.left & 1) << i;
    right |= (pair.right & 1) << i;
  }
  out.left_negated = static_cast<__mmask8>(left);
  out.right_negated = static_cast<__mmask8>(right);
  return out;
}

// Rows come from far away once and then from the second-level cache, so they are fetched twice:
// into the second level a block ahead, evenly spread over the arithmetic, and into the first level
// one vector ahead. Neither reads past the lists.
// The cache to fetch into, as __builtin_prefetch counts.
inline constexpr int kFirstLevel = 3, kSecondLevel = 2;

template <int Level, std::size_t Bytes>
CUZK_IFMA_INLINE void prefetch(const std::uint8_t* row) {
  CUZK_UNROLL for (std::size_t i = 0; i < Bytes; i += 64) { __builtin_prefetch(row + i, 0, Level); }
}
template <int Level, std::size_t Bytes, class E>
CUZK_IFMA_INLINE void prefetch_vector(const Arrays<E>& arrays, const AddPair* pairs) {
  for (std::size_t i = 0; i < 8; ++i) {
    prefetch<Level, Bytes>(arrays.left(pairs[i]));
    prefetch<Level, Bytes>(arrays.right(pairs[i]));
  }
}

// Exact decision for one vector; puts the right denominators into `d`.
template <class E>
[[gnu::noinline]] ExceptionMasks classify(const Operands& operands, const E& x1, const E& x2,
                                          E& d) {
  E y1, y2;
  load(y1, operands.left, Coordinate<E>::kBytes);
  load(y2, operands.right, Coordinate<E>::kBytes);
  const __mmask8 infinite1 = equals_multiple<0>(x1) & equals_multiple<0>(y1);
  const __mmask8 infinite2 = equals_multiple<0>(x2) & equals_multiple<0>(y2);
  const __mmask8 equal_x = is_zero_mod_p(d) & static_cast<__mmask8>(~(infinite1 | infinite2));
  const E signed1 = raw_negate_if(y1, operands.left_negated);
  const E signed2 = raw_negate_if(y2, operands.right_negated);
  const __mmask8 equal_y = is_zero_mod_p(carried(raw_add_multiple<3>(raw_sub(signed2, signed1))));
  ExceptionMasks masks;
  masks.tangent = equal_x & equal_y & static_cast<__mmask8>(~is_zero_mod_p(y1));
  masks.infinity = (equal_x & static_cast<__mmask8>(~masks.tangent)) | (infinite1 & infinite2);
  masks.left = infinite2 & static_cast<__mmask8>(~infinite1);
  masks.right = infinite1 & static_cast<__mmask8>(~infinite2);
  E one;
  set_one(one);
  d = select(masks.tangent, d, carried(raw_add_multiple<3>(raw_add(signed1, signed1))));
  d = select(masks.infinity | masks.left | masks.right, d, one);
  return masks;
}

// A suspect vector costs a call of classify(). With random points there is one in some 2^46; where
// points repeat most vectors are, and msm_test.cpp bounds what that may cost.
template <class E>
CUZK_IFMA_INLINE void forward_step(const Operands& operands, BlockEntry<E>& entry,
                                   Vec<typename E::Params>& running) {
  E x1, x2;
  load(x1, operands.left, 0);
  load(x2, operands.right, 0);
  entry.denominator = carried(raw_add_multiple<2>(raw_sub(x2, x1)));
  entry.exceptions = {};
  const __mmask8 suspects = may_be_multiple(entry.denominator) | may_be_zero(x1) | may_be_zero(x2);
  if (suspects != 0) [[unlikely]] {
    entry.exceptions = classify(operands, x1, x2, entry.denominator);
  }
  entry.set_norm();
  entry.prefix = running;
  running = running * entry.norm();
}

// The results of exceptional lanes put over those of the chord formula.
template <class E>
[[gnu::noinline]] void place_exceptions(const Operands& operands, const ExceptionMasks& masks,
                                        E& x3, E& y3) {
  E x, y, zero;
  set_zero(zero);
  load(x, operands.left, 0);
  load(y, operands.left, Coordinate<E>::kBytes);
  x3 = select(masks.left, x3, x);
  y3 = select(masks.left, y3, reduced(raw_negate_if(y, operands.left_negated)));
  load(x, operands.right, 0);
  load(y, operands.right, Coordinate<E>::kBytes);
  x3 = select(masks.right, x3, x);
  y3 = select(masks.right, y3, reduced(raw_negate_if(y, operands.right_negated)));
  x3 = select(masks.infinity, x3, zero);
  y3 = select(masks.infinity, y3, zero);
}

// 3 x^2, carried, for bound 2.
template <class E>
[[gnu::noinline]] void tangent_numerator(E& out, const E& x) {
  const E square = squared(x);
  out = carried(raw_add(raw_add(square, square), square));
}

// A vector on its way back.
template <class E>
struct BackwardStep {
  Operands operands;
  const BlockEntry<E>* entry;
  E x1, y1, x2, numerator, slope, x3;

  // Loads the operands again, takes this vector's own inverse out of the common one, and leaves the
  // common one to the vector before. x2 comes from the denominator, which saves a load.
  CUZK_IFMA_INLINE void begin(Vec<typename E::Params>& inverse) {
    E y2;
    load(x1, operands.left, 0);
    load(y1, operands.left, Coordinate<E>::kBytes);
    load(y2, operands.right, Coordinate<E>::kBytes);
    y1 = raw_negate_if(y1, operands.left_negated);
    y2 = raw_negate_if(y2, operands.right_negated);
    numerator = carried(raw_add_multiple<3>(raw_sub(y2, y1)));
    x2 = raw_add_multiple<-2>(raw_add(entry->denominator, x1));
    if (entry->exceptions.any()) [[unlikely]] {
      E tangent;
      tangent_numerator(tangent, x1);
      numerator = select(entry->exceptions.tangent, numerator, tangent);
      x2 = select(entry->exceptions.tangent, x2, x1);
    }
    slope = inverse_from_norm(entry->denominator, inverse * entry->prefix);
    inverse = inverse * entry->norm();
  }
  // Steps of their own, so that go_back() can alternate between two vectors.
  CUZK_IFMA_INLINE void find_slope() { slope = numerator * slope; }
  CUZK_IFMA_INLINE void find_x() { x3 = reduced(raw_sub(raw_sub(squared(slope), x1), x2)); }
  CUZK_IFMA_INLINE void finish() {
    E y3 = reduced(raw_sub(slope * carried(raw_add_multiple<2>(raw_sub(x1, x3))), y1));
    if (entry->exceptions.any()) [[unlikely]] {
      place_exceptions(operands, entry->exceptions, x3, y3);
    }
    store(x3, operands.out, 0);
    store(y3, operands.out, Coordinate<E>::kBytes);
  }
};

// `Count` vectors in step: the carries of one hide behind the products of the other.
template <std::size_t Count, class E>
CUZK_IFMA_INLINE void go_back(BackwardStep<E>* steps, Vec<typename E::Params>& inverse) {
  CUZK_UNROLL for (std::size_t i = 0; i < Count; ++i) steps[i].begin(inverse);
  CUZK_UNROLL for (std::size_t i = 0; i < Count; ++i) steps[i].find_slope();
  CUZK_UNROLL for (std::size_t i = 0; i < Count; ++i) steps[i].find_x();
  CUZK_UNROLL for (std::size_t i = 0; i < Count; ++i) steps[i].finish();
}

// The inverse of each lane from one scalar inversion: the lanes' product is built by rotations, and
// the product of all other lanes beside it.
template <class P, void (*Invert)(const std::uint64_t*, std::uint64_t*)>
[[gnu::noinline]] Vec<P> invert_lanes(const Vec<P>& a) {
  const Vec<P> by4 = rotated<4>(a), pairs = a * by4;
  const Vec<P> by2 = rotated<2>(pairs), quads = pairs * by2;
  const Vec<P> by1 = rotated<1>(quads), all = quads * by1;
  alignas(64) std::uint64_t words[8][8];
  std::uint8_t* rows[8];
  for (int i = 0; i < 8; ++i) rows[i] = reinterpret_cast<std::uint8_t*>(words[i]);
  store(all, rows, 0);
  Invert(words[0], words[1]);
  for (int i = 0; i < 8; ++i) rows[i] = reinterpret_cast<std::uint8_t*>(words[1]);
  Vec<P> inverse;
  load(inverse, rows, 0);
  return inverse * (by4 * (by2 * by1));
}

// One block of `count` pairs, of `available` in the list. Rows of the first block are fetched on
// the way forward, those of every later block on the way back of the one before.
template <class E, void (*Invert)(const std::uint64_t*, std::uint64_t*)>
void add_block(const Arrays<E>& arrays, const AddPair* pairs, std::size_t count,
               std::size_t available, bool is_first, BlockEntry<E>* entries) {
  using P = typename E::Params;
  constexpr std::size_t kAhead = 40, kRowBytes = Arrays<E>::kRowBytes;
  Vec<P> running = one_vec<P>();
  const std::size_t vectors = (count + 7) / 8;
  for (std::size_t v = 0; v < vectors; ++v) {
    const AddPair* next = pairs + 8 * v;
    if (is_first && 8 * v + kAhead + 8 <= count) {
      prefetch_vector<kSecondLevel, kRowBytes>(arrays, next + kAhead);
    }
    if (8 * v + 16 <= count) {
      prefetch_vector<kFirstLevel, kRowBytes / 2>(arrays, next + 8);
    }
    forward_step(operands_of(arrays, next, count - 8 * v), entries[v], running);
  }
  Vec<P> inverse = invert_lanes<P, Invert>(running);
  BackwardStep<E> steps[2];
  for (std::size_t v = vectors; v > 0;) {
    const std::size_t pair_of_vectors = v >= 2 ? 2 : 1;
    for (std::size_t i = 0; i < pair_of_vectors; ++i, --v) {
      const std::size_t first = 8 * (v - 1), ahead = count + 8 * (vectors - v);
      if (ahead + 8 <= available) {
        prefetch_vector<kSecondLevel, kRowBytes>(arrays, pairs + ahead);
      }
      if (v > 2) prefetch_vector<kFirstLevel, kRowBytes>(arrays, pairs + first - 16);
      steps[i].operands = operands_of(arrays, pairs + first, count - first);
      steps[i].entry = &entries[v - 1];
    }
    if (pair_of_vectors == 2) {
      go_back<2>(steps, inverse);
    } else {
      go_back<1>(steps, inverse);
    }
  }
}

template <class E, void (*Invert)(const std::uint64_t*, std::uint64_t*)>
void add_pairs(const std::uint8_t* left_rows, const std::uint8_t* right_rows,
               std::uint8_t* out_rows, const AddPair* pairs, std::size_t count,
               std::uint8_t* scratch) {
  static_assert(alignof(BlockEntry<E>) <= 64, "scratch is aligned to 64 bytes");
  const Arrays<E> arrays = {left_rows, right_rows, out_rows};
  auto* entries = reinterpret_cast<BlockEntry<E>*>(scratch);
  constexpr std::size_t kBlockPairs = 8 * kBlockVectors;
  for (std::size_t first = 0; first < count; first += kBlockPairs) {
    const std::size_t left = count - first;
    add_block<E, Invert>(arrays, pairs + first, left < kBlockPairs ? left : kBlockPairs, left,
                         first == 0, entries);
  }
}

// The table of one group for ifma_entry.h.
template <class E, void (*Invert)(const std::uint64_t*, std::uint64_t*)>
constexpr Entry entry() {
  return {add_pairs<E, Invert>, sizeof(BlockEntry<E>) * kBlockVectors, pack<E>, unpack<E>};
}

}  // namespace cuzk::msm::ifma

#endif
