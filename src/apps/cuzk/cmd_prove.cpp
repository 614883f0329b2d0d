// cuzk prove: a circom key and witness in, proof.json and public.json out.
#include <map>
#include <memory>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_circom.h"

namespace cuzk::apps {

void add_prove_command(CLI::App& app, Invocation& invocation) {
  static const std::map<std::string, formats::KeyCheck> kLevels = {
      {"none", formats::KeyCheck::kNone},
      {"canonical", formats::KeyCheck::kCanonical},
      {"curve", formats::KeyCheck::kOnCurve},
      {"subgroup", formats::KeyCheck::kSubgroup}};
  const auto request = std::make_shared<CircomProveRequest>();
  CLI::App* command =
      add_command(app, invocation, "prove", "Prove a circom witness; existing outputs are replaced",
                  "cuzk prove --zkey circuit.zkey --witness witness.wtns --proof proof.json "
                  "--public public.json");
  add_path(*command, "--zkey", request->zkey, "Groth16 proving key of snarkjs")->required();
  add_path(*command, "--witness", request->witness, "Witness file (.wtns)")->required();
  add_path(*command, "--proof", request->proof, "Where proof.json goes")->required();
  add_path(*command, "--public", request->public_values, "Where public.json goes")->required();
  command
      ->add_option("--check-key", request->query_check,
                   "Check the key's points first: none, canonical, curve or subgroup")
      ->transform(CLI::CheckedTransformer(kLevels))
      ->default_str("none");
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return prove_circom(*request, session); };
  });
}

}  // namespace cuzk::apps
