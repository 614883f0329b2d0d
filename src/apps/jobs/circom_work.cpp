// Facts of a zkey, and the stages of a proof with it.
//
// Hides from the engine which curve the file is over. Plans are made from the lengths of the key's
// queries alone, kept without the points, so that planning touches no page of the key; a plan is a
// function of how many scalars the witness has, since bits cost next to nothing.
#include "apps/jobs/circom_work.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/jobs/circuit_counts.h"
#include "apps/jobs/filecoin_keys.h"
#include "base/scratch.h"
#include "formats/snarkjs/documents.h"
#include "formats/with_curve.h"
#include "groth16/memory.h"
#include "groth16/verify.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using engine::Product;
using engine::StageContext;

// Capacity, not size: what the allocator gave is what the process holds.
template <class T>
std::uint64_t vector_bytes(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

// What the matrices of a loaded shape hold on the heap.
template <class F>
std::uint64_t shape_bytes(const r1cs::Shape<F>& shape) {
  std::uint64_t bytes = vector_bytes(shape.coefficients);
  for (const r1cs::SparseMatrix* matrix : {&shape.a, &shape.b, &shape.c}) {
    bytes += vector_bytes(matrix->terms) + vector_bytes(matrix->row_begin);
  }
  return bytes;
}

// The lengths of a key's queries without its points: sources over no memory, which plan_memory()
// asks for sizes and layouts and never for a point. Keeping the key instead would keep its mapping.
template <class C>
std::shared_ptr<const groth16::ProvingKey<C>> lengths_of(const groth16::ProvingKey<C>& key) {
  const auto empty = []<class G>(const msm::PointSource<G>& points) {
    return msm::PointSource<G>(nullptr, points.size(), points.layout());
  };
  auto out = std::make_shared<groth16::ProvingKey<C>>();
  // Of the verifying key a plan needs how many inputs there are, nothing else.
  out->vk.ic.resize(key.vk.ic.size());
  out->convention = key.convention;
  out->domain_log2 = key.domain_log2;
  out->has_dense_queries = key.has_dense_queries;
  out->h = empty(key.h);
  out->l = empty(key.l);
  out->a = empty(key.a);
  out->b_g1 = empty(key.b_g1);
  out->b_g2 = empty(key.b_g2);
  return out;
}

template <class C>
engine::PartitionPlan plan_of(const groth16::ProvingKey<C>& lengths, std::uint64_t scalar_count) {
  groth16::WitnessCounts counts;
  counts.input_count = lengths.vk.ic.size();
  counts.aux_count = lengths.l.size();
  counts.scalar_count = counts.input_count + scalar_count;
  counts.b_scalar_count = std::min<std::uint64_t>(counts.scalar_count, lengths.b_g2.size());
  // The reader counts before it allocates: nothing is held twice.
  constexpr std::uint64_t kHeapBytes = 64 << 10;
  CUZK_ASSERT(counts.input_count > 0);  // ONE at least
  CUZK_ASSERT(counts.b_scalar_count <= counts.scalar_count);
  return partition_plan(
      groth16::plan_memory(lengths, counts),
      assignment_bytes(counts.input_count, counts.aux_count, scalar_count) + kHeapBytes);
}

template <class C>
base::Result<std::shared_ptr<const engine::LoadedKey>> load_key(const std::filesystem::path& path,
                                                                formats::KeyCheck query_check,
                                                                std::uint64_t planned_bytes,
                                                                base::ProgressSink* progress) {
  // `planned_bytes` is what the engine has charged for this key; 0: nothing yet, the call is to
  // find out. A file that grew since would take what no ledger knows of, so it is refused.
  formats::KeyCheckOptions checks;
  checks.queries = query_check;
  checks.progress = progress;
  CUZK_TRY(auto file, base::MappedFile::open(path));
  const std::uint64_t file_bytes = file->size_bytes();
  CUZK_TRY(auto loaded, formats::read_zkey<C>(std::move(file), checks));
  CUZK_ASSERT(loaded.key != nullptr && loaded.shape != nullptr);
  const std::uint64_t bytes = file_bytes + shape_bytes(*loaded.shape);
  if (planned_bytes != 0 && bytes > planned_bytes) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("{}: the file changed since the job was accepted and takes {} bytes "
                             "now, planned were {}",
                             path.string(), bytes, planned_bytes)};
  }
  return std::shared_ptr<const engine::LoadedKey>(std::make_shared<const CircuitKey<C>>(
      std::move(loaded.key), std::move(loaded.shape), bytes, std::move(loaded.warnings)));
}

template <class C>
base::Result<std::shared_ptr<const ZkeyFacts>> facts_over(const std::filesystem::path& path,
                                                          std::string key_name,
                                                          formats::KeyCheck query_check,
                                                          formats::ZkeyHeader header) {
  // Loaded for its counts. The points are not checked here: each load of a job does that.
  CUZK_TRY(const auto loaded, load_key<C>(path, formats::KeyCheck::kNone, 0, nullptr));
  auto facts = std::make_shared<ZkeyFacts>();
  facts->header = std::move(header);
  const auto lengths = lengths_of(*static_cast<const CircuitKey<C>&>(*loaded).key);
  facts->plan = [lengths](std::uint64_t scalars) { return plan_of(*lengths, scalars); };
  // The closures own copies of all they need: a key source outlives the register it came from.
  facts->key.name = std::move(key_name);
  facts->key.bytes = loaded->byte_count();
  facts->key.identity = [path] { return file_identity(path); };
  facts->key.load = [path, query_check, bytes = facts->key.bytes](const groth16::Control& control) {
    return load_key<C>(path, query_check, bytes, control.progress);
  };
  return std::shared_ptr<const ZkeyFacts>(std::move(facts));
}

