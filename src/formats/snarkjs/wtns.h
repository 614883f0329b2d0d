// snarkjs witness files (.wtns): the value of every wire of a circuit.
//
// Layout: docs/formats/snarkjs.md. Files hold 32 bytes a wire; in memory a bit is a bit. Whether
// the values satisfy the circuit is not asked here: the proof, or a check against the r1cs file,
// tells.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "formats/curve_id.h"
#include "r1cs/assignment.h"

namespace cuzk::formats {

// What the header says; no value has been looked at.
struct WtnsHeader {
  CurveId curve = CurveId::kBn254;
  std::uint32_t value_count = 0;
  // value_count little-endian integers of 32 bytes, borrowed from the file.
  base::ByteSpan values;
};

// Errors: kMalformed, with section and numbers, for sections that do not fit the header;
// kUnsupported for other primes and versions.
base::Result<WtnsHeader> read_wtns_header(base::ByteSpan bytes, std::string source);

// What the key or circuit that a witness is for expects. It comes from a file that was checked, so
// wire_count exceeds public_count.
struct WtnsExpectation {
  std::string name;                // of the key or circuit, for messages
  std::uint32_t wire_count = 0;    // with the constant wire 0
  std::uint32_t public_count = 0;  // without it
};

// The assignment: inputs are wires 0 (which must be 1) to public_count, aux the others. A wrong
// curve or count is an error of kind kMismatch, found before any value is read; a value that is not
// below r is kMalformed with its wire. Values 0 and 1 become bits.
template <class C>
base::Result<std::shared_ptr<const r1cs::Assignment<typename C::Fr>>> read_wtns(
    base::ByteSpan bytes, std::string source, const WtnsExpectation& expected);
template <class C>
base::Result<std::shared_ptr<const r1cs::Assignment<typename C::Fr>>> open_wtns(
    const std::filesystem::path& path, const WtnsExpectation& expected);

// A witness that was checked in full and not kept.
template <class F>
struct WtnsFacts {
  std::vector<F> inputs;             // as in the assignment
  std::size_t aux_scalar_count = 0;  // aux values that are neither 0 nor 1
};
// Errors as read_wtns.
template <class C>
base::Result<WtnsFacts<typename C::Fr>> check_wtns(base::ByteSpan bytes, std::string source,
                                                   const WtnsExpectation& expected);

// The bytes of a version 2 witness file, of any values: whether the first is ONE is not asked, so
// that what a client sent in another form is refused by read_wtns like a file.
template <class C>
base::Bytes encode_wtns(const r1cs::Assignment<typename C::Fr>& assignment);

#define CUZK_FORMATS_WTNS_EXTERN(C)                                                          \
  extern template base::Result<std::shared_ptr<const r1cs::Assignment<C::Fr>>> read_wtns<C>( \
      base::ByteSpan, std::string, const WtnsExpectation&);                                  \
  extern template base::Result<std::shared_ptr<const r1cs::Assignment<C::Fr>>> open_wtns<C>( \
      const std::filesystem::path&, const WtnsExpectation&);                                 \
  extern template base::Result<WtnsFacts<C::Fr>> check_wtns<C>(base::ByteSpan, std::string,  \
                                                               const WtnsExpectation&);      \
  extern template base::Bytes encode_wtns<C>(const r1cs::Assignment<C::Fr>&);
CUZK_FORMATS_WTNS_EXTERN(curve::Bls12_381)
CUZK_FORMATS_WTNS_EXTERN(curve::Bn254)
#undef CUZK_FORMATS_WTNS_EXTERN

}  // namespace cuzk::formats
