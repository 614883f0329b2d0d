// r1cs: what is accepted stays inside its bounds and comes back the same from the writer.
//
// Columns and coefficient indexes are checked term by term, as the prover uses them unchecked. Rows
// ascend by wire, each wire once, whatever the file's order was. The
// second writing is compared with the first: sections may come in another order in the input.
#include "formats/snarkjs/r1cs_file.h"
#include "fuzz/samples.h"
#include "fuzz/target.h"

namespace {

using namespace cuzk;

template <class C>
void run(base::ByteSpan bytes) {
  const auto shape = formats::read_r1cs<C>(bytes, "fuzz.r1cs");
  if (!shape.ok()) return;
  for (const r1cs::SparseMatrix* matrix : {&(*shape)->a, &(*shape)->b, &(*shape)->c}) {
    CUZK_FUZZ_REQUIRE(matrix->row_count() == (*shape)->constraint_count());
    for (const r1cs::Term& term : matrix->terms) {
      CUZK_FUZZ_REQUIRE(term.column < (*shape)->variable_count());
      CUZK_FUZZ_REQUIRE(term.coefficient < (*shape)->coefficients.size());
      CUZK_FUZZ_REQUIRE(!(*shape)->coefficients[term.coefficient].is_zero());
    }
    for (std::size_t row = 0; row < matrix->row_count(); ++row) {
      const r1cs::Row terms = matrix->row(row);
      for (std::size_t i = 1; i < terms.size(); ++i) {
        CUZK_FUZZ_REQUIRE(terms[i - 1].column < terms[i].column);
      }
    }
  }
  const base::Bytes once = formats::encode_r1cs<C>(**shape);
  const auto again = formats::read_r1cs<C>(once, "again.r1cs");
  CUZK_FUZZ_REQUIRE(again.ok());
  CUZK_FUZZ_REQUIRE(formats::encode_r1cs<C>(**again) == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const base::ByteSpan bytes(data, size);
  const auto header = formats::read_r1cs_header(bytes, "fuzz.r1cs");
  // Wires cost nothing in the file when labels are left out, but eight bytes each to write again.
  if (!header.ok() || header->wire_count > (1u << 20)) return 0;
  if (header->curve == formats::CurveId::kBn254) {
    run<curve::Bn254>(bytes);
  } else {
    run<curve::Bls12_381>(bytes);
  }
  return 0;
}

std::vector<base::Bytes> cuzk::fuzz::seeds() {
  return {formats::encode_r1cs<curve::Bn254>(*sample_circuit<curve::Bn254>().shape()),
          formats::encode_r1cs<curve::Bls12_381>(*sample_circuit<curve::Bls12_381>().shape())};
}
