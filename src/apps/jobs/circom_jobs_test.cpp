// Jobs of registered circuits: both curves, both forms of a witness, bad witnesses, changed keys.
//
// Keys and witnesses are circom's and snarkjs's own. Stages are run by hand where a test looks at
// what each takes, and by run_alone() elsewhere.
#include "apps/jobs/circom_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/jobs/circom_work.h"
#include "apps/jobs/heap_watch_test_support.h"
#include "apps/jobs/jobs_test_support.h"
#include "base/ledger.h"
#include "formats/snarkjs/documents.h"
#include "groth16/verify.h"
#include "tests/support/data.h"
#include "tests/support/temporary_folder.h"

namespace cuzk::apps {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using ::testing::HasSubstr;

struct Circuits {
  JobKinds kinds;
  base::Bytes witness;

  explicit Circuits(const fs::path& folder)
      : kinds(make_job_kinds({{}, {{"mul", folder / "circuit_final.zkey"}}}).value()),
        witness(testing::read_bytes(folder / "witness.wtns")) {}
  static InputFields fields() { return {{"circuit", std::string("mul")}}; }
};

template <class C>
void expect_valid(const base::Bytes& result, const fs::path& folder) {
  const auto documents = split_circom_result(result);
  ASSERT_TRUE(documents.ok());
  const auto span = [](const std::string& text) {
    return base::ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  const auto key = formats::parse_verification_key<C>(
      testing::read_bytes(folder / "verification_key.json"), "key");
  const auto proof = formats::parse_proof<C>(span(documents->proof_json), "proof");
  const auto values = formats::parse_public_values<C>(span(documents->public_json), "values");
  const auto upstream = formats::parse_public_values<C>(testing::read_bytes(folder / "public.json"),
                                                        "snarkjs's values");
  ASSERT_TRUE(key.ok() && proof.ok() && values.ok() && upstream.ok());
  EXPECT_EQ(*values, *upstream);
  EXPECT_TRUE(groth16::verify<C>(*key, *values, *proof).value());
  EXPECT_EQ(formats::encode_proof_json<C>(*proof), documents->proof_json);
}

template <class C>
void prove_both_forms(const std::string& name) {
  CUZK_DATA_OR_SKIP(folder, "circom/" + name);
  const Circuits circuits(folder);
  const auto assignment = formats::read_wtns<C>(
      circuits.witness, "w", witness_expectation(*circuits.kinds.circom->facts("mul").value()));
  ASSERT_TRUE(assignment.ok());
  std::vector<typename C::Fr> all = (*assignment)->inputs;
  for (std::size_t i = 0; i < (*assignment)->aux.size(); ++i) {
    all.push_back((*assignment)->aux.value(i));
  }
  const std::string json = "\n" + formats::encode_public_values<C>(all);
  const engine::ProvingDevice device = make_cpu_device();
  for (const base::Bytes& witness : {circuits.witness, base::Bytes(json.begin(), json.end())}) {
    const auto work = read_job(circuits.kinds, "circom", job_input(Circuits::fields(), {witness}));
    ASSERT_NE(work, nullptr);
    const auto alone = run_alone(*work, {&device, {}, {}});
    ASSERT_TRUE(alone.ok()) << alone.error().message;
    expect_valid<C>(alone->result, folder);
  }
}

TEST(CircomJob, ProvesOverBn254) { prove_both_forms<curve::Bn254>("mul1000-bn128"); }
TEST(CircomJob, ProvesOverBls12381) { prove_both_forms<curve::Bls12_381>("mul1000-bls12381"); }

TEST(CircomJob, StaysWithinItsPlan) {
  CUZK_DATA_OR_SKIP(folder, "circom/unirep-epochKeyLite");
  const Circuits circuits(folder);
  const auto work =
      read_job(circuits.kinds, "circom", job_input(Circuits::fields(), {circuits.witness}));
  ASSERT_NE(work, nullptr);
  const engine::PartitionPlan& plan = work->partitions().at(0);
  HeapWatch key_heap;
  const auto key = work->key().load({});
  ASSERT_TRUE(key.ok());
  EXPECT_LE(key_heap.held_bytes(), work->key().bytes);
  const engine::ProvingDevice device = make_cpu_device();
  const engine::StageContext context{*key, &device, {}};
  base::Ledger& ledger = base::Ledger::process();
  const std::uint64_t before = ledger.snapshot().total.used_bytes;
  HeapWatch witness_heap;
  auto witness = work->make_witness(0, context);
  ASSERT_TRUE(witness.ok());
  EXPECT_LE(witness_heap.peak_bytes(), plan.witness_bytes);
  ledger.reset_peaks();
  HeapWatch device_heap;
  auto pending = work->start(0, *witness, context);
  ASSERT_TRUE(pending.ok());
  EXPECT_LE(ledger.snapshot().total.peak_bytes - before + device_heap.peak_bytes(),
            plan.device_bytes);
  ledger.reset_peaks();
  HeapWatch finish_heap;
  ASSERT_TRUE(work->finish(0, std::move(*pending), context).ok());
  EXPECT_LE(ledger.snapshot().total.peak_bytes - before + finish_heap.peak_bytes(),
            plan.pending_bytes);
}

TEST(CircomJob, RechecksAgainstItsOwnWitness) {
  CUZK_DATA_OR_SKIP(folder, "circom/mul1000-bn128");
  const Circuits circuits(folder);
  const auto work =
      read_job(circuits.kinds, "circom", job_input(Circuits::fields(), {circuits.witness}));
  ASSERT_NE(work, nullptr);
  const engine::ProvingDevice device = make_cpu_device();
  const auto alone = run_alone(*work, {&device, {}, {}});
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  const engine::StageContext context{alone->key, &device, {}};
  EXPECT_TRUE(work->recheck(0, alone->result, context).ok());
  auto document = nlohmann::ordered_json::parse(alone->result);
  document["public"][0] = "7";
  const std::string other = document.dump();
  const auto status = work->recheck(
      0, {reinterpret_cast<const std::uint8_t*>(other.data()), other.size()}, context);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kMismatch);
  EXPECT_FALSE(work->recheck(0, base::Bytes{'{', '}'}, context).ok());
}

// A witness that breaks a constraint: found by the self-check, blamed on the witness.
TEST(CircomJob, GivesNoProofOfABadWitness) {
  CUZK_DATA_OR_SKIP(folder, "circom/mul1000-bn128");
  const Circuits circuits(folder);
  base::Bytes witness = circuits.witness;
  witness[witness.size() - 32] ^= 1;
  const auto work = read_job(circuits.kinds, "circom", job_input(Circuits::fields(), {witness}));
  ASSERT_NE(work, nullptr);
  const engine::ProvingDevice device = make_cpu_device();
  const auto alone = run_alone(*work, {&device, {}, {}});
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().kind, ErrorKind::kUnsatisfied);
  EXPECT_THAT(alone.error().message, HasSubstr("circom:mul"));
  engine::ProvingDevice card = make_cpu_device();  // the same on a card, which may be the cause
  card.identifier = "card";
  const auto elsewhere = run_alone(*work, {&card, {}, {}});
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_EQ(elsewhere.error().kind, ErrorKind::kVerificationFailed);
}

