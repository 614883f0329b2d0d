// cuzk bench engine: flags of loads through the engine.
//
// One run, a grid, a soak or the wait of critical jobs; the parser keeps them apart. Defaults are
// those of EngineLoadRequest, so that the flags say nothing twice.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_bench_engine.h"

namespace cuzk::apps {

void add_engine_bench_command(CLI::App& group, Invocation& invocation) {
  const auto request = std::make_shared<EngineLoadRequest>();
  CLI::App* command = add_command(
      group, invocation, "engine",
      "Run jobs that it makes itself through the engine; judge every proof, time and memory",
      "cuzk bench engine --jobs 203 --porep 3 --budget 2x --pw 2 --gw 1 --trace run.json\n"
      "  cuzk bench engine --grid\n"
      "  cuzk bench engine --soak 10000\n"
      "  cuzk bench engine --critical");
  auto& options = request->options;
  auto& settings = options.settings;
  const CLI::Range counts(1u, 1024u);
  command->add_option("--jobs", options.job_count, "Jobs in all")
      ->check(CLI::Range(1u, 1'000'000u));
  command->add_option("--porep", options.porep_count, "How many of them are 2 KiB PoReps")
      ->check(CLI::Range(0u, 10'000u));
  command->add_option("--j", settings.jobs_in_flight, "Jobs in flight")->check(counts);
  command->add_option("--pw", settings.witness_workers, "Witness workers")->check(counts);
  command->add_option("--gw", settings.device_workers, "Workers of the device")->check(counts);
  command->add_option("--gt", settings.finish_workers, "Finish workers")->check(counts);
  command
      ->add_option("--budget", request->budget,
                   "Memory: auto, none, a size as 2GiB, or a factor of the largest job's need as "
                   "1.2x")
      ->type_name("SIZE|FACTORx");
  add_path(*command, "--dir", request->folder, "Where keys are kept for the next time");
  add_path(*command, "--trace", request->trace,
           "Where the trace of the run goes, for Chrome or Perfetto");
  add_path(*command, "--plot", request->plot, "Where memory over time goes, as SVG");
  CLI::Option* grid = command->add_flag(
      "--grid", request->grid, "Instead: budgets of 1.2x, 2x and 6x, each with four worker counts");
  CLI::Option* soak = command->add_option("--soak", request->soak_count,
                                          "Instead: so many jobs of the smallest circuits");
  CLI::Option* critical = command->add_flag(
      "--critical", request->critical, "Instead: what critical jobs wait under a full low queue");
  grid->excludes(soak)->excludes(critical);
  soak->excludes(critical)->check(CLI::Range(1u, 10'000'000u));
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return bench_engine(*request, session); };
  });
}

}  // namespace cuzk::apps
