// Fields of BLS12-381: parameters only. z = -0xd201000000010000 gives
// r = z^4 - z^2 + 1 and p = (z - 1)^2 r / 3 + z, checked in bls12_381_test.cpp. The moduli are
// those of the ZCash protocol specification, section 5.4.9.2; the generators are the smallest
// ones. Everything else follows (prime_field.h).
#pragma once

#include "field/prime_field.h"
#include "field/quadratic.h"
#include "field/tower.h"

namespace cuzk::field::bls12_381 {

struct FpParams {
  static constexpr const char* kName = "BLS12-381 Fp";
  static constexpr std::size_t kLimbCount = 6;
  static constexpr Limbs<6> kModulus = limbs_from_hex<6>(
      "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf"
      "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab");
  static constexpr std::uint64_t kGenerator = 2;
};

struct FrParams {
  static constexpr const char* kName = "BLS12-381 Fr";
  static constexpr std::size_t kLimbCount = 4;
  static constexpr Limbs<4> kModulus =
      limbs_from_hex<4>("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001");
  static constexpr std::uint64_t kGenerator = 7;
};

using Fp = PrimeField<FpParams>;
using Fr = PrimeField<FrParams>;
using FrCanonical = Canonical<FrParams>;
using Fp2 = Quadratic<Fp>;

// The tower up to Fp12 (field/tower.h): xi = 1 + u is neither a square nor a cube in Fp2.
struct TowerParams {
  using Fp2 = Quadratic<Fp>;
  // (1 + u)(c0 + c1 u).
  CUZK_HD static constexpr Fp2 times_xi(const Fp2& a) { return {a.c0 - a.c1, a.c0 + a.c1}; }
};
using Fp6 = Cubic<TowerParams>;
using Fp12 = Dodecic<TowerParams>;

static_assert(Fr::kTwoAdicity == 32 && Fr::kBitCount == 255 && Fp::kBitCount == 381);
static_assert(FpParams::kModulus[0] % 4 == 3, "u^2 = -1 has no root in Fp");
static_assert(sizeof(Fp) == 48 && sizeof(Fp2) == 96 && sizeof(Fr) == 32,
              "key files and devices hold elements in this layout");
static_assert(std::is_trivially_copyable_v<Fp2> && std::is_trivially_copyable_v<Fr>);

}  // namespace cuzk::field::bls12_381
