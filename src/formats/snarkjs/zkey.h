// snarkjs Groth16 proving keys (.zkey): mapped for reading, streamed for writing.
//
// Layout: docs/formats/snarkjs.md. Both curves, told apart by the primes in the header. A zkey
// holds key and circuit (A and B), so with a witness it is all that a proof needs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/progress.h"
#include "formats/curve_id.h"
#include "formats/key_check.h"
#include "groth16/keys.h"
#include "r1cs/shape.h"

namespace cuzk::formats {

// What header and section lengths say. Reading it looks at no point and no coefficient.
struct ZkeyHeader {
  CurveId curve = CurveId::kBn254;
  std::uint32_t wire_count = 0;    // with the constant wire 0
  std::uint32_t public_count = 0;  // without it
  std::size_t domain_log2 = 0;
  std::uint32_t coefficient_count = 0;
  bool has_contributions_section = false;
  std::uint32_t contribution_count = 0;
  std::vector<SectionFacts> sections;  // in file order
};

// Errors: kUnsupported, naming the protocol, for PLONK and FFLONK keys; kMalformed for a missing,
// doubled or misfit section, with its name and both numbers.
base::Result<ZkeyHeader> read_zkey_header(base::ByteSpan bytes, std::string source);

// A key over its file with the circuit that was in it. Key and shape outlive this; either may be
// kept alone.
template <class C>
struct LoadedZkey {
  // Convention kOddCosetLagrange, one point per wire; borrows from the mapped file, which it owns.
  std::shared_ptr<const groth16::ProvingKey<C>> key;
  // A and B with the rows of the inputs; no C (has_c is false, has_input_rows is true).
  std::shared_ptr<const r1cs::Shape<typename C::Fr>> shape;
  ZkeyHeader header;
  std::vector<std::string> warnings;
};

// Errors as read_zkey_header; kMismatch when the key is over the other curve; kMalformed for a
// coefficient that is not below r or whose row or wire does not exist; kIo when coefficients are
// seen to change while they are read. The file may change at any time without harm to memory.
template <class C>
base::Result<LoadedZkey<C>> read_zkey(std::shared_ptr<const base::MappedFile> file,
                                      const KeyCheckOptions& options = {});
template <class C>
base::Result<LoadedZkey<C>> open_zkey(const std::filesystem::path& path,
                                      const KeyCheckOptions& options = {});

// Errors of writing: kInvalidArgument when key and circuit do not fit each other or the format,
// else those of the file (base/file.h). Progress counts bytes.
//
// Writes a key in convention kOddCosetLagrange with its circuit; input rows are added where the
// shape lacks them. Contributions section: no circuit hash, no contributions (a development key).
template <class C>
base::Status write_zkey(const std::filesystem::path& path, const groth16::ProvingKey<C>& key,
                        const r1cs::Shape<typename C::Fr>& shape,
                        base::ProgressSink* progress = nullptr);

#define CUZK_FORMATS_ZKEY_EXTERN(C)                                                      \
  extern template base::Result<LoadedZkey<C>> read_zkey<C>(                              \
      std::shared_ptr<const base::MappedFile>, const KeyCheckOptions&);                  \
  extern template base::Result<LoadedZkey<C>> open_zkey<C>(const std::filesystem::path&, \
                                                           const KeyCheckOptions&);      \
  extern template base::Status write_zkey<C>(const std::filesystem::path&,               \
                                             const groth16::ProvingKey<C>&,              \
                                             const r1cs::Shape<C::Fr>&, base::ProgressSink*);
CUZK_FORMATS_ZKEY_EXTERN(curve::Bls12_381)
CUZK_FORMATS_ZKEY_EXTERN(curve::Bn254)
#undef CUZK_FORMATS_ZKEY_EXTERN

}  // namespace cuzk::formats
