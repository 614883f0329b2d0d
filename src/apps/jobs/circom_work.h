// One proof of a zkey's circuit as the engine's work.
//
// Apart from circom_jobs.h so that only its .cpp file and tests see the template: everybody else
// has the work as engine::JobWork, from circom_work().
// A job of one partition. Immutable after it was made, so all stages may run at once. It holds the
// bytes of the witness and its public values; the assignment lives from make_witness to the end of
// the proof alone. A proof that does not verify is blamed on the witness where the CPU made it: the
// key has no C matrix, so a witness can only be judged by its proof.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/jobs/circom_jobs.h"
#include "apps/jobs/proof_stages.h"
#include "formats/snarkjs/wtns.h"

namespace cuzk::apps {

template <class C>
class CircomWork final : public engine::JobWork {
 public:
  using Fr = typename C::Fr;

  CircomWork(std::shared_ptr<const ZkeyFacts> facts, std::shared_ptr<const void> owner,
             base::ByteSpan witness, std::string source, formats::WtnsFacts<Fr> checked);

  const std::vector<engine::PartitionPlan>& partitions() const override { return plans_; }
  const engine::KeySource& key() const override { return facts_->key; }
  std::uint64_t held_bytes() const override { return witness_.size(); }

  base::Result<std::unique_ptr<engine::Product>> make_witness(
      std::size_t partition, const engine::StageContext& context) override;
  base::Result<std::unique_ptr<engine::Product>> start(
      std::size_t partition, std::unique_ptr<engine::Product>& witness,
      const engine::StageContext& context) override;
  base::Result<base::Bytes> finish(std::size_t partition, std::unique_ptr<engine::Product> pending,
                                   const engine::StageContext& context) override;
  base::Status recheck(std::size_t partition, base::ByteSpan proof,
                       const engine::StageContext& context) override;
  base::Result<base::Bytes> assemble(std::span<const base::Bytes> proofs,
                                     const engine::StageContext& context) override;

 private:
  std::shared_ptr<const ZkeyFacts> facts_;
  std::shared_ptr<const void> owner_;
  base::ByteSpan witness_;
  std::string source_;
  std::vector<Fr> public_values_;  // without ONE
  std::vector<engine::PartitionPlan> plans_;
};

// What a witness for the key has to be.
formats::WtnsExpectation witness_expectation(const ZkeyFacts& facts);

extern template class CircomWork<curve::Bls12_381>;
extern template class CircomWork<curve::Bn254>;

}  // namespace cuzk::apps
