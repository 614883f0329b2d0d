// cuzk filecoin c1: the commit-phase-1 output of a sealed sample sector.
//
// For trying out and for tests; a miner's C1 comes from its own software.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_filecoin.h"

namespace cuzk::apps {

void add_filecoin_c1_command(CLI::App& group, Invocation& invocation) {
  const auto request = std::make_shared<WriteC1Request>();
  CLI::App* command =
      add_command(group, invocation, "c1", "Write a sector's commit-phase-1 output (JSON)",
                  "cuzk filecoin c1 --dir sector --out c1.json");
  add_path(*command, "--dir", request->folder, "Folder of a sealed sector")->required();
  add_path(*command, "--out", request->out, "Where the JSON goes; an existing file is replaced")
      ->required();
  command->add_option("--seed", request->seed_hex, "32 bytes of hex (default: random)");
  command->add_flag("--inner", request->inner_form,
                    "Write the proofs API's object alone, without Curio's wrapper");
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return write_c1(*request, session); };
  });
}

}  // namespace cuzk::apps
