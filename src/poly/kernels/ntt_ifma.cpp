// The passes of a transform with AVX-512 IFMA: eight columns or rows side by side.
//
// Data stay in the portable form x R, R = 2^256; constants come as w R' with R' = 2^260 (that is,
// multiplied by 16), so that a vector product gives x w R. Butterflies are radix 4: two levels per
// trip through the scratch. Bounds in units of p: values between butterflies stay below 1.16, as a
// product of operands of bounds 5.3 and 1 is below 1 + 5.3 p / R' < 1.16.
#include "poly/kernels/ntt_kernel.h"

#if defined(__AVX512IFMA__)

#include "base/check.h"
#include "field/vector_ifma.h"

namespace cuzk::poly {
namespace {

using namespace cuzk::field::ifma;
static_assert(kLaneCount == 8, "a lane of 64 bits for each column");

// Limbs of a constant, the same for all lanes.
template <class P>
struct Constant {
  std::uint64_t limb[Vec<P>::L];
};

template <class P>
Constant<P> constant_from(const field::PrimeField<P>& x) {
  static_assert(Vec<P>::L == 5 && sizeof x == 32);
  const auto* w = reinterpret_cast<const std::uint64_t*>(&x);
  return {{w[0] & kMask52, (w[0] >> 52 | w[1] << 12) & kMask52, (w[1] >> 40 | w[2] << 24) & kMask52,
           (w[2] >> 28 | w[3] << 36) & kMask52, w[3] >> 16}};
}

template <class P>
CUZK_IFMA_INLINE Vec<P> times(const Vec<P>& a, const Constant<P>& w) {
  Vec<P> out;
  mul_constant(out, a, w.limb);
  return out;
}

// One radix-4 butterfly without twiddles but the fourth root of unity `i`.
template <class P>
CUZK_IFMA_INLINE void butterfly_plain(Vec<P>* x, std::size_t quarter, const Constant<P>& i) {
  Vec<P>&x0 = x[0], &x1 = x[quarter], &x2 = x[2 * quarter], &x3 = x[3 * quarter];
  const Vec<P> y0 = raw_add(x0, x2), y1 = raw_add(x1, x3);
  const Vec<P> y2 = raw_sub(x0, x2);
  const Vec<P> y3 = times(carried(raw_add_multiple<2>(raw_sub(x1, x3))), i);
  x0 = reduced<0>(raw_add(y0, y1));
  x1 = reduced(raw_sub(y0, y1));
  x2 = reduced(raw_add(y2, y3));
  x3 = reduced(raw_sub(y2, y3));
}
// The same with w^j on the second half's sums, w^(j + s/4) on its differences, then w^2j.
template <class P>
CUZK_IFMA_INLINE void butterfly(Vec<P>* x, std::size_t quarter, const Constant<P>& w1,
                                const Constant<P>& w1_quarter, const Constant<P>& w2) {
  Vec<P>&x0 = x[0], &x1 = x[quarter], &x2 = x[2 * quarter], &x3 = x[3 * quarter];
  const Vec<P> y0 = raw_add(x0, x2), y1 = raw_add(x1, x3);
  const Vec<P> y2 = times(carried(raw_add_multiple<2>(raw_sub(x0, x2))), w1);
  const Vec<P> y3 = times(carried(raw_add_multiple<2>(raw_sub(x1, x3))), w1_quarter);
  x0 = reduced<0>(raw_add(y0, y1));
  x1 = times(carried(raw_add_multiple<3>(raw_sub(y0, y1))), w2);
  x2 = reduced<0>(raw_add(y2, y3));
  x3 = times(carried(raw_add_multiple<2>(raw_sub(y2, y3))), w2);
}

// Decimation in frequency on 2^size_log2 vectors; w[j] = root^j for j below half the size.
template <class P>
void transform(Vec<P>* x, std::size_t size_log2, const Constant<P>* w) {
  const std::size_t size = std::size_t{1} << size_log2;
  std::size_t span = size;
  for (; span >= 4; span /= 4) {
    const std::size_t quarter = span / 4, step = size / span;
    for (std::size_t base = 0; base < size; base += span) {
      butterfly_plain(x + base, quarter, w[quarter * step]);
      for (std::size_t j = 1; j < quarter; ++j) {
        butterfly(x + base + j, quarter, w[j * step], w[(j + quarter) * step], w[2 * j * step]);
      }
    }
  }
  if (span < 2) return;
  for (std::size_t base = 0; base < size; base += 2) {
    const Vec<P> sum = raw_add(x[base], x[base + 1]);
    x[base + 1] = reduced(raw_sub(x[base], x[base + 1]));
    x[base] = reduced<0>(sum);
  }
}

// The scratch: vectors of the tile, then the twiddles.
template <class P>
struct Scratch {
  Vec<P>* tile;
  Constant<P>* twiddles;

