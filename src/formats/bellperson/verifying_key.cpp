// The verifying key of bellperson: six points, a count, the points of the public inputs.
//
// What a verifier accepts follows from these points alone, so what is taken out of the file is what
// is checked: whoever writes to the file later changes nothing. A point at infinity is refused in
// every place: no generator writes one.
#include "formats/bellperson/verifying_key.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "curve/encoding.h"
#include "formats/json.h"

namespace cuzk::formats {
namespace {

using Bls = curve::Bls12_381;
using base::Error;
using base::ErrorKind;
using msm::PointLayout;

// Real ones have about twenty.
constexpr std::uint64_t kMetaBytesMax = 4096;

// A point in memory is as large as its uncompressed encoding.
static_assert(sizeof(Bls::G1Affine) == curve::kG1UncompressedBytes);
static_assert(sizeof(Bls::G2Affine) == curve::kG2UncompressedBytes);

// The next point of the head; the error names the byte where it stands.
template <class G>
base::Status read_field(base::ByteReader& reader, KeyCheck check, std::string_view field,
                        curve::Affine<G>& out) {
  const std::string what =
      fmt::format("{}: at byte {}: {}", reader.source(), reader.offset(), field);
  CUZK_TRY(const base::ByteSpan bytes, reader.take(msm::PointSource<G>::kPointBytes, field));
  CUZK_TRY(out, read_point<G>(bytes.data(), PointLayout::kZcashUncompressed, check,
                              Infinity::kRefused, what));
  return base::ok_status();
}

// Whether `head` begins with a point of BN254 in the layout that bellman has for that curve: x and
// y big-endian, 32 bytes each. Other bytes fit the curve's equation one time in 2^254.
bool begins_with_bn254_point(base::ByteSpan head) {
  using Bn = curve::Bn254;
  constexpr std::size_t kWidth = Bn::Fp::kByteCount;
  if (head.size() < 2 * kWidth) return false;
  const auto x = field::load_be<Bn::Fp::kLimbCount>(head.data());
  const auto y = field::load_be<Bn::Fp::kLimbCount>(head.data() + kWidth);
  if (!field::less(x, Bn::Fp::Params::kModulus) || !field::less(y, Bn::Fp::Params::kModulus)) {
    return false;
  }
  const Bn::G1Affine point = {Bn::Fp::from_canonical({x}), Bn::Fp::from_canonical({y})};
  return !point.is_infinity() && point.is_on_curve();
}

// The first point, by which a file of the other curve is told: the format does not name its curve.
base::Status read_first_field(base::ByteReader& reader, KeyCheck check, Bls::G1Affine& out) {
  base::ByteReader ahead = reader;
  const base::Status read = read_field<Bls::G1>(reader, check, "alpha_g1", out);
  if (read.ok()) return read;
  const auto head = ahead.take(2 * curve::Bn254::Fp::kByteCount, "alpha_g1");
  if (!head.ok() || !begins_with_bn254_point(*head)) return read;
  return Error{ErrorKind::kMismatch,
               fmt::format("{}: at byte {}: alpha_g1 is a point of {}, so the key is over that "
                           "curve, expected {}",
                           ahead.source(), ahead.offset() - head->size(), curve::Bn254::G1::kName,
                           Bls::kName)};
}

// Encodes behind what is there.
template <class Point>
base::Status append_point(base::Bytes& out, const Point& point, std::string_view field) {
  if (point.is_infinity()) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("verifying key: {} is the point at infinity, which a bellperson file "
                             "cannot hold",
                             field)};
  }
  out.resize(out.size() + sizeof(Point));
  curve::encode_uncompressed(point, std::span(out).last(sizeof(Point)));
  return base::ok_status();
}

}  // namespace

base::Result<BlsVerifyingKey> read_bellperson_vk(base::ByteReader& reader, KeyCheck check) {
  BlsVerifyingKey key;
  CUZK_TRY_STATUS(read_first_field(reader, check, key.alpha_g1));
  CUZK_TRY_STATUS(read_field<Bls::G1>(reader, check, "beta_g1", key.beta_g1));
  CUZK_TRY_STATUS(read_field<Bls::G2>(reader, check, "beta_g2", key.beta_g2));
  CUZK_TRY_STATUS(read_field<Bls::G2>(reader, check, "gamma_g2", key.gamma_g2));
  CUZK_TRY_STATUS(read_field<Bls::G1>(reader, check, "delta_g1", key.delta_g1));
  CUZK_TRY_STATUS(read_field<Bls::G2>(reader, check, "delta_g2", key.delta_g2));
  CUZK_TRY(const std::uint32_t count, reader.u32_be("number of ic points"));
  if (count == 0) return reader.malformed("0 ic points, expected at least 1 (for the constant)");
  // Bytes for all of them are there before room is made for any.
  CUZK_TRY(const base::ByteSpan points,
           reader.take_records(count, curve::kG1UncompressedBytes, "ic"));
  // The file may change while it is mapped: what is checked is what is decoded.
  const base::Bytes copy(points.begin(), points.end());
  const msm::PointSource<Bls::G1> source(copy.data(), count, PointLayout::kZcashUncompressed);
  const KeyCheck at_least_canonical = std::max(check, KeyCheck::kCanonical);
  CUZK_TRY_STATUS(check_points(source, at_least_canonical, Infinity::kRefused,
                               fmt::format("{}: ic", reader.source()), nullptr));
  key.ic.resize(count);
  source.decode(0, key.ic);
  return key;
}

