// A pool over made-up devices: shares of unequal ones, loss of one in the middle, the fallback,
// lack of room, wrong proofs.
#include "cuda/device_pool.h"

#include <atomic>
#include <new>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"

namespace cuzk::cuda {
namespace {

using C = curve::Bn254;
using Inputs = groth16::ProveInputs<C>;
using ::testing::HasSubstr;

// Time that passes only when a made-up device works.
std::atomic<double> made_up_ms{0};

// A proof whose A is not what it should be, if `is_wrong`.
class MadeUpPending final : public groth16::PendingProof<C> {
 public:
  MadeUpPending(std::unique_ptr<groth16::PendingProof<C>> inner, bool is_wrong)
      : inner_(std::move(inner)), is_wrong_(is_wrong) {}
  base::Result<groth16::Proof<C>> finish() override {
    CUZK_TRY(auto proof, inner_->finish());
    if (is_wrong_) proof.a = -proof.a;
    return proof;
  }
  std::uint64_t byte_count() const override { return inner_->byte_count(); }

 private:
  std::unique_ptr<groth16::PendingProof<C>> inner_;
  bool is_wrong_;
};

// The CPU under another name, whose starts take `start_ms` of made-up time and fail from number
// `fails_from` on.
class MadeUpDevice final : public groth16::Backend<C> {
 public:
  explicit MadeUpDevice(double start_ms = 1, base::ErrorKind kind = base::ErrorKind::kUnavailable,
                        int fails_from = 1 << 30)
      : start_ms_(start_ms), kind_(kind), fails_from_(fails_from) {}
  std::string_view name() const override { return "made up"; }
  base::Result<groth16::MemoryPlan> plan(const groth16::ProvingKey<C>& key,
                                         const r1cs::Shape<C::Fr>& shape,
                                         const r1cs::Assignment<C::Fr>* assignment) const override {
    return inner_->plan(key, shape, assignment);
  }
  base::Result<std::unique_ptr<groth16::PendingProof<C>>> start(
      const Inputs& inputs, const groth16::Blinding<C>& blinding) override {
    const int number = start_count_++;
    double now_ms = made_up_ms.load();
    while (!made_up_ms.compare_exchange_weak(now_ms, now_ms + start_ms_)) {
    }
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    if (number >= fails_from_) return base::Error{kind_, "the made-up device broke"};
    CUZK_TRY(auto pending, inner_->start(inputs, blinding));
    return std::unique_ptr<groth16::PendingProof<C>>(
        std::make_unique<MadeUpPending>(std::move(pending), number >= wrong_from));
  }
  int start_count() const { return start_count_; }
  int wrong_from = 1 << 30;         // proofs from number so and so on are wrong
  std::function<void()> meanwhile;  // what happens during the next start

 private:
  std::unique_ptr<groth16::Backend<C>> inner_ = groth16::make_cpu_backend<C>();
  double start_ms_;
  base::ErrorKind kind_;
  int fails_from_;
  std::atomic<int> start_count_{0};
};

class DevicePoolTest : public ::testing::Test {
 protected:
  DevicePoolTest() {
    const auto circuit = groth16::testing::mixed<C::Fr>(20, 1);
    inputs_.shape = circuit.shape();
    inputs_.assignment = circuit.assignment();
    inputs_.key = groth16::setup<C>(*inputs_.shape, groth16::testing::test_waste<C>(),
                                    groth16::QapConvention::kCoefficients)
                      .value();
    expected_ = prove(*groth16::make_cpu_backend<C>()).value();
  }
  base::Result<groth16::Proof<C>> prove(groth16::Backend<C>& backend) {
    return groth16::prove_with_blinding(backend, inputs_, groth16::testing::test_blinding<C>());
  }
  // Proofs of several threads, all equal to the CPU's.
  void expect_proofs(DevicePool<C>& pool, int threads, int each) {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back([&] {
        for (int i = 0; i < each; ++i) {
          const auto proof = prove(pool);
          ASSERT_TRUE(proof.ok()) << proof.error().message;
          EXPECT_EQ(*proof, expected_);
        }
      });
    }
    for (auto& thread : all) thread.join();
  }

