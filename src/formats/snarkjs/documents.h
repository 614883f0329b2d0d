// The JSON documents of snarkjs's Groth16: verification_key.json, proof.json, public.json.
//
// Layout: docs/formats/snarkjs.md. Numbers are canonical decimal strings, read as hex too where
// they begin with 0x; points are projective triples whose last coordinate is 1, or (0, 1, 0) for
// infinity. Reading refuses what is not below its modulus or not on the curve; it never reduces.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/curve_id.h"
#include "groth16/keys.h"

namespace cuzk::formats {

// The curve that a verification_key.json or proof.json names; kUnsupported for other curves and
// for other protocols than groth16.
base::Result<CurveId> read_document_curve(base::ByteSpan text, std::string_view source);

// The key; its points are in their subgroups. beta_g1 and delta_g1, which the document lacks and a
// verifier does not need, are infinity. "vk_alphabeta_12" is not read: it follows from the rest.
template <class C>
base::Result<groth16::VerifyingKey<C>> parse_verification_key(base::ByteSpan text,
                                                              std::string_view source);
// As snarkjs exports it, "vk_alphabeta_12" included.
template <class C>
std::string encode_verification_key(const groth16::VerifyingKey<C>& key);

// The proof; its points are on the curve, but whether they are in the subgroups is for the verifier
// to say. "curve" may be missing (rapidsnark leaves it out), and so may "protocol", here and in a
// key: what the documents of other protocols have is not there then.
template <class C>
base::Result<groth16::Proof<C>> parse_proof(base::ByteSpan text, std::string_view source);
template <class C>
std::string encode_proof_json(const groth16::Proof<C>& proof);

// Whether a document has what a proof is made of: three points of three coordinates each, written
// as numbers, in pi_b as pairs of them. One that has and that parse_proof refuses as malformed
// holds points that are none: a proof that is not valid. One that has not is no proof.
bool has_form_of_proof(base::ByteSpan text);

// The public values, without the constant, however many the document has.
template <class C>
base::Result<std::vector<typename C::Fr>> parse_public_values(base::ByteSpan text,
                                                              std::string_view source);
template <class C>
std::string encode_public_values(std::span<const typename C::Fr> values);

// A document's bytes, at most kJsonBytesMax of them.
base::Result<base::Bytes> read_document(const std::filesystem::path& path);

#define CUZK_FORMATS_DOCUMENTS_EXTERN(C)                                                     \
  extern template base::Result<groth16::VerifyingKey<C>> parse_verification_key<C>(          \
      base::ByteSpan, std::string_view);                                                     \
  extern template std::string encode_verification_key<C>(const groth16::VerifyingKey<C>&);   \
  extern template base::Result<groth16::Proof<C>> parse_proof<C>(base::ByteSpan,             \
                                                                 std::string_view);          \
  extern template std::string encode_proof_json<C>(const groth16::Proof<C>&);                \
  extern template base::Result<std::vector<C::Fr>> parse_public_values<C>(base::ByteSpan,    \
                                                                          std::string_view); \
  extern template std::string encode_public_values<C>(std::span<const C::Fr>);
CUZK_FORMATS_DOCUMENTS_EXTERN(curve::Bls12_381)
CUZK_FORMATS_DOCUMENTS_EXTERN(curve::Bn254)
#undef CUZK_FORMATS_DOCUMENTS_EXTERN

}  // namespace cuzk::formats
