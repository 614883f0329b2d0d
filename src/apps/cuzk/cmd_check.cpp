// cuzk check: does a witness satisfy a circuit?
//
// Two ways with different force: an .r1cs file names the broken constraint, a key can only be tried
// by a proof. The help says so, because the exit codes differ.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_circom.h"

namespace cuzk::apps {

void add_check_command(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<CircomCheckRequest>();
  CLI::App* command = add_command(
      app, invocation, "check",
      "Check a witness against a circuit (exit code 0: satisfied, 1: not satisfied).\n"
      "Against a key there is no 1: a failed proof may be the key's fault (exit code 2).",
      "cuzk check --r1cs circuit.r1cs --witness witness.wtns");
  CLI::Option* zkey = add_path(*command, "--zkey", request->zkey, "Key that holds the circuit");
  CLI::Option* r1cs = add_path(*command, "--r1cs", request->r1cs, "Circuit (.r1cs of circom)");
  zkey->excludes(r1cs);
  add_path(*command, "--witness", request->witness, "Witness file (.wtns)")->required();
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return check_circom(*request, session); };
  });
}

}  // namespace cuzk::apps
