// cuzk filecoin verify: public statements in, yes or no out.
//
// Every statement is a flag, as the chain knows it. There is none for public inputs: a verifier
// that took them from the prover would verify nothing.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_filecoin.h"

namespace cuzk::apps {
namespace {

// Also those of updates, which have commitments too. Which flags a kind uses is checked with the
// work, as it depends on the value of --kind.
void add_porep_options(CLI::App& command, VerifyFilecoinRequest& request) {
  CLI::Option* number = command.add_option("--registered-proof", request.registered_proof,
                                           "Number of the registered proof");
  CLI::Option* porep_id =
      command.add_option("--porep-id", request.porep_id_hex,
                         "Instead of the number: the porep id, with --api-version");
  number->excludes(porep_id);
  command.add_option("--api-version", request.api_version, "V1_0, V1_1 or V1_2");
  command.add_option("--comm-r", request.comm_r_hex, "Commitment to the replica");
  command.add_option("--comm-d", request.comm_d_hex, "Commitment to the data");
  command.add_option("--comm-r-old", request.comm_r_old_hex,
                     "For update: the replica's commitment before it");
  command.add_option("--sector", request.sector, "Sector number");
  command.add_option("--ticket", request.ticket_hex, "Sealing ticket");
  command.add_option("--seed", request.seed_hex, "Interactive randomness");
}

void add_post_options(CLI::App& command, VerifyFilecoinRequest& request) {
  command.add_option("--randomness", request.randomness_hex, "PoSt randomness");
  command.add_option("--replica", request.replicas, "SECTOR:COMM_R_HEX, once a sector");
}

}  // namespace

void add_filecoin_verify_command(CLI::App& group, Invocation& invocation) {
  const auto request = std::make_shared<VerifyFilecoinRequest>();
  CLI::App* command = add_command(
      group, invocation, "verify",
      "Verify a proof against what the chain knows (exit code 0: valid, 1: not valid).\n"
      "Hex is the 32 bytes as stored. The public inputs are derived, never read.",
      "cuzk filecoin verify --kind porep --sector-size 2KiB --registered-proof 5 --vk F.vk \\\n"
      "    --proof proof.bin --comm-r HEX --comm-d HEX --miner-id 1000 --sector 1 \\\n"
      "    --ticket HEX --seed HEX");
  command->add_option("--kind", request->kind, "porep, window-post, winning-post or update")
      ->required();
  command->add_option("--sector-size", request->sector_size, "2KiB, 8MiB, 512MiB, 32GiB or 64GiB")
      ->required();
  add_path(*command, "--vk", request->verifying_key, "Verifying key (.vk)")->required();
  add_path(*command, "--proof", request->proof, "Proof, 192 bytes a partition")->required();
  // Everything that only some kinds use is optional to the parser.
  CLI::Option* prover =
      command->add_option("--prover-id", request->prover_id_hex, "Prover id, 32 bytes of hex");
  CLI::Option* miner = command->add_option("--miner-id", request->miner_id,
                                           "Instead of the prover id: the miner's number");
  prover->excludes(miner);
  add_porep_options(*command, *request);
  add_post_options(*command, *request);
  command->callback([&invocation, request] {
    invocation.action = [request](Session&) { return verify_filecoin(*request); };
  });
}

}  // namespace cuzk::apps
