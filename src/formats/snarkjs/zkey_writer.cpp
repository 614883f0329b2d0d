// Writing a zkey: every length is known beforehand, so the file is one forward stream.
//
// Layout and section order are those that snarkjs itself writes, so that its other commands take
// the file. Points and coefficients pass through a buffer of a megabyte; the key itself may be
// larger than the memory.
#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "formats/snarkjs/zkey_layout.h"

namespace cuzk::formats {
namespace {

using base::Error;
using base::ErrorKind;
using msm::PointLayout;
using msm::PointSource;

constexpr std::uint32_t kVersion = 1, kSectionCount = 10;
static_assert(kSectionCount == zkey_layout::kContributions);  // each number once
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kContributionsBytes = 64 + 4;

// One key on its way into a file; write() once. Borrows all. `buffer_` holds what is not in the
// file yet; after an error the file is dropped by its owner.
template <class C>
class ZkeyWriter {
 public:
  using Fr = typename C::Fr;

  ZkeyWriter(base::AtomicFile& file, const groth16::ProvingKey<C>& key,
             const r1cs::Shape<Fr>& shape, base::ProgressSink* progress)
      : file_(file), key_(key), shape_(shape), progress_(progress) {}

  // Sections in the order in which snarkjs itself writes them.
  base::Status write() {
    CUZK_ASSERT(shape_.qap_row_count() <= key_.h.size());  // check_writable has refused others
    if (progress_ != nullptr) progress_->begin_stage("writing zkey", total_bytes());
    append_container_head(buffer_, "zkey", kVersion, kSectionCount);
    append_section_head(buffer_, zkey_layout::kProtocol, 4);
    append_u32(buffer_, zkey_layout::kProtocolGroth16);
    append_header();
    CUZK_TRY_STATUS(write_coefficients());
    CUZK_TRY_STATUS(write_points(zkey_layout::kIc, std::span(key_.vk.ic)));
    CUZK_TRY_STATUS(write_points(zkey_layout::kH, key_.h));
    CUZK_TRY_STATUS(write_points(zkey_layout::kL, key_.l));
    CUZK_TRY_STATUS(write_points(zkey_layout::kA, key_.a));
    CUZK_TRY_STATUS(write_points(zkey_layout::kB1, key_.b_g1));
    CUZK_TRY_STATUS(write_points(zkey_layout::kB2, key_.b_g2));
    append_section_head(buffer_, zkey_layout::kContributions, kContributionsBytes);
    // No circuit hash, no contributions: readers can tell that no ceremony stands behind the key.
    buffer_.resize(buffer_.size() + kContributionsBytes);
    return flush();
  }

  // Records of section 4. A zkey spells out the rows "input_i * 0 = 0" that keep the inputs
  // independent; a shape that was read from one has them among its rows.
  std::uint64_t coefficient_count() const {
    return shape_.a.term_count() + shape_.b.term_count() +
           (shape_.has_input_rows ? 0 : shape_.input_count);
  }

 private:
  // For progress: all but the small heads.
  std::uint64_t total_bytes() const {
    const std::uint64_t g1 =
        key_.vk.ic.size() + key_.h.size() + key_.l.size() + key_.a.size() + key_.b_g1.size();
    return g1 * PointSource<typename C::G1>::kPointBytes +
           key_.b_g2.size() * PointSource<typename C::G2>::kPointBytes +
           coefficient_count() * zkey_layout::kRecordBytes;
  }

  // Hands the buffer to the file.
  base::Status flush() {
    CUZK_TRY_STATUS(file_.write(buffer_));
    if (progress_ != nullptr) progress_->advance(buffer_.size());
    buffer_.clear();
    return base::ok_status();
  }

