// Scanning and writing the section container.
//
// Only heads are read, so scanning costs the same for any file size. What the numbers mean is the
// affair of the three readers; here it is only seen that every section lies in the file and nothing
// lies behind the last one (a download cut short or two files in one).
#include "formats/snarkjs/section_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace cuzk::formats {
namespace {

using base::Error;
using base::ErrorKind;

// Wider than any field of a curve that snarkjs knows; a larger width is damage.
constexpr std::uint32_t kFieldBytesMax = 128;
static_assert(curve::Bls12_381::Fp::kByteCount <= kFieldBytesMax);

// For a message about bytes that may be anything.
std::string printable(base::ByteSpan bytes) {
  std::string text;
  for (const std::uint8_t c : bytes) text.push_back(c >= 0x20 && c < 0x7f ? char(c) : '?');
  return text;
}

// The bytes of the prime at the reader's place, borrowed.
base::Result<base::ByteSpan> read_modulus(base::ByteReader& reader, std::string_view field) {
  CUZK_TRY(const std::uint32_t width, reader.u32_le(fmt::format("bytes of the {} prime", field)));
  if (width == 0 || width > kFieldBytesMax || width % 8 != 0) {
    return reader.malformed(
        fmt::format("the {} prime has {} bytes, expected a multiple of 8 up to {}", field, width,
                    kFieldBytesMax));
  }
  return reader.take(width, fmt::format("{} prime", field));
}

// Written as people write primes, so that it can be looked up.
Error other_prime(const base::ByteReader& reader, std::string_view field, base::ByteSpan prime) {
  base::Bytes big_endian(prime.rbegin(), prime.rend());
  return Error{ErrorKind::kUnsupported,
               fmt::format("{}: the {} prime is 0x{}, which belongs to neither BN254 nor BLS12-381",
                           reader.source(), field, base::to_hex(big_endian))};
}

}  // namespace

Error SectionFile::malformed(std::string_view sentence) const {
  return Error{ErrorKind::kMalformed, fmt::format("{}: {}", source_, sentence)};
}

base::Result<SectionFile> SectionFile::scan(base::ByteSpan bytes, std::string source,
                                            std::string_view magic, std::uint32_t version_min,
                                            std::uint32_t version_max) {
  CUZK_ASSERT(magic.size() == 4 && version_min <= version_max);
  SectionFile file;
  file.source_ = std::move(source);
  // The letters first: a file of another kind is told as such, not as one with a wrong version.
  base::ByteReader reader(bytes, file.source_);
  CUZK_TRY(const base::ByteSpan letters, reader.take(magic.size(), "file type"));
  if (!std::equal(letters.begin(), letters.end(), magic.begin())) {
    return file.malformed(
        fmt::format("the file begins with \"{}\", expected \"{}\"", printable(letters), magic));
  }
  CUZK_TRY(file.version_, reader.u32_le("version"));
  // A newer version may mean anything by the same bytes.
  if (file.version_ < version_min || file.version_ > version_max) {
    return Error{
        ErrorKind::kUnsupported,
        fmt::format("{}: {} version {}, this program reads {}", file.source_, magic, file.version_,
                    version_min == version_max
                        ? fmt::format("version {}", version_min)
                        : fmt::format("versions {} to {}", version_min, version_max))};
  }
  CUZK_TRY(const std::uint32_t count, reader.u32_le("number of sections"));
  if (count > kSectionCountMax) {
    return file.malformed(
        fmt::format("{} sections announced, expected at most {}", count, kSectionCountMax));
  }
  // Each length is compared with what is left before anything is added to it, so one of 2^64 - 1
  // cannot wrap around to a place inside the file.
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string place = fmt::format("section {} of {}", i + 1, count);
    Section section;
    CUZK_TRY(section.id, reader.u32_le(fmt::format("number of {}", place)));
    CUZK_TRY(const std::uint64_t size, reader.u64_le(fmt::format("length of {}", place)));
    section.offset_bytes = reader.offset();
    CUZK_TRY(section.bytes, reader.take(size, fmt::format("{} (number {})", place, section.id)));
    file.sections_.push_back(section);
  }
  if (reader.remaining() != 0) {
    return reader.malformed(
        fmt::format("{} bytes behind the last of {} sections", reader.remaining(), count));
  }
  CUZK_ASSERT(file.sections_.size() == count);
  return file;
}

base::Result<SectionFile::Section> SectionFile::optional(std::uint32_t id,
                                                         std::string_view name) const {
  CUZK_ASSERT(id != 0);
  Section found;  // number 0, which no reader asks for, while there is none
  std::size_t times = 0;
  for (const Section& section : sections_) {
    if (section.id != id) continue;  // sections of unknown numbers are a newer writer's affair
    found = section;
    ++times;
  }
  if (times > 1) {
    return malformed(
        fmt::format("section {} ({}) occurs {} times, expected once", id, name, times));
  }
  return found;
}

base::Result<SectionFile::Section> SectionFile::unique(std::uint32_t id,
                                                       std::string_view name) const {
  CUZK_TRY(const Section found, optional(id, name));
  if (found.id != id) return malformed(fmt::format("section {} ({}) is missing", id, name));
  return found;
}

base::Result<CurveId> read_scalar_modulus(base::ByteReader& reader) {
  CUZK_TRY(const base::ByteSpan prime, read_modulus(reader, "scalar field's"));
  if (const auto curve = curve_of_scalar_modulus(prime)) return *curve;
  return other_prime(reader, "scalar field's", prime);
}

// The two differ in which primes they know: a scalar field's prime where a base field's belongs is
// refused.
base::Result<CurveId> read_base_modulus(base::ByteReader& reader) {
  CUZK_TRY(const base::ByteSpan prime, read_modulus(reader, "base field's"));
  if (const auto curve = curve_of_base_modulus(prime)) return *curve;
  return other_prime(reader, "base field's", prime);
}

void append_u32(base::Bytes& out, std::uint32_t value) {
  out.resize(out.size() + 4);
  base::store_u32_le(out.data() + out.size() - 4, value);
}

void append_u64(base::Bytes& out, std::uint64_t value) {
  out.resize(out.size() + 8);
  base::store_u64_le(out.data() + out.size() - 8, value);
}

void append_container_head(base::Bytes& out, std::string_view magic, std::uint32_t version,
                           std::uint32_t section_count) {
  CUZK_ASSERT(magic.size() == 4);
  out.insert(out.end(), magic.begin(), magic.end());
  append_u32(out, version);
  append_u32(out, section_count);
}

void append_section_head(base::Bytes& out, std::uint32_t id, std::uint64_t size_bytes) {
  append_u32(out, id);
  append_u64(out, size_bytes);
}

}  // namespace cuzk::formats
