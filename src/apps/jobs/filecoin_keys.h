// The parameter sets of Filecoin in a folder, found by their names, with the byte plans of the
// circuits that they are for.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/job_type.h"
#include "filecoin/job.h"
#include "formats/key_check.h"

namespace cuzk::apps {

// "porep-2k", "winning-32g", "wpost-512m", "snap-2k": how people and clients name a key.
std::string filecoin_key_name(filecoin::CircuitKind kind, const filecoin::SectorShape& shape);

// A circuit whose parameters lie in the folder, as they were when it was inspected. Immutable, and
// shared by the jobs that prove with it. `shape` points into the table of sector shapes, which
// lives as long as the program.
struct FilecoinCircuit {
  filecoin::CircuitKind kind = filecoin::CircuitKind::kPorep;
  const filecoin::SectorShape* shape = nullptr;
  engine::KeySource key;
  engine::PartitionPlan plan;  // of each partition
};

// Thread-safe. Outlived by the key sources that it gave out. What it knows of a circuit is valid
// while the file's identity is the one it was read under; circuit() compares on each call and reads
// anew where it is not. Nothing is forgotten otherwise: an entry is some hundred bytes.
class FilecoinKeys {
 public:
  explicit FilecoinKeys(std::filesystem::path folder,
                        formats::KeyCheck query_check = formats::KeyCheck::kNone);

  // Errors: kUnsupported as circuit_counts, kNotFound with the path of the parameters, those of
  // formats::open_params, kMismatch when the file is of another circuit.
  base::Result<std::shared_ptr<const FilecoinCircuit>> circuit(filecoin::CircuitKind kind,
                                                               const filecoin::SectorShape& shape)
      CUZK_EXCLUDES(mutex_);
  // By name. Error kNotFound with the names of those whose files are there.
  base::Result<engine::KeySource> find(std::string_view name);
  // Of those whose files are there and can be proved with.
  std::vector<std::string> names() const;

  std::filesystem::path params_path(filecoin::CircuitKind kind,
                                    const filecoin::SectorShape& shape) const;

 private:
  // By kind and place in the table of shapes, which is why callers pass elements of that table.
  struct Known {
    std::string identity;
    std::shared_ptr<const FilecoinCircuit> circuit;
  };
  base::Result<std::shared_ptr<const FilecoinCircuit>> inspect(
      filecoin::CircuitKind kind, const filecoin::SectorShape& shape) const;

  std::filesystem::path folder_;
  formats::KeyCheck query_check_;
  base::Mutex mutex_;
  std::map<std::pair<filecoin::CircuitKind, const filecoin::SectorShape*>, Known> known_
      CUZK_GUARDED_BY(mutex_);
};

// What tells that a file is still the same: path, device, inode, size, time of change. Error
// kNotFound.
base::Result<std::string> file_identity(const std::filesystem::path& path);

// What one proof with this key takes, as the engine wants it. `witness_bytes` is the peak of making
// the witness.
engine::PartitionPlan partition_plan(const groth16::MemoryPlan& plan, std::uint64_t witness_bytes);

}  // namespace cuzk::apps
