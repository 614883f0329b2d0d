// cuzk inspect: what is this file?
//
// The answer to "why does it not work" often: a key of another curve, a witness of another circuit.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_inspect.h"

namespace cuzk::apps {

void add_inspect_command(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<InspectRequest>();
  CLI::App* command =
      add_command(app, invocation, "inspect",
                  "Say what a file is: curve, sizes, counts, warnings, memory needed to prove",
                  "cuzk inspect circuit.zkey");
  add_path(*command, "file", request->file,
           "A key, witness, circuit, proof, or commit-phase-1 file")
      ->required();
  command->add_flag("--check-points", request->check_points,
                    "Check every point of a proving key: curve and subgroup");
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return inspect_file(*request, session); };
  });
}

}  // namespace cuzk::apps