  Inputs inputs_;
  groth16::Proof<C> expected_;
};

TEST_F(DevicePoolTest, EqualDevicesShareTheProofs) {
  const auto first = std::make_shared<MadeUpDevice>(), second = std::make_shared<MadeUpDevice>();
  DevicePool<C> pool({{"0", first}, {"1", second}});
  expect_proofs(pool, 4, 4);
  EXPECT_EQ(first->start_count() + second->start_count(), 16);
  EXPECT_GT(first->start_count(), 0);
  EXPECT_GT(second->start_count(), 0);
  for (const auto& load : pool.loads()) EXPECT_EQ(load.in_flight, 0u);
}

TEST_F(DevicePoolTest, OneAfterTheOtherEqualDevicesTakeTurns) {
  const auto first = std::make_shared<MadeUpDevice>(20);
  const auto second = std::make_shared<MadeUpDevice>(25);  // not enough to matter
  DevicePool<C> pool({{"0", first}, {"1", second}}, nullptr, [] { return made_up_ms.load(); });
  expect_proofs(pool, 1, 6);
  EXPECT_EQ(first->start_count(), 3);
  EXPECT_EQ(second->start_count(), 3);
}

TEST_F(DevicePoolTest, ASlowDeviceThatWasTriedOnceWaitsWhileTheFastIsIdle) {
  const auto slow = std::make_shared<MadeUpDevice>(400), fast = std::make_shared<MadeUpDevice>(10);
  DevicePool<C> pool({{"slow", slow}, {"fast", fast}}, nullptr, [] { return made_up_ms.load(); });
  expect_proofs(pool, 1, 8);
  EXPECT_EQ(slow->start_count(), 1);
  EXPECT_EQ(fast->start_count(), 7);
}

TEST_F(DevicePoolTest, TheTimeOfAStartIsSharedAmongThoseInFlightForAsLongAsTheyAre) {
  const auto device = std::make_shared<MadeUpDevice>(20);
  DevicePool<C> pool({{"0", device}}, nullptr, [] { return made_up_ms.load(); });
  // The second comes after 20 ms and goes before the first: of its 20 ms each has 10.
  device->meanwhile = [&] { EXPECT_EQ(prove(pool).value(), expected_); };
  EXPECT_EQ(prove(pool).value(), expected_);
  EXPECT_DOUBLE_EQ(pool.loads()[0].start_ms, 0.75 * 10 + 0.25 * (20 + 10));
  device->meanwhile = nullptr;
  EXPECT_EQ(pool.loads()[0].in_flight, 0u);
}

TEST_F(DevicePoolTest, AStartThatThrowsLeavesItsDeviceFree) {
  const auto device = std::make_shared<MadeUpDevice>();
  DevicePool<C> pool({{"0", device}}, nullptr, [] { return made_up_ms.load(); });
  device->meanwhile = [] { throw std::bad_alloc(); };
  EXPECT_THROW((void)prove(pool), std::bad_alloc);
  EXPECT_EQ(pool.loads()[0].in_flight, 0u);
  EXPECT_EQ(prove(pool).value(), expected_);
}

TEST_F(DevicePoolTest, ADeviceThatIsLostIsNotAskedAgainAndItsProofIsMadeElsewhere) {
  const auto breaks = std::make_shared<MadeUpDevice>(1, base::ErrorKind::kUnavailable, 1);
  const auto works = std::make_shared<MadeUpDevice>();
  DevicePool<C> pool({{"breaks", breaks}, {"works", works}}, nullptr,
                     [] { return made_up_ms.load(); });
  for (int i = 0; i < 6; ++i) EXPECT_EQ(prove(pool).value(), expected_);
  EXPECT_EQ(breaks->start_count(), 2);  // equal devices take turns
  EXPECT_EQ(works->start_count(), 5);
  const auto loads = pool.loads();
  EXPECT_THAT(loads[0].lost, HasSubstr("broke"));
  EXPECT_TRUE(loads[1].lost.empty());
}

TEST_F(DevicePoolTest, TheFallbackTakesOverWhenNoDeviceIsLeft) {
  const auto breaks = std::make_shared<MadeUpDevice>(1, base::ErrorKind::kUnavailable, 0);
  const auto cpu = std::make_shared<MadeUpDevice>();
  DevicePool<C> pool({{"breaks", breaks}}, cpu);
  expect_proofs(pool, 2, 2);
  EXPECT_EQ(cpu->start_count(), 4);
  EXPECT_THAT(pool.loads()[0].lost, HasSubstr("broke"));
  EXPECT_TRUE(pool.plan(*inputs_.key, *inputs_.shape, nullptr).ok());
}

TEST_F(DevicePoolTest, WithoutFallbackTheReasonsAreTold) {
  const auto breaks = std::make_shared<MadeUpDevice>(1, base::ErrorKind::kUnavailable, 0);
  DevicePool<C> pool({{"card 0", breaks}});
  const auto proof = prove(pool);
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.error().kind, base::ErrorKind::kUnavailable);
  EXPECT_THAT(proof.error().message, HasSubstr("card 0: the made-up device broke"));
  EXPECT_FALSE(pool.plan(*inputs_.key, *inputs_.shape, nullptr).ok());
}

