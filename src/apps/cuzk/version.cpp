// Build facts.
#include <fmt/format.h>

#include "apps/cuzk/commands.h"
#include "build_facts.h"

namespace cuzk::apps {
namespace {

// Widest instructions that the arithmetic uses on this machine.
const char* cpu_level() { return "portable"; }

}  // namespace

std::string version_text() {
  return fmt::format(
      "cuzk {}\ncommit: {}\ncompiler: {}\nbuild type: {}\nsanitizers: {}\nCPU level: {}", kVersion,
      kCommit, kCompiler, kBuildType, *kSanitizers == '\0' ? "none" : kSanitizers, cpu_level());
}

std::string version_json() {
  const nlohmann::ordered_json object = {{"version", kVersion},       {"commit", kCommit},
                                         {"compiler", kCompiler},     {"build_type", kBuildType},
                                         {"sanitizers", kSanitizers}, {"cpu_level", cpu_level()}};
  return object.dump(2) + "\n";
}

}  // namespace cuzk::apps
