// Finding parameters, planning with them without touching their points, loading them.
//
// A parameter set is found by the name that the network's tools give it, so any folder of theirs
// serves. Opening one reads its verifying key and the lengths of its queries, and maps the rest.
// What is large, recording the circuit, waits for the load.
#include "apps/jobs/filecoin_keys.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "apps/jobs/circuit_counts.h"
#include "apps/jobs/proof_stages.h"
#include "formats/bellperson/params.h"
#include "groth16/memory.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using filecoin::CircuitKind;
using filecoin::SectorShape;
using Bls = curve::Bls12_381;

// All kinds, in the order in which names are listed.
constexpr CircuitKind kKinds[] = {CircuitKind::kPorep, CircuitKind::kWinningPost,
                                  CircuitKind::kWindowPost, CircuitKind::kUpdate};

// Of each stage: what stays on the heap below the size that the ledger counts, lists of one bucket
// summation, results of threads.
constexpr std::uint64_t kHeapBytes = std::uint64_t{1} << 20;

// Part of names that clients store: stable.
std::string_view key_prefix(CircuitKind kind) {
  switch (kind) {
    case CircuitKind::kPorep: return "porep";
    case CircuitKind::kWinningPost: return "winning";
    case CircuitKind::kWindowPost: return "wpost";
    case CircuitKind::kUpdate: return "snap";
  }
  return "";
}

// The counts of a plan are upper bounds: the B query holds at most its own length of scalars.
groth16::WitnessCounts witness_counts(const CircuitCounts& circuit,
                                      const formats::BlsProvingKey& key) {
  groth16::WitnessCounts counts;
  counts.input_count = circuit.input_count;
  counts.aux_count = circuit.aux_count;
  counts.scalar_count = std::uint64_t{circuit.input_count} + circuit.scalar_count;
  counts.b_scalar_count = std::min<std::uint64_t>(counts.scalar_count, key.b_g2.size());
  CUZK_ASSERT(counts.b_scalar_count <= counts.scalar_count);
  return counts;
}

// A file under the right name may be of another circuit (an older version of the network's, a
// renamed one). Its lengths tell, before a proof is made that would not verify.
base::Status check_key(const CircuitCounts& circuit, const formats::BlsProvingKey& key,
                       std::string_view name) {
  if (key.l.size() == circuit.aux_count && key.vk.ic.size() == circuit.input_count) {
    return base::ok_status();
  }
  return Error{ErrorKind::kMismatch,
               fmt::format("{}: found {} inputs and {} private variables, the circuit {} has {} "
                           "and {}",
                           key.name, key.vk.ic.size(), key.l.size(), name, circuit.input_count,
                           circuit.aux_count)};
}

// The plan counts sizes, so what growing left over is given back.
template <class T>
void trim(std::vector<T>& values) {
  values.shrink_to_fit();
}

base::Result<std::shared_ptr<const r1cs::Shape<filecoin::Fr>>> trimmed_shape(
    CircuitKind kind, const SectorShape& sector) {
  CUZK_TRY(auto shape, filecoin::circuit_shape(kind, sector));
  for (r1cs::SparseMatrix* matrix : {&shape.a, &shape.b, &shape.c}) {
    trim(matrix->terms);
    trim(matrix->row_begin);
  }
  trim(shape.coefficients);
  return std::make_shared<const r1cs::Shape<filecoin::Fr>>(std::move(shape));
}

// Runs in the engine's key store, for a key whose bytes it has charged already. Recording comes
// last: it is the long part, and a wrong file is refused before.
base::Result<std::shared_ptr<const engine::LoadedKey>> load_key(
    const std::filesystem::path& path, CircuitKind kind, const SectorShape& sector,
    formats::KeyCheck query_check, std::uint64_t planned_bytes, const groth16::Control& control) {
  formats::KeyCheckOptions checks;
  checks.queries = query_check;
  checks.progress = control.progress;
  CUZK_TRY(auto params, formats::open_params(path, checks));
  // The one border: checking points or recording may take minutes, opening does not.
  CUZK_TRY_STATUS(control.check("loading a key"));
  CUZK_TRY(const CircuitCounts counts, circuit_counts(kind, sector));
  std::error_code failed;
  // The size is asked of the path again, after it was opened: a file put in its place by rename is
  // another one, and `identity` tells the engine so before the next use.
  const std::uint64_t bytes = std::filesystem::file_size(path, failed) + counts.shape_bytes();
  if (failed || bytes > planned_bytes) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("{}: the file changed since the job was accepted and takes {} bytes "
                             "now, planned were {}",
                             path.string(), bytes, planned_bytes)};
  }
  control.begin_stage("recording the circuit", 0);
  CUZK_TRY(auto shape, trimmed_shape(kind, sector));
  return std::shared_ptr<const engine::LoadedKey>(std::make_shared<const CircuitKey<Bls>>(
      std::move(params.key), std::move(shape), bytes, std::move(params.warnings)));
}

}  // namespace

