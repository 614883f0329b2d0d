// Filecoin jobs through their stages by hand, and what their readers refuse.
//
// Sectors, proofs and parameters are made here at 2 KiB. Each stage's memory is compared with the
// plan by which the engine would have admitted it: a plan that is too small fails.
#include "apps/jobs/filecoin_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/jobs/critical_reserve.h"
#include "apps/jobs/heap_watch_test_support.h"
#include "apps/jobs/jobs_test_support.h"
#include "base/ledger.h"
#include "filecoin/porep/prove_vanilla.h"
#include "groth16/proof_bytes.h"
#include "groth16/verify.h"
#include "tests/support/data.h"
#include "tests/support/gzip.h"
#include "tests/support/temporary_folder.h"

namespace cuzk::apps {
namespace {

using base::ErrorKind;
using filecoin::CircuitKind;
using filecoin::PostKind;
using ::testing::HasSubstr;

struct Folder {
  testing::TemporaryFolder folder;
  JobKinds kinds = make_job_kinds({folder.path(), {}}).value();
};

// Runs a partition by hand, comparing what each stage takes with the plan.
base::Bytes prove_within_plan(engine::JobWork& work, std::size_t partition,
                              engine::StageContext context, const engine::ProvingDevice& device) {
  base::Ledger& ledger = base::Ledger::process();
  const engine::PartitionPlan& plan = work.partitions()[partition];
  const auto ledger_peak = [&] { return ledger.snapshot().total.peak_bytes; };
  const std::uint64_t ledger_before = ledger.snapshot().total.used_bytes;
  HeapWatch witness_heap;
  auto witness = work.make_witness(partition, context);
  EXPECT_TRUE(witness.ok()) << witness.error().message;
  EXPECT_LE(witness_heap.peak_bytes(), plan.witness_bytes);
  EXPECT_LE((*witness)->byte_count(), plan.witness_bytes);
  EXPECT_GE((*witness)->byte_count(), plan.witness_bytes / 8);  // a bound, and no wild one
  context.device = &device;
  ledger.reset_peaks();
  HeapWatch device_heap;
  auto pending = work.start(partition, *witness, context);
  EXPECT_TRUE(pending.ok()) << pending.error().message;
  EXPECT_EQ(*witness, nullptr);
  const std::uint64_t device_peak = ledger_peak() - ledger_before;
  EXPECT_LE(device_peak + device_heap.peak_bytes(), plan.device_bytes);
  EXPECT_GE(device_peak, plan.device_bytes / 4);
  ledger.reset_peaks();
  HeapWatch finish_heap;
  auto proof = work.finish(partition, std::move(*pending), context);
  EXPECT_TRUE(proof.ok()) << proof.error().message;
  EXPECT_LE(ledger_peak() - ledger_before + finish_heap.peak_bytes(), plan.pending_bytes);
  EXPECT_LE(plan.pending_bytes, plan.peak_bytes());
  return proof.ok() ? *proof : base::Bytes();
}

void prove_job(const JobKinds& kinds, std::string_view kind, const engine::SharedBytes& input) {
  const auto work = read_job(kinds, kind, input);
  ASSERT_NE(work, nullptr);
  HeapWatch key_heap;
  const auto key = work->key().load({});
  ASSERT_TRUE(key.ok()) << key.error().message;
  EXPECT_LE((*key)->byte_count(), work->key().bytes);
  EXPECT_LE(key_heap.held_bytes(), (*key)->byte_count());
  const engine::ProvingDevice device = make_cpu_device();
  const engine::StageContext context{*key, nullptr, {}};
  std::vector<base::Bytes> proofs;
  for (std::size_t i = 0; i < work->partitions().size(); ++i) {
    proofs.push_back(prove_within_plan(*work, i, context, device));
    ASSERT_EQ(proofs.back().size(), groth16::kProofBytes);
    EXPECT_TRUE(work->recheck(i, proofs.back(), context).ok());
  }
  const auto result = work->assemble(proofs, context);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->size(), proofs.size() * groth16::kProofBytes);
  base::Bytes changed = proofs[0];
  changed[100] ^= 1;
  EXPECT_FALSE(work->recheck(0, changed, context).ok());
  proofs[0] = changed;
  EXPECT_FALSE(work->assemble(proofs, context).ok());
}

TEST(PostJob, ProvesAWindowOfSectorsWithinItsPlan) {
  Folder f;
  make_test_params(f.folder.path(), CircuitKind::kWindowPost);
  const std::vector<filecoin::SealedSector> sectors = {test_sector(3), test_sector(8)};
  prove_job(f.kinds, "window-post", post_input(sectors, PostKind::kWindow, 10));
}

TEST(PostJob, ProvesTwoPartitionsAndRefusesThemSwapped) {
  Folder f;
  make_test_params(f.folder.path(), CircuitKind::kWindowPost);
  const std::vector<filecoin::SealedSector> sectors = {test_sector(3), test_sector(8),
                                                       test_sector(9)};
  const auto work = read_job(f.kinds, "window-post", post_input(sectors, PostKind::kWindow, 10));
  ASSERT_NE(work, nullptr);
  ASSERT_EQ(work->partitions().size(), 2u);
  const engine::ProvingDevice device = make_cpu_device();
  const auto alone = run_alone(*work, {&device, {}, {}});
  ASSERT_TRUE(alone.ok()) << alone.error().message;
  const auto first = alone->result.begin(), middle = first + groth16::kProofBytes;
  const std::vector<base::Bytes> swapped = {{middle, alone->result.end()}, {first, middle}};
  const auto status = work->assemble(swapped, {alone->key, &device, {}});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("partition 0 of 2"));
}

