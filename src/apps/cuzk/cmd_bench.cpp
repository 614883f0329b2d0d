// cuzk bench: the group of measurements and replays, and the flags of each.
//
// An "own case" of the incident is described by flags that mean nothing beside a published case, so
// it is noticed whether any of them was given, not what their values are.
#include <map>
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_bench.h"
#include "base/memory_size.h"

namespace cuzk::apps {
namespace {

using engine::EvaluationRelease;
using engine::SlotRelease;

// The budget is of the simulated machine, so it is a size, not a share of this one.
std::string check_budget(const std::string& text) {
  if (text == "none") return {};
  const auto bytes = base::parse_memory_size(text);
  return bytes.ok() ? std::string() : bytes.error().message;
}

// Each begins with "Own case:" in the help: given any, the published cases are not run.
void add_policy_options(CLI::App& command, IncidentRequest& request) {
  static const std::map<std::string, EvaluationRelease> kEvaluations = {
      {"held", EvaluationRelease::kAfterFinish}, {"freed", EvaluationRelease::kAfterStart}};
  static const std::map<std::string, SlotRelease> kSlots = {
      {"witness-end", SlotRelease::kAtWitnessEnd}, {"delivery", SlotRelease::kAtDelivery}};
  auto& own = request.own;
  const CLI::Range counts(1u, 4096u);
  command.add_option("--pw", own.witness_workers, "Own case: witness workers")->check(counts);
  command.add_option("--gw", own.device_workers, "Own case: workers of the device")->check(counts);
  command.add_option("--gt", own.finish_workers, "Own case: finish workers")->check(counts);
  command.add_option("--j", own.jobs_in_flight, "Own case: proofs in flight")->check(counts);
  command.add_option("--proofs", own.proof_count, "Own case: proofs to make")
      ->check(CLI::Range(1u, 1000u));
  command.add_option("--seed", own.seed, "Own case: seed of the times' jitter");
  command
      .add_option("--evaluations", own.evaluation,
                  "Own case: a, b, c are freed after start, or held to the end of finish")
      ->transform(CLI::CheckedTransformer(kEvaluations).description(""))
      ->type_name("held|freed");
  command
      .add_option("--slot", own.slot_release,
                  "Own case: a witness slot is free at delivery to the device, or at witness-end")
      ->transform(CLI::CheckedTransformer(kSlots).description(""))
      ->type_name("witness-end|delivery");
  command.add_option("--budget", request.budget, "Own case: memory budget, a size such as 256GiB")
      ->check(CLI::Validator(check_budget, ""))
      ->type_name("SIZE|none");
}

void add_incident_command(CLI::App& group, Invocation& invocation) {
  const auto request = std::make_shared<IncidentRequest>();
  CLI::App* command =
      add_command(group, invocation, "incident",
                  "Replay a published memory incident in virtual time, beside its figures",
                  "cuzk bench incident --plot incident.svg --trace incident.json\n"
                  "  cuzk bench incident --pw 14 --slot witness-end --evaluations held\n"
                  "  cuzk bench incident --allocations");
  command->add_option("--case", request->only, "Only the case of this name");
  add_path(*command, "--trace", request->trace, "Where every sample goes, as JSON");
  add_path(*command, "--plot", request->plot, "Where memory over time goes, as SVG");
  command->add_flag("--allocations", request->allocations,
                    "Instead: real allocations, scaled down, of the allocator and of the ledger");
  add_policy_options(*command, *request);
  command->callback([&invocation, request, command] {
    for (const char* flag : {"--pw", "--gw", "--gt", "--j", "--proofs", "--seed", "--evaluations",
                             "--slot", "--budget"}) {
      request->has_own = request->has_own || command->count(flag) > 0;
    }
    invocation.action = [request](Session& session) { return bench_incident(*request, session); };
  });
}

}  // namespace

void add_bench_commands(CLI::App& app, Invocation& invocation) {
  CLI::App* group = app.add_subcommand("bench", "Measurements, and replays of the engine");
  group->require_subcommand(1);
  add_incident_command(*group, invocation);
  add_engine_bench_command(*group, invocation);
  add_measure_commands(*group, invocation);
  add_load_command(*group, invocation);
}

}  // namespace cuzk::apps
