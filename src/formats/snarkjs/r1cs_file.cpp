// Reading and writing circom circuits.
//
// A constraint's length is known only when its counts are read, so the section is one forward pass;
// what the header announces is first held against the bytes that are there. Memory is 8 bytes a
// term instead of the file's 36: coefficients go into a table (raw_coefficient_table.h).
#include "formats/snarkjs/r1cs_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "formats/snarkjs/raw_coefficient_table.h"
#include "formats/snarkjs/section_file.h"

namespace cuzk::formats {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kHeaderSection = 1, kConstraintsSection = 2, kLabelsSection = 3;
constexpr std::uint32_t kCustomGatesSection = 4, kCustomGateUsesSection = 5;
constexpr std::size_t kScalarBytes = 32;
static_assert(curve::Bn254::Fr::kByteCount == kScalarBytes &&
              curve::Bls12_381::Fr::kByteCount == kScalarBytes);
constexpr std::size_t kTermBytes = 4 + kScalarBytes;
// Labels name signals in circom's own output; only their number is looked at.
constexpr std::size_t kLabelBytes = 8;
// A constraint is at least three empty linear combinations.
constexpr std::size_t kConstraintBytesMin = 12;

// A header that was held against the lengths of its sections, and the constraints' bytes.
struct LocatedR1cs {
  R1csHeader header;
  base::ByteSpan constraints;
};

// Section 1, to its last byte: what is too long is another format.
base::Status read_header_section(const SectionFile& file, R1csHeader& header) {
  CUZK_TRY(const auto section, file.unique(kHeaderSection, "header"));
  base::ByteReader reader(section.bytes, fmt::format("{}: section 1 (header)", file.source()));
  CUZK_TRY(header.curve, read_scalar_modulus(reader));
  CUZK_TRY(header.wire_count, reader.u32_le("nWires"));
  CUZK_TRY(header.output_count, reader.u32_le("nPubOut"));
  CUZK_TRY(header.public_input_count, reader.u32_le("nPubIn"));
  CUZK_TRY(header.private_input_count, reader.u32_le("nPrvIn"));
  CUZK_TRY(header.label_count, reader.u64_le("nLabels"));
  CUZK_TRY(header.constraint_count, reader.u32_le("mConstraints"));
  if (reader.remaining() != 0) {
    return reader.malformed(fmt::format("{} bytes too many", reader.remaining()));
  }
  // Private inputs are not among the wires that must exist: circom's simplification drops those
  // that no constraint uses and still counts them in nPrvIn.
  const std::uint64_t named = std::uint64_t{1} + header.output_count + header.public_input_count;
  if (header.wire_count < named) {
    return reader.malformed(
        fmt::format("nWires is {}, expected at least {} (the constant, {} outputs and {} public "
                    "inputs)",
                    header.wire_count, named, header.output_count, header.public_input_count));
  }
  return base::ok_status();
}

// A file with the list of custom gates empty is an ordinary circuit.
base::Status check_custom_gates(const SectionFile& file) {
  for (const std::uint32_t id : {kCustomGatesSection, kCustomGateUsesSection}) {
    CUZK_TRY(const auto section, file.optional(id, "custom gates"));
    if (section.id != id || section.bytes.empty()) continue;
    base::ByteReader reader(section.bytes,
                            fmt::format("{}: section {} (custom gates)", file.source(), id));
    CUZK_TRY(const std::uint32_t count, reader.u32_le("number of entries"));
    if (count == 0) continue;
    return Error{ErrorKind::kUnsupported,
                 fmt::format("{}: the circuit uses custom gates ({} entries in section {}), which "
                             "Groth16 cannot prove",
                             file.source(), count, id)};
  }
  return base::ok_status();
}

// Section table and header; of the constraints only that their bytes can be so many.
base::Result<LocatedR1cs> locate(base::ByteSpan bytes, std::string source) {
  CUZK_TRY(const SectionFile file,
           SectionFile::scan(bytes, std::move(source), "r1cs", kVersion, kVersion));
  LocatedR1cs located;
  CUZK_TRY_STATUS(read_header_section(file, located.header));
  CUZK_TRY_STATUS(check_custom_gates(file));
  CUZK_TRY(const auto constraints, file.unique(kConstraintsSection, "constraints"));
  CUZK_TRY(const auto labels, file.optional(kLabelsSection, "wire labels"));
  const R1csHeader& header = located.header;
  const std::uint64_t least = std::uint64_t{header.constraint_count} * kConstraintBytesMin;
  if (constraints.bytes.size() < least) {
    return file.malformed(
        fmt::format("section 2 (constraints) has {} bytes, {} constraints need at least {}",
                    constraints.bytes.size(), header.constraint_count, least));
  }
  const std::uint64_t label_bytes = std::uint64_t{header.wire_count} * kLabelBytes;
  if (labels.id == kLabelsSection && labels.bytes.size() != label_bytes) {
    return file.malformed(
        fmt::format("section 3 (wire labels) has {} bytes, expected {} for {} wires",
                    labels.bytes.size(), label_bytes, header.wire_count));
  }
  located.constraints = constraints.bytes;
  return located;
}

// One pass over section 2; used once. Borrows the file's bytes and the header.
template <class F>
class ConstraintReader {
 public:
  ConstraintReader(const LocatedR1cs& located, const std::string& source)
      : header_(located.header),
        reader_(located.constraints, fmt::format("{}: section 2 (constraints)", source)) {}

