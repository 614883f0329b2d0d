// Whole proofs by several workers at once, over one backend.
//
// What counts is what several proofs take together, so they are timed as a whole. The first one is
// told apart, since it loads what the others share, and memory is looked at while it is pending.
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "apps/cuzk/job_measure.h"
#include "apps/cuzk/witness_input.h"
#include "base/heap.h"
#include "base/ledger.h"
#include "cuda/setup/device_multiplier.h"
#include "formats/snarkjs/zkey.h"
#include "formats/with_curve.h"
#include "groth16/prove.h"
#include "groth16/setup.h"

namespace cuzk::apps {
namespace {

// A circuit of `row_count` rows: of each 64, 63 say that a variable is a bit and one squares a
// chain. One public input, where the chain begins.
template <class F>
class BitsAndSquares {
 public:
  // Satisfied by its assignment from the start: rows and values are made in the same loop.
  explicit BitsAndSquares(std::size_t row_count) {
    shape_->input_count = 2;
    shape_->coefficients = {F::one(), -F::one()};
    assignment_->inputs = {F::one(), F::from_u64(3)};
    F value = F::from_u64(3);
    std::uint32_t chain = 1;
    std::uint64_t state = 1;
    for (std::size_t row = 0; row < row_count; ++row) {
      const std::uint32_t fresh = shape_->input_count + shape_->aux_count++;
      if (row % 64 == 0) {
        value = value.squared();
        assignment_->aux.push_scalar(value);
        add(shape_->a, {{chain, 0}});
        add(shape_->b, {{chain, 0}});
        add(shape_->c, {{fresh, 0}});
        chain = fresh;
      } else {
        // The top bit of a linear congruential generator (Knuth's MMIX): even enough for bits.
        state = state * 6364136223846793005u + 1442695040888963407u;
        assignment_->aux.push_bit(state >> 63 != 0);
        add(shape_->a, {{0, 0}, {fresh, 1}});
        add(shape_->b, {{fresh, 0}});
        add(shape_->c, {});
      }
    }
    CUZK_ASSERT(shape_->aux_count == row_count && assignment_->aux.size() == row_count);
    CUZK_ASSERT(shape_->a.row_begin.size() == row_count + 1);
  }
  // Shared with every proof; nothing is written after the constructor.
  std::shared_ptr<const r1cs::Shape<F>> shape() const { return shape_; }
  std::shared_ptr<const r1cs::Assignment<F>> assignment() const { return assignment_; }

