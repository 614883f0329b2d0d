// Written by tools/derive_constants.py; do not edit.
//
// What both curves' constants must be, found without the C++ code. Hex integers, not in
// Montgomery form. kHardExponent is (p^4 - p^2 + 1) / r. For tests.
#pragma once

#include <string_view>

namespace cuzk::curve::derived {

namespace bls12_381 {
inline constexpr std::string_view kFpModulus =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffa"
    "aab";
inline constexpr std::string_view kFpR =
    "15f65ec3fa80e4935c071a97a256ec6d77ce5853705257455f48985753c758baebf4000bc40c0002760900000002f"
    "ffd";
inline constexpr std::string_view kFpRSquared =
    "11988fe592cae3aa9a793e85b519952d67eb88a9939d83c08de5476c4c95b6d50a76e6a609d104f1f4df1f341c341"
    "746";
inline constexpr std::string_view kFpNegatedInverse = "89f3fffcfffcfffd";
inline constexpr std::string_view kFpTwoAdicity = "1";
inline constexpr std::string_view kFpTwoAdicRoot =
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffa"
    "aaa";
inline constexpr std::string_view kFrModulus =
    "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
inline constexpr std::string_view kFrR =
    "1824b159acc5056f998c4fefecbc4ff55884b7fa0003480200000001fffffffe";
inline constexpr std::string_view kFrRSquared =
    "748d9d99f59ff1105d314967254398f2b6cedcb87925c23c999e990f3f29c6d";
inline constexpr std::string_view kFrNegatedInverse = "fffffffeffffffff";
inline constexpr std::string_view kFrTwoAdicity = "20";
inline constexpr std::string_view kFrTwoAdicRoot =
    "16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b";
inline constexpr std::string_view kCubeRootOfOne =
    "5f19672fdf76ce51ba69c6076a0f77eaddb3a93be6f89688de17d813620a00022e01fffffffefffe";
inline constexpr std::string_view kFrobenius1C0 =
    "1904d3bf02bb0667c231beb4202c0d1f0fd603fd3cbd5f4f7b2443d784bab9c4f67ea53d63e7813d8d0775ed92235"
    "fb8";
inline constexpr std::string_view kFrobenius1C1 =
    "fc3e2b36c4e03288e9e902231f9fb854a14787b6c7b36fec0c8ec971f63c5f282d5ac14d6c7ec22cf78a126ddc4af"
    "3";
inline constexpr std::string_view kFrobenius2C0 = "0";
inline constexpr std::string_view kFrobenius2C1 =
    "1a0111ea397fe699ec02408663d4de85aa0d857d89759ad4897d29650fb85f9b409427eb4f49fffd8bfd00000000a"
    "aac";
inline constexpr std::string_view kFrobenius3C0 =
    "6af0e0437ff400b6831e36d6bd17ffe48395dabc2d3435e77f76e17009241c5ee67992f72ec05f4c81084fbede3cc"
    "09";
inline constexpr std::string_view kFrobenius3C1 =
    "6af0e0437ff400b6831e36d6bd17ffe48395dabc2d3435e77f76e17009241c5ee67992f72ec05f4c81084fbede3cc"
    "09";
inline constexpr std::string_view kFrobenius4C0 =
    "1a0111ea397fe699ec02408663d4de85aa0d857d89759ad4897d29650fb85f9b409427eb4f49fffd8bfd00000000a"
    "aad";
inline constexpr std::string_view kFrobenius4C1 = "0";
inline constexpr std::string_view kFrobenius5C0 =
    "5b2cfd9013a5fd8df47fa6b48b1e045f39816240c0b8fee8beadf4d8e9c0566c63a3e6e257f87329b18fae9800781"
    "16";
inline constexpr std::string_view kFrobenius5C1 =
    "144e4211384586c16bd3ad4afa99cc9170df3560e77982d0db45f3536814f0bd5871c1908bd478cd1ee605167ff82"
    "995";
inline constexpr std::string_view kCofactorG1 = "396c8c005555e1568c00aaab0000aaab";
inline constexpr std::string_view kCofactorG2 =
    "5d543a95414e7f1091d50792876a202cd91de4547085abaa68a205b2e5a7ddfa628f1cb4d9e82ef21537e293a6691"
    "ae1616ec6e786f0c70cf1c38e31c7238e5";
inline constexpr std::string_view kHardExponent =
    "f686b3d807d01c0bd38c3195c899ed3cde88eeb996ca394506632528d6a9a2f230063cf081517f68f7764c28b6f8a"
    "e5a72bce8d63cb9f827eca0ba621315b2076995003fc77a17988f8761bdc51dc2378b9039096d1b767f17fcbde783"
    "765915c97f36c6f18212ed0b283ed237db421d160aeb6a1e79983774940996754c8c71a2629b0dea236905ce93733"
    "5d5b68fa9912aae208ccf1e516c3f438e3ba79";
}  // namespace bls12_381

namespace bn254 {
inline constexpr std::string_view kFpModulus =
    "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";
inline constexpr std::string_view kFpR =
    "e0a77c19a07df2f666ea36f7879462c0a78eb28f5c70b3dd35d438dc58f0d9d";
inline constexpr std::string_view kFpRSquared =
    "6d89f71cab8351f47ab1eff0a417ff6b5e71911d44501fbf32cfc5b538afa89";
inline constexpr std::string_view kFpNegatedInverse = "87d20782e4866389";
inline constexpr std::string_view kFpTwoAdicity = "1";
inline constexpr std::string_view kFpTwoAdicRoot =
    "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd46";
inline constexpr std::string_view kFrModulus =
    "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001";
inline constexpr std::string_view kFrR =
    "e0a77c19a07df2f666ea36f7879462e36fc76959f60cd29ac96341c4ffffffb";
inline constexpr std::string_view kFrRSquared =
    "216d0b17f4e44a58c49833d53bb808553fe3ab1e35c59e31bb8e645ae216da7";
inline constexpr std::string_view kFrNegatedInverse = "c2e1f593efffffff";
inline constexpr std::string_view kFrTwoAdicity = "1c";
inline constexpr std::string_view kFrTwoAdicRoot =
    "2a3c09f0a58a7e8500e0a7eb8ef62abc402d111e41112ed49bd61b6e725b19f0";
inline constexpr std::string_view kCubeRootOfOne =
    "30644e72e131a0295e6dd9e7e0acccb0c28f069fbb966e3de4bd44e5607cfd48";
inline constexpr std::string_view kFrobenius1C0 =
    "1284b71c2865a7dfe8b99fdd76e68b605c521e08292f2176d60b35dadcc9e470";
inline constexpr std::string_view kFrobenius1C1 =
    "246996f3b4fae7e6a6327cfe12150b8e747992778eeec7e5ca5cf05f80f362ac";
inline constexpr std::string_view kFrobenius2C0 =
    "2fb347984f7911f74c0bec3cf559b143b78cc310c2c3330c99e39557176f553d";
inline constexpr std::string_view kFrobenius2C1 =
    "16c9e55061ebae204ba4cc8bd75a079432ae2a1d0b7c9dce1665d51c640fcba2";
inline constexpr std::string_view kFrobenius3C0 =
    "63cf305489af5dcdc5ec698b6e2f9b9dbaae0eda9c95998dc54014671a0135a";
inline constexpr std::string_view kFrobenius3C1 =
    "7c03cbcac41049a0704b5a7ec796f2b21807dc98fa25bd282d37f632623b0e3";
inline constexpr std::string_view kFrobenius4C0 =
    "5b54f5e64eea80180f3c0b75a181e84d33365f7be94ec72848a1f55921ea762";
inline constexpr std::string_view kFrobenius4C1 =
    "2c145edbe7fd8aee9f3a80b03b0b1c923685d2ea1bdec763c13b4711cd2b8126";
inline constexpr std::string_view kFrobenius5C0 =
    "183c1e74f798649e93a3661a4353ff4425c459b55aa1bd32ea2c810eab7692f";
inline constexpr std::string_view kFrobenius5C1 =
    "12acf2ca76fd0675a27fb246c7729f7db080cb99678e2ac024c6b8ee6e0c2c4b";
inline constexpr std::string_view kCofactorG1 = "1";
inline constexpr std::string_view kCofactorG2 =
    "30644e72e131a029b85045b68181585e06ceecda572a2489345f2299c0f9fa8d";
inline constexpr std::string_view kHardExponent =
    "1baaa710b0759ad331ec15183177faf6c0eb522d5b122784e529a5861876f6b3b1b1355d189227d79581e16f3fd90"
    "c66b887d56d5095f23aaa441e3954bcf8adcc7b44c87cdbacff1154e7e1da014fd5abf5cc4f49c36d4e81bb482ccd"
    "f42b1";
}  // namespace bn254

}  // namespace cuzk::curve::derived
