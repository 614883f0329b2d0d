// Affine points into rows and back, eight at a time. For *_ifma.cpp only; the forms are explained
// in ifma_rows.h.
#pragma once

#if defined(__AVX512IFMA__)

#include "msm/kernels/coordinate_ifma.h"

namespace cuzk::msm::ifma {

// Eight field elements as the portable code stores them, kLimbCount words each, at rows + offset.
template <class P, class Rows>
CUZK_IFMA_INLINE void load_native(Vec<P>& out, const Rows& rows, std::size_t offset) {
  if constexpr (Vec<P>::L == 5) {
    load(out, rows, offset);
  } else {
    static_assert(P::kLimbCount == 6);
    __m512i w[8];
    CUZK_UNROLL for (int i = 0; i < 8; ++i) w[i] = _mm512_maskz_loadu_epi64(0x3f, rows[i] + offset);
    transpose8(w);
    const __m512i mask = broadcast(kMask52);
    CUZK_UNROLL for (int j = 0; j < 8; ++j) {
      const int word = 52 * j / 64, shift = 52 * j % 64;
      __m512i limb = word < 6 ? _mm512_srli_epi64(w[word], shift) : _mm512_setzero_si512();
      if (shift > 12 && word < 5) {
        limb = _mm512_or_si512(limb, _mm512_slli_epi64(w[word + 1], 64 - shift));
      }
      out.limb[j] = _mm512_and_si512(limb, mask);
    }
  }
}
template <class P, class Rows>
CUZK_IFMA_INLINE void store_native(const Vec<P>& a, const Rows& rows, std::size_t offset) {
  if constexpr (Vec<P>::L == 5) {
    store(a, rows, offset);
  } else {
    __m512i w[8];
    CUZK_UNROLL for (int i = 0; i < 6; ++i) {  // bits 64 i ... 64 i + 63 from up to three limbs
      const int limb = 64 * i / 52, shift = 64 * i % 52;
      w[i] = _mm512_or_si512(_mm512_srli_epi64(a.limb[limb], shift),
                             _mm512_slli_epi64(a.limb[limb + 1], 52 - shift));
      if (shift > 40 && limb + 2 < 8) {
        w[i] = _mm512_or_si512(w[i], _mm512_slli_epi64(a.limb[limb + 2], 104 - shift));
      }
    }
    w[6] = w[7] = _mm512_setzero_si512();
    transpose8(w);
    CUZK_UNROLL for (int i = 0; i < 8; ++i) _mm512_mask_storeu_epi64(rows[i] + offset, 0x3f, w[i]);
  }
}
template <class P, class Rows>
CUZK_IFMA_INLINE void load_native(Vec2<P>& out, const Rows& rows, std::size_t offset) {
  load_native(out.c0, rows, offset);
  load_native(out.c1, rows, offset + 8 * P::kLimbCount);
}
template <class P, class Rows>
CUZK_IFMA_INLINE void store_native(const Vec2<P>& a, const Rows& rows, std::size_t offset) {
  store_native(a.c0, rows, offset);
  store_native(a.c1, rows, offset + 8 * P::kLimbCount);
}

// 2^Exponent R' as carried limbs: a product with it multiplies by 2^Exponent.
template <class P, int Exponent>
struct PowerOfTwo {
  std::uint64_t limb[Vec<P>::L] = {};
  static constexpr PowerOfTwo make() {
    constexpr std::size_t kPower = 52 * Vec<P>::L + Exponent;
    const auto value = field::PrimeFieldConstants<P>::power_of_two(kPower);
    PowerOfTwo out;
    for (std::size_t j = 0; j < Vec<P>::L; ++j) out.limb[j] = value.bits(52 * j, 52);
    return out;
  }
};
template <class P, int Exponent>
inline constexpr PowerOfTwo<P, Exponent> kPowerOfTwo = PowerOfTwo<P, Exponent>::make();

// u = 2^-kLogU, with u^2 = R / R': ifma_rows.h has the same shift and checks that it is even.
template <class P>
inline constexpr int kLogU = (52 * int(Vec<P>::L) - 64 * int(P::kLimbCount)) / 2;

// a 2^Exponent, below p.
template <int Exponent, class P>
CUZK_IFMA_INLINE Vec<P> times_power(const Vec<P>& a) {
  Vec<P> out;
  mul_constant(out, a, kPowerOfTwo<P, Exponent>.limb);
  return canonical(out);
}
template <int Exponent, class P>
CUZK_IFMA_INLINE Vec2<P> times_power(const Vec2<P>& a) {
  return {times_power<Exponent>(a.c0), times_power<Exponent>(a.c1)};
}
template <class P>
CUZK_IFMA_INLINE Vec2<P> canonical(const Vec2<P>& a) {
  return {canonical(a.c0), canonical(a.c1)};
}

// Eight records of `Bytes` bytes from `first` on; past `count` the last one again.
template <std::size_t Bytes>
struct Records {
  std::uint8_t* row[8];
  Records(std::uint8_t* first, std::size_t count) {
    for (std::size_t i = 0; i < 8; ++i) row[i] = first + (i < count ? i : count - 1) * Bytes;
  }
  CUZK_IFMA_INLINE std::uint8_t* operator[](std::size_t i) const { return row[i]; }
};

template <class E>
inline constexpr std::size_t kNativeBytes =
    Coordinate<E>::kBytes / kStoredWords<typename E::Params>* E::Params::kLimbCount;

// x is copied from form to form, y also multiplied by u or 1 / u. A short last group repeats its
// last point, which is written to the same place again.
template <class E>
void pack(const std::uint8_t* points, std::size_t count, std::uint8_t* rows) {
  constexpr std::size_t kPoint = 2 * kNativeBytes<E>, kRow = 2 * Coordinate<E>::kBytes;
  for (std::size_t i = 0; i < count; i += 8) {
    const Records<kPoint> in(const_cast<std::uint8_t*>(points) + i * kPoint, count - i);
    const Records<kRow> out(rows + i * kRow, count - i);
    E x, y;
    load_native(x, in, 0);
    load_native(y, in, kNativeBytes<E>);
    store(x, out, 0);
    store(times_power<-kLogU<typename E::Params>>(y), out, Coordinate<E>::kBytes);
  }
}

template <class E>
void unpack(const std::uint8_t* rows, std::size_t count, std::uint8_t* points) {
  constexpr std::size_t kPoint = 2 * kNativeBytes<E>, kRow = 2 * Coordinate<E>::kBytes;
  for (std::size_t i = 0; i < count; i += 8) {
    const Records<kRow> in(const_cast<std::uint8_t*>(rows) + i * kRow, count - i);
    const Records<kPoint> out(points + i * kPoint, count - i);
    E x, y;
    load(x, in, 0);
    load(y, in, Coordinate<E>::kBytes);
    store_native(canonical(x), out, 0);
    store_native(times_power<kLogU<typename E::Params>>(y), out, kNativeBytes<E>);
  }
}

}  // namespace cuzk::msm::ifma

#endif
