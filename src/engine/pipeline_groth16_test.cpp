// Real proofs of tiny circuits through the pipeline: the byte plans bound what groth16 takes, a
// wrong device is caught by the real self-check, and a stop is noticed inside start.
#include "engine/pipeline_test_support.h"
#include "groth16/memory.h"
#include "groth16/prove.h"
#include "groth16/test_circuits.h"

namespace cuzk::engine {
namespace {

using C = curve::Bn254;
using Fr = C::Fr;
using stand_in::Recorder;

std::uint64_t byte_count(const r1cs::Assignment<Fr>& assignment) {
  return assignment.inputs.size() * sizeof(Fr) + assignment.aux.byte_count();
}

class Key final : public engine::LoadedKey {
 public:
  explicit Key(groth16::ProveInputs<C> inputs) : inputs(std::move(inputs)) {}
  std::uint64_t byte_count() const override { return 5000; }
  const groth16::ProveInputs<C> inputs;
};

struct Witness final : Product {
  std::uint64_t byte_count() const override { return engine::byte_count(*assignment); }
  std::shared_ptr<const r1cs::Assignment<Fr>> assignment;
};

struct Pending final : Product {
  std::uint64_t byte_count() const override { return engine::byte_count(*assignment); }
  std::shared_ptr<const r1cs::Assignment<Fr>> assignment;
  std::unique_ptr<groth16::PendingProof<C>> proof;
};

class CircuitWork final : public JobWork {
 public:
  explicit CircuitWork(const std::shared_ptr<const Key>& key) : key_(key) {
    const groth16::ProveInputs<C>& inputs = key->inputs;
    const auto plan = groth16::make_cpu_backend<C>()->plan(*inputs.key, *inputs.shape).value();
    const std::uint64_t witness = engine::byte_count(*inputs.assignment);
    for (std::uint32_t p = 0; p < 3; ++p) {
      plans_.push_back(
          {p, witness, plan.peak_bytes(), witness + plan.pending_bytes + plan.msm_scratch_bytes});
    }
    source_.name = "circuit";
    source_.bytes = key->byte_count();
    source_.load =
        [key](const groth16::Control&) -> base::Result<std::shared_ptr<const engine::LoadedKey>> {
      return {key};
    };
  }
  const std::vector<PartitionPlan>& partitions() const override { return plans_; }
  const KeySource& key() const override { return source_; }
  std::uint64_t held_bytes() const override { return 0; }

  base::Result<std::unique_ptr<Product>> make_witness(std::size_t, const StageContext&) override {
    auto witness = std::make_unique<Witness>();
    witness->assignment = std::make_shared<const r1cs::Assignment<Fr>>(*key_->inputs.assignment);
    return std::unique_ptr<Product>(std::move(witness));
  }
  base::Result<std::unique_ptr<Product>> start(std::size_t, std::unique_ptr<Product>& witness,
                                               const StageContext& context) override {
    auto pending = std::make_unique<Pending>();
    pending->assignment = static_cast<Witness&>(*witness).assignment;
    groth16::ProveInputs<C> inputs = inputs_of(context, pending->assignment);
    CUZK_TRY(const auto blinding, groth16::random_blinding<C>());
    CUZK_TRY(pending->proof, context.device->backend<C>().start(inputs, blinding));
    witness.reset();
    return std::unique_ptr<Product>(std::move(pending));
  }
  base::Result<base::Bytes> finish(std::size_t p, std::unique_ptr<Product> product,
                                   const StageContext& context) override {
    auto& pending = static_cast<Pending&>(*product);
    CUZK_TRY(const auto proof, pending.proof->finish());
    CUZK_TRY_STATUS(groth16::checked_proof(inputs_of(context, pending.assignment), proof));
    return base::Bytes{static_cast<std::uint8_t>('0' + p)};
  }
  base::Status recheck(std::size_t, base::ByteSpan, const StageContext&) override {
    return base::ok_status();
  }
  base::Result<base::Bytes> assemble(std::span<const base::Bytes> proofs,
                                     const StageContext&) override {
    base::Bytes all;
    for (const base::Bytes& proof : proofs) all.insert(all.end(), proof.begin(), proof.end());
    return all;
  }

