// Curve names and primes.
#include "formats/curve_id.h"

namespace cuzk::formats {
namespace {

template <class F>
bool is_modulus(base::ByteSpan bytes) {
  return bytes.size() == F::kByteCount &&
         field::load_le<F::kLimbCount>(bytes.data()) == F::Params::kModulus;
}

}  // namespace

std::string_view curve_name(CurveId curve) noexcept {
  return curve == CurveId::kBls12_381 ? curve::Bls12_381::kName : curve::Bn254::kName;
}

std::string_view snarkjs_curve_name(CurveId curve) noexcept {
  return curve == CurveId::kBls12_381 ? "bls12381" : "bn128";
}

std::optional<CurveId> curve_of_snarkjs_name(std::string_view name) noexcept {
  if (name == "bls12381") return CurveId::kBls12_381;
  if (name == "bn128") return CurveId::kBn254;
  return std::nullopt;
}

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
