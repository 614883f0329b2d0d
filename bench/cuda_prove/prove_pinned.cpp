// Proofs on a machine that refuses pinned memory, altogether or above an amount: the same bytes as
// ever, a warning that is said once, a ledger that counts what was really had, and a device that
// nobody takes for lost.
#include <algorithm>
#include <array>
#include <thread>

#include "base/ledger.h"
#include "base/log.h"
#include "bench/cuda_prove/prove_suite.h"
#include "cuda/device/fault.h"
#include "cuda/prove/lane.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"

namespace cuzk::bench::cuda_prove {
namespace {

namespace device = ::cuzk::cuda::device;
namespace prove = ::cuzk::cuda::prove;
using ::cuzk::cuda::BackendOptions;

constexpr std::uint64_t kSlotsBytes = prove::kSlotCount * prove::kSlotBytes;

std::uint64_t counted_as_pinned() {
  for (const auto& use : base::Ledger::process().snapshot().accounts) {
    if (use.account == base::Account::pinned()) return use.use.used_bytes;
  }
  return 0;
}

// Takes warnings out of the log while it lives.
class Warnings {
 public:
  Warnings() {
    prove::forget_shortages();
    base::set_log_sink([this](base::LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    });
  }
  Warnings(const Warnings&) = delete;
  ~Warnings() { base::set_log_sink({}); }
  std::size_t count(std::string_view word) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
          return line.find("pinned (page-locked)") != std::string::npos &&
                 line.find(word) != std::string::npos;
        }));
  }
  std::string all() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& line : lines_) text += "\n  " + line;
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Refuses while it lives.
struct Refusal {
  explicit Refusal(std::optional<std::uint64_t> most_bytes) { device::limit_pinned(most_bytes); }
  Refusal(const Refusal&) = delete;
  ~Refusal() { device::limit_pinned(std::nullopt); }
};

// A proof that is asked for again and again, and its bytes.
template <class C>
struct Case {
  groth16::ProveInputs<C> inputs;
  groth16::Proof<C> expected;
};

template <class C>
bool prepare(Report& report, std::size_t rows, Case<C>& out) {
  namespace t = groth16::testing;
  const auto circuit = t::mixed<typename C::Fr>(rows, 9);
  out.inputs.shape = circuit.shape();
  out.inputs.assignment = circuit.assignment();
  const auto key = groth16::setup<C>(*out.inputs.shape, t::test_waste<C>(),
                                     groth16::QapConvention::kCoefficients);
  if (!report.expect_ok(key, "key")) return false;
  out.inputs.key = *key;
  const auto cpu = groth16::make_cpu_backend<C>();
  const auto proof = groth16::prove_with_blinding<C>(*cpu, out.inputs, fixed_blinding<C>());
  if (!report.expect_ok(proof, "proof on the CPU")) return false;
  out.expected = *proof;
  return true;
}

// How much may be pinned, and what then must be so.
struct Limit {
  std::string name;
  std::optional<std::uint64_t> most_bytes;
  bool is_short_of_staging = true, is_short_of_keys = true;
};

