// The device twin of groth16/prove_cpu.cpp: start runs on the device, finish on the CPU.
//
// Keys with their circuits are loaded once and kept, the least recently used leaving first when a
// new one or a proof wants their room. A proof takes a lane, then its whole workspace at once, so
// that proofs that wait for memory hold none. What makes a backend (make_backend, list_devices,
// test_device) is here too, in builds with CUDA; no_cuda.cpp has it for the others.
#include "cuda/backend.h"

#include "base/scratch.h"
#include "cuda/prove/circuit_cache.h"
#include "cuda/prove/known_answer.h"
#include "cuda/prove/pending_proof.h"

namespace cuzk::cuda {
namespace prove {
namespace {

// A shorter piece may end at each word of variables, for which SumArrays has no room.
constexpr std::uint64_t kPieceTestLeast = 128;

template <class C>
class CudaBackend final : public groth16::Backend<C> {
 public:
  using Fr = typename C::Fr;
  using Shape = r1cs::Shape<Fr>;
  using Assignment = r1cs::Assignment<Fr>;
  using Pending = std::unique_ptr<groth16::PendingProof<C>>;

  CudaBackend(std::shared_ptr<Context> context, const BackendOptions& options)
      : context_(std::move(context)),
        options_(options),
        lanes_(context_->info().index, options.lanes),
        circuits_(context_) {}

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
    plan.evaluation_bytes = host_vector_bytes(key.domain_log2, context_->budget_bytes());
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
    CUZK_ASSERT(inputs.key != nullptr && inputs.shape != nullptr && inputs.assignment != nullptr);
    CUZK_TRY_STATUS(context_->use());
    CUZK_TRY_STATUS(groth16::check_assignment_fits(*inputs.assignment, *inputs.shape));
    const auto input_run = r1cs::compact_inputs(*inputs.assignment);
    CUZK_TRY(auto lane, lanes_.take(inputs.control.cancel));
    return with_room([&](KeyShelf::Turn turn, bool& never_fits) {
      return start_on(*lane, turn, never_fits, inputs, input_run, blinding);
    });
  }

  base::Result<Pending> start_on(Lane& lane, KeyShelf::Turn turn, bool& never_fits,
                                 const groth16::ProveInputs<C>& inputs,
                                 const r1cs::CompactWitness<Fr>& input_run,
                                 const groth16::Blinding<C>& blinding) {
    CUZK_TRY(auto circuit, load(inputs, input_run, lane, turn, never_fits));
    const ProofSizes sizes = proof_sizes<C>(inputs, circuit->facts(), input_run, circuit->part());
    CUZK_TRY(auto sums, run_in_workspace(inputs, input_run, circuit, sizes, lane));
    std::optional<HostB<Fr>> host_b;
    if (!b_g2_on_device()) {
      CUZK_TRY(host_b, select_host_b<C>(inputs, circuit->facts().density, input_run));
    }
    return Pending(std::make_unique<CudaPendingProof<C>>(inputs, blinding, std::move(sums),
                                                         std::move(host_b)));
  }

  base::Result<Loaded<C>> load(const groth16::ProveInputs<C>& inputs,
                               const r1cs::CompactWitness<Fr>& input_run, Lane& lane,
                               KeyShelf::Turn turn, bool& never_fits) {
    using Wanted = typename CircuitCache<C>::Wanted;
    return circuits_.get(
        lane, inputs, input_run, options_.lanes, turn, never_fits, [&]() -> base::Result<Wanted> {
          CUZK_TRY(auto facts, checked_facts<C>(inputs));
          ProofPart part = whole_part(shared_work<C>(inputs, *facts, input_run, b_g2_on_device()));
          part.streamed_piece_points = options_.streamed_piece_points;
          part.evaluation_buffers_most = options_.vectors_on_device_max;
          return Wanted{std::move(facts), part};
        });
  }

  base::Result<ProofSums<C>> run_in_workspace(const groth16::ProveInputs<C>& inputs,
                                              const r1cs::CompactWitness<Fr>& input_run,
                                              Loaded<C>& circuit, const ProofSizes& sizes,
                                              Lane& lane) {
    CUZK_TRY(const auto workspace, take_workspace(*context_, circuit, sizes, lane, options_.lanes,
                                                  inputs.control.cancel));
    prepare_tables<C>(*context_, *circuit, sizes, workspace.plan, options_.lanes, options_.tables,
                      KernelScratch<C>());
    return run_proof<C>(*context_, lane, *circuit, sizes, workspace.plan, workspace.memory.buffer(),
                        inputs, input_run, options_.exact_stages);
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
  const std::uint64_t piece_points = options.streamed_piece_points;
  if (piece_points != 0 && piece_points < prove::kPieceTestLeast) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "streamed_piece_points: found " + std::to_string(piece_points) +
                           ", expected 0 or at least " + std::to_string(prove::kPieceTestLeast)};
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
