// Start and finish behind the engine's products, for both curves.
//
// The engine hands products from worker to worker without knowing what is in them; here they are
// taken apart again. A product of the wrong kind, or a missing device, is a defect of the engine or
// of a kind, never of a job, so it is asserted. Explicitly instantiated: the two curves are all.
#include "apps/jobs/proof_stages.h"

#include <fmt/format.h>

#include "base/scratch.h"
#include "groth16/prove.h"
#include "groth16/verify.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using engine::Product;
using engine::StageContext;

// What start leaves for finish. Whole from the moment start returns it; on the way there `proof` is
// null, and an error drops it so.
template <class C>
class PendingProduct final : public Product {
 public:
  // What the backend's part holds it has counted itself.
  std::uint64_t byte_count() const override {
    return public_inputs.size() * sizeof(typename C::Fr) + sizeof(ControlRelay);
  }

  std::shared_ptr<ControlRelay> relay = std::make_shared<ControlRelay>();
  std::unique_ptr<groth16::PendingProof<C>> proof;  // dies before the relay
  std::vector<typename C::Fr> public_inputs;
};

// By identifier, as make_cpu_device() gives it: names are for people.
bool is_cpu(const StageContext& context) {
  return context.device != nullptr && context.device->identifier == "cpu";
}

// The sentence and kind of a proof that does not verify: whom it accuses, and whether another
// attempt elsewhere could help. Only the CPU's word settles that a witness is bad.
template <class C>
Error wrong_proof(const StageContext& context, WrongProof suspect, const std::string& what) {
  const std::string& key = key_of<C>(context).key->name;
  const std::string& device = context.device->name;
  if (suspect == WrongProof::kDevice) {
    return {ErrorKind::kVerificationFailed,
            fmt::format("{}: the proof made on {} does not verify although its inputs do: the "
                        "device is suspect, or the key {}",
                        what, device, key)};
  }
  return {is_cpu(context) ? ErrorKind::kUnsatisfied : ErrorKind::kVerificationFailed,
          fmt::format("{}: the proof made on {} with {} does not verify: either the witness does "
                      "not satisfy the circuit, or the key is damaged or was made for another QAP "
                      "convention{}; check the witness against the r1cs file",
                      what, device, key, is_cpu(context) ? "" : ", or the device is faulty")};
}

// The three stages of one partition as the engine runs them, the device set from start on.
base::Result<base::Bytes> run_partition(engine::JobWork& work, std::size_t partition,
                                        StageContext context, const AloneOptions& options) {
  const auto say = [&](std::string_view name) {
    if (options.stage) options.stage(fmt::format("{} of partition {}", name, partition));
  };
  say("witness");
  CUZK_TRY(auto witness, work.make_witness(partition, context));
  context.device = options.device;
  say("proof");
  CUZK_TRY(auto pending, work.start(partition, witness, context));
  return work.finish(partition, std::move(pending), context);
}

}  // namespace

ControlRelay::Use::Use(ControlRelay& relay, const groth16::Control& control)
    : relay_(relay), control_(control), stop_(control.cancel, Stop{relay.stop_}) {
  const groth16::Control* const before = relay_.current_.exchange(&control_);
  CUZK_ASSERT(before == nullptr);  // start has returned before finish begins
}

// Threads of a backend may call these at any time while it works; between start and finish nobody
// listens, and then they do nothing.
void ControlRelay::begin_stage(std::string_view name, std::uint64_t total_units) {
  if (const auto* control = current_.load()) control->begin_stage(name, total_units);
}

void ControlRelay::advance(std::uint64_t units) {
  if (const auto* control = current_.load()) control->advance(units);
}

bool ControlRelay::wanted() const noexcept {
  const auto* control = current_.load();
  return control != nullptr && control->checkpoint != nullptr && control->checkpoint->wanted();
}

bool ControlRelay::pass() {
  const auto* control = current_.load();
  return control == nullptr || control->checkpoint == nullptr || control->checkpoint->pass();
}

template <class C>
std::uint64_t WitnessProduct<C>::byte_count() const {
  return assignment->aux.byte_count() + assignment->inputs.size() * sizeof(typename C::Fr);
}

template <class C>
const CircuitKey<C>& key_of(const StageContext& context) {
  const auto* key = dynamic_cast<const CircuitKey<C>*>(context.key.get());
  CUZK_ASSERT(key != nullptr);
  return *key;
}

