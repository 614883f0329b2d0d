// A program that embeds the prover: a zkey and a witness in, a verified proof on standard output.
//
//     example_prove_circom circuit_final.zkey witness.wtns
//
// Only BN254 here; the same templates take curve::Bls12_381. Link the library cuzk_formats.
#include <cstdio>
#include <string>

#include "formats/snarkjs/documents.h"
#include "formats/snarkjs/wtns.h"
#include "formats/snarkjs/zkey.h"
#include "groth16/prove.h"

namespace {

using Curve = cuzk::curve::Bn254;

// Every step returns a value or an error with a kind and a sentence; CUZK_TRY hands errors on.
cuzk::base::Result<std::string> prove(const std::string& zkey, const std::string& witness) {
  CUZK_TRY(const auto loaded, cuzk::formats::open_zkey<Curve>(zkey));
  CUZK_TRY(const auto assignment,
           cuzk::formats::open_wtns<Curve>(
               witness, {zkey, loaded.header.wire_count, loaded.header.public_count}));
  const auto backend = cuzk::groth16::make_cpu_backend<Curve>();
  // prove() verifies what it made: a witness that does not satisfy the circuit gives no proof.
  CUZK_TRY(const auto proof,
           cuzk::groth16::prove<Curve>(*backend, {loaded.key, loaded.shape, assignment}));
  return cuzk::formats::encode_proof_json<Curve>(proof);
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3) {
    std::fprintf(stderr, "usage: %s circuit_final.zkey witness.wtns\n", arguments[0]);
    return 2;
  }
  const auto proof = prove(arguments[1], arguments[2]);
  if (!proof.ok()) {
    std::fprintf(stderr, "error: %s\n", proof.error().message.c_str());
    return 2;
  }
  std::printf("%s\n", proof->c_str());
  return 0;
}
