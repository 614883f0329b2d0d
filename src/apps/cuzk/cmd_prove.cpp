// cuzk prove: a circom key and witness in, proof.json and public.json out; here, or by a daemon.
//
// The two ways share a command so that a script changes one flag when a daemon takes over. Which it
// is, is told by --zkey or --circuit, and the callback runs after all options are read.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_circom.h"
#include "apps/cuzk/job_client.h"

namespace cuzk::apps {

void add_prove_command(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<CircomProveRequest>();
  const auto remote = std::make_shared<SubmitFlags>();
  CLI::App* command = add_command(
      app, invocation, "prove", "Prove a circom witness; existing outputs are replaced",
      "cuzk prove --zkey circuit.zkey --witness witness.wtns --proof proof.json "
      "--public public.json\n"
      "  cuzk prove --addr 127.0.0.1:9820 --circuit age_check --witness witness.wtns --proof "
      "proof.json --public public.json");
  CLI::Option* key = add_path(*command, "--zkey", request->zkey, "Groth16 proving key of snarkjs");
  add_path(*command, "--witness", request->witness, "Witness file (.wtns)")->required();
  add_path(*command, "--proof", request->proof, "Where proof.json goes")->required();
  add_path(*command, "--public", request->public_values, "Where public.json goes")->required();
  add_key_check_option(*command, request->query_check);
  add_backend_options(*command, request->backend);
  CLI::Option* circuit =
      command
          ->add_option("--circuit", remote->circuit,
                       "Instead of --zkey: a circuit of a daemon, which proves it")
          ->excludes(key);
  add_client_options(*command, remote->client);
  command->callback([&invocation, request, remote, key, circuit, command] {
    // The one that is missing is told by what else was said.
    if (key->count() + circuit->count() == 0) {
      throw CLI::RequiredError(command->count("--addr") > 0 ? "--circuit" : "--zkey");
    }
    // What both ways take was parsed once, into the local request.
    remote->witness = request->witness;
    remote->wait = true;
    remote->files.proof = request->proof;
    remote->files.public_values = request->public_values;
    const bool by_daemon = circuit->count() > 0;
    invocation.action = [request, remote, by_daemon](Session& session) {
      return by_daemon ? submit_job(*remote, session) : prove_circom(*request, session);
    };
  });
}

}  // namespace cuzk::apps
