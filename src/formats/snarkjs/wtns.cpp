// Reading and writing witness files.
//
// The file may be a client's upload. Its header is held against what the key expects before any
// value is read. Two passes: the first counts what is no bit, so that the second fills memory that
// is exactly large enough. The second checks each value in the copy that is kept, so a file that
// changes in between costs memory and nothing else.
#include "formats/snarkjs/wtns.h"

#include <fmt/format.h>

#include "base/check.h"
#include "field/convert.h"
#include "formats/snarkjs/section_file.h"

namespace cuzk::formats {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::uint32_t kWtnsVersion = 2;
constexpr std::uint32_t kWtnsHeaderSection = 1, kValuesSection = 2;
// Both scalar fields have four limbs.
constexpr std::size_t kValueLimbs = 4, kValueBytes = 8 * kValueLimbs;
static_assert(curve::Bn254::Fr::kByteCount == kValueBytes &&
              curve::Bls12_381::Fr::kByteCount == kValueBytes);

// The commonest mistake with circom: key and witness of two compilations.
Error count_mismatch(const std::string& source, const WtnsHeader& header,
                     const WtnsExpectation& expected) {
  return Error{ErrorKind::kMismatch,
               fmt::format("{}: the witness has {} values, {} has {} wires; the witness belongs to "
                           "another compilation of the circuit (another version of its source, or "
                           "another optimisation level)",
                           source, header.value_count, expected.name, expected.wire_count)};
}

// Wire `index` of the values, refused when it is not below r.
template <class C>
base::Result<typename C::Fr> read_value(const WtnsHeader& header, std::size_t index,
                                        const std::string& source) {
  CUZK_DEBUG_ASSERT(index < header.value_count);
  const std::uint8_t* bytes = header.values.data() + index * kValueBytes;
  const auto canonical = C::FrCanonical::from_bytes_le(bytes);
  // The names of a refusal are put together only for one: a witness has millions of values.
  if (canonical) return C::Fr::from_canonical(*canonical);
  return field::from_bytes_le<typename C::Fr>({bytes, kValueBytes},
                                              fmt::format("{}: wire {}", source, index));
}

// Wires from `first` on that are neither 0 nor 1.
std::size_t count_scalars(const WtnsHeader& header, std::size_t first) {
  CUZK_ASSERT(first <= header.value_count);
  std::size_t count = 0;
  for (std::size_t i = first; i < header.value_count; ++i) {
    const auto value = field::load_le<kValueLimbs>(header.values.data() + i * kValueBytes);
    std::uint64_t rest = value[0] >> 1;  // zero for 0 and 1 alone, when no other limb says more
    for (std::size_t limb = 1; limb < kValueLimbs; ++limb) rest |= value[limb];
    if (rest != 0) ++count;
  }
  return count;
}

}  // namespace

base::Result<WtnsHeader> read_wtns_header(base::ByteSpan bytes, std::string source) {
  CUZK_TRY(const SectionFile file,
           SectionFile::scan(bytes, std::move(source), "wtns", kWtnsVersion, kWtnsVersion));
  CUZK_TRY(const auto head, file.unique(kWtnsHeaderSection, "header"));
  CUZK_TRY(const auto values, file.unique(kValuesSection, "values"));
  base::ByteReader reader(head.bytes, fmt::format("{}: section 1 (header)", file.source()));
  WtnsHeader header;
  CUZK_TRY(header.curve, read_scalar_modulus(reader));
  CUZK_TRY(header.value_count, reader.u32_le("number of values"));
  if (reader.remaining() != 0) {
    return reader.malformed(fmt::format("{} bytes too many", reader.remaining()));
  }
  // The width of a value is that of the prime: both primes that are known have 32 bytes.
  const std::uint64_t needed = std::uint64_t{header.value_count} * kValueBytes;
  if (values.bytes.size() != needed) {
    return file.malformed(
        fmt::format("section 2 (values) has {} bytes, expected {} for the {} values of the header",
                    values.bytes.size(), needed, header.value_count));
  }
  header.values = values.bytes;
  return header;
}

namespace {

// The header of a witness of the right curve and count.
template <class C>
base::Result<WtnsHeader> read_expected_header(base::ByteSpan bytes, const std::string& source,
                                              const WtnsExpectation& expected) {
  CUZK_ASSERT(expected.wire_count > expected.public_count);
  CUZK_TRY(const WtnsHeader header, read_wtns_header(bytes, source));
  if (header.curve != kCurveId<C>) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("{}: the witness is over {}, {} is over {}", source,
                             curve_name(header.curve), expected.name, C::kName)};
  }
  // Curve before count: over another curve the count says nothing.
  if (header.value_count != expected.wire_count) return count_mismatch(source, header, expected);
  return header;
}

