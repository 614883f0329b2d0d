// zkey: the header's lengths hold, the matrices stay inside their bounds, and what is accepted is
// written again with the same sections.
#include <algorithm>

#include "formats/snarkjs/zkey.h"
#include "fuzz/samples.h"
#include "fuzz/target.h"
#include "r1cs/shape.h"

namespace {

using namespace cuzk;

// What the prover relies on without asking again.
template <class F>
void require_in_bounds(const r1cs::Shape<F>& shape) {
  for (const r1cs::SparseMatrix* matrix : {&shape.a, &shape.b}) {
    CUZK_FUZZ_REQUIRE(matrix->row_begin.front() == 0);
    CUZK_FUZZ_REQUIRE(matrix->row_begin.back() == matrix->terms.size());
    CUZK_FUZZ_REQUIRE(std::is_sorted(matrix->row_begin.begin(), matrix->row_begin.end()));
    for (const r1cs::Term& term : matrix->terms) {
      CUZK_FUZZ_REQUIRE(term.column < shape.variable_count());
      CUZK_FUZZ_REQUIRE(term.coefficient < shape.coefficients.size());
    }
  }
  CUZK_FUZZ_REQUIRE(shape.a.row_count() == shape.b.row_count());
  static_cast<void>(r1cs::density_of(shape));
}

// Light reading first; the writer streams to a file and so runs for every 64th accepted input.
template <class C>
void run(const std::shared_ptr<const base::MappedFile>& file) {
  const auto light = formats::read_zkey<C>(file, {.verifying_key = formats::KeyCheck::kCanonical});
  if (!light.ok()) return;
  require_in_bounds(*light->shape);
  CUZK_FUZZ_REQUIRE(light->key->h.size() == std::size_t{1} << light->key->domain_log2);
  static_cast<void>(formats::read_zkey<C>(file, {.verifying_key = formats::KeyCheck::kOnCurve,
                                                 .queries = formats::KeyCheck::kOnCurve}));
  static unsigned accepted = 0;
  if (accepted++ % 64 != 0) return;
  const base::Bytes again = fuzz::written_bytes(
      [&](const auto& path) { return formats::write_zkey<C>(path, *light->key, *light->shape); });
  const auto second = formats::read_zkey<C>(base::MappedFile::of_bytes(again, "again"),
                                            {.verifying_key = formats::KeyCheck::kCanonical});
  CUZK_FUZZ_REQUIRE(second.ok());
  CUZK_FUZZ_REQUIRE(second->key->vk == light->key->vk);
  CUZK_FUZZ_REQUIRE(second->shape->a.row_begin == light->shape->a.row_begin);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = base::MappedFile::of_bytes({data, data + size}, "fuzz.zkey");
  const auto header = formats::read_zkey_header(file->bytes(), file->name());
  if (!header.ok()) return 0;
  if (header->curve == formats::CurveId::kBn254) {
    run<curve::Bn254>(file);
  } else {
    run<curve::Bls12_381>(file);
  }
  return 0;
}

template <class C>
static base::Bytes sample_zkey() {
  const auto key = fuzz::sample_key<C>(groth16::QapConvention::kOddCosetLagrange);
  const auto shape = fuzz::sample_circuit<C>().shape();
  return fuzz::written_bytes(
      [&](const auto& path) { return formats::write_zkey<C>(path, *key, *shape); });
}

std::vector<base::Bytes> cuzk::fuzz::seeds() {
  return {sample_zkey<curve::Bn254>(), sample_zkey<curve::Bls12_381>()};
}
