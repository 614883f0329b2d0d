// cuzk setup: a development key for a circom circuit.
//
// Existing keys are kept unless --force says otherwise: the secrets of a key are gone, so nobody
// can make the same one again.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_circom.h"

namespace cuzk::apps {

void add_setup_command(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<CircomSetupRequest>();
  CLI::App* command = add_command(
      app, invocation, "setup",
      "Make a DEVELOPMENT key for a circom circuit: insecure, for tests only",
      "cuzk setup --r1cs circuit.r1cs --zkey circuit.zkey --vkey verification_key.json");
  add_path(*command, "--r1cs", request->r1cs, "Circuit (.r1cs of circom)")->required();
  add_path(*command, "--zkey", request->zkey, "Where the proving key goes")->required();
  add_path(*command, "--vkey", request->verifying_key, "Where verification_key.json goes")
      ->required();
  command->add_flag("--force", request->force, "Replace existing keys");
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return setup_circom(*request, session); };
  });
}

}  // namespace cuzk::apps
