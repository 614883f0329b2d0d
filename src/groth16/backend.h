// The door between who decides to prove and who computes: plan, start, finish.
//
// `start` uses a, b and the transforms and frees them before it returns; what is left lives in a
// PendingProof, which owns (through shared_ptr) all that `finish` still reads, the key included,
// and may be dropped at any time. The CPU backend is the reference; every backend gives the same
// bytes for the same blinding. No CUDA type shows here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "base/wipe.h"
#include "groth16/control.h"
#include "groth16/keys.h"
#include "r1cs/assignment.h"
#include "r1cs/shape.h"

namespace cuzk::groth16 {

// The prover's randomness. Draw it with random_blinding (prove.h); fixed values are for tests
// that compare bytes and cannot be set from a command line or the network. Wiped when it dies.
template <class C>
struct Blinding {
  typename C::Fr r, s;
  ~Blinding() { base::wipe(this, sizeof *this); }
};

// What one proof is made from. None of the three is null; all are shared and only read, so one key
// and one shape serve any number of proofs at a time.
template <class C>
struct ProveInputs {
  std::shared_ptr<const ProvingKey<C>> key;
  std::shared_ptr<const r1cs::Shape<typename C::Fr>> shape;
  std::shared_ptr<const r1cs::Assignment<typename C::Fr>> assignment;
  // Asked between stages and between pieces of the long ones; a cancelled proof is kCancelled.
  Control control = {};
  // Of this very shape, where the caller keeps it with the key; else each start makes its own.
  std::shared_ptr<const r1cs::Density> density = {};
};

// Bytes that one proof takes from the ledger beside its inputs, by stage. Without an assignment the
// counts that depend on the witness (which variables are scalars) are bounds; with one, exact.
struct MemoryPlan {
  std::uint64_t evaluation_bytes = 0;   // a, b and h, freed at the end of start
  std::uint64_t msm_scratch_bytes = 0;  // scalars of one piece, buckets and digits, transforms
  std::uint64_t pending_bytes = 0;      // what a PendingProof holds
  std::uint64_t density_bytes = 0;      // of the shape, during start, where it was not given
  std::uint64_t finish_bytes = 0;       // scratch of finish, beside pending_bytes

  // The most that is held at any one time: evaluation ends before the pending proof begins.
  std::uint64_t peak_bytes() const {
    return std::max(evaluation_bytes, pending_bytes) + msm_scratch_bytes + density_bytes;
  }
};

// A proof between start and finish. Three states: begun, finished (once, whether well or not),
// gone. One thread at a time; it may be another one than that of start. Dropping it unfinished
// frees what it holds and is how a cancelled job ends.
template <class C>
class PendingProof {
 public:
  virtual ~PendingProof() = default;
  // Completes the proof; call once. Not yet verified: prove.h does that.
  virtual base::Result<Proof<C>> finish() = 0;
  // Host memory that it holds, as the ledger counts it; at most the plan's pending_bytes.
  virtual std::uint64_t byte_count() const = 0;

  // For a proof that does not verify: the same one, with the same inputs and blinding, begun again
  // on a processor that had no part in it; null where there is none. After finish; the backend is
  // still there.
  virtual base::Result<std::unique_ptr<PendingProof<C>>> start_elsewhere(
      const ProveInputs<C>& /*inputs*/, const Blinding<C>& /*blinding*/) {
    return std::unique_ptr<PendingProof<C>>();
  }
  // The one from elsewhere verifies: whoever made this one computes wrongly.
  virtual void blame() {}
};

// Who computes. Any number of threads may plan and start at a time; one that cannot hold so many
// proofs lets them wait inside start.
template <class C>
class Backend {
 public:
  virtual ~Backend() = default;
  // For messages and for the choice on a command line; lives as long as the backend.
  virtual std::string_view name() const = 0;
  // Fails when key, shape and (where given) assignment do not fit each other, with both numbers.
  virtual base::Result<MemoryPlan> plan(
      const ProvingKey<C>& key, const r1cs::Shape<typename C::Fr>& shape,
      const r1cs::Assignment<typename C::Fr>* assignment = nullptr) const = 0;
  // Never null when it succeeds. Memory that is refused, here or in finish, is kResourceExhausted
  // and leaves nothing behind.
  virtual base::Result<std::unique_ptr<PendingProof<C>>> start(const ProveInputs<C>& inputs,
                                                               const Blinding<C>& blinding) = 0;
};

// Backend::name of the CPU's.
inline constexpr std::string_view kCpuBackendName = "cpu";

// The CPU backend of either curve.
template <class C>
std::unique_ptr<Backend<C>> make_cpu_backend();

extern template std::unique_ptr<Backend<curve::Bls12_381>> make_cpu_backend();
extern template std::unique_ptr<Backend<curve::Bn254>> make_cpu_backend();

}  // namespace cuzk::groth16