  base::Result<std::shared_ptr<const r1cs::Shape<F>>> read() {
    auto shape = std::make_shared<r1cs::Shape<F>>();
    shape->input_count = header_.public_count() + 1;
    CUZK_ASSERT(shape->input_count <= header_.wire_count);  // locate() has refused others
    shape->aux_count = header_.wire_count - shape->input_count;
    for (r1cs::SparseMatrix* matrix : {&shape->a, &shape->b, &shape->c}) {
      // In proportion to the file: locate() has seen 12 bytes for each constraint.
      matrix->row_begin.reserve(std::size_t{header_.constraint_count} + 1);
    }
    // Terms are not counted beforehand: their vectors grow, at most to twice what they end with.
    for (std::uint32_t i = 0; i < header_.constraint_count; ++i) {
      CUZK_TRY_STATUS(read_combination(i, 'A', shape->a));
      CUZK_TRY_STATUS(read_combination(i, 'B', shape->b));
      CUZK_TRY_STATUS(read_combination(i, 'C', shape->c));
    }
    if (reader_.remaining() != 0) {
      return reader_.malformed(fmt::format("{} bytes behind the last of {} constraints",
                                           reader_.remaining(), header_.constraint_count));
    }
    CUZK_ASSERT(shape->a.row_count() == header_.constraint_count);
    CUZK_ASSERT(shape->b.row_count() == shape->a.row_count());
    CUZK_ASSERT(shape->c.row_count() == shape->a.row_count());
    shape->coefficients = table_.take_values();
    return std::shared_ptr<const r1cs::Shape<F>>(std::move(shape));
  }

 private:
  // The next linear combination as the next row of `matrix`.
  base::Status read_combination(std::uint32_t constraint, char name, r1cs::SparseMatrix& matrix) {
    // Constraints are counted from 0, as everywhere in messages.
    const auto refuse = [&](std::string sentence) {
      return reader_.malformed(fmt::format("constraint {} of {}, {}: {}", constraint,
                                           header_.constraint_count, name, sentence));
    };
    CUZK_TRY(const std::uint32_t count, reader_.u32_le("number of terms"));
    CUZK_TRY(const base::ByteSpan terms, reader_.take_records(count, kTermBytes, "terms"));
    // Terms with coefficient zero are checked as the others and then left out: a variable occurs
    // only where it has a coefficient, which is what density and queries go by.
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* bytes = terms.data() + i * kTermBytes;
      const std::uint32_t wire = base::load_u32_le(bytes);
      const auto value = field::load_le<F::kLimbCount>(bytes + 4);
      if (wire >= header_.wire_count) {
        return refuse(fmt::format("wire {}, expected below nWires {}", wire, header_.wire_count));
      }
      if (!field::less(value, F::Params::kModulus)) {
        return refuse(fmt::format("the coefficient of wire {} is not below the modulus", wire));
      }
      if (value.is_zero()) continue;
      matrix.terms.push_back({wire, index_of(value)});
    }
    add_up_repeated(matrix);
    matrix.row_begin.push_back(matrix.terms.size());
    return base::ok_status();
  }

  // Makes the wires of the row that is being read strictly ascending. circom writes them so; other
  // tools may name a wire twice, and mean the sum, which is what snarkjs's set-up makes of it.
  void add_up_repeated(r1cs::SparseMatrix& matrix) {
    auto& terms = matrix.terms;
    const auto first = terms.begin() + static_cast<std::ptrdiff_t>(matrix.row_begin.back());
    const auto by_wire = [](const r1cs::Term& x, const r1cs::Term& y) {
      return x.column < y.column;
    };
    const auto not_below = [&](const auto& x, const auto& y) { return !by_wire(x, y); };
    if (std::adjacent_find(first, terms.end(), not_below) == terms.end()) return;
    std::sort(first, terms.end(), by_wire);
    auto kept = first;
    for (auto term = first; term != terms.end();) {
      r1cs::Term sum = *term;
      if (++term != terms.end() && term->column == sum.column) {
        F value = table_.value_of(sum.coefficient);
        for (; term != terms.end() && term->column == sum.column; ++term) {
          value += table_.value_of(term->coefficient);
        }
        if (value.is_zero()) continue;
        sum.coefficient = index_of(value.to_canonical().value);
      }
      *kept++ = sum;
    }
    terms.erase(kept, terms.end());
  }

