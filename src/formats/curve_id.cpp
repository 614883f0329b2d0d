// Curve names and primes.
//
// snarkjs calls BN254 "bn128", for the security it was once thought to have; other writers of the
// same documents do not. All spellings in use are known here, whatever their capitals; only
// snarkjs's own is written.
#include "formats/curve_id.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cuzk::formats {
namespace {

// Whether the number is F's modulus, written in F's width.
template <class F>
bool is_modulus(base::ByteSpan bytes) {
  return bytes.size() == F::kByteCount &&
         field::load_le<F::kLimbCount>(bytes.data()) == F::Params::kModulus;
}

// `lower` has no capitals.
bool same_letters(std::string_view lower, std::string_view text) {
  return std::equal(lower.begin(), lower.end(), text.begin(), text.end(), [](char a, char b) {
    return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
  });
}

}  // namespace

std::string_view curve_name(CurveId curve) noexcept {
  return curve == CurveId::kBls12_381 ? curve::Bls12_381::kName : curve::Bn254::kName;
}

std::string_view snarkjs_curve_name(CurveId curve) noexcept {
  return curve == CurveId::kBls12_381 ? "bls12381" : "bn128";
}

std::optional<CurveId> curve_of_snarkjs_name(std::string_view name) noexcept {
  static constexpr std::pair<std::string_view, CurveId> kNames[] = {
      {"bn128", CurveId::kBn254},          {"bn254", CurveId::kBn254},
      {"bn-254", CurveId::kBn254},         {"bn_254", CurveId::kBn254},
      {"altbn128", CurveId::kBn254},       {"alt_bn128", CurveId::kBn254},
      {"alt-bn128", CurveId::kBn254},      {"bls12381", CurveId::kBls12_381},
      {"bls12-381", CurveId::kBls12_381},  {"bls12_381", CurveId::kBls12_381},
      {"bls-12-381", CurveId::kBls12_381}, {"bls_12_381", CurveId::kBls12_381}};
  // same_letters wants them without capitals.
  static_assert(std::all_of(std::begin(kNames), std::end(kNames), [](const auto& entry) {
    return entry.first.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string_view::npos;
  }));
  for (const auto& [known, curve] : kNames) {
    if (same_letters(known, name)) return curve;
  }
  return std::nullopt;
}

// The two fields of a curve have primes of their own, and no prime of one is one of the other's:
// BN254 and BLS12-381 form no cycle.
std::optional<CurveId> curve_of_base_modulus(base::ByteSpan little_endian) noexcept {
  if (is_modulus<curve::Bls12_381::Fp>(little_endian)) return CurveId::kBls12_381;
  if (is_modulus<curve::Bn254::Fp>(little_endian)) return CurveId::kBn254;
  return std::nullopt;
}

std::optional<CurveId> curve_of_scalar_modulus(base::ByteSpan little_endian) noexcept {
  if (is_modulus<curve::Bls12_381::Fr>(little_endian)) return CurveId::kBls12_381;
  if (is_modulus<curve::Bn254::Fr>(little_endian)) return CurveId::kBn254;
  return std::nullopt;
}

}  // namespace cuzk::formats