 private:
  static groth16::ProveInputs<C> inputs_of(const StageContext& context,
                                           std::shared_ptr<const r1cs::Assignment<Fr>> assignment) {
    groth16::ProveInputs<C> inputs = static_cast<const Key&>(*context.key).inputs;
    inputs.assignment = std::move(assignment);
    inputs.control = context.control;
    return inputs;
  }

  std::shared_ptr<const Key> key_;
  KeySource source_;
  std::vector<PartitionPlan> plans_;
};

// The CPU's backend, whose first `wrong_count` proofs have one point changed.
class WrongBackend final : public groth16::Backend<C> {
 public:
  explicit WrongBackend(int wrong_count) : wrong_left_(wrong_count) {}
  std::string_view name() const override { return "wrong"; }
  base::Result<groth16::MemoryPlan> plan(const groth16::ProvingKey<C>& key,
                                         const r1cs::Shape<Fr>& shape,
                                         const r1cs::Assignment<Fr>* assignment) const override {
    return real_->plan(key, shape, assignment);
  }
  base::Result<std::unique_ptr<groth16::PendingProof<C>>> start(
      const groth16::ProveInputs<C>& inputs, const groth16::Blinding<C>& blinding) override {
    CUZK_TRY(auto pending, real_->start(inputs, blinding));
    if (wrong_left_.fetch_sub(1) <= 0) return pending;
    return std::unique_ptr<groth16::PendingProof<C>>(
        std::make_unique<WrongPending>(std::move(pending)));
  }

 private:
  class WrongPending final : public groth16::PendingProof<C> {
   public:
    explicit WrongPending(std::unique_ptr<groth16::PendingProof<C>> real)
        : real_(std::move(real)) {}
    base::Result<groth16::Proof<C>> finish() override {
      CUZK_TRY(auto proof, real_->finish());
      proof.c = proof.a;
      return proof;
    }
    std::uint64_t byte_count() const override { return real_->byte_count(); }

   private:
    std::unique_ptr<groth16::PendingProof<C>> real_;
  };
  std::unique_ptr<groth16::Backend<C>> real_ = groth16::make_cpu_backend<C>();
  std::atomic<int> wrong_left_;
};

class PipelineGroth16 : public ::testing::Test {
 protected:
  void make_key(std::size_t size) {
    const auto circuit = groth16::testing::mixed<Fr>(size, 3);
    const auto shape = circuit.shape();
    auto key = groth16::setup<C>(*shape, groth16::testing::test_waste<C>(),
                                 groth16::QapConvention::kCoefficients);
    ASSERT_TRUE(key.ok()) << key.error().message;
    key_ = std::make_shared<const Key>(
        groth16::ProveInputs<C>{key.value(), shape, circuit.assignment()});
  }
  void start(std::uint32_t pw, std::uint32_t gw, double budget_factor, int wrong_count = 0) {
    auto types = std::make_shared<JobTypes>();
    JobType type;
    type.name = "circuit";
    type.read = [key = key_](const SharedBytes&) -> base::Result<std::unique_ptr<JobWork>> {
      return std::unique_ptr<JobWork>(std::make_unique<CircuitWork>(key));
    };
    ASSERT_TRUE(types->add(std::move(type)).ok());
    PipelineOptions options;
    options.types = types;
    options.devices = {stand_in::cpu(gw)};
    options.devices[0].bn254 = std::make_shared<WrongBackend>(wrong_count);
    options.witness_workers = pw;
    options.finish_workers = 2;
    const CircuitWork work(key_);
    const std::uint64_t need = work.partitions()[0].peak_bytes() + key_->byte_count();
    foreign_bytes_ = base::Ledger::process().snapshot().total.used_bytes;
    options.budget_bytes =
        foreign_bytes_ + static_cast<std::uint64_t>(budget_factor * double(need));
    budget_bytes_ = *options.budget_bytes;
    base::Ledger::process().reset_peaks();
    auto made = Pipeline::make(std::move(options), events_);
    ASSERT_TRUE(made.ok()) << made.error().message;
    pipeline_ = std::move(made).value();
  }
  base::Status run(JobId id, Priority priority = Priority::kNormal) {
    RunRequest request;
    request.id = id;
    request.name = "job " + std::to_string(id);
    request.kind = "circuit";
    request.priority = priority;
    request.input = [] { return SharedBytes(std::make_shared<const base::Bytes>()); };
    return pipeline_->run(std::move(request));
  }
  void TearDown() override {
    pipeline_.reset();
    base::Ledger::process().set_budget(0);
  }

