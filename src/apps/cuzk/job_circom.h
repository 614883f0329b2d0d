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

struct CircomProveRequest {
  std::filesystem::path zkey, witness, proof, public_values;
  formats::KeyCheck query_check = formats::KeyCheck::kNone;
  BackendChoice backend = {};
};
// Proves, verifies with the key's own verifying key, and only then writes proof.json and
// public.json.
base::Result<Answer> prove_circom(const CircomProveRequest& request, Session& session);

struct CircomVerifyRequest {
  std::filesystem::path verifying_key, public_values, proof;
};
base::Result<Answer> verify_circom(const CircomVerifyRequest& request);

struct CircomSetupRequest {
  std::filesystem::path r1cs, zkey, verifying_key;
  bool force = false;
};
// A development key: its secrets were known to this process.
base::Result<Answer> setup_circom(const CircomSetupRequest& request, Session& session);

struct CircomCheckRequest {
  std::filesystem::path zkey, r1cs, witness;  // one of zkey and r1cs is empty
};
base::Result<Answer> check_circom(const CircomCheckRequest& request, Session& session);

}  // namespace cuzk::apps
