// The reader of circom jobs and the register of circuits.
//
// The register hides that a key file may be replaced while the daemon runs: each look compares the
// file's identity with the one that its facts were read from. Reading facts costs one pass over the
// key's coefficients; a look that finds them fresh costs one stat.
#include "apps/jobs/circom_jobs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "apps/jobs/circom_work.h"
#include "apps/jobs/filecoin_keys.h"
#include "apps/jobs/job_input.h"
#include "formats/snarkjs/documents.h"
#include "formats/snarkjs/wtns.h"
#include "formats/with_curve.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;

// Names of keys share one space with those of Filecoin's parameters ("porep-2k"), so circuits have
// theirs behind a prefix that no parameter set has.
constexpr std::string_view kKeyPrefix = "circom:";

// Names stand in job inputs, key names and log lines: letters that mean nothing in any of them, and
// an end.
bool is_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), fits);
}

// The values of a JSON list as a .wtns file, so that one reader checks both forms. Too few or too
// many values are not noticed here: the file then has a count that the reader refuses.
template <class C>
base::Result<base::Bytes> wtns_of_json(base::ByteSpan text, const formats::ZkeyHeader& header) {
  CUZK_TRY(const auto values, formats::parse_public_values<C>(text, "witness"));
  r1cs::Assignment<typename C::Fr> assignment;
  const std::size_t inputs =
      std::min<std::size_t>(values.size(), std::size_t{header.public_count} + 1);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(inputs);
  assignment.inputs.assign(values.begin(), middle);
  for (auto it = middle; it != values.end(); ++it) assignment.aux.push_classified(*it);
  CUZK_ASSERT(assignment.inputs.size() + assignment.aux.size() == values.size());
  return formats::encode_wtns<C>(assignment);
}

// Told by content, as a client names no form: a .wtns file begins with letters.
bool is_json_list(base::ByteSpan bytes) {
  const auto first = std::find_if(bytes.begin(), bytes.end(), [](std::uint8_t c) {
    return c != ' ' && c != '\t' && c != '\n' && c != '\r';
  });
  return first != bytes.end() && *first == '[';
}

// The frame first, then the name, then the values: each error is about the outermost thing that is
// wrong. The witness stays where the client's bytes are; of a JSON list the converted copy is kept
// instead, and `bytes` may go.
base::Result<std::unique_ptr<engine::JobWork>> read_circom_job(CircomCircuits& circuits,
                                                               const engine::SharedBytes& bytes) {
  static constexpr std::string_view kFields[] = {"circuit"};
  CUZK_TRY(const JobInput input, read_job_input(*bytes));
  CUZK_TRY_STATUS(input.check_fields(kFields));
  CUZK_TRY(const std::string name, input.required_text("circuit"));
  if (input.parts.size() != 1) {
    return Error{
        ErrorKind::kInvalidArgument,
        fmt::format("job input: found {} parts, expected 1: the witness", input.parts.size())};
  }
  CUZK_TRY(const auto facts, circuits.facts(name));
  if (!is_json_list(input.parts[0])) {
    return circom_work(facts, bytes, input.parts[0], "witness");
  }
  const auto encoded = formats::with_curve(
      facts->header.curve, [&]<class C>(std::type_identity<C>) -> base::Result<base::Bytes> {
        return wtns_of_json<C>(input.parts[0], facts->header);
      });
  if (!encoded.ok()) return encoded.error();
  // Shared, not moved into the work: its span has to stay valid wherever the work is moved.
  const auto owner = std::make_shared<const base::Bytes>(*encoded);
  return circom_work(facts, owner, *owner, "witness");
}

}  // namespace

base::Result<std::shared_ptr<CircomCircuits>> CircomCircuits::open(
    std::vector<CircomCircuit> circuits, formats::KeyCheck query_check) {
  std::shared_ptr<CircomCircuits> out(new CircomCircuits(query_check));
  // Nobody else has it yet; the lock is for the analysis of what the mutex guards.
  const base::MutexLock lock(out->mutex_);
  for (CircomCircuit& circuit : circuits) {
    if (!is_name(circuit.name)) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("circuit name '{}': expected up to 64 letters, digits, '_', '-', "
                               "'.'",
                               circuit.name.substr(0, 64))};
    }
    // The header alone: a daemon with many large keys starts in a moment, and yet a path that is
    // wrong is found now and not with the first job.
    CUZK_TRY(const auto file, base::MappedFile::open(circuit.zkey));
    CUZK_TRY_STATUS(formats::read_zkey_header(file->bytes(), file->name()));
    if (!out->known_.try_emplace(circuit.name, Known{std::move(circuit.zkey), {}, {}}).second) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("circuit name '{}': found twice", circuit.name)};
    }
  }
  CUZK_ASSERT(out->known_.size() == circuits.size());
  return out;
}

std::vector<std::string> CircomCircuits::names() const {
  const base::MutexLock lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, known] : known_) out.push_back(name);
  return out;
}

base::Result<std::shared_ptr<const ZkeyFacts>> CircomCircuits::facts(std::string_view circuit) {
  const base::MutexLock lock(mutex_);
  const auto found = known_.find(circuit);
  if (found == known_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, known] : known_) names.push_back(name);
    return Error{ErrorKind::kNotFound,
                 fmt::format("circuit: found '{}', expected {}", circuit.substr(0, 64),
                             names.empty() ? "none, for none is registered"
                                           : fmt::format("one of {}", fmt::join(names, ", ")))};
  }
  Known& known = found->second;
  // The identity is taken before the file is read. A file that is replaced in between leaves facts
  // of the new file under the old identity, which the next look finds stale: never the reverse.
  CUZK_TRY(std::string identity, file_identity(known.zkey));
  if (known.facts == nullptr || known.identity != identity) {
    // Gone even when reading fails: facts of a file that is no more must not be given out.
    known.facts.reset();
    CUZK_TRY(known.facts,
             read_zkey_facts(known.zkey, fmt::format("{}{}", kKeyPrefix, circuit), query_check_));
    known.identity = std::move(identity);
  }
  CUZK_ASSERT(known.facts != nullptr);
  return known.facts;
}

// The two closures share the register and keep it alive as long as the table.
base::Status add_circom_jobs(engine::JobTypes& types, std::shared_ptr<CircomCircuits> circuits) {
  CUZK_ASSERT(circuits != nullptr);
  CUZK_TRY_STATUS(types.add({"circom", "a circom circuit registered by name, from its witness",
                             [circuits](const engine::SharedBytes& input) {
                               return read_circom_job(*circuits, input);
                             }}));
  types.add_keys([circuits](std::string_view name) -> base::Result<engine::KeySource> {
    if (name.substr(0, kKeyPrefix.size()) != kKeyPrefix) {
      return Error{ErrorKind::kNotFound, fmt::format("no key is named '{}'", name.substr(0, 64))};
    }
    CUZK_TRY(const auto facts, circuits->facts(name.substr(kKeyPrefix.size())));
    return facts->key;
  });
  return base::ok_status();
}

base::Result<CircomResult> split_circom_result(base::ByteSpan result) {
  // Ordered, so that the members stay as they were written; no exceptions, a bad text is no object.
  const auto document = nlohmann::ordered_json::parse(result.begin(), result.end(), nullptr, false);
  if (!document.is_object() || !document.contains("proof") || !document.contains("public")) {
    return Error{ErrorKind::kMalformed,
                 "circom result: expected a JSON object with proof and public"};
  }
  // As snarkjs indents them.
  return CircomResult{document["proof"].dump(1), document["public"].dump(1)};
}

}  // namespace cuzk::apps
