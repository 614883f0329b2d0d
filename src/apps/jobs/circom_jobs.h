// Jobs of circom circuits that are registered by name, over either curve.
//
// Input: a job input (job_input.h) with the field "circuit" and one part, the witness: a .wtns
// file, or the JSON list of all its values as snarkjs exports it. The result is one JSON document,
// {"proof": proof.json, "public": public.json}.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "engine/job_type.h"
#include "formats/key_check.h"
#include "formats/snarkjs/zkey.h"

namespace cuzk::apps {

// A circuit as the configuration names it: up to 64 letters, digits, '_', '-', '.', and its key.
struct CircomCircuit {
  std::string name;
  std::filesystem::path zkey;
};

// What plans need of a key file, as it was when it was read. Immutable once it is given out, so
// jobs under way keep theirs when the file is replaced.
struct ZkeyFacts {
  // `key.bytes` is exact: the mapped file and the matrices that were recorded from it.
  formats::ZkeyHeader header;
  engine::KeySource key;
  // The plan of a proof whose witness has so many scalars besides bits.
  std::function<engine::PartitionPlan(std::uint64_t scalar_count)> plan;
};

// The circuits of an application. The set is fixed by open(); of each the facts are either not read
// yet, or those of the version of the file that `identity` tells. facts() moves from one to the
// other and is the only one who does, under the mutex: two jobs of one new key read it once, and
// others wait meanwhile. Thread-safe.
class CircomCircuits {
 public:
  // Errors: kInvalidArgument for a name twice, an empty one or one with odd characters; those of
  // formats::read_zkey_header for each file.
  static base::Result<std::shared_ptr<CircomCircuits>> open(
      std::vector<CircomCircuit> circuits,
      formats::KeyCheck query_check = formats::KeyCheck::kNone);

  // Error kNotFound with the names that there are; those of reading the key.
  base::Result<std::shared_ptr<const ZkeyFacts>> facts(std::string_view circuit)
      CUZK_EXCLUDES(mutex_);
  // In ascending order.
  std::vector<std::string> names() const;

 private:
  // `facts` is null until they are asked for, and after an attempt to read them anew failed.
  struct Known {
    std::filesystem::path zkey;
    std::string identity;
    std::shared_ptr<const ZkeyFacts> facts;
  };
  explicit CircomCircuits(formats::KeyCheck query_check) : query_check_(query_check) {}

  formats::KeyCheck query_check_;
  mutable base::Mutex mutex_;
  std::map<std::string, Known, std::less<>> known_ CUZK_GUARDED_BY(mutex_);
};

// The facts of one key file; its key is named `key_name`. Loads the key once to count what it takes
// and drops it: seconds for large circuits. `query_check` is for the loads of jobs, not for this
// one. Errors: those of formats::read_zkey.
base::Result<std::shared_ptr<const ZkeyFacts>> read_zkey_facts(const std::filesystem::path& zkey,
                                                               std::string key_name,
                                                               formats::KeyCheck query_check);

// One proof of a circuit from the bytes of a .wtns file, which `owner` keeps alive; `source` names
// them in errors. Every value is checked.
base::Result<std::unique_ptr<engine::JobWork>> circom_work(std::shared_ptr<const ZkeyFacts> facts,
                                                           std::shared_ptr<const void> owner,
                                                           base::ByteSpan witness,
                                                           std::string source);

// Adds "circom", and its keys as "circom:<name>".
base::Status add_circom_jobs(engine::JobTypes& types, std::shared_ptr<CircomCircuits> circuits);

// The two documents of a result. Error kMalformed.
struct CircomResult {
  // Indented as snarkjs does it, ready to be written to files.
  std::string proof_json, public_json;
};
base::Result<CircomResult> split_circom_result(base::ByteSpan result);

}  // namespace cuzk::apps
