// The device twin of groth16/prove_cpu.cpp: start runs on the device, finish on the CPU.
//
// Keys with their circuits are loaded once and kept, the least recently used leaving first when a
// new one or a proof wants their room. A proof takes a lane, then its whole workspace at once, so
// that proofs that wait for memory hold none.
#include "cuda/backend.h"

#include <list>

#include "base/log.h"
#include "base/scratch.h"
#include "cuda/prove/known_answer.h"
#include "cuda/prove/pending_proof.h"
#include "cuda/prove/prover.h"
#include "groth16/fit.h"

namespace cuzk::cuda {
namespace prove {
namespace {

template <class F>
r1cs::CompactWitness<F> compact_inputs(const r1cs::Assignment<F>& assignment) {
  r1cs::CompactWitness<F> out;
  for (const F& value : assignment.inputs) out.push_classified(value);
  return out;
}

// Keys and circuits on one device, most recently used first.
template <class C>
class CircuitCache {
 public:
  using Fr = typename C::Fr;
  using Loaded = std::shared_ptr<const LoadedCircuit<C>>;

  // The loaded pair of key and shape, loaded now when it is not there.
  base::Result<Loaded> get(Context& context, Lane& lane, const groth16::ProveInputs<C>& inputs,
                           const r1cs::CompactWitness<Fr>& input_run, bool b_g2_on_device,
                           unsigned lanes) {
    const std::lock_guard lock(mutex_);
    entries_.remove_if([](const auto& entry) { return entry->is_expired(); });
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (!(*entry)->is_of(inputs.key, inputs.shape)) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return Loaded(entries_.front());
    }
    auto facts =
        std::make_shared<const CircuitFacts<Fr>>(*inputs.shape, inputs.key->has_dense_queries);
    CUZK_TRY_STATUS(groth16::check_key_fits(*inputs.key, *inputs.shape, facts->density));
    CUZK_TRY_STATUS(groth16::check_assignment_fits(*inputs.assignment, *inputs.shape));
    const ProofSizes sizes = proof_sizes<C>(inputs, *facts, input_run, b_g2_on_device);
    // With everything else gone, then with what is in use by running proofs left in place.
    CUZK_TRY(ProofPlan plan, plan_proof(sizes, context.budget_bytes(), lanes, KernelScratch<C>()));
    make_room(context, plan.resident_bytes + plan.workspace_bytes);
    if (context.room_bytes() < plan.resident_bytes + plan.workspace_bytes) {
      CUZK_TRY(plan, plan_proof(sizes, context.room_bytes(), lanes, KernelScratch<C>()));
    }
    CUZK_TRY(auto loaded, LoadedCircuit<C>::load(context, lane, inputs.key, inputs.shape,
                                                 std::move(facts), plan));
    entries_.push_front(std::move(loaded));
    return Loaded(entries_.front());
  }

  // Lets idle entries go, the least recently used first, until `bytes` are free or none is idle.
  // Whether one went.
  bool make_room_for_proof(const Context& context, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    return make_room(context, bytes);
  }

 private:
  bool make_room(const Context& context, std::uint64_t bytes) {
    bool has_evicted = false;
    for (auto entry = entries_.end(); entry != entries_.begin();) {
      --entry;
      if (context.room_bytes() >= bytes) break;
      if (entry->use_count() > 1) continue;
      base::log(base::LogLevel::kInfo,
                "a key leaves device " + std::to_string(context.info().index) + " to make room");
      entry = entries_.erase(entry);
      has_evicted = true;
    }
    return has_evicted;
  }

  std::mutex mutex_;
  std::list<std::shared_ptr<const LoadedCircuit<C>>> entries_;
};

template <class C>
class CudaBackend final : public groth16::Backend<C> {
 public:
  using Fr = typename C::Fr;
  using Shape = r1cs::Shape<Fr>;
  using Assignment = r1cs::Assignment<Fr>;
  using Pending = std::unique_ptr<groth16::PendingProof<C>>;

  CudaBackend(std::shared_ptr<Context> context, const BackendOptions& options)
      : context_(std::move(context)), options_(options), lanes_(options.lanes) {}

  std::string_view name() const override { return "cuda"; }

  base::Result<groth16::MemoryPlan> plan(const groth16::ProvingKey<C>& key, const Shape& shape,
                                         const Assignment* assignment) const override {
    const r1cs::Density density = r1cs::density_of(shape);
    CUZK_TRY_STATUS(groth16::check_key_fits(key, shape, density));
    if (assignment != nullptr) {
      CUZK_TRY_STATUS(groth16::check_assignment_fits(*assignment, shape));
    }
    // Host memory only: what the device holds is admitted by the device's own account.
    groth16::MemoryPlan plan;
    plan.msm_scratch_bytes = kSlotCount * kSlotBytes;
    plan.pending_bytes = pending_bytes(shape, density, assignment);
    return plan;
  }

  base::Result<Pending> start(const groth16::ProveInputs<C>& inputs,
                              const groth16::Blinding<C>& blinding) override {
    return base::catch_out_of_memory("a proof", [&] { return start_or_throw(inputs, blinding); });
  }

