// cuzk filecoin prove: commit phase 2.
//
// Parameters are found by name in a folder rather than given as a file: the C1 says which are
// needed, and the wrong ones cost a failed proof of minutes.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_filecoin.h"

namespace cuzk::apps {

void add_filecoin_prove_command(CLI::App& group, Invocation& invocation) {
  const auto request = std::make_shared<ProveC1Request>();
  CLI::App* command =
      add_command(group, invocation, "prove",
                  "Prove a commit-phase-1 output; the proof is verified before it is written",
                  "cuzk filecoin prove --c1 c1.json --params-dir params --out proof.bin");
  add_path(*command, "--c1", request->c1, "Commit-phase-1 output, with or without Curio's wrapper")
      ->required();
  add_path(*command, "--params-dir", request->params_folder,
           "Folder with the parameters under their cache names")
      ->required();
  add_path(*command, "--out", request->out,
           "Where the proof goes, 192 bytes a partition; an existing file is replaced")
      ->required();
  // Optional, because a C1 alone does not say who sealed; the answer says whether it was checked.
  CLI::Option* prover =
      command->add_option("--prover-id", request->prover_id_hex,
                          "Who sealed the sector, 32 bytes of hex: the ticket and the sector\n"
                          "number are checked against it before the proof");
  CLI::Option* miner = command->add_option("--miner-id", request->miner_id,
                                           "Instead of the prover id: the miner's number");
  prover->excludes(miner);
  command->add_option("--sector", request->sector,
                      "Sector number (default: SectorNum of Curio's wrapper)");
  add_key_check_option(*command, request->query_check);
  add_backend_options(*command, request->backend);
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return prove_c1(*request, session); };
  });
}

}  // namespace cuzk::apps