base::Result<BlsVerifyingKey> parse_bellperson_vk(base::ByteSpan bytes, std::string source,
                                                  KeyCheck check) {
  base::ByteReader reader(bytes, std::move(source));
  CUZK_TRY(BlsVerifyingKey key, read_bellperson_vk(reader, check));
  if (reader.remaining() != 0) {
    return reader.malformed(fmt::format(
        "{} bytes behind the last ic point, a verifying key of {} public inputs has {} bytes",
        reader.remaining(), key.public_input_count(), reader.offset()));
  }
  return key;
}

base::Result<BlsVerifyingKey> open_bellperson_vk(const std::filesystem::path& path,
                                                 KeyCheck check) {
  CUZK_TRY(const auto file, base::MappedFile::open(path));
  return parse_bellperson_vk(file->bytes(), file->name(), check);
}

base::Result<base::Bytes> encode_bellperson_vk(const BlsVerifyingKey& key) {
  base::Bytes out;
  out.reserve(kBellpersonVkHeadBytes + key.ic.size() * curve::kG1UncompressedBytes);
  CUZK_TRY_STATUS(append_point(out, key.alpha_g1, "alpha_g1"));
  CUZK_TRY_STATUS(append_point(out, key.beta_g1, "beta_g1"));
  CUZK_TRY_STATUS(append_point(out, key.beta_g2, "beta_g2"));
  CUZK_TRY_STATUS(append_point(out, key.gamma_g2, "gamma_g2"));
  CUZK_TRY_STATUS(append_point(out, key.delta_g1, "delta_g1"));
  CUZK_TRY_STATUS(append_point(out, key.delta_g2, "delta_g2"));
  if (key.ic.empty() || key.ic.size() > UINT32_MAX) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("verifying key: {} ic points, a bellperson file holds 1 to {}",
                             key.ic.size(), UINT32_MAX)};
  }
  // The count stands between the head and the points that it counts.
  out.resize(out.size() + 4);
  base::store_u32_be(out.data() + out.size() - 4, static_cast<std::uint32_t>(key.ic.size()));
  for (std::size_t i = 0; i < key.ic.size(); ++i) {
    CUZK_TRY_STATUS(append_point(out, key.ic[i], fmt::format("ic point {}", i)));
  }
  CUZK_ASSERT(out.size() == kBellpersonVkHeadBytes + key.ic.size() * curve::kG1UncompressedBytes);
  return out;
}

base::Status write_bellperson_vk(const std::filesystem::path& path, const BlsVerifyingKey& key) {
  CUZK_TRY(const base::Bytes bytes, encode_bellperson_vk(key));
  return base::write_file(path, bytes);
}

base::Result<std::uint64_t> parse_bellperson_meta(base::ByteSpan bytes, std::string source) {
  if (bytes.size() > kMetaBytesMax) {
    return Error{ErrorKind::kMalformed, fmt::format("{}: {} bytes, a .meta file has at most {}",
                                                    source, bytes.size(), kMetaBytesMax)};
  }
  CUZK_TRY(const Json json, parse_json(bytes, source));
  CUZK_TRY(const Json* size, json_member(json, "sector_size", source));
  // Other members are ignored; whether a sector can have this size is not this room's affair.
  if (!size->is_number_unsigned()) {
    return Error{
        ErrorKind::kMalformed,
        fmt::format("{}: \"sector_size\" is a {}, expected a number of bytes", source,
                    size->is_number() ? "negative or fractional number" : size->type_name())};
  }
  return size->get<std::uint64_t>();
}

std::string encode_bellperson_meta(std::uint64_t sector_size_bytes) {
  return fmt::format("{{\"sector_size\":{}}}", sector_size_bytes);
}

}  // namespace cuzk::formats
