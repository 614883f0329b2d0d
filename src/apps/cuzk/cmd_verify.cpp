// cuzk verify: exit code 0 for a valid proof, 1 for an invalid one.
//
// The three files are those of `snarkjs groth16 verify`, in any order, as each has its flag.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_circom.h"

namespace cuzk::apps {

void add_verify_command(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<CircomVerifyRequest>();
  CLI::App* command = add_command(
      app, invocation, "verify", "Verify a circom proof (exit code 0: valid, 1: not valid)",
      "cuzk verify --vkey verification_key.json --public public.json --proof proof.json");
  add_path(*command, "--vkey", request->verifying_key, "verification_key.json of snarkjs")
      ->required();
  add_path(*command, "--public", request->public_values, "Public values")->required();
  add_path(*command, "--proof", request->proof, "Proof")->required();
  command->callback([&invocation, request] {
    invocation.action = [request](Session&) { return verify_circom(*request); };
  });
}

}  // namespace cuzk::apps
