// Finding the sections of a zkey and holding their lengths against the header.
//
// When locate() succeeds, the length of every section that is read follows from the counts of
// wires, inputs, rows and coefficients, so the code behind it indexes without looking at sizes
// again. A file of another protocol is told by its name first: its other sections would only
// confuse.
#include <bit>

#include <fmt/format.h>

#include "base/check.h"
#include "formats/snarkjs/zkey_layout.h"

namespace cuzk::formats {
namespace zkey_layout {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::uint32_t kVersionMin = 1, kVersionMax = 2;
constexpr std::size_t kCircuitHashBytes = 64;

// Bytes of a point of the curve, as they lie in file and memory.
struct PointSizes {
  std::size_t g1 = 0, g2 = 0;
};

PointSizes point_sizes(CurveId curve) {
  if (curve == CurveId::kBls12_381) {
    return {sizeof(curve::Bls12_381::G1Affine), sizeof(curve::Bls12_381::G2Affine)};
  }
  return {sizeof(curve::Bn254::G1Affine), sizeof(curve::Bn254::G2Affine)};
}

// Largest k such that the scalar field has a root of unity of order 2^k.
std::size_t two_adicity(CurveId curve) {
  return curve == CurveId::kBls12_381 ? curve::Bls12_381::Fr::kTwoAdicity
                                      : curve::Bn254::Fr::kTwoAdicity;
}

// Section 1, one number.
base::Status check_protocol(const SectionFile& file) {
  CUZK_TRY(const auto section, file.unique(kProtocol, "protocol"));
  base::ByteReader reader(section.bytes, fmt::format("{}: section 1 (protocol)", file.source()));
  CUZK_TRY(const std::uint32_t protocol, reader.u32_le("protocol number"));
  if (protocol == kProtocolPlonk || protocol == kProtocolFflonk) {
    return Error{
        ErrorKind::kUnsupported,
        fmt::format("{}: this is a key of the {} protocol, and only Groth16 is proved here",
                    file.source(), protocol == kProtocolPlonk ? "PLONK" : "FFLONK")};
  }
  if (protocol != kProtocolGroth16) {
    return Error{ErrorKind::kUnsupported,
                 fmt::format("{}: this is a key of the unknown protocol {}, and only Groth16 "
                             "(protocol 1) is proved here",
                             file.source(), protocol)};
  }
  if (reader.remaining() != 0) {
    return reader.malformed(fmt::format("{} bytes too many", reader.remaining()));
  }
  return base::ok_status();
}

// Sets header.domain_log2.
base::Status check_domain(const base::ByteReader& reader, std::uint32_t domain_size,
                          ZkeyHeader& header) {
  if (!std::has_single_bit(domain_size)) {
    return reader.malformed(
        fmt::format("the domain size is {}, expected a power of two", domain_size));
  }
  header.domain_log2 = static_cast<std::size_t>(std::countr_zero(domain_size));
  // The H points live on the coset of a root of unity of twice the domain's order.
  if (header.domain_log2 >= two_adicity(header.curve)) {
    return Error{ErrorKind::kUnsupported,
                 fmt::format("{}: the domain size is 2^{}, the largest that {} keys may have here "
                             "is 2^{}",
                             reader.source(), header.domain_log2, curve_name(header.curve),
                             two_adicity(header.curve) - 1)};
  }
  return base::ok_status();
}

// Section 2: primes, counts, and where the six points are.
base::Status read_header_section(const SectionFile& file, LocatedZkey& zkey) {
  CUZK_TRY(const auto section, file.unique(kHeader, "Groth16 header"));
  base::ByteReader reader(section.bytes, fmt::format("{}: section 2 (header)", file.source()));
  ZkeyHeader& header = zkey.header;
  // The base field tells the curve; the scalar field has to be that curve's.
  CUZK_TRY(header.curve, read_base_modulus(reader));
  CUZK_TRY(const CurveId scalar_curve, read_scalar_modulus(reader));
  if (scalar_curve != header.curve) {
    return reader.malformed(fmt::format("the base field is that of {}, the scalar field that of {}",
                                        curve_name(header.curve), curve_name(scalar_curve)));
  }
  CUZK_TRY(header.wire_count, reader.u32_le("nVars"));
  CUZK_TRY(header.public_count, reader.u32_le("nPublic"));
  CUZK_TRY(const std::uint32_t domain_size, reader.u32_le("domainSize"));
  if (header.wire_count <= header.public_count) {
    return reader.malformed(fmt::format("nVars is {}, expected at least nPublic + 1 = {}",
                                        header.wire_count, std::uint64_t{header.public_count} + 1));
  }
  CUZK_TRY_STATUS(check_domain(reader, domain_size, header));
  const PointSizes sizes = point_sizes(header.curve);
  CUZK_TRY(zkey.vk_points, reader.take(3 * (sizes.g1 + sizes.g2), "points of the verifying key"));
  if (reader.remaining() != 0) {
    return reader.malformed(fmt::format("{} bytes too many", reader.remaining()));
  }
  return base::ok_status();
}

// The whole content of the section of `count` records of `record_bytes`.
base::Result<base::ByteSpan> exact_section(const SectionFile& file, std::uint32_t id,
                                           std::string_view name, std::uint64_t count,
                                           std::uint64_t record_bytes) {
  CUZK_TRY(const auto section, file.unique(id, name));
  // Both factors are below 2^33 and 2^9, so the product cannot wrap.
  CUZK_ASSERT(count < std::uint64_t{1} << 33 && record_bytes < std::uint64_t{1} << 9);
  const std::uint64_t expected = count * record_bytes;
  if (section.bytes.size() != expected) {
    return file.malformed(fmt::format(
        "section {} ({}) has {} bytes, expected {} ({} records of {} bytes by the header)", id,
        name, section.bytes.size(), expected, count, record_bytes));
  }
  return section.bytes;
}

// Section 4: its count, held against its length, and where the records are.
base::Status read_coefficients_head(const SectionFile& file, LocatedZkey& zkey) {
  CUZK_TRY(const auto section, file.unique(kCoefficients, "coefficients"));
  base::ByteReader reader(section.bytes,
                          fmt::format("{}: section 4 (coefficients)", file.source()));
  CUZK_TRY(zkey.header.coefficient_count, reader.u32_le("number of coefficients"));
  const std::uint64_t expected = std::uint64_t{zkey.header.coefficient_count} * kRecordBytes;
  if (reader.remaining() != expected) {
    return reader.malformed(fmt::format("{} coefficients need {} bytes, {} follow",
                                        zkey.header.coefficient_count, expected,
                                        reader.remaining()));
  }
  CUZK_TRY(zkey.coefficients, reader.take(expected, "coefficients"));
  return base::ok_status();
}

// Only the number of contributions is of interest; what they prove is the affair of the ceremony.
base::Status read_contributions_head(const SectionFile& file, ZkeyHeader& header) {
  CUZK_TRY(const auto section, file.optional(kContributions, "contributions"));
  header.has_contributions_section = section.id == kContributions;
  if (!header.has_contributions_section) return base::ok_status();
  base::ByteReader reader(section.bytes,
                          fmt::format("{}: section 10 (contributions)", file.source()));
  CUZK_TRY_STATUS(reader.take(kCircuitHashBytes, "circuit hash"));
  CUZK_TRY(header.contribution_count, reader.u32_le("number of contributions"));
  return base::ok_status();
}

// For `inspect`; a section of a later version of the format is unknown, not wrong.
std::string section_name(std::uint32_t id) {
  static constexpr const char* kNames[] = {"",   "protocol", "header", "IC", "coefficients", "A",
                                           "B1", "B2",       "L",      "H",  "contributions"};
  static_assert(std::size(kNames) == kContributions + 1);
  if (id >= 1 && id < std::size(kNames)) return kNames[id];
  return fmt::format("unknown {}", id);
}

// What `inspect` shows: the records of each section by the header, which locate() has held against
// the section's length; 0 for sections that it does not know.
void describe_sections(const SectionFile& file, ZkeyHeader& header) {
  const std::uint64_t wires = header.wire_count, inputs = std::uint64_t{header.public_count} + 1;
  const std::uint64_t domain = std::uint64_t{1} << header.domain_log2;
  const std::uint64_t counts[] = {0,
                                  1,
                                  1,
                                  inputs,
                                  header.coefficient_count,
                                  wires,
                                  wires,
                                  wires,
                                  wires - inputs,
                                  domain,
                                  header.contribution_count};
  static_assert(std::size(counts) == kContributions + 1);
  for (const auto& section : file.sections()) {
    header.sections.push_back({section_name(section.id), section.offset_bytes, section.bytes.size(),
                               section.id < std::size(counts) ? counts[section.id] : 0});
  }
}

}  // namespace

base::Result<LocatedZkey> locate(base::ByteSpan bytes, std::string source) {
  CUZK_TRY(const SectionFile file,
           SectionFile::scan(bytes, std::move(source), "zkey", kVersionMin, kVersionMax));
  CUZK_TRY_STATUS(check_protocol(file));
  LocatedZkey zkey;
  CUZK_TRY_STATUS(read_header_section(file, zkey));
  const ZkeyHeader& header = zkey.header;
  const PointSizes sizes = point_sizes(header.curve);
  const std::uint64_t wires = header.wire_count, inputs = std::uint64_t{header.public_count} + 1;
  CUZK_ASSERT(inputs <= wires);  // read_header_section has refused others
  // Missing or doubled sections are told in the order of their numbers.
  CUZK_TRY(zkey.ic, exact_section(file, kIc, "IC points", inputs, sizes.g1));
  CUZK_TRY_STATUS(read_coefficients_head(file, zkey));
  CUZK_TRY(zkey.a, exact_section(file, kA, "A points", wires, sizes.g1));
  CUZK_TRY(zkey.b1, exact_section(file, kB1, "B1 points", wires, sizes.g1));
  CUZK_TRY(zkey.b2, exact_section(file, kB2, "B2 points", wires, sizes.g2));
  CUZK_TRY(zkey.l, exact_section(file, kL, "L points", wires - inputs, sizes.g1));
  CUZK_TRY(zkey.h,
           exact_section(file, kH, "H points", std::uint64_t{1} << header.domain_log2, sizes.g1));
  CUZK_TRY_STATUS(read_contributions_head(file, zkey.header));
  describe_sections(file, zkey.header);
  return zkey;
}

}  // namespace zkey_layout

base::Result<ZkeyHeader> read_zkey_header(base::ByteSpan bytes, std::string source) {
  CUZK_TRY(zkey_layout::LocatedZkey zkey, zkey_layout::locate(bytes, std::move(source)));
  return std::move(zkey.header);
}

}  // namespace cuzk::formats
