// Reproducible elements for tests and benchmarks: random ones and those that break arithmetic.
//
// Not for product code: the generator is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) with a fixed
// seed, so that a failure comes again. Random elements alone would miss what goes wrong at borders
// of limbs, once in 2^64 times; edge_elements() has those on purpose.
#pragma once

#include <cstdint>
#include <vector>

#include "field/prime_field.h"
#include "field/quadratic.h"
#include "field/tower.h"

namespace cuzk::field {

// Elements drawn evenly from their field. Equal seeds give equal sequences on every machine. One
// thread at a time.
class SampleGenerator {
 public:
  explicit SampleGenerator(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next_u64() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  template <std::size_t N>
  Limbs<N> next_limbs() {
    Limbs<N> out;
    for (std::size_t i = 0; i < N; ++i) out[i] = next_u64();
    return out;
  }
  // An element of any field of this room; of Fp by rejection.
  template <class F>
  F next() {
    F out;
    fill(out);
    return out;
  }

 private:
  // Drawn as Montgomery limbs below p, which is as even as drawing the integers themselves.
  template <class P>
  void fill(PrimeField<P>& out) {
    constexpr std::size_t N = P::kLimbCount;
    constexpr std::size_t kTopBits = P::kModulus.bit_length() - 64 * (N - 1);
    static_assert(kTopBits >= 1 && kTopBits <= 63, "the shift below is by less than a limb");
    Limbs<N> limbs;
    do {
      limbs = next_limbs<N>();
      limbs[N - 1] >>= 64 - kTopBits;
    } while (!less(limbs, P::kModulus));
    out = PrimeField<P>::from_montgomery(limbs);
  }
  template <class F>
  void fill(Quadratic<F>& out) {
    fill(out.c0);
    fill(out.c1);
  }
  template <class T>
  void fill(Cubic<T>& out) {
    fill(out.c0);
    fill(out.c1);
    fill(out.c2);
  }
  template <class T>
  void fill(Dodecic<T>& out) {
    fill(out.c0);
    fill(out.c1);
  }

  std::uint64_t state_;
};

// Elements of a prime field whose limbs, plain or in Montgomery form, lie at borders: 0, 1, p - 1,
// the middle, each power 2^(64 i) and its neighbours, runs of ones, and limbs just below the
// modulus.
template <class F>
std::vector<F> edge_elements() {
  using Constants = typename F::Constants;
  constexpr std::size_t N = F::kLimbCount;
  std::vector<Limbs<N>> integers;
  for (Limb k = 0; k < 3; ++k) {
    integers.push_back(Limbs<N>{{k}});
    integers.push_back(Constants::modulus_minus(k + 1));
    integers.push_back(half(Constants::modulus_minus(2 * k + 1)));
  }
  for (std::size_t i = 0; i < N; ++i) {
    Limbs<N> power, below, top_only;
    power[i] = 1;
    for (std::size_t j = 0; j < i; ++j) below[j] = ~Limb{0};
    top_only[i] = i + 1 < N ? ~Limb{0} : F::Params::kModulus[i] - 1;
    integers.insert(integers.end(), {power, below, top_only});
  }
  // The largest integer below p whose lower limbs are all ones, and p with its lowest limb cleared.
  Limbs<N> ones = F::Params::kModulus, cleared = F::Params::kModulus;
  ones[N - 1] -= 1;
  for (std::size_t i = 0; i + 1 < N; ++i) ones[i] = ~Limb{0};
  cleared[0] = 0;
  integers.insert(integers.end(), {ones, cleared, F::kR, F::kRSquared});

  std::vector<F> out;
  for (const Limbs<N>& limbs : integers) {
    if (!less(limbs, F::Params::kModulus)) continue;
    out.push_back(F::from_montgomery(limbs));
    out.push_back(F::from_canonical({limbs}));
  }
  return out;
}

}  // namespace cuzk::field
