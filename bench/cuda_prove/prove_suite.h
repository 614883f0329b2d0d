// Whole proofs on devices, beside the CPU's: byte equality, memory limits, times, several devices.
//
// Reads real keys, circuits and witnesses, so unlike bench/cuda it needs the whole library; built
// by CMake as cuda_prove_suite.
#pragma once

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/backend.h"
#include "groth16/prove.h"

namespace cuzk::bench::cuda_prove {

// What the command line asks for (prove_main.cpp).
struct Options {
  bool checks = false, times = false, limits = false, devices = false, fault = false,
       shared_fault = false, shared = false, pinned_fault = false, tables = false, vectors = false,
       tight = false;
  bool quick = false;            // small circuits only: for runs under a memory checker
  bool tiny = false;             // one of them: for runs under a race checker
  std::size_t full_log2 = 0;     // rows of a synthetic circuit; 0: none
  std::uint64_t vram_bytes = 0;  // most device memory of its proofs; 0: what there is
  std::string device = "0";
  std::vector<std::filesystem::path> data;  // folders searched for circom and mimc cases
  std::filesystem::path c1;                 // a commit-phase-1 output of a 2 KiB sector
  unsigned proofs = 16;
};

// Counts failures and prints each. Thread-safe.
class Report {
 public:
  bool expect(bool holds, const std::string& what) {
    const std::lock_guard lock(mutex_);
    ++check_count_;
    if (!holds) {
      ++failure_count_;
      std::printf("FAILED %s\n", what.c_str());
      std::fflush(stdout);
    }
    return holds;
  }
  template <class Result>
  bool expect_ok(const Result& result, const std::string& what) {
    return expect(result.ok(), what + (result.ok() ? "" : ": " + result.error().message));
  }
  void section(const std::string& name) const {
    std::printf("%s: %d checks so far, %d failed\n", name.c_str(), check_count_, failure_count_);
    std::fflush(stdout);
  }
  int failure_count() const { return failure_count_; }

 private:
  std::mutex mutex_;
  int check_count_ = 0, failure_count_ = 0;
};

// Milliseconds on the host's clock since it was made.
class Clock {
 public:
  double ms() const;

 private:
  double begin_ms_ = now_ms();
  static double now_ms();
};

// Blinding that tests fix.
template <class C>
groth16::Blinding<C> fixed_blinding() {
  return {C::Fr::from_u64(0x123456789abcdef) * C::Fr::generator(),
          C::Fr::from_u64(0xfedcba987654321) * C::Fr::generator()};
}

// start and finish, without verification.
template <class C>
base::Result<groth16::Proof<C>> raw_proof(groth16::Backend<C>& backend,
                                          const groth16::ProveInputs<C>& inputs) {
  CUZK_TRY(const auto pending, backend.start(inputs, fixed_blinding<C>()));
  return pending->finish();
}

// Small and degenerate circuits on both curves in both conventions; circom and mimc files.
void check_circuits(Report& report, const Options& options);
// The robustness cases that a device can meet, numbered as in docs/robustness.md.
void check_robustness(Report& report, const Options& options);
// Proofs at once with a key that is streamed.
void check_shared_uploads(Report& report, const Options& options);
// When tables of multiples are made, and who gets their memory.
void check_tables(Report& report, const Options& options);
// Proofs whose vectors of all rows lie on the host.
void check_vectors(Report& report, const Options& options);
// Proofs while pinned memory is refused.
void check_pinned_faults(Report& report, const Options& options);
// The PoRep of a 2 KiB sector, with a development key made here.
void run_porep(Report& report, const Options& options);

// A proof of a synthetic circuit of 2^full_log2 rows.
void run_full(Report& report, const Options& options);
// Break the device; nothing can follow. The second while proofs share uploads.
void run_fault(Report& report, const Options& options);
void run_shared_fault(Report& report, const Options& options);

}  // namespace cuzk::bench::cuda_prove