// Lack of room, and calls that fail, are told of this proof on this device alone.
TEST_F(DevicePoolTest, WhatADeviceCannotMakeIsMadeElsewhereAndTheDeviceStays) {
  for (const auto kind : {base::ErrorKind::kResourceExhausted, base::ErrorKind::kInternal}) {
    const auto refuses = std::make_shared<MadeUpDevice>(1, kind, 0);
    const auto other = std::make_shared<MadeUpDevice>();
    DevicePool<C> two({{"small", refuses}, {"large", other}}, nullptr,
                      [] { return made_up_ms.load(); });
    for (int i = 0; i < 3; ++i) EXPECT_EQ(prove(two).value(), expected_);
    EXPECT_EQ(other->start_count(), 3);
    EXPECT_TRUE(two.loads()[0].lost.empty());
    EXPECT_EQ(two.loads()[0].in_flight, 0u);
    const auto cpu = std::make_shared<MadeUpDevice>();
    DevicePool<C> with_cpu({{"small", refuses}, {"small too", refuses}}, cpu);
    const int before = refuses->start_count();
    EXPECT_EQ(prove(with_cpu).value(), expected_);
    EXPECT_EQ(cpu->start_count(), 1);
    EXPECT_EQ(refuses->start_count() - before, 2);  // each is asked once
  }
}

TEST_F(DevicePoolTest, LackOfRoomIsAnErrorWhereNobodyElseMayTakeTheProof) {
  const auto refuses = std::make_shared<MadeUpDevice>(1, base::ErrorKind::kResourceExhausted, 0);
  const auto breaks = std::make_shared<MadeUpDevice>(1, base::ErrorKind::kUnavailable, 0);
  DevicePool<C> pool({{"small", refuses}, {"breaks", breaks}});
  EXPECT_EQ(prove(pool).error().kind, base::ErrorKind::kResourceExhausted);
  EXPECT_EQ(prove(pool).error().kind, base::ErrorKind::kResourceExhausted);
  EXPECT_TRUE(pool.loads()[0].lost.empty());
  EXPECT_FALSE(pool.loads()[1].lost.empty());
}

