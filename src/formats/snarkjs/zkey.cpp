// Reading a zkey: the verifying key is copied, the queries are borrowed, the matrices are rebuilt.
#include "formats/snarkjs/zkey.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/snarkjs/raw_coefficient_table.h"
#include "formats/snarkjs/zkey_layout.h"

namespace cuzk::formats {
namespace {

using base::Error;
using base::ErrorKind;
using msm::PointLayout;
using msm::PointSource;
using zkey_layout::LocatedZkey;

template <class G>
PointSource<G> native_points(base::ByteSpan bytes) {
  return PointSource<G>(bytes.data(), bytes.size() / PointSource<G>::kPointBytes,
                        PointLayout::kNative);
}

template <class G>
base::Status next_vk_point(base::ByteReader& reader, KeyCheck check, std::string_view field,
                           curve::Affine<G>& out) {
  CUZK_TRY(const base::ByteSpan bytes, reader.take(PointSource<G>::kPointBytes, field));
  CUZK_TRY(out, read_point<G>(bytes.data(), PointLayout::kNative, check, Infinity::kRefused,
                              fmt::format("{}: {}", reader.source(), field)));
  return base::ok_status();
}

template <class C>
base::Status read_vk(const LocatedZkey& zkey, const std::string& source, KeyCheck check,
                     groth16::VerifyingKey<C>& vk) {
  base::ByteReader reader(zkey.vk_points, fmt::format("{}: section 2 (header)", source));
  CUZK_TRY_STATUS(next_vk_point<typename C::G1>(reader, check, "alpha_g1", vk.alpha_g1));
  CUZK_TRY_STATUS(next_vk_point<typename C::G1>(reader, check, "beta_g1", vk.beta_g1));
  CUZK_TRY_STATUS(next_vk_point<typename C::G2>(reader, check, "beta_g2", vk.beta_g2));
  CUZK_TRY_STATUS(next_vk_point<typename C::G2>(reader, check, "gamma_g2", vk.gamma_g2));
  CUZK_TRY_STATUS(next_vk_point<typename C::G1>(reader, check, "delta_g1", vk.delta_g1));
  CUZK_TRY_STATUS(next_vk_point<typename C::G2>(reader, check, "delta_g2", vk.delta_g2));
  const auto ic = native_points<typename C::G1>(zkey.ic);
  CUZK_TRY_STATUS(check_points(ic, std::max(check, KeyCheck::kCanonical), Infinity::kAccepted,
                               fmt::format("{}: section 3 (IC)", source), nullptr));
  vk.ic.resize(ic.size());
  ic.decode(0, vk.ic);
  return base::ok_status();
}

template <class C>
base::Status check_queries(const groth16::ProvingKey<C>& key, const KeyCheckOptions& options) {
  const auto check = [&](const auto& points, std::string_view name) {
    return check_points(points, options.queries, Infinity::kAccepted,
                        fmt::format("{}: section {}", key.name, name), options.progress);
  };
  CUZK_TRY_STATUS(check(key.a, "5 (A)"));
  CUZK_TRY_STATUS(check(key.b_g1, "6 (B1)"));
  CUZK_TRY_STATUS(check(key.b_g2, "7 (B2)"));
  CUZK_TRY_STATUS(check(key.l, "8 (L)"));
  return check(key.h, "9 (H)");
}

// One record of section 4.
template <class F>
struct Record {
  std::uint32_t matrix, row, wire;
  field::Limbs<F::kLimbCount> value;

  explicit Record(const std::uint8_t* bytes)
      : matrix(base::load_u32_le(bytes)),
        row(base::load_u32_le(bytes + 4)),
        wire(base::load_u32_le(bytes + 8)),
        value(field::load_le<F::kLimbCount>(bytes + zkey_layout::kRecordHeadBytes)) {}
};

// snarkjs stores v as v R^2 mod r (R the Montgomery radix), so that one Montgomery product with a
// canonical witness value gives the Montgomery form. Our own form is v R: divide by R once.
template <class F>
F from_double_montgomery(const field::Limbs<F::kLimbCount>& stored) {
  return F::from_montgomery(F::from_montgomery(stored).to_canonical().value);
}

// Sorts the records into the rows of A and B (they may come in any order).
template <class F>
class MatrixBuilder {
 public:
  MatrixBuilder(const LocatedZkey& zkey, const std::string& source)
      : zkey_(zkey), source_(source) {}

  base::Result<std::shared_ptr<const r1cs::Shape<F>>> build() {
    auto shape = std::make_shared<r1cs::Shape<F>>();
    shape->input_count = zkey_.header.public_count + 1;
    shape->aux_count = zkey_.header.wire_count - shape->input_count;
    shape->has_c = false;
    shape->has_input_rows = true;
    // First pass: every record is checked, and each row's terms are counted one place further on.
    const std::size_t domain = std::size_t{1} << zkey_.header.domain_log2;
    shape->a.row_begin.assign(domain + 1, 0);
    shape->b.row_begin.assign(domain + 1, 0);
    std::size_t row_count = 0;
    for (std::size_t i = 0; i < zkey_.header.coefficient_count; ++i) {
      const Record<F> record = record_at(i);
      CUZK_TRY_STATUS(check(record, i));
      if (record.value.is_zero()) continue;
      row_count = std::max<std::size_t>(row_count, std::size_t{record.row} + 1);
      ++matrix_of(*shape, record).row_begin[std::size_t{record.row} + 1];
    }
    make_room(shape->a, row_count);
    make_room(shape->b, row_count);
    fill(*shape);
    return std::shared_ptr<const r1cs::Shape<F>>(std::move(shape));
  }

