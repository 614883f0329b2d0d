// Just enough of bellman's and snarkjs's layouts to check this room against keys of other people.
// The readers of the product, with all their checks, live in formats/, which this room must not
// know. Test files are trusted: a malformed one ends the test by the value() of an error.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "curve/encoding.h"
#include "groth16/keys.h"
#include "r1cs/assignment.h"
#include "r1cs/shape.h"

namespace cuzk::groth16::testing {

// A canonical scalar written as 64 hex digits, little-endian.
template <class F>
F scalar_from_hex_le(const std::string& hex) {
  const auto bytes = base::from_hex_sized(hex, F::kByteCount, "scalar").value();
  return F::from_canonical(
      field::Canonical<typename F::Params>::from_bytes_le(bytes.data()).value());
}

// bellman's order: the key's six points, then ic, h, l, a, b_g1, b_g2, each behind a big-endian
// count.
struct BellmanParams {
  std::vector<std::uint8_t> bytes;
  std::map<std::string, base::ByteSpan> sections;  // "ic", "h", ... without the counts
  VerifyingKey<curve::Bls12_381> vk;
  std::size_t end_offset = 0;

  explicit BellmanParams(std::vector<std::uint8_t> file) : bytes(std::move(file)) {
    base::ByteReader reader(bytes, "parameters");
    const auto g1 = [&] { return decode_g1(reader.take(96, "g1").value()); };
    const auto g2 = [&] { return decode_g2(reader.take(192, "g2").value()); };
    vk.alpha_g1 = g1();
    vk.beta_g1 = g1();
    vk.beta_g2 = g2();
    vk.gamma_g2 = g2();
    vk.delta_g1 = g1();
    vk.delta_g2 = g2();
    for (const std::string name : {"ic", "h", "l", "a", "b_g1", "b_g2"}) {
      if (reader.remaining() == 0) break;  // a verifying key alone is the file's head
      const auto count = reader.u32_be(name).value();
      sections[name] = reader.take_records(count, name == "b_g2" ? 192 : 96, name).value();
    }
    for (std::size_t i = 0; i < sections["ic"].size(); i += 96) {
      vk.ic.push_back(decode_g1(sections["ic"].subspan(i, 96)));
    }
    end_offset = reader.offset();
  }

  // Subgroup checks included: the vectors are the truth that this room is compared with.
  static curve::Bls12_381::G1Affine decode_g1(base::ByteSpan in) {
    return curve::decode_g1_uncompressed(in, curve::PointCheck::kSubgroup, "point").value();
  }
  static curve::Bls12_381::G2Affine decode_g2(base::ByteSpan in) {
    return curve::decode_g2_uncompressed(in, curve::PointCheck::kSubgroup, "point").value();
  }
};

// A snarkjs file: magic, version, and sections by number.
struct SectionFile {
  std::vector<std::uint8_t> bytes;
  std::map<std::uint32_t, base::ByteSpan> sections;

  explicit SectionFile(std::vector<std::uint8_t> file) : bytes(std::move(file)) {
    base::ByteReader reader(bytes, "file");
    (void)reader.take(8, "magic and version").value();
    const auto count = reader.u32_le("sections").value();
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto number = reader.u32_le("number").value();
      sections[number] = reader.take(reader.u64_le("length").value(), "section").value();
    }
  }
  base::ByteReader reader(std::uint32_t number) const {
    return base::ByteReader(sections.at(number), "section");
  }
};

// A zkey as a proving key, and its coefficients as a shape without C.
template <class C>
struct SnarkjsKey {
  using Fr = typename C::Fr;
  std::shared_ptr<ProvingKey<C>> key = std::make_shared<ProvingKey<C>>();
  std::shared_ptr<r1cs::Shape<Fr>> shape = std::make_shared<r1cs::Shape<Fr>>();