  std::uint32_t index_of(const field::Limbs<F::kLimbCount>& canonical) {
    return table_.index_of(canonical, [](const auto& raw) { return F::from_canonical({raw}); });
  }

  const R1csHeader& header_;
  base::ByteReader reader_;
  RawCoefficientTable<F> table_;
};

}  // namespace

base::Result<R1csHeader> read_r1cs_header(base::ByteSpan bytes, std::string source) {
  CUZK_TRY(const LocatedR1cs located, locate(bytes, std::move(source)));
  return located.header;
}

template <class C>
base::Result<std::shared_ptr<const r1cs::Shape<typename C::Fr>>> read_r1cs(base::ByteSpan bytes,
                                                                           std::string source) {
  // Which curve the file is over is known before any constraint is looked at.
  CUZK_TRY(const LocatedR1cs located, locate(bytes, source));
  if (located.header.curve != kCurveId<C>) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("{}: the circuit is over {}, expected {}", source,
                             curve_name(located.header.curve), C::kName)};
  }
  return ConstraintReader<typename C::Fr>(located, source).read();
}

template <class C>
base::Result<std::shared_ptr<const r1cs::Shape<typename C::Fr>>> open_r1cs(
    const std::filesystem::path& path) {
  CUZK_TRY(const auto file, base::MappedFile::open(path));
  file->advise(base::FileAccess::kSequential);
  return read_r1cs<C>(file->bytes(), file->name());
}

template <class C>
base::Bytes encode_r1cs(const r1cs::Shape<typename C::Fr>& shape) {
  using Fr = typename C::Fr;
  CUZK_ASSERT(shape.has_c && !shape.has_input_rows && shape.input_count > 0);
  CUZK_ASSERT(shape.variable_count() <= UINT32_MAX && shape.constraint_count() <= UINT32_MAX);
  const auto wire_count = static_cast<std::uint32_t>(shape.variable_count());
  // First, as its length stands in front of it.
  base::Bytes constraints;
  for (std::size_t row = 0; row < shape.constraint_count(); ++row) {
    for (const r1cs::SparseMatrix* matrix : {&shape.a, &shape.b, &shape.c}) {
      const auto terms = matrix->row(row);
      append_u32(constraints, static_cast<std::uint32_t>(terms.size()));
      for (const r1cs::Term& term : terms) {
        append_u32(constraints, term.column);
        constraints.resize(constraints.size() + kScalarBytes);
        field::store_le(shape.coefficients[term.coefficient].to_canonical().value,
                        constraints.data() + constraints.size() - kScalarBytes);
      }
    }
  }
  // Section 1: modulus, four counts, the number of labels, the number of constraints.
  base::Bytes out;
  append_container_head(out, "r1cs", kVersion, 3);
  append_section_head(out, kHeaderSection, 4 + kScalarBytes + 4 * 4 + 8 + 4);
  append_modulus<Fr>(out);
  append_u32(out, wire_count);
  append_u32(out, 0);                      // outputs
  append_u32(out, shape.input_count - 1);  // public inputs
  append_u32(out, 0);                      // private inputs: nothing depends on their number
  append_u64(out, wire_count);
  append_u32(out, static_cast<std::uint32_t>(shape.constraint_count()));
  append_section_head(out, kConstraintsSection, constraints.size());
  out.insert(out.end(), constraints.begin(), constraints.end());
  append_section_head(out, kLabelsSection, std::uint64_t{wire_count} * kLabelBytes);
  for (std::uint32_t i = 0; i < wire_count; ++i) append_u64(out, i);
  return out;
}

#define CUZK_FORMATS_R1CS_INSTANTIATE(C)                                                        \
  template base::Result<std::shared_ptr<const r1cs::Shape<C::Fr>>> read_r1cs<C>(base::ByteSpan, \
                                                                                std::string);   \
  template base::Result<std::shared_ptr<const r1cs::Shape<C::Fr>>> open_r1cs<C>(                \
      const std::filesystem::path&);                                                            \
  template base::Bytes encode_r1cs<C>(const r1cs::Shape<C::Fr>&);
CUZK_FORMATS_R1CS_INSTANTIATE(curve::Bls12_381)
CUZK_FORMATS_R1CS_INSTANTIATE(curve::Bn254)

}  // namespace cuzk::formats