TEST_F(DevicePoolTest, OtherErrorsAreTheProofsOwn) {
  for (const auto kind : {base::ErrorKind::kMismatch, base::ErrorKind::kCancelled}) {
    const auto refuses = std::make_shared<MadeUpDevice>(1, kind, 0);
    const auto cpu = std::make_shared<MadeUpDevice>();
    DevicePool<C> pool({{"0", refuses}}, cpu);
    EXPECT_EQ(prove(pool).error().kind, kind);
    EXPECT_EQ(cpu->start_count(), 0);
    EXPECT_TRUE(pool.loads()[0].lost.empty());
    EXPECT_EQ(pool.loads()[0].in_flight, 0u);
  }
}

TEST_F(DevicePoolTest, ADeviceWhoseProofIsWrongIsLostWhenTheSameProofMadeElsewhereVerifies) {
  const auto wrong = std::make_shared<MadeUpDevice>();
  wrong->wrong_from = 1;
  const auto cpu = std::make_shared<MadeUpDevice>();
  DevicePool<C> pool({{"wrong", wrong}}, cpu);
  EXPECT_EQ(prove(pool).value(), expected_);
  EXPECT_TRUE(pool.loads()[0].lost.empty());
  EXPECT_EQ(prove(pool).value(), expected_);  // made by the CPU after all
  EXPECT_THAT(pool.loads()[0].lost, HasSubstr("wrong proof"));
  EXPECT_EQ(prove(pool).value(), expected_);
  EXPECT_EQ(wrong->start_count(), 2);
  EXPECT_EQ(cpu->start_count(), 2);
}

// A witness that no proof of which verifies: the key carries no C, so nobody can say.
TEST_F(DevicePoolTest, NoDeviceIsToBlameWhereTheSameProofMadeElsewhereIsWrongToo) {
  auto bad = *inputs_.assignment;
  bad.inputs.back() += C::Fr::one();
  inputs_.assignment = std::make_shared<const r1cs::Assignment<C::Fr>>(std::move(bad));
  auto without_c = *inputs_.shape;
  without_c.has_c = false;
  inputs_.shape = std::make_shared<const r1cs::Shape<C::Fr>>(std::move(without_c));
  const auto first = std::make_shared<MadeUpDevice>(), second = std::make_shared<MadeUpDevice>();
  DevicePool<C> pool({{"0", first}, {"1", second}});
  const auto proof = prove(pool);
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.error().kind, base::ErrorKind::kVerificationFailed);
  EXPECT_THAT(proof.error().message, HasSubstr("witness"));
  EXPECT_THAT(proof.error().message, ::testing::Not(HasSubstr("device")));
  EXPECT_EQ(first->start_count() + second->start_count(), 2);
  for (const auto& load : pool.loads()) EXPECT_TRUE(load.lost.empty());
  // One device alone may be wrong itself, and the sentence says how to tell.
  DevicePool<C> alone({{"0", first}});
  const auto unsure = prove(alone);
  EXPECT_EQ(unsure.error().kind, base::ErrorKind::kVerificationFailed);
  EXPECT_THAT(unsure.error().message, HasSubstr("--backend cpu"));
  EXPECT_TRUE(alone.loads()[0].lost.empty());
}

// Where the key carries C the broken constraint is found first, and nothing is made twice.
TEST_F(DevicePoolTest, ABrokenConstraintIsToldWithoutASecondProof) {
  auto bad = *inputs_.assignment;
  bad.inputs.back() += C::Fr::one();
  inputs_.assignment = std::make_shared<const r1cs::Assignment<C::Fr>>(std::move(bad));
  const auto device = std::make_shared<MadeUpDevice>(), cpu = std::make_shared<MadeUpDevice>();
  DevicePool<C> pool({{"0", device}}, cpu);
  EXPECT_EQ(prove(pool).error().kind, base::ErrorKind::kUnsatisfied);
  EXPECT_EQ(device->start_count(), 1);
  EXPECT_EQ(cpu->start_count(), 0);
}

}  // namespace
}  // namespace cuzk::cuda
