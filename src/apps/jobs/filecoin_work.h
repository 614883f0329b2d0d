// A Filecoin proof of any kind as the engine's work: what the kinds share once their bytes are
// read. A kind adds its assignment and its public inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/jobs/filecoin_keys.h"
#include "engine/job_type.h"
#include "groth16/keys.h"

namespace cuzk::apps {

// Immutable after it was made, so that stages of all partitions may run at once. The rule of all
// kinds: public values are computed twice, once by the witness from the vanilla proofs and once
// from the claim as a verifier does, and must agree before anything is proved.
class FilecoinWork : public engine::JobWork {
 public:
  using Fr = filecoin::Fr;

  const std::vector<engine::PartitionPlan>& partitions() const override { return plans_; }
  const engine::KeySource& key() const override { return circuit_->key; }
  std::uint64_t held_bytes() const override { return held_bytes_; }

  base::Result<std::unique_ptr<engine::Product>> make_witness(
      std::size_t partition, const engine::StageContext& context) override;
  base::Result<std::unique_ptr<engine::Product>> start(
      std::size_t partition, std::unique_ptr<engine::Product>& witness,
      const engine::StageContext& context) override;
  // 192 bytes.
  base::Result<base::Bytes> finish(std::size_t partition, std::unique_ptr<engine::Product> pending,
                                   const engine::StageContext& context) override;
  base::Status recheck(std::size_t partition, base::ByteSpan proof,
                       const engine::StageContext& context) override;
  // 192 bytes a partition, in order.
  base::Result<base::Bytes> assemble(std::span<const base::Bytes> proofs,
                                     const engine::StageContext& context) override;

 protected:
  FilecoinWork(std::shared_ptr<const FilecoinCircuit> circuit, std::size_t partition_count,
               std::uint64_t held_bytes);
  const filecoin::SectorShape& sector() const { return *circuit_->shape; }

 private:
  // Both run in several threads at once, for partitions below partitions().size().
  // Values of all variables of a partition.
  virtual r1cs::Assignment<Fr> assignment(unsigned partition) const = 0;
  // Derived from the claim as a verifier derives them, without ONE.
  virtual base::Result<std::vector<Fr>> public_inputs(unsigned partition) const = 0;

  std::shared_ptr<const FilecoinCircuit> circuit_;
  std::vector<engine::PartitionPlan> plans_;
  std::uint64_t held_bytes_;
};

// What a Merkle proof holds on the heap.
std::uint64_t heap_bytes(const filecoin::MerkleProof& proof);

}  // namespace cuzk::apps
