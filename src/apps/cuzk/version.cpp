// Build facts.
//
// As text and as JSON, for reports of faults: what was built, by what, and which code paths this
// CPU runs. build_facts.h is written by CMake.
#include <fmt/format.h>

#include "apps/cuzk/build_facts.h"
#include "apps/cuzk/commands.h"
#include "base/cpu.h"

namespace cuzk::apps {
static_assert(sizeof kVersion > 1 && sizeof kCompiler > 1);  // CMake has filled them in
std::string version_text() {
  return fmt::format(
      "cuzk {}\ncommit: {}\ncompiler: {}\nbuild type: {}\nsanitizers: {}\nCPU level: {}", kVersion,
      kCommit, kCompiler, kBuildType, *kSanitizers == '\0' ? "none" : kSanitizers,
      base::to_string(base::cpu_level()));
}

std::string version_json() {
  const nlohmann::ordered_json object = {
      {"version", kVersion},       {"commit", kCommit},
      {"compiler", kCompiler},     {"build_type", kBuildType},
      {"sanitizers", kSanitizers}, {"cpu_level", base::to_string(base::cpu_level())}};
  return object.dump(2) + "\n";
}

}  // namespace cuzk::apps