  Scratch(std::uint8_t* bytes, const SubTransform<field::PrimeField<P>>& t)
      : tile(reinterpret_cast<Vec<P>*>(bytes)),
        twiddles(reinterpret_cast<Constant<P>*>(bytes + (sizeof(Vec<P>) << t.size_log2))) {
    const std::size_t half = (std::size_t{1} << t.size_log2) / 2;
    for (std::size_t j = 0; j < half; ++j) {
      twiddles[j] = constant_from<P>(t.twiddles[j * t.twiddle_stride]);
    }
  }
};
// Twiddles take half of what is counted for them; it is not worth a formula of its own.
template <class P>
std::size_t scratch_bytes(std::size_t size_log2) {
  return (sizeof(Vec<P>) + sizeof(Constant<P>)) << size_log2;
}

// Eight elements from each other by `stride` bytes.
struct Lanes {
  std::uint8_t* row[kLaneCount];
  Lanes(void* first, std::size_t stride) {
    for (std::size_t i = 0; i < kLaneCount; ++i) {
      row[i] = static_cast<std::uint8_t*>(first) + i * stride;
    }
  }
  CUZK_IFMA_INLINE std::uint8_t* operator[](std::size_t i) const { return row[i]; }
};

template <class P>
Vec<P> lanes_from(const field::PrimeField<P> (&x)[kLaneCount]) {
  std::uint8_t bytes[kLaneCount * sizeof(x[0])];
  __builtin_memcpy(bytes, x, sizeof bytes);
  Vec<P> out;
  load(out, Lanes(bytes, sizeof(x[0])), 0);
  return out;
}

// Factors of a coset, one for each row, in the kernel's scale.
template <class P>
void multiply_rows(Vec<P>* x, const field::PrimeField<P>* factors, std::size_t size) {
  for (std::size_t r = 0; r < size; ++r) x[r] = times(x[r], constant_from<P>(factors[r]));
}

// Value k of every lane times factor ratio^k of that lane. Two products a value, one of them to
// make the next factor: a table of them would be as large as the data.
template <class P>
void twist(Vec<P>* x, std::size_t size, const std::uint32_t* order, Vec<P> factor,
           const Vec<P>& ratio) {
  for (std::size_t k = 0; k < size; ++k) {
    x[order[k]] = x[order[k]] * factor;
    factor = factor * ratio;
  }
}

template <class P>
void columns(const ColumnPass<field::PrimeField<P>>& pass,
             const ColumnRun<field::PrimeField<P>>& run, std::uint8_t* bytes) {
  constexpr std::size_t kElementBytes = sizeof(field::PrimeField<P>);
  const std::size_t size = std::size_t{1} << pass.transform.size_log2;
  CUZK_ASSERT(run.first % kLaneCount == 0 && run.count % kLaneCount == 0);
  CUZK_ASSERT(run.first + run.count <= pass.column_count);
  const std::size_t row_bytes = pass.column_count * kElementBytes;
  const Scratch<P> scratch(bytes, pass.transform);
  const Constant<P> start_step = constant_from<P>(run.start_step);
  const Constant<P> ratio_step = constant_from<P>(run.ratio_step);
  Vec<P> start = lanes_from<P>(run.start), ratio = lanes_from<P>(run.ratio);
  for (std::size_t c = run.first; c < run.first + run.count; c += kLaneCount) {
    const Lanes lanes(pass.values + c, kElementBytes);
    for (std::size_t r = 0; r < size; ++r) load(scratch.tile[r], lanes, r * row_bytes);
    // Not in the loop above: a product per load would leave too few loads in flight.
    if (pass.row_factors != nullptr) multiply_rows(scratch.tile, pass.row_factors, size);
    transform(scratch.tile, pass.transform.size_log2, scratch.twiddles);
    twist(scratch.tile, size, pass.transform.order, start, ratio);
    for (std::size_t r = 0; r < size; ++r) store(scratch.tile[r], lanes, r * row_bytes);
    start = times(start, start_step);
    ratio = times(ratio, ratio_step);
  }
}

template <class P>
void rows(const RowPass<field::PrimeField<P>>& pass, std::size_t first, std::size_t count,
          std::uint8_t* bytes) {
  constexpr std::size_t kElementBytes = sizeof(field::PrimeField<P>);
  const std::size_t size = std::size_t{1} << pass.transform.size_log2;
  const Scratch<P> scratch(bytes, pass.transform);
  for (std::size_t r = first; r < first + count; r += kLaneCount) {
    const Lanes lanes(pass.values + r * size, size * kElementBytes);
    for (std::size_t k = 0; k < size; ++k) load(scratch.tile[k], lanes, k * kElementBytes);
    transform(scratch.tile, pass.transform.size_log2, scratch.twiddles);
    for (std::size_t k = 0; k < size; ++k) {
      Vec<P> value = scratch.tile[k];
      if (pass.column_factors != nullptr) {
        value = times(value, constant_from<P>(pass.column_factors[k]));
      }
      store(canonical(value), lanes, k * kElementBytes);
    }
  }
}

template <class P>
constexpr NttKernel<field::PrimeField<P>> kKernel = {"ifma", 16, scratch_bytes<P>, columns<P>,
                                                     rows<P>};

}  // namespace

const NttKernel<field::bls12_381::Fr>* ifma_ntt_kernel_bls12_381() {
  return &kKernel<field::bls12_381::FrParams>;
}
const NttKernel<field::bn254::Fr>* ifma_ntt_kernel_bn254() {
  return &kKernel<field::bn254::FrParams>;
}

}  // namespace cuzk::poly

#else

namespace cuzk::poly {

const NttKernel<field::bls12_381::Fr>* ifma_ntt_kernel_bls12_381() { return nullptr; }
const NttKernel<field::bn254::Fr>* ifma_ntt_kernel_bn254() { return nullptr; }

}  // namespace cuzk::poly

#endif
