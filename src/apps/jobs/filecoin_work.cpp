// The stages of a Filecoin partition; each result is verified with inputs that follow from the
// claim alone.
#include "apps/jobs/filecoin_work.h"

#include <algorithm>

#include <fmt/format.h>

#include "apps/jobs/proof_stages.h"
#include "base/scratch.h"
#include "groth16/proof_bytes.h"
#include "groth16/verify.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using engine::Product;
using engine::StageContext;
using Bls = curve::Bls12_381;

// For errors: partitions are counted from 0, as the network's tools do.
std::string partition_name(std::size_t partition, std::size_t count) {
  return fmt::format("partition {} of {}", partition, count);
}

}  // namespace

FilecoinWork::FilecoinWork(std::shared_ptr<const FilecoinCircuit> circuit,
                           std::size_t partition_count, std::uint64_t held_bytes)
    : circuit_(std::move(circuit)),
      plans_(partition_count, circuit_->plan),
      held_bytes_(held_bytes) {
  CUZK_ASSERT(partition_count > 0 && plans_.size() == partition_count);
  for (std::size_t i = 0; i < partition_count; ++i) {
    plans_[i].index = static_cast<std::uint32_t>(i);
  }
}

base::Result<std::unique_ptr<Product>> FilecoinWork::make_witness(std::size_t partition,
                                                                  const StageContext& context) {
  CUZK_ASSERT(partition < plans_.size());
  const std::string name = partition_name(partition, plans_.size());
  CUZK_TRY_STATUS(context.control.check(name));
  CUZK_TRY(const std::vector<Fr> derived, public_inputs(static_cast<unsigned>(partition)));
  // The inputs that a verifier will derive come first: cheap, and all that can be wrong with the
  // claim is told before gigabytes are allocated. A witness that finds no memory is an error of
  // this job and no end of the process.
  using Made = base::Result<std::shared_ptr<const r1cs::Assignment<Fr>>>;
  CUZK_TRY(const auto values, base::catch_out_of_memory("a witness", [&]() -> Made {
             return std::make_shared<const r1cs::Assignment<Fr>>(
                 assignment(static_cast<unsigned>(partition)));
           }));
  CUZK_ASSERT(!values->inputs.empty());  // ONE
  const auto stated = std::span(values->inputs).subspan(1);
  if (!std::equal(stated.begin(), stated.end(), derived.begin(), derived.end())) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("{}: the vanilla proofs do not open the challenges that follow from "
                             "the claim",
                             name)};
  }
  return std::unique_ptr<Product>(std::make_unique<WitnessProduct<Bls>>(values));
}

base::Result<std::unique_ptr<Product>> FilecoinWork::start(std::size_t /*partition*/,
                                                           std::unique_ptr<Product>& witness,
                                                           const StageContext& context) {
  return start_proof<Bls>(witness, context);
}

base::Result<base::Bytes> FilecoinWork::finish(std::size_t partition,
                                               std::unique_ptr<Product> pending,
                                               const StageContext& context) {
  // Vanilla proofs were verified when the job was read, so a proof that does not verify speaks
  // against the device.
  CUZK_TRY(const auto finished, finish_proof<Bls>(std::move(pending), context, WrongProof::kDevice,
                                                  partition_name(partition, plans_.size())));
  const auto bytes = groth16::encode_proof(finished.proof);
  return base::Bytes(bytes.begin(), bytes.end());
}

base::Status FilecoinWork::recheck(std::size_t partition, base::ByteSpan proof,
                                   const StageContext& context) {
  CUZK_ASSERT(partition < plans_.size());
  const std::string name = partition_name(partition, plans_.size());
  // Bytes of an earlier run, read from a journal: nothing about them is taken for granted.
  CUZK_TRY(const auto decoded, groth16::decode_proof(proof, name));
  CUZK_TRY(const std::vector<Fr> inputs, public_inputs(static_cast<unsigned>(partition)));
  CUZK_TRY(const bool valid, groth16::verify<Bls>(key_of<Bls>(context).key->vk, inputs, decoded));
  if (valid) return base::ok_status();
  return Error{ErrorKind::kVerificationFailed, fmt::format("{}: its proof does not verify", name)};
}

base::Result<base::Bytes> FilecoinWork::assemble(std::span<const base::Bytes> proofs,
                                                 const StageContext& context) {
  CUZK_ASSERT(proofs.size() == plans_.size());
  std::vector<groth16::Proof<Bls>> decoded;
  std::vector<std::vector<Fr>> inputs;
  base::Bytes out;
  for (std::size_t i = 0; i < proofs.size(); ++i) {
    CUZK_TRY(auto proof, groth16::decode_proof(proofs[i], partition_name(i, proofs.size())));
    CUZK_TRY(auto derived, public_inputs(static_cast<unsigned>(i)));
    decoded.push_back(proof);
    inputs.push_back(std::move(derived));
    out.insert(out.end(), proofs[i].begin(), proofs[i].end());
  }
  // One pairing product for all. Which proof is wrong is looked for only when the whole does not
  // hold.
  CUZK_ASSERT(out.size() == proofs.size() * groth16::kProofBytes);
  CUZK_TRY(const bool valid,
           groth16::verify_batch<Bls>(key_of<Bls>(context).key->vk, inputs, decoded));
  if (valid) return out;
  for (std::size_t i = 0; i < proofs.size(); ++i) CUZK_TRY_STATUS(recheck(i, proofs[i], context));
  return Error{ErrorKind::kVerificationFailed,
               "the proofs of all partitions verify one by one but not together"};
}

std::uint64_t heap_bytes(const filecoin::MerkleProof& proof) {
  constexpr std::uint64_t kBlockBytes = 16;  // what an allocator keeps of each allocation
  std::uint64_t bytes = proof.path.capacity() * sizeof(filecoin::PathElement) + kBlockBytes;
  for (const filecoin::PathElement& element : proof.path) {
    bytes += element.hashes.capacity() * sizeof(filecoin::Node) + kBlockBytes;
  }
  return bytes;
}

}  // namespace cuzk::apps
