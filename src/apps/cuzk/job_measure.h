// Measurements behind `cuzk bench ntt`, `msm` and `prove`, on the CPU or on a device.
//
// For judging a machine, not the code (bench/ has that): a figure a person can set beside that of
// another machine, from the command that will do the work, with the result checked.
#pragma once

#include <filesystem>
#include <string>

#include "apps/cuzk/backend_choice.h"
#include "apps/cuzk/session.h"

namespace cuzk::apps {

// One operation on 2^size_log2 elements, checked and timed.
// Inputs follow from the size alone, so that two runs do the same work.
struct MeasureRequest {
  std::size_t size_log2 = 20;
  std::string curve = "bls12-381";  // or bn254
  std::string group = "g1";         // of sums: g1 or g2
  unsigned repeats = 5;
  BackendChoice backend = {.backend = "cpu", .devices = {}, .vram = {}};  // cpu or cuda
};
// A wrong result is an error of kind kInternal: no time is given for it.
base::Result<Answer> measure_transforms(const MeasureRequest& request, Session& session);
base::Result<Answer> measure_sums(const MeasureRequest& request, Session& session);

// Whole proofs, each verified: of a circom key and witness, or (where zkey is empty) of a made-up
// circuit of 2^size_log2 rows, nearly all bits, with a development key made for the purpose.
struct MeasureProveRequest {
  std::filesystem::path zkey, witness;
  std::size_t size_log2 = 16;
  unsigned proofs = 8;
  unsigned workers = 2;  // proofs at once
  BackendChoice backend = {};
};
base::Result<Answer> measure_proofs(const MeasureProveRequest& request, Session& session);

}  // namespace cuzk::apps
