// The two pairing-friendly curves as types: fields, groups, generators.
//
// Code above this room is written once over a curve type C and instantiated for both:
//   C::Fp C::Fr C::FrCanonical C::Fp2 C::G1 C::G2 C::G1Affine C::G2Affine C::kName
// A group type G (C::G1, C::G2) is never made: it only names Field, Scalar, Curve, b() and the
// generator, so that point.h need not know curves.
#pragma once

#include "curve/point.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::curve {

// BLS12-381: G1 over Fp with b = 4, G2 over Fp2 with b = 4 (1 + u). Generators as in the ZCash
// protocol specification, 5.4.9.2.
struct Bls12_381 {
  static constexpr const char* kName = "BLS12-381";
  using Fp = field::bls12_381::Fp;
  using Fr = field::bls12_381::Fr;
  using FrCanonical = field::bls12_381::FrCanonical;
  using Fp2 = field::bls12_381::Fp2;
  using Tower = field::bls12_381::TowerParams;
  // The family parameter z, and how G2's curve is twisted: b' = b xi, (x, y) -> (x/w^2, y/w^3).
  static constexpr std::uint64_t kParameter = 0xd201000000010000;
  static constexpr bool kParameterIsNegative = true;
  static constexpr bool kHasMultiplicativeTwist = true;

  struct G1 {
    using Field = Fp;
    using Scalar = Fr;
    using Curve = Bls12_381;
    static constexpr const char* kName = "BLS12-381 G1";
    CUZK_HD static constexpr Field b() { return Field::from_u64(4); }
    static Affine<G1> generator();
  };
  struct G2 {
    using Field = Fp2;
    using Scalar = Fr;
    using Curve = Bls12_381;
    static constexpr const char* kName = "BLS12-381 G2";
    CUZK_HD static constexpr Field b() { return {Fp::from_u64(4), Fp::from_u64(4)}; }
    static Affine<G2> generator();
  };
  using G1Affine = Affine<G1>;
  using G2Affine = Affine<G2>;
  using G1Jacobian = Jacobian<G1>;
  using G2Jacobian = Jacobian<G2>;
};

// BN254: G1 over Fp with b = 3, G2 over Fp2 with b = 3 / (9 + u). Generators as in EIP-197.
struct Bn254 {
  static constexpr const char* kName = "BN254";
  using Fp = field::bn254::Fp;
  using Fr = field::bn254::Fr;
  using FrCanonical = field::bn254::FrCanonical;
  using Fp2 = field::bn254::Fp2;
  using Tower = field::bn254::TowerParams;
  // The family parameter x, and how G2's curve is twisted: b' = b / xi, (x, y) -> (x w^2, y w^3).
  static constexpr std::uint64_t kParameter = 4965661367192848881;
  static constexpr bool kParameterIsNegative = false;
  static constexpr bool kHasMultiplicativeTwist = false;

  struct G1 {
    using Field = Fp;
    using Scalar = Fr;
    using Curve = Bn254;
    static constexpr const char* kName = "BN254 G1";
    CUZK_HD static constexpr Field b() { return Field::from_u64(3); }
    static Affine<G1> generator();
  };
  struct G2 {
    using Field = Fp2;
    using Scalar = Fr;
    using Curve = Bn254;
    static constexpr const char* kName = "BN254 G2";
    CUZK_HD static constexpr Field b() {
      return Field{Fp::from_u64(3), Fp::zero()} * Field{Fp::from_u64(9), Fp::one()}.inverse();
    }
    static Affine<G2> generator();
  };
  using G1Affine = Affine<G1>;
  using G2Affine = Affine<G2>;
  using G1Jacobian = Jacobian<G1>;
  using G2Jacobian = Jacobian<G2>;
};

}  // namespace cuzk::curve
