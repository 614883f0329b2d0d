// The work behind the circom commands, free of any command line.
//
// Each function takes paths, reads and checks, works, writes whole files and answers. The curve is
// told by the files themselves.
#pragma once

#include <filesystem>

#include "apps/cuzk/backend_choice.h"
#include "apps/cuzk/session.h"
#include "formats/key_check.h"

namespace cuzk::apps {

// The key is checked lightly unless query_check says more: a self-check of the proof finds what a
// damaged key would do.
struct CircomProveRequest {
  std::filesystem::path zkey, witness, proof, public_values;
  formats::KeyCheck query_check = formats::KeyCheck::kNone;
  BackendChoice backend = {};
};
// Proves, verifies with the key's own verifying key, and only then writes proof.json and
// public.json. Errors: those of check_outputs, of reading key and witness (kMismatch for a witness
// of another circuit), of make_chosen_backend; kVerificationFailed for a witness that breaks the
// circuit or a key that is damaged, which a key alone cannot tell apart.
base::Result<Answer> prove_circom(const CircomProveRequest& request, Session& session);

// All three documents as snarkjs writes them, over the curve that the key names.
struct CircomVerifyRequest {
  std::filesystem::path verifying_key, public_values, proof;
};
// Exit code "no" for a proof that does not verify or whose points are none. Documents that are no
// proof, of another curve, or with another number of public values are errors.
base::Result<Answer> verify_circom(const CircomVerifyRequest& request);

// The key's secrets are drawn from the system and forgotten; `force` allows to replace keys.
struct CircomSetupRequest {
  std::filesystem::path r1cs, zkey, verifying_key;
  bool force = false;
};
// A development key: its secrets were known to this process. Errors: kAlreadyExists where a key
// lies and `force` is not given; those of reading the circuit and of writing.
base::Result<Answer> setup_circom(const CircomSetupRequest& request, Session& session);

// What the witness is checked against: a circuit, or a key that was made of it.
struct CircomCheckRequest {
  std::filesystem::path zkey, r1cs, witness;  // one of zkey and r1cs is empty
};
// Exit code "no" only with an r1cs file; by a key a bad witness cannot be told from a bad key, so
// that is error kVerificationFailed.
base::Result<Answer> check_circom(const CircomCheckRequest& request, Session& session);

}  // namespace cuzk::apps