// A partition's proof and the result are the same document: a circom job has one partition, so
// there is nothing to join, and a proof kept from an earlier run is read back by the same code.
template <class C>
struct Documents {
  groth16::Proof<C> proof;
  std::vector<typename C::Fr> public_values;

  base::Bytes encode() const {
    const std::string text =
        fmt::format("{{\"proof\": {}, \"public\": {}}}\n", formats::encode_proof_json<C>(proof),
                    formats::encode_public_values<C>(public_values));
    return base::Bytes(text.begin(), text.end());
  }
  static base::Result<Documents> parse(base::ByteSpan bytes) {
    CUZK_TRY(const CircomResult texts, split_circom_result(bytes));
    const auto span = [](const std::string& text) {
      return base::ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    };
    Documents out;
    CUZK_TRY(out.proof, formats::parse_proof<C>(span(texts.proof_json), "proof"));
    CUZK_TRY(out.public_values,
             formats::parse_public_values<C>(span(texts.public_json), "public values"));
    return out;
  }
};

}  // namespace

formats::WtnsExpectation witness_expectation(const ZkeyFacts& facts) {
  return {facts.key.name, facts.header.wire_count, facts.header.public_count};
}

base::Result<std::shared_ptr<const ZkeyFacts>> read_zkey_facts(const std::filesystem::path& zkey,
                                                               std::string key_name,
                                                               formats::KeyCheck query_check) {
  CUZK_TRY(const auto file, base::MappedFile::open(zkey));
  CUZK_TRY(auto header, formats::read_zkey_header(file->bytes(), file->name()));
  return formats::with_curve(header.curve, [&]<class C>(std::type_identity<C>) {
    return facts_over<C>(zkey, std::move(key_name), query_check, std::move(header));
  });
}

base::Result<std::unique_ptr<engine::JobWork>> circom_work(std::shared_ptr<const ZkeyFacts> facts,
                                                           std::shared_ptr<const void> owner,
                                                           base::ByteSpan witness,
                                                           std::string source) {
  using Work = base::Result<std::unique_ptr<engine::JobWork>>;
  return formats::with_curve(facts->header.curve, [&]<class C>(std::type_identity<C>) -> Work {
    // Every value is looked at here, while the submitter waits, and again when the witness is made:
    // values kept in between would be a second copy of all that a queued job holds.
    CUZK_TRY(auto checked, formats::check_wtns<C>(witness, source, witness_expectation(*facts)));
    CUZK_ASSERT(checked.inputs.size() == std::size_t{facts->header.public_count} + 1);
    return std::unique_ptr<engine::JobWork>(std::make_unique<CircomWork<C>>(
        std::move(facts), std::move(owner), witness, std::move(source), std::move(checked)));
  });
}

template <class C>
CircomWork<C>::CircomWork(std::shared_ptr<const ZkeyFacts> facts, std::shared_ptr<const void> owner,
                          base::ByteSpan witness, std::string source,
                          formats::WtnsFacts<Fr> checked)
    : facts_(std::move(facts)),
      owner_(std::move(owner)),
      witness_(witness),
      source_(std::move(source)),
      public_values_(checked.inputs.begin() + 1, checked.inputs.end()),
      plans_{facts_->plan(checked.aux_scalar_count)} {}

template <class C>
base::Result<std::unique_ptr<Product>> CircomWork<C>::make_witness(std::size_t /*partition*/,
                                                                   const StageContext& context) {
  CUZK_TRY_STATUS(context.control.check("the witness"));
  using Made = base::Result<std::shared_ptr<const r1cs::Assignment<Fr>>>;
  CUZK_TRY(auto values, base::catch_out_of_memory("a witness", [&]() -> Made {
             return formats::read_wtns<C>(witness_, source_, witness_expectation(*facts_));
           }));
  return std::unique_ptr<Product>(std::make_unique<WitnessProduct<C>>(std::move(values)));
}

template <class C>
base::Result<std::unique_ptr<Product>> CircomWork<C>::start(std::size_t /*partition*/,
                                                            std::unique_ptr<Product>& witness,
                                                            const StageContext& context) {
  return start_proof<C>(witness, context);
}

template <class C>
base::Result<base::Bytes> CircomWork<C>::finish(std::size_t /*partition*/,
                                                std::unique_ptr<Product> pending,
                                                const StageContext& context) {
  CUZK_TRY(auto finished,
           finish_proof<C>(std::move(pending), context, WrongProof::kWitness, facts_->key.name));
  return Documents<C>{finished.proof, std::move(finished.public_inputs)}.encode();
}

template <class C>
base::Status CircomWork<C>::recheck(std::size_t /*partition*/, base::ByteSpan proof,
                                    const StageContext& context) {
  CUZK_TRY(const auto documents, Documents<C>::parse(proof));
  if (documents.public_values != public_values_) {
    return Error{ErrorKind::kMismatch, "the proof is about other public values than the witness"};
  }
  CUZK_TRY(const bool valid,
           groth16::verify<C>(key_of<C>(context).key->vk, public_values_, documents.proof));
  if (valid) return base::ok_status();
  return Error{ErrorKind::kVerificationFailed, "the proof does not verify"};
}

template <class C>
base::Result<base::Bytes> CircomWork<C>::assemble(std::span<const base::Bytes> proofs,
                                                  const StageContext& context) {
  CUZK_ASSERT(proofs.size() == 1);
  CUZK_TRY_STATUS(recheck(0, proofs[0], context));
  return proofs[0];
}

template class CircomWork<curve::Bls12_381>;
template class CircomWork<curve::Bn254>;

}  // namespace cuzk::apps
