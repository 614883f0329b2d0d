// cuzk filecoin params: development parameters under their cache names.
//
// The capitals in the description are meant: whoever makes parameters can forge proofs, and those
// of the network come from its ceremony.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_filecoin.h"

namespace cuzk::apps {
namespace {

constexpr char kSizesHelp[] =
    "1KiB, 2KiB, 4KiB, 8KiB, 16KiB, 32KiB, 8MiB, 16MiB, 512MiB, 1GiB, 32GiB or 64GiB\n"
    "(not all kinds have all sizes; the last two take hundreds of GiB of memory, winning-post's "
    "apart)";

}  // namespace

void add_filecoin_params_command(CLI::App& group, Invocation& invocation) {
  const auto request = std::make_shared<MakeParamsRequest>();
  CLI::App* command =
      add_command(group, invocation, "params",
                  "Make DEVELOPMENT parameters for a circuit: insecure, for tests only",
                  "cuzk filecoin params --sector-size 2KiB --kind porep --params-dir params");
  command->add_option("--sector-size", request->sector_size, kSizesHelp)->required();
  command->add_option("--kind", request->kind, "porep, winning-post, window-post or update")
      ->required();
  add_path(*command, "--params-dir", request->folder,
           "Folder for the .params, .vk and .meta files; made when missing")
      ->required();
  command->add_flag("--force", request->force, "Replace existing parameters");
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return make_params(*request, session); };
  });
}

}  // namespace cuzk::apps
