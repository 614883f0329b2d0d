// inspect for snarkjs's containers.
//
// A key is read as for proving, its sections listed; of witnesses and circuits the header says
// enough, and their values are not looked at.
#include "apps/cuzk/job_inspect_internal.h"
#include "formats/snarkjs/r1cs_file.h"
#include "formats/snarkjs/wtns.h"
#include "formats/snarkjs/zkey.h"
#include "formats/with_curve.h"
#include "groth16/memory.h"

namespace cuzk::apps {
namespace {

using Json = nlohmann::ordered_json;

Json sections_json(const std::vector<formats::SectionFacts>& sections) {
  Json list = Json::array();
  for (const formats::SectionFacts& section : sections) {
    list.push_back({{"name", section.name},
                    {"offset_bytes", section.offset_bytes},
                    {"size_bytes", section.size_bytes},
                    {"count", section.count}});
  }
  return list;
}

template <class F>
std::uint64_t shape_bytes(const r1cs::Shape<F>& shape) {
  const auto of_matrix = [](const r1cs::SparseMatrix& matrix) {
    return matrix.row_begin.size() * sizeof(std::uint64_t) +
           matrix.terms.size() * sizeof(r1cs::Term);
  };
  return of_matrix(shape.a) + of_matrix(shape.b) + of_matrix(shape.c) +
         shape.coefficients.size() * sizeof(F);
}

template <class C>
base::Result<Answer> inspect_zkey_over(const MappedPtr& file, const InspectRequest& request,
                                       Session& session) {
  formats::KeyCheckOptions checks;
  if (request.check_points) checks.queries = formats::KeyCheck::kSubgroup;
  checks.progress = &session.progress();
  CUZK_TRY(const formats::LoadedZkey<C> loaded, formats::read_zkey<C>(file, checks));
  const formats::ZkeyHeader& header = loaded.header;
  Answer answer("Groth16 proving key of snarkjs.");
  answer.add("type", "zkey", "")
      .add("curve", C::kName, "curve")
      .add("wire_count", header.wire_count, "wires")
      .add("public_count", header.public_count, "public values")
      .add("constraint_count", loaded.shape->own_row_count(), "constraints")
      .add("row_count", loaded.shape->constraint_count(),
           "rows, with those of the constant and the public values")
      .add("coefficient_count", header.coefficient_count, "coefficients")
      .add("domain_log2", header.domain_log2, "domain (log2)")
      .add("contribution_count", header.contribution_count, "contributions")
      .add_bytes("file_bytes", file->size_bytes(), "size")
      .add_bytes("memory_to_prove_bytes",
                 shape_bytes(*loaded.shape) + groth16::proving_bytes(*loaded.key),
                 "memory to prove, at most, beside the key")
      .add("points_checked", request.check_points, "points checked")
      .add("sections", sections_json(header.sections), "");
  for (const std::string& warning : loaded.warnings) answer.warn(warning);
  return answer;
}

}  // namespace

base::Result<Answer> inspect_zkey(const MappedPtr& file, const InspectRequest& request,
                                  Session& session) {
  CUZK_TRY(const auto header, formats::read_zkey_header(file->bytes(), file->name()));
  return formats::with_curve(header.curve, [&]<class C>(std::type_identity<C>) {
    return inspect_zkey_over<C>(file, request, session);
  });
}

base::Result<Answer> inspect_wtns(const base::MappedFile& file) {
  CUZK_TRY(const auto header, formats::read_wtns_header(file.bytes(), file.name()));
  Answer answer("Witness of circom.");
  answer.add("type", "wtns", "")
      .add("curve", formats::curve_name(header.curve), "curve")
      .add("wire_count", header.value_count, "wires")
      .add_bytes("file_bytes", file.size_bytes(), "size");
  return answer;
}

base::Result<Answer> inspect_r1cs(const base::MappedFile& file) {
  CUZK_TRY(const auto header, formats::read_r1cs_header(file.bytes(), file.name()));
  Answer answer("Circuit of circom.");
  answer.add("type", "r1cs", "")
      .add("curve", formats::curve_name(header.curve), "curve")
      .add("wire_count", header.wire_count, "wires")
      .add("output_count", header.output_count, "outputs")
      .add("public_input_count", header.public_input_count, "public inputs")
      .add("private_input_count", header.private_input_count, "private inputs")
      .add("constraint_count", header.constraint_count, "constraints")
      .add("label_count", header.label_count, "labels")
      .add_bytes("file_bytes", file.size_bytes(), "size");
  return answer;
}

}  // namespace cuzk::apps