// The constant wire, which is 1, and the public values.
template <class C>
base::Result<std::vector<typename C::Fr>> read_inputs(const WtnsHeader& header,
                                                      const std::string& source,
                                                      const WtnsExpectation& expected) {
  std::vector<typename C::Fr> inputs;
  inputs.reserve(std::size_t{expected.public_count} + 1);
  for (std::size_t i = 0; i <= expected.public_count; ++i) {
    CUZK_TRY(const auto value, read_value<C>(header, i, source));
    inputs.push_back(value);
  }
  CUZK_ASSERT(inputs.size() == std::size_t{expected.public_count} + 1);
  if (!inputs[0].is_one()) {
    return Error{ErrorKind::kMalformed,
                 fmt::format("{}: wire 0 is not 1, as the constant wire has to be", source)};
  }
  return inputs;
}

}  // namespace

template <class C>
base::Result<std::shared_ptr<const r1cs::Assignment<typename C::Fr>>> read_wtns(
    base::ByteSpan bytes, std::string source, const WtnsExpectation& expected) {
  CUZK_TRY(const WtnsHeader header, read_expected_header<C>(bytes, source, expected));
  auto assignment = std::make_shared<r1cs::Assignment<typename C::Fr>>();
  CUZK_TRY(assignment->inputs, read_inputs<C>(header, source, expected));
  const std::size_t aux_count = expected.wire_count - assignment->inputs.size();
  // Counted first: a vector that grows holds its content twice, three times at its worst.
  assignment->aux.reserve(aux_count, count_scalars(header, assignment->inputs.size()));
  for (std::size_t i = assignment->inputs.size(); i < expected.wire_count; ++i) {
    CUZK_TRY(const auto value, read_value<C>(header, i, source));
    assignment->aux.push_classified(value);
  }
  CUZK_ASSERT(assignment->aux.size() == aux_count);
  return std::shared_ptr<const r1cs::Assignment<typename C::Fr>>(std::move(assignment));
}

template <class C>
base::Result<WtnsFacts<typename C::Fr>> check_wtns(base::ByteSpan bytes, std::string source,
                                                   const WtnsExpectation& expected) {
  CUZK_TRY(const WtnsHeader header, read_expected_header<C>(bytes, source, expected));
  WtnsFacts<typename C::Fr> facts;
  CUZK_TRY(facts.inputs, read_inputs<C>(header, source, expected));
  // The same reading as read_wtns's, so that both refuse the same files.
  for (std::size_t i = facts.inputs.size(); i < expected.wire_count; ++i) {
    CUZK_TRY_STATUS(read_value<C>(header, i, source));
  }
  facts.aux_scalar_count = count_scalars(header, facts.inputs.size());
  return facts;
}

template <class C>
base::Result<std::shared_ptr<const r1cs::Assignment<typename C::Fr>>> open_wtns(
    const std::filesystem::path& path, const WtnsExpectation& expected) {
  CUZK_TRY(const auto file, base::MappedFile::open(path));
  file->advise(base::FileAccess::kSequential);
  return read_wtns<C>(file->bytes(), file->name(), expected);
}

template <class C>
base::Bytes encode_wtns(const r1cs::Assignment<typename C::Fr>& assignment) {
  const std::size_t count = assignment.inputs.size() + assignment.aux.size();
  CUZK_ASSERT(count <= UINT32_MAX);
  base::Bytes out;
  append_container_head(out, "wtns", kWtnsVersion, 2);
  append_section_head(out, kWtnsHeaderSection, 4 + kValueBytes + 4);
  append_modulus<typename C::Fr>(out);
  append_u32(out, static_cast<std::uint32_t>(count));
  append_section_head(out, kValuesSection, std::uint64_t{count} * kValueBytes);
  const auto append = [&out](const typename C::Fr& value) {
    out.resize(out.size() + kValueBytes);
    field::store_le(value.to_canonical().value, out.data() + out.size() - kValueBytes);
  };
  for (const auto& value : assignment.inputs) append(value);
  for (std::size_t i = 0; i < assignment.aux.size(); ++i) append(assignment.aux.value(i));
  return out;
}

#define CUZK_FORMATS_WTNS_INSTANTIATE(C)                                              \
  template base::Result<std::shared_ptr<const r1cs::Assignment<C::Fr>>> read_wtns<C>( \
      base::ByteSpan, std::string, const WtnsExpectation&);                           \
  template base::Result<std::shared_ptr<const r1cs::Assignment<C::Fr>>> open_wtns<C>( \
      const std::filesystem::path&, const WtnsExpectation&);                          \
  template base::Result<WtnsFacts<C::Fr>> check_wtns<C>(base::ByteSpan, std::string,  \
                                                        const WtnsExpectation&);      \
  template base::Bytes encode_wtns<C>(const r1cs::Assignment<C::Fr>&);
CUZK_FORMATS_WTNS_INSTANTIATE(curve::Bls12_381)
CUZK_FORMATS_WTNS_INSTANTIATE(curve::Bn254)

}  // namespace cuzk::formats
