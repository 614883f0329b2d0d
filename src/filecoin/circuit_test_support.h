// Comparisons of circuits and witnesses with what upstream's code reported of its own. For tests.
//
// Counts locate a difference, the hash of the rows excludes one. Witnesses compare by the hash of
// all values, so a right proof by wrong intermediate values does not pass.
#pragma once

#include <string>

#include "filecoin/test_support.h"
#include "hash/sha256.h"
#include "r1cs/checker.h"
#include "r1cs/fingerprint.h"
#include "r1cs/shape.h"

namespace cuzk::filecoin::testing {

// The line `name` of upstream's circuits.json.
inline nlohmann::json upstream_circuit(const std::string& name) {
  static const nlohmann::json circuits = read_json("upstream/circuits.json");
  for (const auto& circuit : circuits) {
    if (circuit["name"] == name) return circuit;
  }
  throw std::runtime_error("no circuit " + name);
}

// Counts, non-zeros, densities and, unless the circuit is large, the hash.
inline void expect_circuit(const r1cs::Shape<Fr>& shape, const std::string& name,
                           bool with_hash = true) {
  const nlohmann::json expected = upstream_circuit(name);
  EXPECT_EQ(shape.input_count, expected["inputs"]) << name;
  EXPECT_EQ(shape.aux_count, expected["aux"]) << name;
  EXPECT_EQ(shape.constraint_count(), expected["constraints"]) << name;
  EXPECT_EQ(shape.a.term_count(), expected["nnz_a"]) << name;
  EXPECT_EQ(shape.b.term_count(), expected["nnz_b"]) << name;
  EXPECT_EQ(shape.c.term_count(), expected["nnz_c"]) << name;
  const r1cs::Density density = r1cs::density_of(shape);
  EXPECT_EQ(density.a_aux.count(), expected["a_aux_density"]) << name;
  EXPECT_EQ(density.b_input.count(), expected["b_input_density"]) << name;
  EXPECT_EQ(density.b_aux.count(), expected["b_aux_density"]) << name;
  if (with_hash) {
    EXPECT_EQ(base::to_hex(r1cs::fingerprint(shape)), expected["hash"].get<std::string>()) << name;
  }
}

inline std::vector<std::string> hex_of(const std::vector<Fr>& values) {
  std::vector<std::string> out;
  for (const Fr& value : values) out.push_back(to_hex(to_node(value)));
  return out;
}

// The values of all variables against a partition file of upstream's.
inline void expect_assignment(const r1cs::Assignment<Fr>& assignment, const nlohmann::json& file) {
  EXPECT_EQ(nlohmann::json(hex_of(assignment.inputs)), file["inputs_le_hex"]);
  hash::Sha256 hasher;
  for (std::size_t i = 0; i < assignment.aux.size(); ++i) {
    hasher.update(to_node(assignment.aux.value(i)));
  }
  EXPECT_EQ(base::to_hex(hasher.finish()), file["aux_sha256"].get<std::string>());
}

}  // namespace cuzk::filecoin::testing
