// Jobs for measurements of the engine, made on the spot: PoReps of a sealed development sector and
// circuits of chained squarings over both curves. Keys are made once and kept in a folder.
//
// A job follows from its kind and number alone, so that a run can be repeated, and a test in
// another process knows what job 17 was.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/jobs/job_kinds.h"
#include "base/progress.h"
#include "engine/job_type.h"
#include "filecoin/porep/vanilla_proof.h"
#include "filecoin/vanilla/seal.h"

namespace cuzk::apps {

// One job with what it takes to judge its result without the engine.
struct LoadJob {
  std::string kind, name;
  engine::SharedBytes input;
  std::function<base::Status(const base::Bytes& result)> check;
};

// A circuit of so many squarings: y = x^(2^n), y public.
struct SquaringCircuit {
  formats::CurveId curve = formats::CurveId::kBn254;
  unsigned constraint_log2 = 10;
  std::string name() const;
};

// Thread-safe once made.
class LoadMaterial {
 public:
  // Makes what is missing in `folder`. Errors: those of making and writing keys.
  static base::Result<std::unique_ptr<LoadMaterial>> make(
      const std::filesystem::path& folder, const std::vector<SquaringCircuit>& circuits,
      bool with_porep, base::ProgressSink& progress);

  const JobKinds& kinds() const { return kinds_; }
  const std::vector<SquaringCircuit>& circuits() const { return circuits_; }

  // A 2 KiB PoRep whose challenges follow from `index`; a proof of circuit `circuit` (an index into
  // circuits()) with a witness of its own.
  base::Result<LoadJob> porep(std::uint64_t index) const;
  base::Result<LoadJob> squaring(std::size_t circuit, std::uint64_t index) const;

 private:
  LoadMaterial() = default;

  std::filesystem::path folder_;
  std::vector<SquaringCircuit> circuits_;
  std::unique_ptr<const filecoin::SealedSector> sector_;
  JobKinds kinds_;
};

}  // namespace cuzk::apps