TEST(PostJob, ProvesAWinningSector) {
  Folder f;
  make_test_params(f.folder.path(), CircuitKind::kWinningPost);
  prove_job(f.kinds, "winning-post", post_input({test_sector(5)}, PostKind::kWinning, 0));
}

TEST(PostJob, NamesWhatItRefuses) {
  Folder f;
  const std::vector<filecoin::SealedSector> sectors = {test_sector(3)};
  const auto refused = [&](std::string_view kind, const engine::SharedBytes& input) {
    return refusal_of(f.kinds, kind, input);
  };
  const auto window = [&](InputFields extra) {
    return post_input(sectors, PostKind::kWindow, 10, std::move(extra));
  };
  auto error = refused("window-post", window({}));
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("the parameters wpost-2k are not there"));
  error = refused("winning-post", window({}));
  EXPECT_EQ(error.kind, ErrorKind::kMismatch);
  error = refused("window-post", window({{"sector_size", std::uint64_t{8 << 20}}}));
  EXPECT_THAT(error.message, HasSubstr("sector_size is 8388608"));
  error = refused("window-post", window({{"registered_proof", std::uint64_t{99}}}));
  EXPECT_EQ(error.kind, ErrorKind::kInvalidArgument);
  error = refused("window-post", window({{"registered_proof", std::uint64_t{5}},
                                         {"partition_index", std::uint64_t{1}}}));
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  error = refused("window-post", window({{"sector_numbr", std::uint64_t{1}}}));
  EXPECT_THAT(error.message, HasSubstr("the field sector_numbr"));
  error = refused("window-post", job_input({{"registered_proof", std::uint64_t{10}},
                                            {"randomness", std::string(64, '0')}},
                                           {}));
  EXPECT_THAT(error.message, HasSubstr("one vanilla proof a sector"));
  error = refused("window-post", shared("{}"));
  EXPECT_EQ(error.kind, ErrorKind::kMalformed);
}

TEST(PostJob, RefusesVanillaProofsOfOtherRandomness) {
  Folder f;
  make_test_params(f.folder.path(), CircuitKind::kWindowPost);
  const auto error = refusal_of(
      f.kinds, "window-post",
      post_input({test_sector(3)}, PostKind::kWindow, 10, {{"randomness", std::string(64, '0')}}));
  EXPECT_EQ(error.kind, ErrorKind::kMismatch);
}