// Two proofs after each other, then three at once, of one backend.
template <class C>
void check_one(Report& report, const Options& options, const Case<C>& known, const Limit& limit,
               bool is_streamed) {
  const std::string what = std::string(C::kName) + ", " + limit.name +
                           (is_streamed ? ", key streamed" : ", key resident");
  const std::uint64_t before = device::pinned_bytes();
  BackendOptions how;
  how.device = options.device;
  how.known_answer_test = false;
  how.streamed_piece_points = is_streamed ? 512 : 0;
  Warnings warnings;
  {
    const Refusal refusal(limit.most_bytes ? std::optional(before + *limit.most_bytes)
                                           : std::nullopt);
    const auto backend = ::cuzk::cuda::make_backend<C>(how);
    if (!report.expect_ok(backend, what)) return;
    std::array<base::Result<groth16::Proof<C>>, 5> proofs = {
        base::Error{}, base::Error{}, base::Error{}, base::Error{}, base::Error{}};
    const auto prove_one = [&](std::size_t i) {
      proofs[i] = raw_proof<C>(**backend, known.inputs);
    };
    prove_one(0);
    prove_one(1);
    std::vector<std::thread> threads;
    for (std::size_t i = 2; i < proofs.size(); ++i) threads.emplace_back(prove_one, i);
    for (auto& thread : threads) thread.join();
    for (const auto& proof : proofs) {
      if (report.expect_ok(proof, what)) report.expect(*proof == known.expected, what + ": bytes");
    }
    const std::uint64_t had = device::pinned_bytes() - before;
    report.expect(!limit.most_bytes || had <= *limit.most_bytes, what + ": more was pinned");
    report.expect(counted_as_pinned() == device::pinned_bytes(),
                  what + ": the ledger counts " + std::to_string(counted_as_pinned()) +
                      " pinned bytes of " + std::to_string(device::pinned_bytes()));
  }
  const bool says_key = is_streamed && limit.is_short_of_keys;
  report.expect(warnings.count("staging of") + warnings.count("answers of") ==
                    (limit.is_short_of_staging ? 1u : 0u),
                what + ": warnings of staging:" + warnings.all());
  report.expect(warnings.count("query") == (says_key ? 1u : 0u),
                what + ": warnings of the key:" + warnings.all());
  report.expect(device::pinned_bytes() == before, what + ": pinned memory was left behind");
}

// Nothing, a little and all, each with a key that is resident and with one that is streamed.
template <class C>
void check_limits(Report& report, const Options& options, std::size_t rows) {
  Case<C> known;
  if (!prepare(report, rows, known)) return;
  const std::uint64_t mib = std::uint64_t{1} << 20;
  std::vector<Limit> limits = {{"nothing pinned", 0},
                               {"little pinned", mib + prove::kResultBytes},
                               {"all pinned", std::nullopt, false, false}};
  if (options.tiny) limits.resize(1);
  for (const Limit& limit : limits) {
    for (const bool is_streamed : {false, true}) {
      check_one(report, options, known, limit, is_streamed);
    }
  }
}

// A witness that passes through a pinned block which holds a part of it, then through none.
void check_witness_in_pieces(Report& report, const Options& options) {
  using C = curve::Bls12_381;
  Case<C> known;
  if (!prepare(report, 80'000, known)) return;  // 0.7 MiB of scalars and bits
  const std::uint64_t before = device::pinned_bytes();
  BackendOptions how;
  how.device = options.device;
  how.known_answer_test = false;
  how.lanes = 1;
  for (const std::uint64_t witness_bytes : {std::uint64_t{400} << 10, std::uint64_t{0}}) {
    const std::string what = "a witness through " + std::to_string(witness_bytes) + " pinned bytes";
    Warnings warnings;
    const Refusal refusal(before + kSlotsBytes + prove::kResultBytes + witness_bytes);
    const auto backend = ::cuzk::cuda::make_backend<C>(how);
    if (!report.expect_ok(backend, what)) return;
    for (int i = 0; i < 2; ++i) {
      const auto proof = raw_proof<C>(**backend, known.inputs);
      if (report.expect_ok(proof, what)) report.expect(*proof == known.expected, what + ": bytes");
    }
    report.expect(warnings.count("staging of witnesses") == 1, what + warnings.all());
    const std::uint64_t had = device::pinned_bytes() - before - kSlotsBytes - prove::kResultBytes;
    report.expect(witness_bytes == 0 ? had == 0 : had >= prove::kPinnedLeastBytes,
                  what + ": " + std::to_string(had) + " were had");
  }
}

}  // namespace

void check_pinned_faults(Report& report, const Options& options) {
  const std::size_t rows = options.tiny ? 300 : options.quick ? 700 : 20'000;
  check_limits<curve::Bls12_381>(report, options, rows);
  if (!options.tiny) check_limits<curve::Bn254>(report, options, 700);
  if (!options.quick) check_witness_in_pieces(report, options);
  report.section("pinned memory that is refused");
}

}  // namespace cuzk::bench::cuda_prove
