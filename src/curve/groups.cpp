// Generators, written as published hex (sources in groups.h) and checked to be on the curve by
// groups_test.cpp.
//
// A coordinate in Fp2 is written c0 first, then the coefficient of u. Each call converts from hex
// anew: whoever needs a generator in a loop keeps the result.
#include "curve/groups.h"

#include <type_traits>

namespace cuzk::curve {
namespace {

// Keys of snarkjs hold points in this very form, and point kernels and devices take them bytewise.
static_assert(sizeof(Bls12_381::G1Affine) == 96 && sizeof(Bls12_381::G2Affine) == 192);
static_assert(sizeof(Bn254::G1Affine) == 64 && sizeof(Bn254::G2Affine) == 128);
static_assert(std::is_trivially_copyable_v<Bls12_381::G2Affine> &&
              std::is_standard_layout_v<Bls12_381::G2Affine>);
static_assert(std::is_trivially_copyable_v<Bn254::G2Affine> &&
              std::is_standard_layout_v<Bn254::G2Affine>);

// The element whose canonical integer is written in hex.
template <class F>
F element(std::string_view hex) {
  return F::from_canonical({field::limbs_from_hex<F::kLimbCount>(hex)});
}

}  // namespace

Affine<Bls12_381::G1> Bls12_381::G1::generator() {
  return {element<Fp>("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905"
                      "a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"),
          element<Fp>("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af6"
                      "00db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1")};
}

Affine<Bls12_381::G2> Bls12_381::G2::generator() {
  return {{element<Fp>("024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02"
                       "b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"),
           element<Fp>("13e02b6052719f607dacd3a088274f65596bd0d09920b61a"
                       "b5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e")},
          {element<Fp>("0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a7"
                       "6d429a695160d12c923ac9cc3baca289e193548608b82801"),
           element<Fp>("0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af"
                       "267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be")}};
}

Affine<Bn254::G1> Bn254::G1::generator() { return {Fp::from_u64(1), Fp::from_u64(2)}; }

Affine<Bn254::G2> Bn254::G2::generator() {
  return {{element<Fp>("1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed"),
           element<Fp>("198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2")},
          {element<Fp>("12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa"),
           element<Fp>("090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b")}};
}

}  // namespace cuzk::curve
