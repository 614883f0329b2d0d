// What the doors of the daemon (gRPC, HTTP) share: the engine, and the functions that turn what
// clients say into jobs. The application gives them; no door knows a circuit or a file format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/engine.h"
#include "service/awaited_jobs.h"

namespace cuzk::service {

// The proof kinds of the public interface, by their numbers on the wire.
enum class ProofKind : std::uint8_t {
  kUnspecified = 0,
  kPorep = 1,
  kSnapDeals = 2,
  kWindowPost = 3,
  kWinningPost = 4,
};

// A Filecoin proof as a client asks for it, nothing checked yet. Fields that its kind does not use
// are empty or ignored; whoever turns it into a job says which of them it misses.
struct ProofRequest {
  std::string request_id;
  ProofKind kind = ProofKind::kUnspecified;
  std::optional<engine::Priority> priority;  // none: the kind's own
  std::optional<std::int64_t> deadline_ms;   // since the epoch
  std::uint64_t sector_size = 0;             // bytes
  std::uint64_t registered_proof = 0;        // number in the table of its kind
  base::Bytes vanilla_proof;                 // PoRep: JSON with base64 of the C1 output
  std::vector<base::Bytes> vanilla_proofs;   // PoSt: one a sector; SnapDeals: one a partition
  std::uint64_t sector_number = 0, miner_id = 0;
  base::Bytes randomness;                          // PoSt: 32 bytes
  std::uint32_t partition_index = 0;               // window PoSt
  base::Bytes comm_r_old, comm_r_new, comm_d_new;  // SnapDeals: 32 bytes each
};

// A proof of a circuit that is registered by name.
struct CircuitRequest {
  std::string request_id;
  std::string circuit;
  std::optional<engine::Priority> priority;
  std::optional<std::int64_t> deadline_ms;
  base::Bytes witness;  // a .wtns file
};

// What a door finds wrong with itself while it runs and cannot mend. Thread-safe.
class DoorFaults {
 public:
  // A sentence for people; those after the first are left out.
  void note(const std::string& sentence);
  std::string first() const;  // empty: none

 private:
  mutable std::mutex mutex_;
  std::string first_;
};

// Thread-safe functions; all outlive the doors. `engine` is set, and lives longer than they do.
struct Backend {
  engine::Engine* engine = nullptr;
  // The job of a request. Errors are the client's fault: kInvalidArgument names the field,
  // kUnsupported what this build does not prove. What can only be seen in the bytes is found by the
  // engine when the job is submitted. Called from lanes and from threads of connections, so it may
  // take its time.
  std::function<base::Result<engine::SubmitRequest>(ProofRequest)> proof_job;
  // kNotFound names the circuits that there are.
  std::function<base::Result<engine::SubmitRequest>(CircuitRequest)> circuit_job;
  // The name that clients of the public interface know a kind of the engine by, e.g. "porep-c2".
  std::function<std::string(std::string_view engine_kind)> public_kind_name;
  // All metrics in the text format of Prometheus.
  std::function<std::string()> metrics_text;
  std::string version;  // of the program, for people
  // Of all doors that were given copies of this.
  std::shared_ptr<AwaitedJobs> awaited = std::make_shared<AwaitedJobs>();
  // Likewise; health asks for them wherever it is asked.
  std::shared_ptr<DoorFaults> faults = std::make_shared<DoorFaults>();
};

// The engine's name of a kind that is given by it or by its public name: status and metrics show
// the latter. Empty stays empty (every kind). Error kInvalidArgument with the names that there are.
base::Result<std::string> engine_kind_named(const Backend& backend, std::string_view name);

// Whether new work can be done, and why not.
struct Readiness {
  bool ready = true;
  std::string reason;  // empty when ready
};
// Not ready: draining, a journal whose files are gone, a door with a fault (DoorFaults::first), or
// no device is usable.
Readiness readiness(const engine::EngineReport& report, const std::string& door_fault);

}  // namespace cuzk::service
