// A prime field in Montgomery form, everything derived from the modulus and its generator.
//
// `PrimeField<P>` holds x as x * 2^(64 N) mod p, always fully reduced, so equality is limb
// equality. `Canonical<P>` holds the plain integer x < p. The two never mix by accident: conversion
// is spelled out. All arithmetic compiles for host and device and at compile time.
//
// The arithmetic itself is in field/modular.h. A parameter struct gives
//   kLimbCount, kModulus, kGenerator (smallest multiplicative generator as an integer), kName.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/check.h"
#include "base/host_device.h"
#include "field/inverse.h"
#include "field/limbs.h"
#include "field/modular.h"
#include "field/power.h"

namespace cuzk::field {

// An integer below the modulus of P, not in Montgomery form.
template <class P>
struct Canonical {
  static constexpr std::size_t kLimbCount = P::kLimbCount;
  Limbs<P::kLimbCount> value;

  CUZK_HD constexpr bool operator==(const Canonical&) const = default;
  CUZK_HD constexpr bool is_zero() const { return value.is_zero(); }

  // Accepts only values below the modulus.
  static constexpr std::optional<Canonical> from_limbs(const Limbs<P::kLimbCount>& limbs) {
    if (!less(limbs, P::kModulus)) return std::nullopt;
    return Canonical{limbs};
  }
  // 8 * kLimbCount bytes; nullopt when the value is not below the modulus.
  static constexpr std::optional<Canonical> from_bytes_le(const std::uint8_t* in) {
    return from_limbs(load_le<P::kLimbCount>(in));
  }
  static constexpr std::optional<Canonical> from_bytes_be(const std::uint8_t* in) {
    return from_limbs(load_be<P::kLimbCount>(in));
  }
};

// Numbers that follow from the modulus alone. They are found when the program is compiled and by
// the plainest means, so a new field takes a modulus and a generator and no table that could be
// wrong. tools/derive_constants.py finds them again by other means, for tests.
template <class P>
struct PrimeFieldConstants {
  static constexpr std::size_t N = P::kLimbCount;

  // -p^-1 mod 2^64, by Newton iteration: five steps double 5 right bits to 80.
  static constexpr Limb negated_inverse() {
    Limb inverse = P::kModulus[0] * 3 ^ 2;
    for (int i = 0; i < 5; ++i) inverse *= 2 - P::kModulus[0] * inverse;
    return ~inverse + 1;
  }
  // 2^k mod p by doubling.
  static constexpr Limbs<N> power_of_two(std::size_t k) {
    Limbs<N> x;
    x[0] = 1;
    for (std::size_t i = 0; i < k; ++i) {
      Limbs<N> doubled, reduced;
      const Limb carry = add_carry(doubled, x, x);
      const Limb borrow = sub_borrow(reduced, doubled, P::kModulus);
      x = (carry != 0 || borrow == 0) ? reduced : doubled;
    }
    return x;
  }
  // p - k for a small k.
  static constexpr Limbs<N> modulus_minus(Limb k) {
    Limbs<N> small, out;
    small[0] = k;
    sub_borrow(out, P::kModulus, small);
    return out;
  }
  // The largest k with 2^k dividing p - 1.
  static constexpr std::size_t two_adicity() {
    Limbs<N> odd = modulus_minus(1);
    std::size_t count = 0;
    while (!odd.bit(0)) {
      odd = half(odd);
      ++count;
    }
    return count;
  }
  // (p - 1) / 2^two_adicity().
  static constexpr Limbs<N> odd_part() {
    Limbs<N> odd = modulus_minus(1);
    while (!odd.bit(0)) odd = half(odd);
    return odd;
  }
};

// An element x of Fp, held as x 2^(64 N) mod p below p. A plain value of 8 N bytes: no state, no
// allocation, safe to copy bytewise. Not constant-time where a function says variable time.
template <class P>
class PrimeField {
 public:
  using Params = P;
  using Constants = PrimeFieldConstants<P>;
  static constexpr std::size_t N = P::kLimbCount;
  static constexpr std::size_t kLimbCount = N;
  static constexpr std::size_t kByteCount = 8 * N;
  static constexpr std::size_t kBitCount = P::kModulus.bit_length();
  static constexpr std::size_t kTwoAdicity = Constants::two_adicity();
  static constexpr Limb kNegatedInverse = Constants::negated_inverse();
  static constexpr Limbs<N> kR = Constants::power_of_two(64 * N);
  static constexpr Limbs<N> kRSquared = Constants::power_of_two(128 * N);
  static constexpr Modulus<N> kModulus = {P::kModulus, kNegatedInverse};
  static_assert(P::kModulus.bit(0) && kTwoAdicity > 0, "Montgomery form needs an odd modulus");
  static_assert(P::kModulus[N - 1] != 0, "an element has no limb that is always zero");
  static_assert(P::kModulus[0] * kNegatedInverse == ~Limb{0}, "-p^-1 is wrong");
  static_assert(less(kR, P::kModulus) && less(kRSquared, P::kModulus), "elements are below p");
  static_assert(kBitCount < 64 * N, "lazy carries need a spare top bit");

  constexpr PrimeField() = default;