template <class C>
base::Result<std::unique_ptr<Product>> start_proof(std::unique_ptr<Product>& witness,
                                                   const StageContext& context) {
  auto* const values = dynamic_cast<WitnessProduct<C>*>(witness.get());
  CUZK_ASSERT(values != nullptr && context.device != nullptr);
  const CircuitKey<C>& key = key_of<C>(context);
  auto pending = std::make_unique<PendingProduct<C>>();
  const auto& inputs = values->assignment->inputs;
  CUZK_ASSERT(!inputs.empty());  // ONE
  pending->public_inputs.assign(inputs.begin() + 1, inputs.end());
  // After `pending`, so that on every way out it lets go before the relay can die.
  const ControlRelay::Use use(*pending->relay, context.control);
  CUZK_TRY(const auto blinding, groth16::random_blinding<C>());
  CUZK_TRY(pending->proof,
           context.device->backend<C>().start(
               {key.key, key.shape, values->assignment, pending->relay->control()}, blinding));
  // What the backend still needs of the values it shares; an error above leaves the witness for
  // another attempt.
  witness.reset();
  return std::unique_ptr<Product>(std::move(pending));
}

template <class C>
base::Result<FinishedProof<C>> finish_proof(std::unique_ptr<Product> pending,
                                            const StageContext& context, WrongProof suspect,
                                            const std::string& what) {
  auto* const product = dynamic_cast<PendingProduct<C>*>(pending.get());
  CUZK_ASSERT(product != nullptr && context.device != nullptr);
  CUZK_ASSERT(product->proof != nullptr);
  FinishedProof<C> out;
  {
    const ControlRelay::Use use(*product->relay, context.control);
    CUZK_TRY(out.proof, product->proof->finish());
  }
  // What is pending goes before verification, which needs none of it: its memory is the budget of
  // the next proof.
  out.public_inputs = std::move(product->public_inputs);
  pending.reset();
  CUZK_TRY(const bool valid,
           groth16::verify<C>(key_of<C>(context).key->vk, out.public_inputs, out.proof));
  if (!valid) return wrong_proof<C>(context, suspect, what);
  return out;
}

engine::ProvingDevice make_cpu_device(std::uint32_t worker_count) {
  engine::ProvingDevice device;
  device.name = "cpu";
  device.identifier = "cpu";
  device.bls12_381 = groth16::make_cpu_backend<curve::Bls12_381>();
  device.bn254 = groth16::make_cpu_backend<curve::Bn254>();
  device.worker_count = worker_count;
  device.free_and_total_bytes = [] { return std::pair<std::uint64_t, std::uint64_t>(0, 0); };
  return device;
}

base::Result<AloneResult> run_alone(engine::JobWork& work, const AloneOptions& options) {
  AloneResult out;
  CUZK_ASSERT(options.device != nullptr);
  if (options.stage) options.stage("reading the key");
  CUZK_TRY(out.key, work.key().load(options.control));
  CUZK_ASSERT(out.key != nullptr);
  StageContext context{out.key, nullptr, options.control};
  std::vector<base::Bytes> proofs;
  for (std::size_t i = 0; i < work.partitions().size(); ++i) {
    CUZK_TRY_STATUS(options.control.check("the partitions"));
    CUZK_TRY(auto proof, run_partition(work, i, context, options));
    proofs.push_back(std::move(proof));
  }
  CUZK_ASSERT(proofs.size() == work.partitions().size());
  CUZK_TRY(out.result, work.assemble(proofs, context));
  return out;
}

#define CUZK_APPS_PROOF_STAGES(C)                                                           \
  template class WitnessProduct<C>;                                                         \
  template base::Result<std::unique_ptr<Product>> start_proof<C>(std::unique_ptr<Product>&, \
                                                                 const StageContext&);      \
  template base::Result<FinishedProof<C>> finish_proof<C>(                                  \
      std::unique_ptr<Product>, const StageContext&, WrongProof, const std::string&);       \
  template const CircuitKey<C>& key_of<C>(const StageContext&)
CUZK_APPS_PROOF_STAGES(curve::Bls12_381);
CUZK_APPS_PROOF_STAGES(curve::Bn254);
#undef CUZK_APPS_PROOF_STAGES

}  // namespace cuzk::apps
