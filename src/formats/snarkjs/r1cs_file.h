// circom circuits (.r1cs): the matrices A, B, C and how many wires are public.
//
// Layout: docs/formats/snarkjs.md. The only file of circom that has C: a set-up and a check of a
// witness against its circuit need it, a proof does not.
#pragma once

#include <filesystem>
#include <memory>

#include "base/file.h"
#include "formats/curve_id.h"
#include "r1cs/shape.h"

namespace cuzk::formats {

// The wires are, in order: the constant, outputs, public inputs, then all that is private.
struct R1csHeader {
  CurveId curve = CurveId::kBn254;
  std::uint32_t wire_count = 0;  // with the constant wire 0
  std::uint32_t output_count = 0, public_input_count = 0, private_input_count = 0;
  std::uint64_t label_count = 0;
  std::uint32_t constraint_count = 0;

  // Public wires are the outputs, then the public inputs: wires 1 to public_count().
  std::uint32_t public_count() const noexcept { return output_count + public_input_count; }
};

// Header and section lengths, at the cost of the section table; no constraint is looked at. Errors:
// kMalformed; kUnsupported for other primes, other versions and for custom gates, which only PLONK
// proves.
base::Result<R1csHeader> read_r1cs_header(base::ByteSpan bytes, std::string source);

// The circuit: has_c is true, has_input_rows false. Errors as above, kMismatch for the other curve;
// and kMalformed, with the constraint, for a wire that does not exist and for a coefficient that is
// not below r. Each row ascends by wire: the coefficients of a wire that a linear combination names
// more than once are added, as snarkjs's set-up does, and terms with coefficient zero are dropped.
template <class C>
base::Result<std::shared_ptr<const r1cs::Shape<typename C::Fr>>> read_r1cs(base::ByteSpan bytes,
                                                                           std::string source);
template <class C>
base::Result<std::shared_ptr<const r1cs::Shape<typename C::Fr>>> open_r1cs(
    const std::filesystem::path& path);

// The bytes of an .r1cs file in which all public wires are public inputs and wire i has label i.
// `shape` must carry C and lack input rows.
template <class C>
base::Bytes encode_r1cs(const r1cs::Shape<typename C::Fr>& shape);

#define CUZK_FORMATS_R1CS_EXTERN(C)                                                     \
  extern template base::Result<std::shared_ptr<const r1cs::Shape<C::Fr>>> read_r1cs<C>( \
      base::ByteSpan, std::string);                                                     \
  extern template base::Result<std::shared_ptr<const r1cs::Shape<C::Fr>>> open_r1cs<C>( \
      const std::filesystem::path&);                                                    \
  extern template base::Bytes encode_r1cs<C>(const r1cs::Shape<C::Fr>&);
CUZK_FORMATS_R1CS_EXTERN(curve::Bls12_381)
CUZK_FORMATS_R1CS_EXTERN(curve::Bn254)
#undef CUZK_FORMATS_R1CS_EXTERN

}  // namespace cuzk::formats