TEST(CircomJob, NamesWhatItRefuses) {
  CUZK_DATA_OR_SKIP(folder, "circom/mul1000-bn128");
  const Circuits circuits(folder);
  const auto refused = [&](const engine::SharedBytes& input) {
    return refusal_of(circuits.kinds, "circom", input);
  };
  auto error = refused(job_input({{"circuit", std::string("add")}}, {circuits.witness}));
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_EQ(error.message, "circuit: found 'add', expected one of mul");
  EXPECT_EQ(refused(shared(circuits.witness)).kind, ErrorKind::kMalformed);
  EXPECT_THAT(refused(job_input(Circuits::fields(), {})).message, HasSubstr("expected 1"));
  base::Bytes witness = circuits.witness;
  for (std::size_t i = 1; i <= 32; ++i) witness[witness.size() - i] = 0xff;
  error = refused(job_input(Circuits::fields(), {witness}));
  EXPECT_EQ(error.kind, ErrorKind::kMalformed);
  EXPECT_THAT(error.message, HasSubstr("wire"));
  witness = circuits.witness;
  witness.resize(witness.size() - 32);
  EXPECT_FALSE(refused(job_input(Circuits::fields(), {witness})).message.empty());
  const std::string list = "[\"1\", \"2\"]";
  error = refused(job_input(Circuits::fields(), {base::Bytes(list.begin(), list.end())}));
  EXPECT_EQ(error.kind, ErrorKind::kMismatch);
}

