// Fields of BN254 (alt_bn128, circom's bn128): parameters only. x = 4965661367192848881 gives
// p = 36x^4 + 36x^3 + 24x^2 + 6x + 1 and r = 36x^4 + 36x^3 + 18x^2 + 6x + 1, checked in
// bn254_test.cpp. The moduli are those of EIP-196 and EIP-197; the generators are the smallest
// ones. Everything else follows (prime_field.h).
#pragma once

#include "field/prime_field.h"
#include "field/quadratic.h"
#include "field/tower.h"

namespace cuzk::field::bn254 {

struct FpParams {
  static constexpr const char* kName = "BN254 Fp";
  static constexpr std::size_t kLimbCount = 4;
  static constexpr Limbs<4> kModulus =
      limbs_from_hex<4>("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47");
  static constexpr std::uint64_t kGenerator = 3;
};

struct FrParams {
  static constexpr const char* kName = "BN254 Fr";
  static constexpr std::size_t kLimbCount = 4;
  static constexpr Limbs<4> kModulus =
      limbs_from_hex<4>("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001");
  static constexpr std::uint64_t kGenerator = 5;
};

using Fp = PrimeField<FpParams>;
using Fr = PrimeField<FrParams>;
using FrCanonical = Canonical<FrParams>;
using Fp2 = Quadratic<Fp>;

// The tower up to Fp12 (field/tower.h): xi = 9 + u is neither a square nor a cube in Fp2.
struct TowerParams {
  using Fp2 = Quadratic<Fp>;
  // (9 + u)(c0 + c1 u).
  CUZK_HD static constexpr Fp2 times_xi(const Fp2& a) {
    const Fp2 nine = a.doubled().doubled().doubled() + a;
    return {nine.c0 - a.c1, nine.c1 + a.c0};
  }
};
using Fp6 = Cubic<TowerParams>;
using Fp12 = Dodecic<TowerParams>;

static_assert(Fr::kTwoAdicity == 28 && Fr::kBitCount == 254 && Fp::kBitCount == 254);
static_assert(FpParams::kModulus[0] % 4 == 3, "u^2 = -1 has no root in Fp");
static_assert(sizeof(Fp) == 32 && sizeof(Fp2) == 64 && sizeof(Fr) == 32,
              "key files and devices hold elements in this layout");
static_assert(std::is_trivially_copyable_v<Fp2> && std::is_trivially_copyable_v<Fr>);

}  // namespace cuzk::field::bn254