  explicit SnarkjsKey(std::vector<std::uint8_t> file) {
    const auto sections = std::make_shared<SectionFile>(std::move(file));
    auto header = sections->reader(2);
    (void)header.take(header.u32_le("n8q").value(), "q").value();
    (void)header.take(header.u32_le("n8r").value(), "r").value();
    const auto variables = header.u32_le("variables").value();
    shape->input_count = header.u32_le("public").value() + 1;
    shape->aux_count = variables - shape->input_count;
    // The domain is stored as its size.
    const auto domain_size = header.u32_le("domain").value();
    while ((std::uint32_t{1} << key->domain_log2) < domain_size) ++key->domain_log2;
    // snarkjs keeps points as they lie in our memory: affine, Montgomery, little-endian limbs.
    const auto read = [&](auto& point) {
      std::memcpy(&point, header.take(sizeof(point), "point").value().data(), sizeof(point));
    };
    read(key->vk.alpha_g1);
    read(key->vk.beta_g1);
    read(key->vk.beta_g2);
    read(key->vk.gamma_g2);
    read(key->vk.delta_g1);
    read(key->vk.delta_g2);
    key->vk.ic.resize(shape->input_count);
    std::memcpy(key->vk.ic.data(), sections->sections.at(3).data(),
                sections->sections.at(3).size());
    key->name = "a snarkjs key";
    key->convention = QapConvention::kOddCosetLagrange;
    key->a = source<typename C::G1>(sections->sections.at(5));
    key->b_g1 = source<typename C::G1>(sections->sections.at(6));
    key->b_g2 = source<typename C::G2>(sections->sections.at(7));
    key->l = source<typename C::G1>(sections->sections.at(8));
    key->h = source<typename C::G1>(sections->sections.at(9));
    key->owner = sections;
    read_coefficients(sections->reader(4));
  }

 private:
  template <class G>
  static msm::PointSource<G> source(base::ByteSpan bytes) {
    constexpr std::size_t kSize = msm::PointSource<G>::kPointBytes;
    return msm::PointSource<G>(bytes.data(), bytes.size() / kSize, msm::PointLayout::kNative);
  }

  // Entries of A (matrix 0) and B (matrix 1) in any order; C is not in a zkey. The rows of the
  // inputs are among them.
  void read_coefficients(base::ByteReader reader) {
    std::vector<std::map<std::uint32_t, std::vector<r1cs::Term>>> rows(2);
    std::uint32_t row_count = 0;
    const auto count = reader.u32_le("coefficients").value();
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto matrix = reader.u32_le("matrix").value();
      const auto row = reader.u32_le("row").value();
      const auto column = reader.u32_le("column").value();
      field::Limbs<Fr::kLimbCount> limbs;
      std::memcpy(&limbs, reader.take(sizeof(limbs), "value").value().data(), sizeof(limbs));
      // Stored with two Montgomery factors.
      const Fr once = Fr::from_montgomery(Fr::from_montgomery(limbs).to_canonical().value);
      rows.at(matrix)[row].push_back({column, std::uint32_t(shape->coefficients.size())});
      shape->coefficients.push_back(once);
      row_count = std::max(row_count, row + 1);
    }
    for (std::uint32_t row = 0; row < row_count; ++row) {
      append(rows[0][row], shape->a);
      append(rows[1][row], shape->b);
    }
    shape->has_c = false;
    shape->has_input_rows = true;
  }
  static void append(const std::vector<r1cs::Term>& terms, r1cs::SparseMatrix& matrix) {
    matrix.terms.insert(matrix.terms.end(), terms.begin(), terms.end());
    matrix.row_begin.push_back(matrix.terms.size());
  }
};

// A .wtns file as an assignment of a shape.
template <class F>
std::shared_ptr<r1cs::Assignment<F>> read_wtns(std::vector<std::uint8_t> file,
                                               std::size_t input_count) {
  const SectionFile sections(std::move(file));
  const base::ByteSpan values = sections.sections.at(2);
  auto out = std::make_shared<r1cs::Assignment<F>>();
  for (std::size_t i = 0; i * F::kByteCount < values.size(); ++i) {
    const auto canonical =
        field::Canonical<typename F::Params>::from_bytes_le(&values[i * F::kByteCount]).value();
    const F value = F::from_canonical(canonical);
    if (i < input_count) {
      out->inputs.push_back(value);
    } else {
      out->aux.push_classified(value);
    }
  }
  return out;
}

}  // namespace cuzk::groth16::testing