  CUZK_HD static constexpr PrimeField zero() { return PrimeField{}; }
  CUZK_HD static constexpr PrimeField one() { return from_montgomery(kR); }
  // The integer k modulo p. In a field of two limbs or more k itself is below p.
  CUZK_HD static constexpr PrimeField from_u64(std::uint64_t k) {
    Limbs<N> limbs;
    limbs[0] = k;
    return from_montgomery(limbs) * from_montgomery(kRSquared);
  }
  // Into Montgomery form: one product, x R^2 / R.
  CUZK_HD static constexpr PrimeField from_canonical(const Canonical<P>& x) {
    return from_montgomery(x.value) * from_montgomery(kRSquared);
  }
  // Takes limbs that already are x * R mod p, below p. That is not checked: a value of p or more
  // breaks equality and the bounds of every later operation, so limbs from outside are compared
  // with the modulus first (Canonical::from_limbs has the same question).
  CUZK_HD static constexpr PrimeField from_montgomery(const Limbs<N>& limbs) {
    PrimeField out;
    out.limbs_ = limbs;
    return out;
  }
  // Out of Montgomery form: one product.
  CUZK_HD constexpr Canonical<P> to_canonical() const {
    Limbs<N> unit;
    unit[0] = 1;
    return Canonical<P>{(*this * from_montgomery(unit)).limbs_};
  }
  // x R mod p as it is kept: for kernels and files that have the same form.
  CUZK_HD constexpr const Limbs<N>& montgomery_limbs() const { return limbs_; }

  CUZK_HD constexpr bool operator==(const PrimeField&) const = default;
  CUZK_HD constexpr bool is_zero() const { return limbs_.is_zero(); }
  CUZK_HD constexpr bool is_one() const { return limbs_ == kR; }

  CUZK_HD friend constexpr PrimeField operator+(const PrimeField& a, const PrimeField& b) {
    PrimeField out;
    add(out.limbs_, a.limbs_, b.limbs_, kModulus);
    return out;
  }
  CUZK_HD friend constexpr PrimeField operator-(const PrimeField& a, const PrimeField& b) {
    PrimeField out;
    sub(out.limbs_, a.limbs_, b.limbs_, kModulus);
    return out;
  }
  CUZK_HD constexpr PrimeField operator-() const { return zero() - *this; }
  CUZK_HD friend constexpr PrimeField operator*(const PrimeField& a, const PrimeField& b) {
    PrimeField out;
    multiply(out.limbs_, a.limbs_, b.limbs_, kModulus);
    return out;
  }
  CUZK_HD constexpr PrimeField& operator+=(const PrimeField& b) { return *this = *this + b; }
  CUZK_HD constexpr PrimeField& operator-=(const PrimeField& b) { return *this = *this - b; }
  CUZK_HD constexpr PrimeField& operator*=(const PrimeField& b) { return *this = *this * b; }
  CUZK_HD constexpr PrimeField doubled() const { return *this + *this; }
  CUZK_HD constexpr PrimeField squared() const { return *this * *this; }

  // x^e, variable time in e (field/power.h).
  template <std::size_t M>
  CUZK_HD constexpr PrimeField pow(const Limbs<M>& e) const {
    return power(*this, e);
  }
  CUZK_HD constexpr PrimeField pow(std::uint64_t e) const {
    Limbs<1> limbs;
    limbs[0] = e;
    return pow(limbs);
  }
  // x^-1, zero for zero; variable time. By division steps on the host, by Fermat on a device.
  CUZK_HD constexpr PrimeField inverse() const {
#if defined(__CUDA_ARCH__)
    return pow(Constants::modulus_minus(2));
#else
    return from_montgomery(DivisionSteps<N>::divide(kRSquared, limbs_, kModulus));
#endif
  }

  // A primitive 2^kTwoAdicity-th root of unity: generator^((p-1) / 2^kTwoAdicity). For BLS12-381
  // bellman's domains are built on the same one. Some hundreds of products: callers keep it.
  static constexpr PrimeField two_adic_root() {
    return from_u64(P::kGenerator).pow(Constants::odd_part());
  }
  static constexpr PrimeField generator() { return from_u64(P::kGenerator); }

 private:
  // Always below p, so that one element has one form and equality is that of limbs.
  Limbs<N> limbs_;
};

// Replaces each element by its inverse (zeros stay zero) with one inversion: Montgomery's trick.
// `scratch` has as many elements as `values`. Three products an element beside the one inversion,
// which costs many of them. Variable time.
template <class F>
void batch_inverse(std::span<F> values, std::span<F> scratch) {
  CUZK_ASSERT(scratch.size() >= values.size());
  F running = F::one();
  for (std::size_t i = 0; i < values.size(); ++i) {
    scratch[i] = running;
    if (!values[i].is_zero()) running *= values[i];
  }
  // scratch[i] is the product of the values before i that are not zero, `inverse` the inverse of
  // the product of those up to i. Each step divides one value out of it.
  F inverse = running.inverse();
  for (std::size_t i = values.size(); i > 0; --i) {
    if (values[i - 1].is_zero()) continue;
    const F next = inverse * values[i - 1];
    values[i - 1] = inverse * scratch[i - 1];
    inverse = next;
  }
}

}  // namespace cuzk::field