TEST(FilecoinKeys, AreNamedAndFoundByTheFilesThatAreThere) {
  Folder f;
  EXPECT_EQ(f.kinds.filecoin->names(), std::vector<std::string>());
  const auto missing = f.kinds.types->find_key("wpost-2k");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  make_test_params(f.folder.path(), CircuitKind::kWindowPost);
  EXPECT_EQ(f.kinds.filecoin->names(), std::vector<std::string>{"wpost-2k"});
  const auto key = f.kinds.types->find_key("wpost-2k");
  ASSERT_TRUE(key.ok()) << key.error().message;
  EXPECT_EQ(key->name, "wpost-2k");
  EXPECT_TRUE(key->identity().ok());
  EXPECT_EQ(f.kinds.types->find_key("porep-32g").error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(f.kinds.types->find_key("porep-3k").error().message,
              HasSubstr("no key is named 'porep-3k'"));
}

TEST(FilecoinKeys, SeeThatAFileChangedAndRefuseAnotherCircuit) {
  Folder f;
  make_test_params(f.folder.path(), CircuitKind::kWindowPost);
  const auto key = f.kinds.types->find_key("wpost-2k").value();
  const std::string before = key.identity().value();
  make_test_params(f.folder.path(), CircuitKind::kWindowPost);
  EXPECT_NE(key.identity().value(), before);
  EXPECT_TRUE(key.load({}).ok());  // another key of the same size
  make_test_params(f.folder.path(), CircuitKind::kWinningPost);
  std::filesystem::rename(f.kinds.filecoin->params_path(CircuitKind::kWinningPost, small_sector()),
                          f.kinds.filecoin->params_path(CircuitKind::kWindowPost, small_sector()));
  const auto other = f.kinds.types->find_key("wpost-2k");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::kMismatch);
  EXPECT_FALSE(key.load({}).ok());  // larger than was planned
}

TEST(CriticalReserve, IsOneWinningProofThatLeavesRoomForTheOthers) {
  Folder f;
  FilecoinKeys& keys = *f.kinds.filecoin;
  constexpr std::uint64_t kPlenty = std::uint64_t{64} << 30;
  EXPECT_EQ(critical_reserve_bytes(keys, kPlenty), 0u);
  make_test_params(f.folder.path(), CircuitKind::kWindowPost);
  EXPECT_EQ(critical_reserve_bytes(keys, kPlenty), 0u);
  const auto need = [&](CircuitKind kind) {
    const auto circuit = keys.circuit(kind, small_sector()).value();
    return circuit->key.bytes + circuit->plan.peak_bytes();
  };
  make_test_params(f.folder.path(), CircuitKind::kWinningPost);
  const std::uint64_t winning = need(CircuitKind::kWinningPost);
  EXPECT_GT(winning, 1u << 20);
  EXPECT_EQ(critical_reserve_bytes(keys, kPlenty), winning);
  EXPECT_EQ(critical_reserve_bytes(keys, 0), 0u);
  // A window of sectors still fits what is left, with its input.
  const std::uint64_t window = need(CircuitKind::kWindowPost) + (128u << 20);
  EXPECT_EQ(critical_reserve_bytes(keys, window), 0u);
  EXPECT_EQ(critical_reserve_bytes(keys, window + 1000), 1000u);
  // And it never is more than a quarter.
  std::filesystem::remove(keys.params_path(CircuitKind::kWindowPost, small_sector()));
  EXPECT_EQ(critical_reserve_bytes(keys, winning), winning / 4);
}

TEST(PorepJob, ReadsBothFormsAndNeedsParameters) {
  CUZK_DATA_OR_SKIP(packed, "upstream/instance1/porep-s0.c1.json.gz");
  Folder f;
  const std::string inner = testing::read_gzip(packed);
  EXPECT_THAT(refusal_of(f.kinds, "porep", shared(inner)).message,
              HasSubstr("the parameters porep-2k are not there"));
  EXPECT_EQ(refusal_of(f.kinds, "porep", shared("{}")).kind, ErrorKind::kMalformed);
  EXPECT_EQ(refusal_of(f.kinds, "porep", shared("")).kind, ErrorKind::kMalformed);
}

