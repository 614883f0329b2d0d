// cuzk filecoin seal: data in, a sealed sample sector out.
//
// Makes what the other commands need to be tried; sealing for the network is other software's work,
// so sizes end at 512 MiB.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_filecoin.h"

namespace cuzk::apps {

void add_filecoin_seal_command(CLI::App& group, Invocation& invocation) {
  const auto request = std::make_shared<SealSectorRequest>();
  CLI::App* command =
      add_command(group, invocation, "seal", "Seal a sample sector (up to 512MiB) into a folder",
                  "cuzk filecoin seal --sector-size 2KiB --dir sector");
  command->add_option("--sector-size", request->sector_size, "2KiB, 8MiB or 512MiB")->required();
  add_path(*command, "--dir", request->folder, "Folder for the sector; made when missing")
      ->required();
  add_path(*command, "--data", request->data, "What to seal (default: a sample text)");
  command->add_option("--registered-proof", request->registered_proof,
                      "Number of the registered seal proof (default: the size's V1_1)");
  command->add_option("--miner-id", request->miner_id, "Miner that seals (default 1000)");
  command->add_option("--sector", request->sector, "Sector number (default 1)");
  command->add_option("--ticket", request->ticket_hex, "32 bytes of hex (default: random)");
  command->add_flag("--force", request->force, "Replace a sector that the folder holds");
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return seal_sector(*request, session); };
  });
}

}  // namespace cuzk::apps