std::string filecoin_key_name(CircuitKind kind, const SectorShape& shape) {
  CUZK_ASSERT(shape.name.size() > 3 && shape.name.ends_with("iB"));
  std::string size(shape.name);  // "2KiB" becomes "2k"
  size.resize(size.size() - 2);
  std::transform(size.begin(), size.end(), size.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return fmt::format("{}-{}", key_prefix(kind), size);
}

base::Result<std::string> file_identity(const std::filesystem::path& path) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) {
    return Error{ErrorKind::kNotFound, fmt::format("{}: there is no such file", path.string())};
  }
  return fmt::format("{}:{}:{}:{}:{}.{:09}", path.string(), facts.st_dev, facts.st_ino,
                     facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

engine::PartitionPlan partition_plan(const groth16::MemoryPlan& plan, std::uint64_t witness_bytes) {
  // What is pending and what finish takes are there at once for a moment, so they add up.
  engine::PartitionPlan out;
  out.witness_bytes = witness_bytes;
  out.device_bytes = plan.peak_bytes() + kHeapBytes;
  out.pending_bytes = plan.pending_bytes + plan.finish_bytes + kHeapBytes;
  return out;
}

FilecoinKeys::FilecoinKeys(std::filesystem::path folder, formats::KeyCheck query_check)
    : folder_(std::move(folder)), query_check_(query_check) {}

std::filesystem::path FilecoinKeys::params_path(CircuitKind kind, const SectorShape& shape) const {
  return folder_ / (filecoin::parameter_set_name(kind, shape) + ".params");
}

base::Result<std::shared_ptr<const FilecoinCircuit>> FilecoinKeys::inspect(
    CircuitKind kind, const SectorShape& sector) const {
  CUZK_TRY(const CircuitCounts counts, circuit_counts(kind, sector));
  const std::filesystem::path path = params_path(kind, sector);
  CUZK_TRY(const formats::LoadedParams params, formats::open_params(path));
  const std::string name = filecoin_key_name(kind, sector);
  CUZK_TRY_STATUS(check_key(counts, *params.key, name));
  auto circuit = std::make_shared<FilecoinCircuit>();
  circuit->kind = kind;
  circuit->shape = &sector;
  // While it is made: the parts of all threads, each with the room that growing leaves, and the
  // whole of them.
  const std::uint64_t witness_bytes = 4 * counts.assignment_bytes() + kHeapBytes;
  circuit->plan = partition_plan(
      groth16::plan_memory(*params.key, witness_counts(counts, *params.key)), witness_bytes);
  engine::KeySource& key = circuit->key;
  key.name = name;
  std::error_code failed;
  key.bytes = std::filesystem::file_size(path, failed) + counts.shape_bytes();
  if (failed) {
    return Error{ErrorKind::kNotFound, fmt::format("{}: {}", path.string(), failed.message())};
  }
  key.identity = [path] { return file_identity(path); };
  key.load = [path, kind, sector = &sector, check = query_check_,
              bytes = key.bytes](const groth16::Control& control) {
    return load_key(path, kind, *sector, check, bytes, control);
  };
  return std::shared_ptr<const FilecoinCircuit>(std::move(circuit));
}

base::Result<std::shared_ptr<const FilecoinCircuit>> FilecoinKeys::circuit(
    CircuitKind kind, const SectorShape& sector) {
  // A size that is not proved at all is told as that, whatever lies in the folder.
  CUZK_TRY_STATUS(circuit_counts(kind, sector));
  const auto identity = file_identity(params_path(kind, sector));
  if (!identity.ok()) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("{}: the parameters {} are not there",
                             params_path(kind, sector).string(), filecoin_key_name(kind, sector))};
  }
  // From here on under the lock: of two jobs that find a new file one inspects it, the other waits.
  const base::MutexLock lock(mutex_);
  Known& known = known_[{kind, &sector}];
  if (known.circuit == nullptr || known.identity != *identity) {
    known.circuit.reset();
    CUZK_TRY(known.circuit, inspect(kind, sector));
    known.identity = *identity;
  }
  CUZK_ASSERT(known.circuit != nullptr && known.circuit->shape == &sector);
  return known.circuit;
}

// Asks the disk each time, as files come and go: one look a row of circuit_counts at most.
std::vector<std::string> FilecoinKeys::names() const {
  std::vector<std::string> out;
  for (const CircuitKind kind : kKinds) {
    for (const SectorShape& shape : filecoin::all_sector_shapes()) {
      std::error_code failed;
      if (circuit_counts(kind, shape).ok() &&
          std::filesystem::exists(params_path(kind, shape), failed)) {
        out.push_back(filecoin_key_name(kind, shape));
      }
    }
  }
  return out;
}

base::Result<engine::KeySource> FilecoinKeys::find(std::string_view name) {
  for (const CircuitKind kind : kKinds) {
    for (const SectorShape& shape : filecoin::all_sector_shapes()) {
      if (filecoin_key_name(kind, shape) != name) continue;
      CUZK_TRY(const auto found, circuit(kind, shape));
      return found->key;
    }
  }
  const auto there = names();
  return Error{
      ErrorKind::kNotFound,
      fmt::format("no key is named '{}'; in {} there are {}", name.substr(0, 64), folder_.string(),
                  there.empty() ? "none" : fmt::format("{}", fmt::join(there, ", ")))};
}

}  // namespace cuzk::apps
