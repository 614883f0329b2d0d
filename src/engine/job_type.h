// What the engine is told of a kind of job: how to read it, what it needs, and how each stage of a
// partition is done. The application registers these as values; the engine knows no circuit, no
// curve and no file format.
//
//   bytes --read--> JobWork --make_witness--> Product --start--> Product --finish--> proof bytes
//                      |                      (a partition, each stage on a worker)       |
//                      +--assemble <-----------------------------------------------------+
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/policy.h"
#include "groth16/backend.h"
#include "groth16/control.h"

namespace cuzk::engine {

// The bytes of a job as they arrived, held once however many use them.
using SharedBytes = std::shared_ptr<const base::Bytes>;

// Where a key's bytes are. What a status page shows is where they really are.
enum class KeyTier : std::uint8_t {
  kHot,   // on a device, or in locked memory
  kWarm,  // loaded: mapped, with matrices recorded
  kCold,  // on disk only
};
std::string_view to_string(KeyTier tier) noexcept;

// A proving key with its matrices, as the job types of one application read it; they cast it to
// their own type. Immutable and used by many threads; alive while anything refers to it.
class LoadedKey {
 public:
  virtual ~LoadedKey() = default;
  virtual std::uint64_t byte_count() const = 0;  // at most KeySource::bytes
  virtual KeyTier tier() const { return KeyTier::kWarm; }
};

// A key that can be loaded: by the name that people use, e.g. "porep-2k" or "circom:age_check".
struct KeySource {
  std::string name;
  std::uint64_t bytes = 0;  // resident once loaded: mapped file, matrices, tables; an upper bound
  // What tells that the files are still the same: path, size, time of change, digest where known.
  // Called before each use; a key whose identity changed is loaded anew.
  std::function<base::Result<std::string>()> identity;
  std::function<base::Result<std::shared_ptr<const LoadedKey>>(const groth16::Control&)> load;
};

// Where partitions are proved: a card, or the CPU. Thread-safe; several workers use it at once.
struct ProvingDevice {
  std::string name;        // "cpu", "NVIDIA H200"
  std::string identifier;  // "cpu", or a card's UUID
  std::shared_ptr<groth16::Backend<curve::Bls12_381>> bls12_381;
  std::shared_ptr<groth16::Backend<curve::Bn254>> bn254;
  std::uint32_t worker_count = 0;  // 0: chosen by the engine
  bool fallback_only = false;      // takes only what failed elsewhere: the CPU beside cards
  // Free and all bytes of the card's own memory now; zeros for the CPU.
  std::function<std::pair<std::uint64_t, std::uint64_t>()> free_and_total_bytes;

  template <class C>
  groth16::Backend<C>& backend() const {
    if constexpr (std::is_same_v<C, curve::Bls12_381>)
      return *bls12_381;
    else
      return *bn254;
  }
};

// What a stage leaves for the next one: a witness, a pending proof. Dies with its last consumer,
// and its memory with it.
class Product {
 public:
  virtual ~Product() = default;
  virtual std::uint64_t byte_count() const = 0;
};

// What a stage has of its surroundings. `control` says when to stop and takes progress. `fault` is
// set by a stage that fails through the device's doing.
struct StageContext {
  std::shared_ptr<const LoadedKey> key;
  const ProvingDevice* device = nullptr;  // device stage, and the one that made it in finish
  groth16::Control control = {};
};

// What came out badly, and whose doing it was (engine/scheduler.h, Fault).
enum class StageFault : std::uint8_t { kWork, kDevice, kWrongProof };

// One job after its bytes were read and checked. Functions are called by several threads at once.
class JobWork {
 public:
  virtual ~JobWork() = default;
  // One entry a partition, exact upper bounds in bytes; known without the key's pages.
  virtual const std::vector<PartitionPlan>& partitions() const = 0;
  virtual const KeySource& key() const = 0;
  // What the job itself holds while it lives: input and parsed form.
  virtual std::uint64_t held_bytes() const = 0;

  virtual base::Result<std::unique_ptr<Product>> make_witness(std::size_t partition,
                                                              const StageContext& context) = 0;
  // Ends the witness's life, or hands to the pending proof what it still needs of it.
  virtual base::Result<std::unique_ptr<Product>> start(std::size_t partition,
                                                       std::unique_ptr<Product> witness,
                                                       const StageContext& context) = 0;
  // The finished partition's proof in the kind's own bytes, verified. Error kVerificationFailed:
  // the device made a wrong proof. kUnsatisfied: the witness is bad, another attempt is in vain.
  virtual base::Result<base::Bytes> finish(std::size_t partition, std::unique_ptr<Product> pending,
                                           const StageContext& context) = 0;
  // Whether a partition's proof kept from an earlier run still belongs to this job: verified anew.
  virtual base::Status recheck(std::size_t partition, base::ByteSpan proof,
                               const StageContext& context) = 0;
  // The job's result from the proofs of all its partitions, in order, verified as a whole.
  virtual base::Result<base::Bytes> assemble(std::span<const base::Bytes> proofs,
                                             const StageContext& context) = 0;
};

// A row of the table of kinds.
struct JobType {
  std::string name;         // stored with jobs: "porep", "circom"
  std::string description;  // a line for help and status
  // Reads and checks all that can be checked without proving. The error is the submitter's fault
  // and names the field.
  std::function<base::Result<std::unique_ptr<JobWork>>(const SharedBytes& input)> read;
};

class JobTypes {
 public:
  // Error kAlreadyExists for a name taken.
  base::Status add(JobType type);
  // Error kUnsupported, with the names that there are.
  base::Result<const JobType*> find(std::string_view name) const;
  std::vector<const JobType*> all() const;

 private:
  std::map<std::string, JobType, std::less<>> types_;
};

}  // namespace cuzk::engine
