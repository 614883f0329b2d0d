// The container of iden3's tools (zkey, wtns, r1cs): four letters, a version, numbered sections.
//
// Layout: docs/formats/snarkjs.md. Sections may come in any order; unknown ones are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/curve_id.h"

namespace cuzk::formats {

// A scanned container. Borrows the bytes. Immutable; the sections tile what follows the head.
class SectionFile {
 public:
  // Number, place in the file, content (without the section's own head).
  struct Section {
    std::uint32_t id = 0;
    std::uint64_t offset_bytes = 0;
    base::ByteSpan bytes;
  };

  // Scans the section table. Refused: other letters, a version outside [version_min, version_max],
  // more than kSectionCountMax sections, a section that leaves the file, bytes behind the last one.
  static base::Result<SectionFile> scan(base::ByteSpan bytes, std::string source,
                                        std::string_view magic, std::uint32_t version_min,
                                        std::uint32_t version_max);

  // No tool writes more than a dozen; the bound keeps a hostile table from costing memory.
  static constexpr std::uint32_t kSectionCountMax = 1024;

  // The one section `id`; `name` describes it in errors ("H points"). Missing or twice is an error.
  base::Result<Section> unique(std::uint32_t id, std::string_view name) const;
  // As unique, but a missing section is no error: the id of the answer is 0 then (ids begin at 1).
  base::Result<Section> optional(std::uint32_t id, std::string_view name) const;

  std::uint32_t version() const noexcept { return version_; }
  const std::string& source() const noexcept { return source_; }
  const std::vector<Section>& sections() const noexcept { return sections_; }
  // A kMalformed error about this file.
  base::Error malformed(std::string_view sentence) const;

 private:
  std::string source_;
  std::uint32_t version_ = 0;
  std::vector<Section> sections_;
};

// Reads "width (u32), modulus (width bytes)" and names the curve whose scalar field (or, for keys,
// base field) it is. Errors: kMalformed for a width that no field has, kUnsupported for other
// primes.
base::Result<CurveId> read_scalar_modulus(base::ByteReader& reader);
base::Result<CurveId> read_base_modulus(base::ByteReader& reader);

// For writers: the head of a container, then of each section. All append to `out`; lengths and
// counts have to be known beforehand, as nothing is patched afterwards.
void append_container_head(base::Bytes& out, std::string_view magic, std::uint32_t version,
                           std::uint32_t section_count);
void append_section_head(base::Bytes& out, std::uint32_t id, std::uint64_t size_bytes);
void append_u32(base::Bytes& out, std::uint32_t value);
void append_u64(base::Bytes& out, std::uint64_t value);
// "width, modulus" of field F.
template <class F>
void append_modulus(base::Bytes& out) {
  append_u32(out, F::kByteCount);
  out.resize(out.size() + F::kByteCount);
  field::store_le(F::Params::kModulus, out.data() + out.size() - F::kByteCount);
}

}  // namespace cuzk::formats