  // Montgomery limbs, little-endian, as points are stored.
  template <class F>
  void append_element(const F& x) {
    static_assert(sizeof(F) == F::kByteCount);
    buffer_.resize(buffer_.size() + F::kByteCount);
    field::store_le(x.montgomery_limbs(), buffer_.data() + buffer_.size() - F::kByteCount);
  }
  template <class F>
  void append_element(const field::Quadratic<F>& x) {
    append_element(x.c0);
    append_element(x.c1);
  }
  // Infinity is (0, 0), in memory as in the file, so it needs no case of its own.
  template <class G>
  void append_point(const curve::Affine<G>& point) {
    append_element(point.x);
    append_element(point.y);
  }

  void append_header() {
    using Fp = typename C::Fp;
    const std::size_t points_bytes =
        3 * (sizeof(typename C::G1Affine) + sizeof(typename C::G2Affine));
    append_section_head(buffer_, zkey_layout::kHeader,
                        4 + Fp::kByteCount + 4 + Fr::kByteCount + 12 + points_bytes);
    const std::size_t begin = buffer_.size();
    append_modulus<Fp>(buffer_);
    append_modulus<Fr>(buffer_);
    append_u32(buffer_, static_cast<std::uint32_t>(shape_.variable_count()));
    append_u32(buffer_, shape_.input_count - 1);
    append_u32(buffer_, std::uint32_t{1} << key_.domain_log2);
    append_point(key_.vk.alpha_g1);
    append_point(key_.vk.beta_g1);
    append_point(key_.vk.beta_g2);
    append_point(key_.vk.gamma_g2);
    append_point(key_.vk.delta_g1);
    append_point(key_.vk.delta_g2);
    CUZK_ASSERT(buffer_.size() - begin ==
                4 + Fp::kByteCount + 4 + Fr::kByteCount + 12 + points_bytes);
  }

  // The value as v R^2 mod r: see from_double_montgomery in zkey_matrices.h.
  base::Status append_record(std::uint32_t matrix, std::size_t row, std::uint32_t wire,
                             const Fr& value) {
    CUZK_DEBUG_ASSERT(matrix <= 1 && wire < shape_.variable_count());
    append_u32(buffer_, matrix);
    append_u32(buffer_, static_cast<std::uint32_t>(row));
    append_u32(buffer_, wire);
    append_element(Fr::from_canonical({value.montgomery_limbs()}));
    return buffer_.size() < kBlockBytes ? base::ok_status() : flush();
  }

  // Row by row, A before B, then the rows of the inputs.
  base::Status write_coefficients() {
    append_section_head(buffer_, zkey_layout::kCoefficients,
                        4 + coefficient_count() * zkey_layout::kRecordBytes);
    append_u32(buffer_, static_cast<std::uint32_t>(coefficient_count()));
    // Repeated blocks of a recorded circuit are spelled out: row() gives each of their rows.
    const std::size_t row_count = shape_.constraint_count();
    for (std::size_t row = 0; row < row_count; ++row) {
      for (const r1cs::Term term : shape_.a.row(row)) {
        CUZK_TRY_STATUS(append_record(0, row, term.column, shape_.coefficients[term.coefficient]));
      }
      for (const r1cs::Term term : shape_.b.row(row)) {
        CUZK_TRY_STATUS(append_record(1, row, term.column, shape_.coefficients[term.coefficient]));
      }
    }
    if (shape_.has_input_rows) return base::ok_status();
    for (std::uint32_t input = 0; input < shape_.input_count; ++input) {
      CUZK_TRY_STATUS(append_record(0, row_count + input, input, Fr::one()));
    }
    return base::ok_status();
  }

