// Proofs at once with a key that is streamed: each is the CPU's to the byte, together they upload
// less than each for itself, and one that is cancelled or whose device is lost holds up nobody.
#include <atomic>
#include <barrier>
#include <thread>

#include "bench/cuda_prove/prove_suite.h"
#include "bench/cuda_prove/trap.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"

namespace cuzk::bench::cuda_prove {
namespace {

using ::cuzk::cuda::BackendOptions;
using ::cuzk::cuda::StreamedBytes;

StreamedBytes since(const StreamedBytes& before) {
  const StreamedBytes now = ::cuzk::cuda::streamed_bytes(0);
  return {now.uploaded_bytes - before.uploaded_bytes, now.shared_bytes - before.shared_bytes};
}

template <class C>
struct Shared {
  groth16::ProveInputs<C> inputs;
  groth16::Proof<C> expected;
  std::shared_ptr<groth16::Backend<C>> backend;
};

template <class C>
bool prepare(Report& report, const Options& options, std::size_t rows, Shared<C>& out) {
  namespace t = groth16::testing;
  const auto circuit = t::mixed<typename C::Fr>(rows, 3);
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
  BackendOptions how;
  how.device = options.device;
  how.known_answer_test = false;
  how.streamed_piece_points = rows < 1000 ? 128 : 512;
  const auto backend = ::cuzk::cuda::make_backend<C>(how);
  if (!report.expect_ok(backend, "backend")) return false;
  out.backend = *backend;
  return true;
}

template <class C>
void expect_proof(Report& report, const base::Result<groth16::Proof<C>>& proof,
                  const Shared<C>& shared, const char* what) {
  if (report.expect_ok(proof, what)) {
    report.expect(*proof == shared.expected, std::string(what) + ": other bytes");
  }
}

// `count` proofs by three threads, which begin together.
template <class C>
void prove_at_once(Report& report, const Shared<C>& shared, unsigned count) {
  constexpr int kThreads = 3;
  std::vector<base::Result<groth16::Proof<C>>> proofs(count, base::Error{});
  std::atomic<unsigned> next{0};
  std::barrier begin(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      for (unsigned i = next++; i < count; i = next++) {
        proofs[i] = raw_proof<C>(*shared.backend, shared.inputs);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& proof : proofs) expect_proof(report, proof, shared, "proofs that share uploads");
}

// Two threads prove while a third one's proofs are cancelled at all moments.
template <class C>
void cancel_some(Report& report, const Shared<C>& shared, unsigned count) {
  std::atomic<bool> is_over{false};
  unsigned cancelled_count = 0;
  std::thread cancelled([&] {
    for (int i = 0; !is_over; ++i) {
      std::stop_source stop;
      auto inputs = shared.inputs;
      inputs.control.cancel = stop.get_token();
      std::thread stopping([&stop, i] {
        std::this_thread::sleep_for(std::chrono::microseconds(200 * (i % 40)));
        stop.request_stop();
      });
      const auto proof = raw_proof<C>(*shared.backend, inputs);
      stopping.join();
      if (proof.ok()) {
        report.expect(*proof == shared.expected, "a proof cancelled too late: other bytes");
        continue;
      }
      ++cancelled_count;
      report.expect(proof.error().kind == base::ErrorKind::kCancelled, proof.error().message);
    }
  });
  std::vector<base::Result<groth16::Proof<C>>> proofs(count, base::Error{});
  std::thread other([&] {
    for (unsigned i = 0; i < count / 2; ++i) {
      proofs[i] = raw_proof<C>(*shared.backend, shared.inputs);
    }
  });
  for (unsigned i = count / 2; i < count; ++i) {
    proofs[i] = raw_proof<C>(*shared.backend, shared.inputs);
  }
  other.join();
  is_over = true;
  cancelled.join();
  report.expect(cancelled_count > 0, "no proof was cancelled");
  for (const auto& proof : proofs) {
    expect_proof(report, proof, shared, "proofs beside cancelled ones");
  }
}

template <class C>
void check_sharing(Report& report, const Options& options) {
  const std::size_t rows = options.tiny ? 300 : options.quick ? 700 : 20000;
  const unsigned count = options.tiny ? 4 : options.quick ? 6 : 24;
  Shared<C> shared;
  if (!prepare(report, options, rows, shared)) return;
  expect_proof(report, raw_proof<C>(*shared.backend, shared.inputs), shared, "one that streams");
  StreamedBytes before = ::cuzk::cuda::streamed_bytes(0);
  expect_proof(report, raw_proof<C>(*shared.backend, shared.inputs), shared, "one that streams");
  const StreamedBytes alone = since(before);
  report.expect(alone.uploaded_bytes > 0 && alone.shared_bytes == 0, "one alone shared something");
  before = ::cuzk::cuda::streamed_bytes(0);
  prove_at_once(report, shared, count);
  StreamedBytes all = since(before);
  // Proofs of a few hundred rows can miss one another under a checker.
  for (int more = 0; options.tiny && all.shared_bytes == 0 && more < 8; ++more) {
    before = ::cuzk::cuda::streamed_bytes(0);
    prove_at_once(report, shared, count);
    all = since(before);
  }
  report.expect(all.uploaded_bytes + all.shared_bytes == count * alone.uploaded_bytes,
                "proofs at once took other bytes than one after the other");
  report.expect(all.shared_bytes > 0, "proofs at once shared no upload");
  std::printf("%s, %zu rows streamed: %.2f MiB a proof alone, %.2f each of %u at once\n", C::kName,
              rows, double(alone.uploaded_bytes) / (1 << 20),
              double(all.uploaded_bytes) / count / (1 << 20), count);
  if (options.tiny) return;  // cancelling runs no other kernels, and takes minutes under racecheck
  cancel_some(report, shared, count);
  expect_proof(report, raw_proof<C>(*shared.backend, shared.inputs), shared, "one afterwards");
}

}  // namespace

void check_shared_uploads(Report& report, const Options& options) {
  if (options.device != "0") return;  // whose bytes are counted
  check_sharing<curve::Bls12_381>(report, options);
  if (!options.tiny) check_sharing<curve::Bn254>(report, options);
  report.section("proofs that share uploads");
}

void run_shared_fault(Report& report, const Options& options) {
  using C = curve::Bls12_381;
  Shared<C> shared;
  if (!prepare(report, options, 20000, shared)) return;
  const auto stream = ::cuzk::cuda::device::Stream::create();
  if (!report.expect_ok(stream, "stream")) return;
  std::atomic<unsigned> made{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (true) {
        const auto proof = raw_proof<C>(*shared.backend, shared.inputs);
        if (!proof.ok()) {
          report.expect(proof.error().kind == base::ErrorKind::kUnavailable,
                        "a lost device: " + proof.error().message);
          ++refused;
          return;
        }
        report.expect(*proof == shared.expected, "proof before the fault: other bytes");
        ++made;
      }
    });
  }
  while (made < 6) std::this_thread::yield();
  report.expect(!run_trap(*stream).ok(), "a trap loses the device");
  for (auto& thread : threads) thread.join();
  report.expect(refused == 3, "all proofs in flight end");
  report.section("a device is lost under shared uploads");
}

}  // namespace cuzk::bench::cuda_prove
