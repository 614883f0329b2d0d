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
  // At most KeySource::bytes, which the engine charges to the ledger as long as this lives. A
  // loader therefore takes nothing large from the ledger itself; it would count twice.
  virtual std::uint64_t byte_count() const = 0;
  // Asked for status alone; nothing is decided by it.
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
  // Further ones for critical partitions alone. A proof on a card is not interrupted for others, so
  // this is what lets critical work in at once.
  std::uint32_t critical_worker_count = 0;
  bool fallback_only = false;  // takes only what failed elsewhere: the CPU beside cards
  // Free and all bytes of the card's own memory now; zeros for the CPU.
  std::function<std::pair<std::uint64_t, std::uint64_t>()> free_and_total_bytes;
  // Bytes of keys that do not stay on the card: copied to it so far, and taken by further proofs of
  // the same copies. May be empty: none.
  std::function<std::pair<std::uint64_t, std::uint64_t>()> streamed_and_shared_bytes;

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
  // What it holds apart from what its own buffers have in the ledger (the pending proof of groth16
  // counts itself; an assignment on the heap does not). The engine charges a witness's plan when
  // its stage begins, and what is left of it from then on; never more than the plan.
  virtual std::uint64_t byte_count() const = 0;
};

// What a stage has of its surroundings. `control` says when to stop and takes progress: call its
// check() between chunks of work, from the thread that runs the stage and outside parallel loops.
// A critical partition may then be run in between, but in a start on a card.
struct StageContext {
  std::shared_ptr<const LoadedKey> key;
  const ProvingDevice* device = nullptr;  // device stage, and the one that made it in finish
  groth16::Control control = {};
};

// One job after its bytes were read and checked. Functions are called by several threads at once.
//
// What the engine makes of an error, by its kind:
//   kCancelled                       the stage noticed that it should stop
//   kInvalidArgument, kMalformed, kMismatch, kUnsatisfied, kNotFound, kUnsupported
//                                    the job's own fault: it fails at once
//   kVerificationFailed of finish    a wrong proof: tried once more, elsewhere
//   kUnavailable, kInternal, kIo of start or finish
//                                    the device's fault: counts towards its quarantine, tried again
//   kResourceExhausted of start on a card
//                                    no room there: made elsewhere, nobody is blamed
//   others, and exceptions           tried once more
class JobWork {
 public:
  virtual ~JobWork() = default;
  // One entry a partition, exact upper bounds in bytes; known without the key's pages. Pending
  // bytes include what finish takes while it runs and what the pending proof keeps of the witness.
  virtual const std::vector<PartitionPlan>& partitions() const = 0;
  virtual const KeySource& key() const = 0;
  // What the job itself holds while it lives: input and parsed form.
  virtual std::uint64_t held_bytes() const = 0;

  virtual base::Result<std::unique_ptr<Product>> make_witness(std::size_t partition,
                                                              const StageContext& context) = 0;
  // Ends the witness's life, or hands to the pending proof what it still needs of it. A start that
  // fails leaves the witness for another attempt, or null where it is spent.
  virtual base::Result<std::unique_ptr<Product>> start(std::size_t partition,
                                                       std::unique_ptr<Product>& witness,
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

// What the engine decides with while the job itself is not in memory.
struct JobPlan {
  std::vector<PartitionPlan> partitions;
  KeySource key;
  std::uint64_t held_bytes = 0;
};
JobPlan plan_of(const JobWork& work);

// A row of the table of kinds.
struct JobType {
  std::string name;         // stored with jobs: "porep", "circom"
  std::string description;  // a line for help and status
  // Reads and checks all that can be checked without proving. The error is the submitter's fault
  // and names the field.
  std::function<base::Result<std::unique_ptr<JobWork>>(const SharedBytes& input)> read;
};

// The table of kinds, filled before the engine is made and constant from then on: so it is read by
// all threads without a lock.
class JobTypes {
 public:
  // Finds a key by the name that people use. Error kNotFound with the names that there are.
  using FindKey = std::function<base::Result<KeySource>(std::string_view name)>;

  // Error kAlreadyExists for a name taken.
  base::Status add(JobType type);
  // Asked in the order added, the next one after kNotFound.
  void add_keys(FindKey find_key) { key_finders_.push_back(std::move(find_key)); }
  // Error kUnsupported, with the names that there are.
  base::Result<const JobType*> find(std::string_view name) const;
  std::vector<const JobType*> all() const;
  // For preload. Error kNotFound.
  base::Result<KeySource> find_key(std::string_view name) const;

 private:
  std::map<std::string, JobType, std::less<>> types_;
  std::vector<FindKey> key_finders_;
};

}  // namespace cuzk::engine