  std::shared_ptr<const Key> key_;
  Recorder events_;
  std::unique_ptr<Pipeline> pipeline_;
  std::uint64_t foreign_bytes_ = 0, budget_bytes_ = 0;
};

TEST_F(PipelineGroth16, KeepsTheBudgetAtEverySetting) {
  make_key(500);
  for (const auto& [pw, gw] : {std::pair{1u, 1u}, {2u, 1u}, {2u, 2u}, {4u, 2u}}) {
    for (const double factor : {1.0, 1.2, 6.0}) {
      start(pw, gw, factor);
      const JobId first = 100 * pw + 10 * gw + static_cast<JobId>(factor * 100000);
      for (JobId id = first; id < first + 3; ++id) ASSERT_TRUE(run(id).ok());
      for (JobId id = first; id < first + 3; ++id) {
        while (events_.outcome(id) == "not ended") {
          pipeline_->check_invariants();
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_EQ(events_.outcome(id), "ok: 012");
      }
      const auto use = base::Ledger::process().snapshot().total;
      EXPECT_LE(use.peak_bytes, budget_bytes_) << pw << " " << gw << " " << factor;
      EXPECT_EQ(use.used_bytes, foreign_bytes_ + key_->byte_count());
      pipeline_.reset();
      EXPECT_EQ(base::Ledger::process().snapshot().total.used_bytes, foreign_bytes_);
      base::Ledger::process().set_budget(0);
    }
  }
}

TEST_F(PipelineGroth16, CatchesAWrongProofByItsSelfCheck) {
  make_key(50);
  start(2, 1, 6, 1);
  ASSERT_TRUE(run(1).ok());
  ASSERT_TRUE(events_.wait_ended(1));
  EXPECT_EQ(events_.outcome(1), "ok: 012");
  EXPECT_EQ(pipeline_->report().devices[0].wrong_proof_count, 1u);
  pipeline_.reset();
  start(1, 1, 6, 1000);
  ASSERT_TRUE(run(2).ok());
  ASSERT_TRUE(events_.wait_ended(2));
  // All three are wrong; which is the first to fail twice depends on the threads.
  const std::string outcome = events_.outcome(2);
  const std::size_t at = outcome.find(" failed twice");
  ASSERT_TRUE(at != std::string::npos && at >= 11) << outcome;
  EXPECT_EQ(outcome.substr(at - 11, 10), "partition ") << outcome;
  EXPECT_NE(events_.outcome(2).find("does not verify although the witness satisfies"),
            std::string::npos);
}

TEST_F(PipelineGroth16, StopsInsideStartAndYieldsThere) {
  make_key(20000);
  start(2, 1, 4);
  ASSERT_TRUE(run(1, Priority::kLow).ok());
  ASSERT_TRUE(events_.wait_state(1, PartitionState::kDevice));
  ASSERT_TRUE(run(2, Priority::kCritical).ok());
  ASSERT_TRUE(events_.wait_ended(1));
  EXPECT_EQ(events_.outcome(2), "ok: 012");
  EXPECT_EQ(events_.outcome(1), "not ended");
  ASSERT_TRUE(pipeline_->cancel(1).ok());
  ASSERT_TRUE(events_.wait_ended(2));
  EXPECT_EQ(events_.outcome(1), "cancelled: job 1 was cancelled");
  EXPECT_EQ(base::Ledger::process().snapshot().total.used_bytes,
            foreign_bytes_ + key_->byte_count());
  pipeline_->check_invariants();
}

}  // namespace
}  // namespace cuzk::engine