 private:
  static void add(r1cs::SparseMatrix& matrix, std::initializer_list<r1cs::Term> terms) {
    matrix.terms.insert(matrix.terms.end(), terms.begin(), terms.end());
    matrix.row_begin.push_back(matrix.terms.size());
  }
  std::shared_ptr<r1cs::Shape<F>> shape_ = std::make_shared<r1cs::Shape<F>>();
  std::shared_ptr<r1cs::Assignment<F>> assignment_ = std::make_shared<r1cs::Assignment<F>>();
};

// A first proof, which loads what the others use, and what is held while it is pending.
struct FirstProof {
  double ms = 0;
  std::uint64_t pending_bytes = 0, rss_bytes = 0;
  base::LedgerSnapshot ledger;
};

// Start and finish apart, so that memory can be read in between; verified like the others.
template <class C>
base::Result<FirstProof> prove_first(groth16::Backend<C>& backend,
                                     const groth16::ProveInputs<C>& inputs) {
  using Clock = std::chrono::steady_clock;
  FirstProof first;
  const auto begin = Clock::now();
  CUZK_TRY(const auto blinding, groth16::random_blinding<C>());
  CUZK_TRY(const auto pending, backend.start(inputs, blinding));
  CUZK_ASSERT(pending != nullptr);
  first.pending_bytes = pending->byte_count();
  first.rss_bytes = base::resident_bytes().value_or(0);
  first.ledger = base::Ledger::process().snapshot();
  CUZK_TRY(const auto proof, pending->finish());
  CUZK_TRY_STATUS(groth16::checked_proof<C>(inputs, proof));
  first.ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return first;
}

// What the ledger knows while a proof is pending: the host's categories that hold something, and
// the other accounts. Categories `evaluation` and `pending` are what the proof itself has there.
void add_ledger(const FirstProof& first, Answer& answer) {
  answer.add_bytes("pending_proof_bytes", first.pending_bytes, "a pending proof")
      .add_bytes("pending_rss_bytes", first.rss_bytes, "resident memory while it is pending");
  for (std::size_t i = 0; i < base::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<base::MemoryCategory>(i);
    const std::uint64_t bytes = first.ledger.of(category).used_bytes;
    const bool is_proofs =
        category == base::MemoryCategory::kEvaluation || category == base::MemoryCategory::kPending;
    if (bytes == 0 && !is_proofs) continue;
    const std::string name(base::to_string(category));
    answer.add_bytes("pending_ledger_bytes_" + name, bytes, "ledger then, host, " + name);
  }
  for (const auto& account : first.ledger.accounts) {
    if (account.account == base::Account::host()) continue;
    const std::string name = account.account.name();
    answer.add_bytes("pending_ledger_bytes_" + name, account.use.used_bytes,
                     "ledger then, " + name);
  }
}

// `inputs` proved request.proofs times by request.workers threads, each of which takes the next
// proof when it is done. The first failure is the answer, and ends the others at their next proof.
template <class C>
base::Result<Answer> measure(const MeasureProveRequest& request,
                             const groth16::ProveInputs<C>& inputs, Session& session) {
  CUZK_ASSERT(inputs.key != nullptr && inputs.shape != nullptr && inputs.assignment != nullptr);
  std::string backend_name;
  CUZK_TRY(const auto backend,
           make_chosen_backend<C>(request.backend, inputs.key->domain_log2, &backend_name));
  using Clock = std::chrono::steady_clock;
  const auto ms_since = [](Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  session.stage("first proof");
  CUZK_TRY(const FirstProof first, prove_first<C>(*backend, inputs));
  session.stage("proofs");
  CUZK_ASSERT(request.proofs > 0 && request.workers > 0);
  std::atomic<unsigned> next{0};
  std::mutex mutex;
  std::optional<base::Error> failed;
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 0; w < request.workers; ++w) {
      workers.emplace_back([&] {
        while (next++ < request.proofs) {
          const auto proof = groth16::prove<C>(*backend, inputs);
          if (proof.ok()) continue;
          const std::lock_guard lock(mutex);
          failed = proof.error();
          // The others end with the proof that they are at.
          next = request.proofs;
        }
      });
    }
  }
  const double all_ms = ms_since(begin);
  if (failed) return *failed;
  Answer answer(fmt::format("{} proofs of 2^{} rows, each verified: {:.1f} ms a proof.",
                            request.proofs, inputs.key->domain_log2, all_ms / request.proofs));
  answer.add("curve", C::kName, "curve")
      .add("backend", backend_name, "backend")
      .add("domain_log2", inputs.key->domain_log2, "")
      .add("constraint_count", inputs.shape->own_row_count(), "constraints")
      .add("proofs", request.proofs, "")
      .add("workers", request.workers, "proofs at once")
      .add("ms_a_proof", all_ms / request.proofs, "")
      .add_as("first_ms", first.ms, "first proof, with what it loads",
              fmt::format("{:.1f} ms", first.ms))
      .add_bytes("peak_rss_bytes", peak_rss_bytes(), "peak memory");
  for (const auto& account : base::Ledger::process().snapshot().accounts) {
    const std::string name = account.account.name();
    answer.add_bytes("ledger_peak_bytes_" + name, account.use.peak_bytes, "ledger's peak, " + name);
  }
  add_ledger(first, answer);
  return answer;
}

}  // namespace

// A key of one's own, or a made-up circuit, whose key is made here: with the device's help where
// proofs are to be made there, as the sizes that are worth a device take the CPU long.
base::Result<Answer> measure_proofs(const MeasureProveRequest& request, Session& session) {
  if (request.zkey.empty() != request.witness.empty()) {
    return base::Error{base::ErrorKind::kInvalidArgument, "--zkey and --witness go together"};
  }
  if (request.zkey.empty()) {
    using C = curve::Bls12_381;
    session.stage("circuit and development key");
    const BitsAndSquares<C::Fr> circuit((std::size_t{1} << request.size_log2) - 2);
    CUZK_TRY(const auto waste, groth16::random_toxic_waste<C>());
    // On a device a key of 2^26 rows takes seconds.
    std::unique_ptr<groth16::GeneratorMultiplier<C>> multiplier;
    if (request.backend.backend == "cuda") {
      const auto& devices = request.backend.devices;
      CUZK_TRY(multiplier,
               cuda::setup::make_device_multiplier<C>(devices.empty() ? "0" : devices.front()));
    }
    CUZK_TRY(const auto key,
             groth16::setup<C>(*circuit.shape(), waste, groth16::QapConvention::kCoefficients, {},
                               multiplier.get()));
    multiplier.reset();
    return measure<C>(request, {key, circuit.shape(), circuit.assignment()}, session);
  }
  CUZK_TRY(const auto file, session.open_input(request.zkey));
  CUZK_TRY(const auto header, formats::read_zkey_header(file->bytes(), file->name()));
  return formats::with_curve(
      header.curve, [&]<class C>(std::type_identity<C>) -> base::Result<Answer> {
        CUZK_TRY(const auto loaded, formats::read_zkey<C>(file));
        CUZK_TRY(const auto assignment,
                 open_witness<C>(
                     request.witness,
                     {request.zkey.string(), loaded.header.wire_count, loaded.header.public_count},
                     session));
        return measure<C>(request, {loaded.key, loaded.shape, assignment}, session);
      });
}

}  // namespace cuzk::apps