TEST(CircomCircuits, RefuseBadNamesAndFiles) {
  CUZK_DATA_OR_SKIP(folder, "circom/mul1000-bn128");
  const fs::path zkey = folder / "circuit_final.zkey";
  EXPECT_FALSE(CircomCircuits::open({{"", zkey}}).ok());
  EXPECT_FALSE(CircomCircuits::open({{"a b", zkey}}).ok());
  EXPECT_FALSE(CircomCircuits::open({{"a", zkey}, {"a", zkey}}).ok());
  EXPECT_EQ(CircomCircuits::open({{"a", folder / "none.zkey"}}).error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(CircomCircuits::open({{"a", folder / "witness.wtns"}}).ok());
  EXPECT_EQ((*CircomCircuits::open({{"b", zkey}, {"a", zkey}}))->names(),
            (std::vector<std::string>{"a", "b"}));
}

TEST(CircomCircuits, NoticeThatAKeyChanged) {
  CUZK_DATA_OR_SKIP(small, "circom/mul1000-bn128");
  CUZK_DATA_OR_SKIP(large, "circom/mul1000-bls12381");
  const testing::TemporaryFolder folder;
  fs::copy_file(small / "circuit_final.zkey", folder / "key.zkey");
  const auto kinds = make_job_kinds({{}, {{"mul", folder / "key.zkey"}}}).value();
  const auto key = kinds.types->find_key("circom:mul");
  ASSERT_TRUE(key.ok()) << key.error().message;
  const std::string before = key->identity().value();
  EXPECT_TRUE(key->load({}).ok());
  fs::copy_file(large / "circuit_final.zkey", folder / "new.zkey");
  fs::rename(folder / "new.zkey", folder / "key.zkey");
  EXPECT_NE(key->identity().value(), before);
  EXPECT_FALSE(key->load({}).ok());  // of another curve, and larger than was planned
  const auto facts = kinds.circom->facts("mul");
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ((*facts)->header.curve, formats::CurveId::kBls12_381);
  EXPECT_GT((*facts)->key.bytes, key->bytes);
}

// A backend keeps the control of start; finish runs under another one, which may ask to stop.
TEST(ControlRelay, GivesFinishItsOwnControl) {
  CUZK_DATA_OR_SKIP(folder, "circom/mul1000-bn128");
  const Circuits circuits(folder);
  const auto work =
      read_job(circuits.kinds, "circom", job_input(Circuits::fields(), {circuits.witness}));
  ASSERT_NE(work, nullptr);
  const engine::ProvingDevice device = make_cpu_device();
  engine::StageContext context{work->key().load({}).value(), &device, {}};
  const auto pending_proof = [&] {
    auto witness = work->make_witness(0, context);
    EXPECT_TRUE(witness.ok());
    std::stop_source start_stop;
    context.control.cancel = start_stop.get_token();
    auto pending = work->start(0, *witness, context);
    EXPECT_TRUE(pending.ok());
    start_stop.request_stop();  // too late: start has ended
    context.control = {};
    return std::move(pending).value();
  };
  EXPECT_TRUE(work->finish(0, pending_proof(), context).ok());
  auto pending = pending_proof();
  std::stop_source stop;
  stop.request_stop();
  context.control.cancel = stop.get_token();
  const auto proof = work->finish(0, std::move(pending), context);
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.error().kind, ErrorKind::kCancelled);
}

}  // namespace
}  // namespace cuzk::apps
