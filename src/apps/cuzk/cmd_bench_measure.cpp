// cuzk bench ntt, msm, prove.
//
// ntt and msm measure one kernel on one size, prove whole proofs. Sizes end where a run would no
// longer fit common machines: the ranges here are limits of the measurement, not of the library.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_measure.h"

namespace cuzk::apps {
namespace {

// What a measurement does with its request; all of them take the same flags.
using Measure = base::Result<Answer> (*)(const MeasureRequest&, Session&);

void add_measure_command(CLI::App& group, Invocation& invocation, const std::string& name,
                         const std::string& description, Measure measure) {
  const auto request = std::make_shared<MeasureRequest>();
  CLI::App* command = add_command(group, invocation, name, description,
                                  "cuzk bench " + name + " --size-log2 22 --backend cuda");
  command->add_option("--size-log2", request->size_log2, "Elements, as a power of two")
      ->check(CLI::Range(0u, 28u));
  command->add_option("--curve", request->curve, "Curve")
      ->check(CLI::IsMember({"bls12-381", "bn254"}).description(""))
      ->type_name("bls12-381|bn254");
  command->add_option("--repeats", request->repeats, "Timed runs")->check(CLI::Range(1u, 1000u));
  command->add_option("--backend", request->backend.backend, "Where")
      ->check(CLI::IsMember({"cpu", "cuda"}).description(""))
      ->type_name("cpu|cuda");
  command
      ->add_option("--device", request->backend.devices,
                   "The device, by index, UUID or PCI address (default: 0); for msm may be\n"
                   "repeated: they share the sum")
      ->allow_extra_args(false)
      ->type_name("NAME");
  if (name == "msm") {
    command->add_option("--group", request->group, "Group")
        ->check(CLI::IsMember({"g1", "g2"}).description(""))
        ->type_name("g1|g2");
  }
  command->callback([&invocation, request, measure] {
    invocation.action = [request, measure](Session& session) { return measure(*request, session); };
  });
}

void add_prove_measure_command(CLI::App& group, Invocation& invocation) {
  const auto request = std::make_shared<MeasureProveRequest>();
  CLI::App* command =
      add_command(group, invocation, "prove", "Time whole proofs, each verified, several at once",
                  "cuzk bench prove --zkey circuit.zkey --witness witness.wtns --backend cuda");
  add_path(*command, "--zkey", request->zkey, "Groth16 proving key of snarkjs");
  add_path(*command, "--witness", request->witness, "Witness file (.wtns)");
  command
      ->add_option("--size-log2", request->size_log2,
                   "Without a key: rows of a made-up circuit, as a power of two")
      ->check(CLI::Range(2u, 27u));
  command->add_option("--proofs", request->proofs, "Proofs to time")->check(CLI::Range(1u, 10000u));
  command->add_option("--workers", request->workers, "Proofs at once")->check(CLI::Range(1u, 256u));
  add_backend_options(*command, request->backend);
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return measure_proofs(*request, session); };
  });
}

}  // namespace

void add_measure_commands(CLI::App& group, Invocation& invocation) {
  add_measure_command(group, invocation, "ntt", "Time a transform and check it",
                      measure_transforms);
  add_measure_command(group, invocation, "msm", "Time a sum of multiples and check it",
                      measure_sums);
  add_prove_measure_command(group, invocation);
}

}  // namespace cuzk::apps