  // A section of points, decoded from wherever they lie.
  template <class G>
  base::Status write_points(std::uint32_t id, const PointSource<G>& points) {
    append_section_head(buffer_, id, points.size() * PointSource<G>::kPointBytes);
    CUZK_TRY_STATUS(flush());
    constexpr std::size_t kBlockPoints = kBlockBytes / PointSource<G>::kPointBytes;
    static_assert(kBlockPoints > 0);
    std::vector<curve::Affine<G>> block;
    for (std::size_t first = 0; first < points.size(); first += kBlockPoints) {
      block.resize(std::min(kBlockPoints, points.size() - first));
      points.decode(first, block);
      for (const auto& point : block) append_point(point);
      CUZK_TRY_STATUS(flush());
    }
    return base::ok_status();
  }
  template <class G>
  base::Status write_points(std::uint32_t id, std::span<const curve::Affine<G>> points) {
    return write_points(id, PointSource<G>(points));
  }

  base::AtomicFile& file_;
  const groth16::ProvingKey<C>& key_;
  const r1cs::Shape<Fr>& shape_;
  base::ProgressSink* progress_;
  base::Bytes buffer_;
};

// Whether key and circuit are one key that a zkey can hold: convention, numbers of 32 bits,
// lengths. Asked before a file exists.
template <class C>
base::Status check_writable(const std::string& path, const groth16::ProvingKey<C>& key,
                            const r1cs::Shape<typename C::Fr>& shape) {
  const auto refuse = [&](std::string sentence) {
    return Error{ErrorKind::kInvalidArgument, fmt::format("{}: {}", path, sentence)};
  };
  if (key.convention != groth16::QapConvention::kOddCosetLagrange || key.has_dense_queries) {
    return refuse(
        fmt::format("the key {} is in bellperson's convention, a zkey holds snarkjs's", key.name));
  }
  const std::size_t wires = shape.variable_count();
  if (wires > UINT32_MAX)
    return refuse(fmt::format("{} wires, a zkey holds at most 2^32 - 1", wires));
  if (key.vk.ic.size() != shape.input_count || key.l.size() != shape.aux_count ||
      key.a.size() != wires || key.b_g1.size() != wires || key.b_g2.size() != wires) {
    return refuse(
        fmt::format("the key has {} IC, {} L, {} A, {} B1 and {} B2 points, the circuit "
                    "has {} inputs and {} wires",
                    key.vk.ic.size(), key.l.size(), key.a.size(), key.b_g1.size(), key.b_g2.size(),
                    shape.input_count, wires));
  }
  if (key.domain_log2 > 31 || key.h.size() != std::size_t{1} << key.domain_log2 ||
      shape.qap_row_count() > key.h.size()) {
    return refuse(
        fmt::format("the key has {} H points for a domain of 2^{}, the circuit has {} rows",
                    key.h.size(), key.domain_log2, shape.qap_row_count()));
  }
  return base::ok_status();
}

}  // namespace

template <class C>
base::Status write_zkey(const std::filesystem::path& path, const groth16::ProvingKey<C>& key,
                        const r1cs::Shape<typename C::Fr>& shape, base::ProgressSink* progress) {
  CUZK_TRY_STATUS(check_writable(path.string(), key, shape));
  CUZK_TRY(base::AtomicFile file, base::AtomicFile::create(path));
  // From here on an error drops `file`, which removes what was written.
  ZkeyWriter<C> writer(file, key, shape, progress);
  if (writer.coefficient_count() > UINT32_MAX) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{}: {} coefficients, a zkey holds at most {}", path.string(),
                             writer.coefficient_count(), UINT32_MAX)};
  }
  CUZK_TRY_STATUS(writer.write());
  return file.commit();
}

template base::Status write_zkey<curve::Bls12_381>(const std::filesystem::path&,
                                                   const groth16::ProvingKey<curve::Bls12_381>&,
                                                   const r1cs::Shape<curve::Bls12_381::Fr>&,
                                                   base::ProgressSink*);
template base::Status write_zkey<curve::Bn254>(const std::filesystem::path&,
                                               const groth16::ProvingKey<curve::Bn254>&,
                                               const r1cs::Shape<curve::Bn254::Fr>&,
                                               base::ProgressSink*);

}  // namespace cuzk::formats
