// Reading a zkey: the verifying key is copied, the queries are borrowed, the matrices are rebuilt.
//
// snarkjs stores points as our memory has them, so a query is the file's bytes themselves. The
// coefficients are records in any order and take two passes (zkey_matrices.h), most of the time
// that loading takes. Everything is located and its lengths compared before the first of them.
#include "formats/snarkjs/zkey.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "formats/snarkjs/zkey_layout.h"
#include "formats/snarkjs/zkey_matrices.h"

namespace cuzk::formats {
namespace {

using base::Error;
using base::ErrorKind;
using msm::PointLayout;
using msm::PointSource;
using zkey_layout::LocatedZkey;

// A section's points; locate() has seen that its length is a multiple of a point's.
template <class G>
PointSource<G> native_points(base::ByteSpan bytes) {
  CUZK_ASSERT(bytes.size() % PointSource<G>::kPointBytes == 0);
  return PointSource<G>(bytes.data(), bytes.size() / PointSource<G>::kPointBytes,
                        PointLayout::kNative);
}

// The next of the six points of section 2, none of which may be infinity.
template <class G>
base::Status next_vk_point(base::ByteReader& reader, KeyCheck check, std::string_view field,
                           curve::Affine<G>& out) {
  CUZK_TRY(const base::ByteSpan bytes, reader.take(PointSource<G>::kPointBytes, field));
  CUZK_TRY(out, read_point<G>(bytes.data(), PointLayout::kNative, check, Infinity::kRefused,
                              fmt::format("{}: {}", reader.source(), field)));
  return base::ok_status();
}

// The verifying key, from copies of its bytes.
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
  CUZK_ASSERT(reader.remaining() == 0);
  // The file may change while it is mapped: what is checked is what is decoded.
  const base::Bytes ic_bytes(zkey.ic.begin(), zkey.ic.end());
  const auto ic = native_points<typename C::G1>(ic_bytes);
  // Limbs that are not below p would be no element, so that much is checked at every level.
  CUZK_TRY_STATUS(check_points(ic, std::max(check, KeyCheck::kCanonical), Infinity::kAccepted,
                               fmt::format("{}: section 3 (IC)", source), nullptr));
  vk.ic.resize(ic.size());
  ic.decode(0, vk.ic);
  return base::ok_status();
}

// As far as the options say. Infinity stands for a wire that does not occur.
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
  // Queries are borrowed before `file` has an owner in the key: it lives as long as this call
  // anyway.
  auto key = std::make_shared<groth16::ProvingKey<C>>();
  key->name = file->name();
  key->convention = groth16::QapConvention::kOddCosetLagrange;
  key->domain_log2 = zkey.header.domain_log2;
  key->has_dense_queries = false;  // a point for every wire, at infinity where it does not occur
  key->a = native_points<typename C::G1>(zkey.a);
  key->b_g1 = native_points<typename C::G1>(zkey.b1);
  key->b_g2 = native_points<typename C::G2>(zkey.b2);
  key->l = native_points<typename C::G1>(zkey.l);
  key->h = native_points<typename C::G1>(zkey.h);
  CUZK_ASSERT(key->a.size() == zkey.header.wire_count && key->b_g1.size() == key->a.size());
  CUZK_ASSERT(key->h.size() == std::size_t{1} << key->domain_log2);
  CUZK_TRY_STATUS(read_vk(zkey, file->name(), options.verifying_key, key->vk));
  CUZK_TRY_STATUS(check_queries(*key, options));
  LoadedZkey<C> loaded;
  const auto record_at = [&](std::size_t i) {
    return zkey.coefficients.data() + i * zkey_layout::kRecordBytes;
  };
  CUZK_TRY(loaded.shape,
           (zkey_layout::build_matrices<typename C::Fr>(zkey.header, file->name(), record_at)));
  // A warning, not an error: development keys are made this way (write_zkey).
  if (zkey.header.contribution_count == 0) {
    loaded.warnings.push_back(fmt::format(
        "{}: the key records no contribution of a ceremony, so whoever made it can forge proofs",
        file->name()));
  }
  loaded.header = std::move(zkey.header);
  key->owner = std::move(file);  // the queries point into it
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