 private:
  Record<F> record_at(std::size_t i) const {
    return Record<F>(zkey_.coefficients.data() + i * zkey_layout::kRecordBytes);
  }
  static r1cs::SparseMatrix& matrix_of(r1cs::Shape<F>& shape, const Record<F>& record) {
    return record.matrix == 0 ? shape.a : shape.b;
  }
  base::Status check(const Record<F>& record, std::size_t i) const {
    const auto refuse = [&](std::string sentence) {
      return Error{ErrorKind::kMalformed,
                   fmt::format("{}: section 4 (coefficients): record {} of {}: {}", source_, i,
                               zkey_.header.coefficient_count, sentence)};
    };
    const std::uint64_t domain = std::uint64_t{1} << zkey_.header.domain_log2;
    if (record.matrix > 1) {
      return refuse(fmt::format("matrix {}, expected 0 (A) or 1 (B)", record.matrix));
    }
    if (record.row >= domain) {
      return refuse(fmt::format("row {}, expected below the domain size {}", record.row, domain));
    }
    if (record.wire >= zkey_.header.wire_count) {
      return refuse(
          fmt::format("wire {}, expected below nVars {}", record.wire, zkey_.header.wire_count));
    }
    if (!field::less(record.value, F::Params::kModulus)) {
      return refuse("the value is not below the modulus of the scalar field");
    }
    return base::ok_status();
  }
  // Turns counts into starts and cuts the table behind the last row.
  static void make_room(r1cs::SparseMatrix& matrix, std::size_t row_count) {
    matrix.row_begin.resize(row_count + 1);
    matrix.row_begin.shrink_to_fit();
    for (std::size_t r = 0; r < row_count; ++r) matrix.row_begin[r + 1] += matrix.row_begin[r];
    matrix.terms.resize(matrix.row_begin.back());
  }
  // Second pass: each term goes to the next free place of its row. The starts serve as cursors,
  // which leaves each at the start of the row behind it; one shift puts them right again.
  void fill(r1cs::Shape<F>& shape) const {
    RawCoefficientTable<F> table;
    for (std::size_t i = 0; i < zkey_.header.coefficient_count; ++i) {
      const Record<F> record = record_at(i);
      if (record.value.is_zero()) continue;
      const std::uint32_t index = table.index_of(record.value, from_double_montgomery<F>);
      r1cs::SparseMatrix& matrix = matrix_of(shape, record);
      matrix.terms[matrix.row_begin[record.row]++] = {record.wire, index};
    }
    for (r1cs::SparseMatrix* matrix : {&shape.a, &shape.b}) {
      std::copy_backward(matrix->row_begin.begin(), matrix->row_begin.end() - 1,
                         matrix->row_begin.end());
      matrix->row_begin.front() = 0;
    }
    shape.coefficients = table.take_values();
  }

  const LocatedZkey& zkey_;
  const std::string& source_;
};

}  // namespace

template <class C>
base::Result<LoadedZkey<C>> read_zkey(std::shared_ptr<const base::MappedFile> file,
                                      const KeyCheckOptions& options) {
  CUZK_TRY(LocatedZkey zkey, zkey_layout::locate(file->bytes(), file->name()));
  if (zkey.header.curve != kCurveId<C>) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("{}: the key is over {}, expected {}", file->name(),
                             curve_name(zkey.header.curve), C::kName)};
  }
  auto key = std::make_shared<groth16::ProvingKey<C>>();
  key->name = file->name();
  key->convention = groth16::QapConvention::kOddCosetLagrange;
  key->domain_log2 = zkey.header.domain_log2;
  key->has_dense_queries = false;
  key->a = native_points<typename C::G1>(zkey.a);
  key->b_g1 = native_points<typename C::G1>(zkey.b1);
  key->b_g2 = native_points<typename C::G2>(zkey.b2);
  key->l = native_points<typename C::G1>(zkey.l);
  key->h = native_points<typename C::G1>(zkey.h);
  CUZK_TRY_STATUS(read_vk(zkey, file->name(), options.verifying_key, key->vk));
  CUZK_TRY_STATUS(check_queries(*key, options));
  LoadedZkey<C> loaded;
  CUZK_TRY(loaded.shape, MatrixBuilder<typename C::Fr>(zkey, file->name()).build());
  if (zkey.header.contribution_count == 0) {
    loaded.warnings.push_back(fmt::format(
        "{}: the key records no contribution of a ceremony, so whoever made it can forge proofs",
        file->name()));
  }
  loaded.header = std::move(zkey.header);
  key->owner = std::move(file);
  loaded.key = std::move(key);
  return loaded;
}

template <class C>
base::Result<LoadedZkey<C>> open_zkey(const std::filesystem::path& path,
                                      const KeyCheckOptions& options) {
  CUZK_TRY(auto file, base::MappedFile::open(path));
  return read_zkey<C>(std::move(file), options);
}

#define CUZK_FORMATS_ZKEY_INSTANTIATE(C)                                                     \
  template base::Result<LoadedZkey<C>> read_zkey<C>(std::shared_ptr<const base::MappedFile>, \
                                                    const KeyCheckOptions&);                 \
  template base::Result<LoadedZkey<C>> open_zkey<C>(const std::filesystem::path&,            \
                                                    const KeyCheckOptions&);
CUZK_FORMATS_ZKEY_INSTANTIATE(curve::Bls12_381)
CUZK_FORMATS_ZKEY_INSTANTIATE(curve::Bn254)

}  // namespace cuzk::formats
