// inspect for JSON documents.
//
// The kind is told by words that only that kind has, looked for in the text before it is parsed: a
// C1 of hundreds of megabytes should be parsed once, by its own reader, which then judges it.
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cuzk/job_inspect_internal.h"
#include "base/byte_size.h"
#include "filecoin/porep/c1_json.h"
#include "formats/bellperson/verifying_key.h"
#include "formats/json.h"
#include "formats/snarkjs/documents.h"
#include "formats/with_curve.h"

namespace cuzk::apps {
namespace {

// Commit-phase-1 output of a sector of 64 GiB is the largest, some hundred MiB.
constexpr std::uint64_t kJsonBytesMax = std::uint64_t{1} << 30;

using base::ByteSpan;
using formats::CurveId;

template <class C>
base::Result<Answer> inspect_verification_key(const base::MappedFile& file) {
  CUZK_TRY(const auto key, formats::parse_verification_key<C>(file.bytes(), file.name()));
  Answer answer("Groth16 verifying key of snarkjs; its points are in their subgroups.");
  answer.add("type", "verification_key.json", "")
      .add("curve", C::kName, "curve")
      .add("public_count", key.public_input_count(), "public values");
  return answer;
}

template <class C>
base::Result<Answer> inspect_proof(const base::MappedFile& file) {
  CUZK_TRY(const auto proof, formats::parse_proof<C>(file.bytes(), file.name()));
  static_cast<void>(proof);
  Answer answer("Groth16 proof of snarkjs; its points are on the curve.");
  answer.add("type", "proof.json", "").add("curve", C::kName, "curve");
  return answer;
}

base::Result<Answer> inspect_public(const base::MappedFile& file) {
  // The larger field, so that values of either curve are read.
  CUZK_TRY(const auto values,
           formats::parse_public_values<curve::Bls12_381>(file.bytes(), file.name()));
  Answer answer("Public values of a proof of snarkjs.");
  answer.add("type", "public.json", "").add("public_count", values.size(), "public values");
  return answer;
}

base::Result<Answer> inspect_c1(const base::MappedFile& file) {
  CUZK_TRY(const filecoin::C1File read, filecoin::read_c1(file.bytes(), file.name()));
  const filecoin::PorepC1& c1 = read.c1;
  Answer answer("Filecoin commit-phase-1 output.");
  answer.add("type", "c1", "")
      .add("form", read.sector_number ? "outer" : "inner", "form")
      .add("registered_proof", c1.registered_proof.name(), "registered proof")
      .add("registered_proof_number", c1.registered_proof.number, "number")
      .add("partition_count", c1.partitions.size(), "partitions")
      .add("challenge_count", c1.partitions.empty() ? 0 : c1.partitions.front().size(),
           "challenges a partition");
  if (read.sector_number) answer.add("sector", *read.sector_number, "sector");
  answer.add("comm_r", filecoin::to_hex(c1.comm_r), "comm_r")
      .add("comm_d", filecoin::to_hex(c1.comm_d), "comm_d")
      .add("replica_id", filecoin::to_hex(c1.replica_id), "replica_id")
      .add("ticket", filecoin::to_hex(c1.ticket), "ticket")
      .add("seed", filecoin::to_hex(c1.seed), "seed")
      .add_bytes("file_bytes", file.size_bytes(), "size");
  return answer;
}

base::Result<Answer> inspect_meta(const base::MappedFile& file) {
  CUZK_TRY(const std::uint64_t sector_bytes,
           formats::parse_bellperson_meta(file.bytes(), file.name()));
  Answer answer("Note beside Filecoin parameters.");
  answer.add("type", "meta", "").add_bytes("sector_bytes", sector_bytes, "sector size");
  return answer;
}

// The manifest alone: inspecting one file must not read gigabytes of layers beside it.
base::Result<Answer> inspect_sector(const base::MappedFile& file) {
  const auto bytes = file.bytes();
  const auto manifest = nlohmann::ordered_json::parse(bytes.begin(), bytes.end(), nullptr, false);
  const auto text = [&](const char* name) {
    const auto found = manifest.find(name);
    return found != manifest.end() && found->is_string() ? found->get<std::string>() : "";
  };
  if (!manifest.is_object() || text("comm_r").empty() || text("registered_proof").empty()) {
    return base::Error{base::ErrorKind::kMalformed,
                       fmt::format("{}: no manifest of a sector: comm_r and registered_proof "
                                   "are expected as text",
                                   file.name())};
  }
  Answer answer("Manifest of a sector that `cuzk filecoin seal` made.");
  answer.add("type", "sector", "");
  for (const char* name : {"registered_proof", "comm_r", "comm_d", "replica_id", "ticket"}) {
    answer.add(name, text(name), name);
  }
  return answer;
}

// What a document of PLONK or FFLONK is; nothing for others.
std::optional<base::Error> other_protocol(const base::MappedFile& file) {
  const auto document = formats::parse_json(file.bytes(), file.name());
  if (!document.ok() || !document->is_object()) return std::nullopt;
  const auto protocol = document->find("protocol");
  if (protocol == document->end() || !protocol->is_string()) return std::nullopt;
  const std::string_view name = protocol->get_ref<const std::string&>();
  if (name != "plonk" && name != "fflonk") return std::nullopt;
  return base::Error{
      base::ErrorKind::kUnsupported,
      fmt::format("{}: a {} of the {} protocol; cuzk proves and verifies Groth16 alone",
                  file.name(), document->contains("nPublic") ? "verification key" : "proof",
                  name == "plonk" ? "PLONK" : "FFLONK")};
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

base::Result<Answer> inspect_json(const base::MappedFile& file) {
  if (file.bytes().size() > kJsonBytesMax) {
    return base::Error{base::ErrorKind::kUnsupported,
                       fmt::format("{}: begins like JSON and has {}; no JSON that cuzk knows has "
                                   "more than {}",
                                   file.name(), base::format_byte_size(file.bytes().size()),
                                   base::format_byte_size(kJsonBytesMax))};
  }
  const std::string_view text = without_byte_order_mark(
      {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
  const auto has = [&](std::string_view word) { return text.find(word) != text.npos; };
  if (text[text.find_first_not_of(" \t\r\n")] == '[') return inspect_public(file);
  if (has("\"Phase1Out\"") || has("\"vanilla_proofs\"")) return inspect_c1(file);
  if (has("\"sector_size\"") && has("\"replica_id\"")) return inspect_sector(file);
  if (has("\"sector_size\"") && text.size() < 1024) return inspect_meta(file);
  const bool is_proof = has("\"pi_a\""), is_key = has("\"vk_alpha_1\"");
  if (has("\"plonk\"") || has("\"fflonk\"")) {
    if (auto named = other_protocol(file)) return *std::move(named);
  }
  if (!is_proof && !is_key) {
    return base::Error{base::ErrorKind::kUnsupported,
                       fmt::format("{}: JSON, but not of a kind that cuzk knows", file.name())};
  }
  // rapidsnark's proofs do not name their curve; it has one.
  CurveId curve = CurveId::kBn254;
  if (is_key || has("\"curve\"")) {
    CUZK_TRY(curve, formats::read_document_curve(file.bytes(), file.name()));
  }
  return formats::with_curve(curve, [&]<class C>(std::type_identity<C>) {
    return is_key ? inspect_verification_key<C>(file) : inspect_proof<C>(file);
  });
}

}  // namespace cuzk::apps
