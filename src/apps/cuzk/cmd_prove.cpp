// cuzk prove: a circom key and witness in, proof.json and public.json out.
#include <memory>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_circom.h"

namespace cuzk::apps {

void add_prove_command(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<CircomProveRequest>();
  CLI::App* command =
      add_command(app, invocation, "prove", "Prove a circom witness; existing outputs are replaced",
                  "cuzk prove --zkey circuit.zkey --witness witness.wtns --proof proof.json "
                  "--public public.json");
  add_path(*command, "--zkey", request->zkey, "Groth16 proving key of snarkjs")->required();
  add_path(*command, "--witness", request->witness, "Witness file (.wtns)")->required();
  add_path(*command, "--proof", request->proof, "Where proof.json goes")->required();
  add_path(*command, "--public", request->public_values, "Where public.json goes")->required();
  add_key_check_option(*command, request->query_check);
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return prove_circom(*request, session); };
  });
}

}  // namespace cuzk::apps