TEST(PorepJob, ComparesTheFieldsOfARequestWithTheC1) {
  CUZK_DATA_OR_SKIP(packed, "upstream/instance1/porep-s0.c1.json.gz");
  Folder f;
  const std::string inner = testing::read_gzip(packed);
  const base::Bytes c1(inner.begin(), inner.end());
  const auto message = [&](const InputFields& fields) {
    return refusal_of(f.kinds, "porep", job_input(fields, {c1})).message;
  };
  const std::uint64_t miner = 1000;
  EXPECT_THAT(message({{"registered_proof", std::uint64_t{6}}}),
              HasSubstr("registered_proof is 6"));
  EXPECT_THAT(message({{"sector_size", std::uint64_t{4096}}}), HasSubstr("sector_size is 4096"));
  EXPECT_THAT(message({{"miner_id", miner}}), HasSubstr("sector_number (cuzk submit: --sector)"));
  EXPECT_THAT(message({{"miner_id", miner}, {"prover_id", std::string(64, '0')}}),
              HasSubstr("prover_id"));
  EXPECT_THAT(message({{"seed", std::string("x")}}), HasSubstr("the field seed"));
  EXPECT_THAT(refusal_of(f.kinds, "porep", job_input({}, {c1, c1})).message,
              HasSubstr("found 2 parts, expected 1"));
}

// Parameters of the large circuits take ten seconds to make.
TEST(PorepJobFilecoinFlow, ProvesWithinItsPlanAndKnowsWhoSealed) {
  Folder f;
  make_test_params(f.folder.path(), CircuitKind::kPorep);
  const filecoin::SealedSector sector = test_sector(4);
  filecoin::Node seed{};
  seed[1] = 1;
  const auto c1 = filecoin::commit_phase_1(sector, filecoin::registered_seal(5).value(), seed);
  ASSERT_TRUE(c1.ok());
  const std::string outer = filecoin::write_c1_outer(*c1, 4);
  prove_job(f.kinds, "porep", shared(outer));
  const base::Bytes part(outer.begin(), outer.end());
  const std::uint64_t miner = 1000;
  EXPECT_NE(read_job(f.kinds, "porep", job_input({{"miner_id", miner}}, {part})), nullptr);
  EXPECT_THAT(refusal_of(f.kinds, "porep", job_input({{"miner_id", miner + 1}}, {part})).message,
              HasSubstr("replica_id"));
  EXPECT_THAT(refusal_of(f.kinds, "porep", job_input({{"sector_number", std::uint64_t{5}}}, {part}))
                  .message,
              HasSubstr("sector_number is 5"));
}

TEST(UpdateJobFilecoinFlow, ProvesEachPartitionWithinItsPlan) {
  Folder f;
  make_test_params(f.folder.path(), CircuitKind::kUpdate);
  const auto updated = filecoin::update_sector(test_sector(4), base::Bytes(200, 9));
  ASSERT_TRUE(updated.ok());
  std::vector<base::Bytes> parts;
  for (unsigned i = 0; i < small_sector().update.partition_count; ++i) {
    parts.push_back(filecoin::write_update_partition_proof(
        filecoin::open_update_partition(*updated, i), small_sector()));
  }
  InputFields fields = {{"registered_proof", std::uint64_t{0}},
                        {"comm_r_old", filecoin::to_hex(updated->comm_r_old)},
                        {"comm_r_new", filecoin::to_hex(updated->comm_r_new)},
                        {"comm_d_new", filecoin::to_hex(updated->comm_d_new)}};
  prove_job(f.kinds, "update", job_input(fields, parts));
  parts.pop_back();
  EXPECT_THAT(refusal_of(f.kinds, "update", job_input(fields, parts)).message,
              HasSubstr("one vanilla proof a partition"));
}

}  // namespace
}  // namespace cuzk::apps