 private:
  base::Result<Pending> start_or_throw(const groth16::ProveInputs<C>& inputs,
                                       const groth16::Blinding<C>& blinding) {
    CUZK_CHECK(inputs.key != nullptr && inputs.shape != nullptr && inputs.assignment != nullptr);
    CUZK_TRY_STATUS(context_->use());
    CUZK_TRY_STATUS(groth16::check_assignment_fits(*inputs.assignment, *inputs.shape));
    const auto input_run = compact_inputs(*inputs.assignment);
    CUZK_TRY(auto lane, lanes_.take(inputs.control.cancel));
    CUZK_TRY(const auto circuit,
             circuits_.get(*context_, *lane, inputs, input_run, b_g2_on_device(), options_.lanes));
    const ProofSizes sizes = proof_sizes<C>(inputs, circuit->facts(), input_run, b_g2_on_device());
    CUZK_TRY(auto sums, run_in_workspace(inputs, input_run, *circuit, sizes, *lane));
    std::optional<HostB<Fr>> host_b;
    if (!b_g2_on_device()) {
      CUZK_TRY(host_b, select_host_b<C>(inputs, circuit->facts().density, input_run));
    }
    return Pending(std::make_unique<CudaPendingProof<C>>(inputs, blinding, std::move(sums),
                                                         std::move(host_b)));
  }

  // Takes the workspace, waiting for other proofs to end; idle keys make room when nobody holds
  // any.
  base::Result<ProofSums<C>> run_in_workspace(const groth16::ProveInputs<C>& inputs,
                                              const r1cs::CompactWitness<Fr>& input_run,
                                              const LoadedCircuit<C>& circuit,
                                              const ProofSizes& sizes, Lane& lane) {
    const KernelScratch<C> scratch;
    while (true) {
      CUZK_TRY(const ProofPlan plan, plan_workspace(sizes, circuit.plan(), context_->room_bytes(),
                                                    options_.lanes, scratch));
      auto workspace =
          context_->wait_allocate(lane.compute, plan.workspace_bytes, inputs.control.cancel);
      if (workspace.ok()) {
        return run_proof<C>(*context_, lane, circuit, sizes, plan, workspace->buffer(), inputs,
                            input_run, options_.exact_stages);
      }
      const bool may_retry = workspace.error().kind == base::ErrorKind::kResourceExhausted &&
                             circuits_.make_room_for_proof(*context_, plan.workspace_bytes);
      if (!may_retry) return workspace.error();
    }
  }

  // The five sums; with B in G2 on the host its ones and scalars, at most all that B holds.
  std::uint64_t pending_bytes(const Shape& shape, const r1cs::Density& density,
                              const Assignment* assignment) const {
    std::uint64_t bytes = sizeof(CudaPendingProof<C>);
    if (b_g2_on_device()) return bytes;
    std::uint64_t scalars = density.b_input.count() + density.b_aux.count();
    if (assignment != nullptr) {
      scalars = std::min<std::uint64_t>(scalars,
                                        assignment->inputs.size() + assignment->aux.scalar_count());
    }
    bytes += (shape.variable_count() + 63) / 64 * 8;
    return bytes + groth16::SelectedScalars<Fr>::byte_count(scalars);
  }

  bool b_g2_on_device() const { return options_.b_g2 == G2Place::kDevice; }

  std::shared_ptr<Context> context_;
  const BackendOptions options_;
  LanePool lanes_;
  CircuitCache<C> circuits_;
};

}  // namespace
}  // namespace prove

bool is_built_in() noexcept { return true; }

base::Result<std::vector<DeviceReport>> list_devices() {
  CUZK_TRY(const auto all, device::devices());
  std::vector<DeviceReport> out;
  for (const device::DeviceInfo& info : all) {
    DeviceReport report{info.index,      info.name,         info.uuid, info.pci_address,
                        info.capability, info.memory_bytes, 0};
    // A device that cannot be opened is listed all the same; its test says what is wrong.
    if (device::use_device(info).ok()) {
      if (const auto free_bytes = device::memory_free_bytes(); free_bytes.ok()) {
        report.memory_free_bytes = *free_bytes;
      }
    }
    out.push_back(std::move(report));
  }
  return out;
}

template <class C>
base::Result<std::shared_ptr<groth16::Backend<C>>> make_backend(const BackendOptions& options) {
  if (options.lanes == 0) {
    return base::Error{base::ErrorKind::kInvalidArgument, "a device backend needs a lane"};
  }
  CUZK_TRY(const auto info, device::find_device(options.device));
  CUZK_TRY_STATUS(device::use_device(info));
  CUZK_TRY(auto context, prove::Context::open(info, options.vram_limit_bytes));
  std::shared_ptr<groth16::Backend<C>> backend =
      std::make_shared<prove::CudaBackend<C>>(std::move(context), options);
  if (options.known_answer_test) {
    CUZK_TRY_STATUS(prove::known_answer_test<C>(info, *backend));
  }
  return backend;
}

base::Status test_device(const std::string& device, std::uint64_t vram_limit_bytes) {
  BackendOptions options;
  options.device = device;
  options.vram_limit_bytes = vram_limit_bytes;
  CUZK_TRY(const auto bls, make_backend<cuzk::curve::Bls12_381>(options));
  CUZK_TRY(const auto bn, make_backend<cuzk::curve::Bn254>(options));
  return base::ok_status();
}

template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bls12_381>>> make_backend(
    const BackendOptions&);
template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bn254>>> make_backend(
    const BackendOptions&);

}  // namespace cuzk::cuda
