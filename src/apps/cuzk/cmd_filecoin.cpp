// cuzk filecoin: the group of commands, each in a file of its own.
//
// The footer is a sample from data to proof, to be typed as it stands.
#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_filecoin.h"

namespace cuzk::apps {

void add_filecoin_commands(CLI::App& app, Invocation& invocation) {
  CLI::App* group = app.add_subcommand("filecoin", "Seal, prove and verify Filecoin sectors");
  group->require_subcommand(1);
  group->footer(
      "A sample from end to end:\n"
      "  cuzk filecoin seal --sector-size 2KiB --dir sector\n"
      "  cuzk filecoin params --sector-size 2KiB --kind porep --params-dir params\n"
      "  cuzk filecoin c1 --dir sector --out c1.json\n"
      "  cuzk filecoin prove --c1 c1.json --params-dir params --out proof.bin\n"
      "  cuzk filecoin verify --kind porep ...   (see cuzk filecoin verify --help)");
  add_filecoin_seal_command(*group, invocation);
  add_filecoin_params_command(*group, invocation);
  add_filecoin_c1_command(*group, invocation);
  add_filecoin_prove_command(*group, invocation);
  add_filecoin_verify_command(*group, invocation);
}

}  // namespace cuzk::apps
