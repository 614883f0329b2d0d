// The stages of one Groth16 proof as the engine's products: what jobs of every kind share.
//
//   make_witness -> WitnessProduct -> start_proof -> (pending) -> finish_proof -> FinishedProof
//
// A kind brings its assignment and says whose doing a bad proof is; blinding, the hand-over between
// workers, and the verification that no result goes without, are here once.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/job_type.h"
#include "groth16/keys.h"
#include "r1cs/assignment.h"
#include "r1cs/shape.h"

namespace cuzk::apps {

// A proving key with the matrices of its circuit. The key's file is mapped. Immutable, shared by
// all proofs with it; the mapping ends with the last of them.
template <class C>
class CircuitKey final : public engine::LoadedKey {
 public:
  CircuitKey(std::shared_ptr<const groth16::ProvingKey<C>> proving_key,
             std::shared_ptr<const r1cs::Shape<typename C::Fr>> circuit, std::uint64_t bytes,
             std::vector<std::string> remarks)
      : key(std::move(proving_key)),
        shape(std::move(circuit)),
        warnings(std::move(remarks)),
        byte_count_(bytes) {}

  std::uint64_t byte_count() const override { return byte_count_; }

  const std::shared_ptr<const groth16::ProvingKey<C>> key;
  const std::shared_ptr<const r1cs::Shape<typename C::Fr>> shape;
  const std::vector<std::string> warnings;

 private:
  std::uint64_t byte_count_;
};

// The control of whoever runs the present stage. A backend keeps the control of `start` in the
// pending proof and uses it in `finish`, where another worker with other borders runs; it is given
// this instead, which lives as long as the proof.
class ControlRelay final : public base::ProgressSink, public base::Checkpoint {
 public:
  groth16::Control control() { return {this, stop_.get_token(), this}; }

  // While it lives, calls go to `control`, and its stop request is taken over. One at a time.
  class Use {
   public:
    Use(ControlRelay& relay, const groth16::Control& control);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { relay_.current_.store(nullptr); }

   private:
    struct Stop {
      std::stop_source source;
      void operator()() noexcept { source.request_stop(); }
    };
    ControlRelay& relay_;
    groth16::Control control_;
    std::stop_callback<Stop> stop_;
  };

  // Go to the present control; without one they do nothing, and pass() says to go on.
  void begin_stage(std::string_view name, std::uint64_t total_units) override;
  void advance(std::uint64_t units) override;
  bool wanted() const noexcept override;
  bool pass() override;

 private:
  // Null, or the control of the one Use that lives. Written by the worker that runs the stage, read
  // by the backend's threads, which work only while it lives.
  std::atomic<const groth16::Control*> current_ = nullptr;
  // Once asked, asked for good: a proof whose start was stopped is not finished either.
  std::stop_source stop_;
};

// An assignment on the heap. Shared, because a backend may keep it past start().
template <class C>
class WitnessProduct final : public engine::Product {
 public:
  explicit WitnessProduct(std::shared_ptr<const r1cs::Assignment<typename C::Fr>> values)
      : assignment(std::move(values)) {}
  std::uint64_t byte_count() const override;

  const std::shared_ptr<const r1cs::Assignment<typename C::Fr>> assignment;
};

// A proof that was finished and verified, with the public inputs it is about.
template <class C>
struct FinishedProof {
  groth16::Proof<C> proof;
  std::vector<typename C::Fr> public_inputs;
};

// Draws blinding and runs `start` on the context's device. The witness is gone when it succeeds.
template <class C>
base::Result<std::unique_ptr<engine::Product>> start_proof(
    std::unique_ptr<engine::Product>& witness, const engine::StageContext& context);

// Whose doing it is when a proof that the CPU made does not verify: of inputs that were verified
// beforehand it can only be the machine's or the key's.
enum class WrongProof { kDevice, kWitness };

// Runs `finish` and verifies. A proof that does not verify is kVerificationFailed, or kUnsatisfied
// where `suspect` is the witness and the CPU made it, so that another attempt is in vain. `what`
// names the partition.
template <class C>
base::Result<FinishedProof<C>> finish_proof(std::unique_ptr<engine::Product> pending,
                                            const engine::StageContext& context, WrongProof suspect,
                                            const std::string& what);

// The key of a context, which is of this curve (checked).
template <class C>
const CircuitKey<C>& key_of(const engine::StageContext& context);

// The CPU as a device, for both curves; worker_count 0 leaves the number to the engine.
engine::ProvingDevice make_cpu_device(std::uint32_t worker_count = 0);

// All stages of all partitions in this thread, one after the other, on `device` (not null): what a
// command that makes one proof needs. Loads the key.
struct AloneOptions {
  const engine::ProvingDevice* device = nullptr;
  groth16::Control control = {};
  // Told of each stage; may be empty.
  std::function<void(const std::string& stage)> stage;
};
struct AloneResult {
  base::Bytes result;
  std::shared_ptr<const engine::LoadedKey> key;
};
base::Result<AloneResult> run_alone(engine::JobWork& work, const AloneOptions& options);

#define CUZK_APPS_PROOF_STAGES(C)                                                                  \
  extern template class WitnessProduct<C>;                                                         \
  extern template base::Result<std::unique_ptr<engine::Product>> start_proof<C>(                   \
      std::unique_ptr<engine::Product>&, const engine::StageContext&);                             \
  extern template base::Result<FinishedProof<C>> finish_proof<C>(std::unique_ptr<engine::Product>, \
                                                                 const engine::StageContext&,      \
                                                                 WrongProof, const std::string&);  \
  extern template const CircuitKey<C>& key_of<C>(const engine::StageContext&)
CUZK_APPS_PROOF_STAGES(curve::Bls12_381);
CUZK_APPS_PROOF_STAGES(curve::Bn254);
#undef CUZK_APPS_PROOF_STAGES

}  // namespace cuzk::apps
