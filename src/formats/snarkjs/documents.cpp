// snarkjs's JSON documents.
//
// Numbers are canonical and points affine: nothing is reduced, and no second projective form of a
// point is read, so a proof cannot be changed into others that are still accepted. Names are read
// more widely than they are written, for the other makers of these documents.
#include "formats/snarkjs/documents.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "curve/pairing.h"
#include "curve/subgroup.h"
#include "field/convert.h"
#include "formats/json.h"

namespace cuzk::formats {
namespace {

using base::Error;
using base::ErrorKind;

Error malformed_document(std::string_view where, std::string_view sentence) {
  return Error{ErrorKind::kMalformed, fmt::format("{}: {}", where, sentence)};
}

// snarkjs writes "groth16", some others "Groth16".
std::string upper_case(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

// What a daemon gives as the result of a circuit, and fullProve() of snarkjs, is one object around
// both documents. Taken for one of them it would only lack things.
base::Status check_single(const Json& document, std::string_view source) {
  if (!document.is_object()) return base::ok_status();
  const auto proof = document.find("proof");
  const char* const values = document.contains("publicSignals") ? "publicSignals" : "public";
  if (proof == document.end() || !proof->is_object() || !proof->contains("pi_a") ||
      !document.contains(values)) {
    return base::ok_status();
  }
  return malformed_document(
      source, fmt::format("a proof and its public values in one file; each belongs in "
                          "a file of its own (the members \"proof\" and \"{}\")",
                          values));
}

// A document without the entry passes: its points, or their absence, tell it apart.
base::Status check_protocol(const Json& document, std::string_view source) {
  if (document.is_object() && !document.contains("protocol")) return base::ok_status();
  CUZK_TRY(const Json* entry, json_member(document, "protocol", source));
  CUZK_TRY(const std::string protocol, json_string(*entry, fmt::format("{}: protocol", source)));
  if (upper_case(protocol) == "GROTH16") return base::ok_status();
  return Error{ErrorKind::kUnsupported,
               fmt::format("{}: a document of the {} protocol, and only Groth16 is proved and "
                           "verified here",
                           source, upper_case(protocol.substr(0, 32)))};
}

// The curve that the document names; to name none is an error here.
base::Result<CurveId> curve_entry(const Json& document, std::string_view source) {
  CUZK_TRY(const Json* entry, json_member(document, "curve", source));
  CUZK_TRY(const std::string name, json_string(*entry, fmt::format("{}: curve", source)));
  if (const auto curve = curve_of_snarkjs_name(name)) return *curve;
  return Error{
      ErrorKind::kUnsupported,
      fmt::format("{}: the curve is \"{}\", this program knows \"bn128\" (or \"bn254\") and "
                  "\"bls12381\"",
                  source, name.substr(0, 32))};
}

// Against the curve that the caller works over.
base::Status check_curve(const Json& document, CurveId expected, std::string_view source) {
  CUZK_TRY(const CurveId curve, curve_entry(document, source));
  if (curve == expected) return base::ok_status();
  return Error{ErrorKind::kMismatch, fmt::format("{}: the document is over {}, expected {}", source,
                                                 curve_name(curve), curve_name(expected))};
}

// A coordinate: a decimal string, or a pair of them for the extension field.
template <class F>
base::Status read_coordinate(const Json& value, std::string_view where, F& out) {
  CUZK_TRY(out, json_field_element<F>(value, where));
  return base::ok_status();
}
template <class F>
base::Status read_coordinate(const Json& value, std::string_view where, field::Quadratic<F>& out) {
  CUZK_TRY(const Json* pair, json_array_of(value, 2, where));
  CUZK_TRY_STATUS(read_coordinate((*pair)[0], fmt::format("{}[0]", where), out.c0));
  return read_coordinate((*pair)[1], fmt::format("{}[1]", where), out.c1);
}

// The group of the other curve that has the same form in a document.
template <class G>
struct Counterpart;
template <>
struct Counterpart<curve::Bls12_381::G1> {
  using Group = curve::Bn254::G1;
};
template <>
struct Counterpart<curve::Bls12_381::G2> {
  using Group = curve::Bn254::G2;
};
template <>
struct Counterpart<curve::Bn254::G1> {
  using Group = curve::Bls12_381::G1;
};
template <>
struct Counterpart<curve::Bn254::G2> {
  using Group = curve::Bls12_381::G2;
};

// [x, y, 1], or infinity as (0, 1, 0). On the curve; of the subgroup nothing is said.
template <class G>
base::Status read_triple_of(const Json& value, std::string_view where, curve::Affine<G>& out) {
  using Field = typename G::Field;
  CUZK_TRY(const Json* triple, json_array_of(value, 3, where));
  Field z;
  CUZK_TRY_STATUS(read_coordinate((*triple)[0], fmt::format("{}[0]", where), out.x));
  CUZK_TRY_STATUS(read_coordinate((*triple)[1], fmt::format("{}[1]", where), out.y));
  CUZK_TRY_STATUS(read_coordinate((*triple)[2], fmt::format("{}[2]", where), z));
  // snarkjs writes infinity as (0, 1, 0). Other projective forms it never writes; reading them
  // would give one proof many texts.
  if (z.is_zero() && out.x.is_zero() && out.y == Field::one()) {
    out = curve::Affine<G>::infinity();
    return base::ok_status();
  }
  if (!(z == Field::one())) {
    return malformed_document(where, "the third coordinate is not 1, as it is for affine points");
  }
  // Affine (0, 0) means infinity in memory; written as a finite point it is off the curve.
  if (out.is_infinity() || !out.is_on_curve()) {
    return malformed_document(where, fmt::format("not a point of {}", G::kName));
  }
  return base::ok_status();
}

// The same. What is a point of the other curve is another file than the one that was meant, and not
// a damaged one: error kMismatch.
template <class G>
base::Status read_triple(const Json& value, std::string_view where, curve::Affine<G>& out) {
  const base::Status read = read_triple_of<G>(value, where, out);
  if (read.ok()) return read;
  using Other = typename Counterpart<G>::Group;
  curve::Affine<Other> other;
  if (!read_triple_of<Other>(value, where, other).ok()) return read;
  return Error{ErrorKind::kMismatch,
               fmt::format("{}: a point of {}, expected one of {}", where, Other::kName, G::kName)};
}

// The point under `key`, which has to be there.
template <class G>
base::Status read_point(const Json& document, std::string_view key, std::string_view source,
                        curve::Affine<G>& out) {
  CUZK_TRY(const Json* value, json_member(document, key, source));
  return read_triple(*value, fmt::format("{}: {}", source, key), out);
}

// snarkjs's IC may hold infinity; the four other points of a key may not.
enum class KeyPoint { kFinite, kAny };

template <class G>
base::Status check_key_point(const curve::Affine<G>& point, KeyPoint kind, std::string_view where) {
  if (kind == KeyPoint::kFinite && point.is_infinity()) {
    return malformed_document(where, "the point at infinity, which may not stand here");
  }
  if (!curve::is_in_subgroup(point)) {
    return malformed_document(where,
                              fmt::format("not in the prime-order subgroup of {}", G::kName));
  }
  return base::ok_status();
}

// As read_point, with what a key's point obeys beyond the curve.
template <class G>
base::Status read_key_point(const Json& document, std::string_view key, std::string_view source,
                            curve::Affine<G>& out) {
  CUZK_TRY_STATUS(read_point(document, key, source, out));
  return check_key_point(out, KeyPoint::kFinite, fmt::format("{}: {}", source, key));
}

// "nPublic" says what "IC" shows anyway; that both agree is all it is good for.
template <class C>
base::Status read_ic(const Json& document, std::string_view source, groth16::VerifyingKey<C>& key) {
  CUZK_TRY(const Json* count, json_member(document, "nPublic", source));
  if (!count->is_number_unsigned()) {
    return malformed_document(source, "\"nPublic\" is not a whole number");
  }
  CUZK_TRY(const Json* entry, json_member(document, "IC", source));
  CUZK_TRY(const Json* ic, json_array(*entry, fmt::format("{}: IC", source)));
  const auto public_count = count->get<std::uint64_t>();
  if (ic->empty() || ic->size() - 1 != public_count) {
    return malformed_document(
        source, fmt::format("IC has {} points, expected nPublic + 1 with nPublic {}", ic->size(),
                            public_count));
  }
  key.ic.resize(ic->size());
  for (std::size_t i = 0; i < ic->size(); ++i) {
    const std::string where = fmt::format("{}: IC[{}]", source, i);
    CUZK_TRY_STATUS(read_triple((*ic)[i], where, key.ic[i]));
    CUZK_TRY_STATUS(check_key_point(key.ic[i], KeyPoint::kAny, where));
  }
  return base::ok_status();
}

// In one of the two spellings, of whatever size: it may be too large for any field.
bool is_number(const Json& value) {
  if (!value.is_string()) return false;
  std::string_view digits = value.get_ref<const std::string&>();
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  if (!is_hex && digits.size() > 1 && digits.front() == '0') return false;
  const char* const allowed = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
  return !digits.empty() && digits.find_first_not_of(allowed) == digits.npos;
}

template <class F>
Json coordinate_json(const F& x) {
  return field::to_decimal(x);
}
template <class F>
Json coordinate_json(const field::Quadratic<F>& x) {
  return Json::array({field::to_decimal(x.c0), field::to_decimal(x.c1)});
}

// The inverse of read_triple.
template <class G>
Json triple_json(const curve::Affine<G>& point) {
  using Field = typename G::Field;
  const bool infinite = point.is_infinity();
  return Json::array({coordinate_json(point.x), coordinate_json(infinite ? Field::one() : point.y),
                      coordinate_json(infinite ? Field::zero() : Field::one())});
}

// An element of Fp6 over Fp2, as "vk_alphabeta_12" has two of.
template <class Sextic>
Json sextic_json(const Sextic& x) {
  return Json::array({coordinate_json(x.c0), coordinate_json(x.c1), coordinate_json(x.c2)});
}

}  // namespace

base::Result<base::Bytes> read_document(const std::filesystem::path& path) {
  return base::read_file(path, kJsonBytesMax);
}

base::Result<CurveId> read_document_curve(base::ByteSpan text, std::string_view source) {
  CUZK_TRY(const Json document, parse_json(text, source));
  CUZK_TRY_STATUS(check_single(document, source));
  CUZK_TRY_STATUS(check_protocol(document, source));
  return curve_entry(document, source);
}

template <class C>
base::Result<groth16::VerifyingKey<C>> parse_verification_key(base::ByteSpan text,
                                                              std::string_view source) {
  CUZK_TRY(const Json document, parse_json(text, source));
  CUZK_TRY_STATUS(check_protocol(document, source));
  CUZK_TRY_STATUS(check_curve(document, kCurveId<C>, source));
  groth16::VerifyingKey<C> key;
  CUZK_TRY_STATUS(read_key_point(document, "vk_alpha_1", source, key.alpha_g1));
  CUZK_TRY_STATUS(read_key_point(document, "vk_beta_2", source, key.beta_g2));
  CUZK_TRY_STATUS(read_key_point(document, "vk_gamma_2", source, key.gamma_g2));
  CUZK_TRY_STATUS(read_key_point(document, "vk_delta_2", source, key.delta_g2));
  CUZK_TRY_STATUS(read_ic<C>(document, source, key));
  // What verify() asks for is there; what the document lacks is infinity.
  CUZK_ASSERT(!key.ic.empty() && key.beta_g1.is_infinity() && key.delta_g1.is_infinity());
  return key;
}

template <class C>
std::string encode_verification_key(const groth16::VerifyingKey<C>& key) {
  // Key order is part of what snarkjs writes; Json keeps it.
  Json document = Json::object();
  document["protocol"] = "groth16";
  document["curve"] = snarkjs_curve_name(kCurveId<C>);
  document["nPublic"] = key.public_input_count();
  document["vk_alpha_1"] = triple_json(key.alpha_g1);
  document["vk_beta_2"] = triple_json(key.beta_g2);
  document["vk_gamma_2"] = triple_json(key.gamma_g2);
  document["vk_delta_2"] = triple_json(key.delta_g2);
  const auto alphabeta = curve::pairing<C>(key.alpha_g1, key.beta_g2);
  // It follows from the two above, and our reader leaves it alone; snarkjs writes it.
  document["vk_alphabeta_12"] = Json::array({sextic_json(alphabeta.c0), sextic_json(alphabeta.c1)});
  Json ic = Json::array();
  for (const auto& point : key.ic) ic.push_back(triple_json(point));
  document["IC"] = std::move(ic);
  return to_snarkjs_text(document);
}

template <class C>
base::Result<groth16::Proof<C>> parse_proof(base::ByteSpan text, std::string_view source) {
  CUZK_TRY(const Json document, parse_json(text, source, kJsonProofLimits));
  CUZK_TRY_STATUS(check_single(document, source));
  CUZK_TRY_STATUS(check_protocol(document, source));
  // pi_a, pi_b and pi_c are only on the curve here: verify() asks for the subgroup and says no.
  // A proof need not name its curve; then the key that it is held against decides.
  if (document.contains("curve")) {
    CUZK_TRY_STATUS(check_curve(document, kCurveId<C>, source));
  }
  groth16::Proof<C> proof;
  CUZK_TRY_STATUS(read_point(document, "pi_a", source, proof.a));
  CUZK_TRY_STATUS(read_point(document, "pi_b", source, proof.b));
  CUZK_TRY_STATUS(read_point(document, "pi_c", source, proof.c));
  return proof;
}

bool has_form_of_proof(base::ByteSpan text) {
  // The errors of this reading are not told: parse_proof has told its own.
  const auto document = parse_json(text, "", kJsonProofLimits);
  if (!document.ok() || !document->is_object()) return false;
  for (const char* word : {"protocol", "curve"}) {
    const auto found = document->find(word);
    if (found != document->end() && !found->is_string()) return false;
  }
  // All three coordinates are there, written as numbers; which numbers is not asked.
  const auto has_triple = [&](const char* key, const auto& is_coordinate) {
    const auto found = document->find(key);
    return found != document->end() && found->is_array() && found->size() == 3 &&
           std::all_of(found->begin(), found->end(), is_coordinate);
  };
  const auto is_pair = [](const Json& value) {
    return value.is_array() && value.size() == 2 && is_number(value[0]) && is_number(value[1]);
  };
  return has_triple("pi_a", is_number) && has_triple("pi_b", is_pair) &&
         has_triple("pi_c", is_number);
}

template <class C>
std::string encode_proof_json(const groth16::Proof<C>& proof) {
  Json document = Json::object();
  document["pi_a"] = triple_json(proof.a);
  document["pi_b"] = triple_json(proof.b);
  document["pi_c"] = triple_json(proof.c);
  document["protocol"] = "groth16";
  document["curve"] = snarkjs_curve_name(kCurveId<C>);
  return to_snarkjs_text(document);
}

template <class C>
base::Result<std::vector<typename C::Fr>> parse_public_values(base::ByteSpan text,
                                                              std::string_view source) {
  CUZK_TRY(const Json document, parse_json(text, source));
  CUZK_TRY_STATUS(check_single(document, source));
  CUZK_TRY(const Json* entries, json_array(document, source));
  std::vector<typename C::Fr> values;
  // Their number is held against a key by whoever verifies.
  values.reserve(entries->size());
  for (const Json& entry : *entries) {
    CUZK_TRY(const auto value, json_field_element<typename C::Fr>(
                                   entry, fmt::format("{}: value {}", source, values.size())));
    values.push_back(value);
  }
  CUZK_ASSERT(values.size() == entries->size());
  return values;
}

template <class C>
std::string encode_public_values(std::span<const typename C::Fr> values) {
  Json document = Json::array();
  for (const auto& value : values) document.push_back(field::to_decimal(value));
  return to_snarkjs_text(document);
}

#define CUZK_FORMATS_DOCUMENTS_INSTANTIATE(C)                                                  \
  template base::Result<groth16::VerifyingKey<C>> parse_verification_key<C>(base::ByteSpan,    \
                                                                            std::string_view); \
  template std::string encode_verification_key<C>(const groth16::VerifyingKey<C>&);            \
  template base::Result<groth16::Proof<C>> parse_proof<C>(base::ByteSpan, std::string_view);   \
  template std::string encode_proof_json<C>(const groth16::Proof<C>&);                         \
  template base::Result<std::vector<C::Fr>> parse_public_values<C>(base::ByteSpan,             \
                                                                   std::string_view);          \
  template std::string encode_public_values<C>(std::span<const C::Fr>);
CUZK_FORMATS_DOCUMENTS_INSTANTIATE(curve::Bls12_381)
CUZK_FORMATS_DOCUMENTS_INSTANTIATE(curve::Bn254)

}  // namespace cuzk::formats
