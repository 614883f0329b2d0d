// Every count that can be wrong is answered with both numbers.
#include "groth16/fit.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "groth16/test_circuits.h"

namespace cuzk::groth16 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using C = curve::Bn254;
using Fr = C::Fr;

struct Case {
  std::shared_ptr<r1cs::Shape<Fr>> shape;
  r1cs::Density density;
  ProvingKey<C> key;
  explicit Case(QapConvention convention) {
    shape = testing::mixed<Fr>(30, 1).shape();
    density = r1cs::density_of(*shape);
    key = *setup<C>(*shape, testing::test_waste<C>(), convention).value();
  }
  base::Status check() const { return check_key_fits(key, *shape, density); }
};

void expect_refused(const base::Status& status, base::ErrorKind kind, const std::string& what,
                    std::size_t found, std::size_t expected) {
  ASSERT_FALSE(status.ok()) << what;
  EXPECT_EQ(status.error().kind, kind) << what;
  EXPECT_THAT(status.error().message, AllOf(HasSubstr(what), HasSubstr(std::to_string(found)),
                                            HasSubstr(std::to_string(expected))));
}

class FitTest : public ::testing::TestWithParam<QapConvention> {};
INSTANTIATE_TEST_SUITE_P(Conventions, FitTest,
                         ::testing::Values(QapConvention::kCoefficients,
                                           QapConvention::kOddCosetLagrange));

TEST_P(FitTest, AcceptsWhatBelongsTogether) { EXPECT_TRUE(Case(GetParam()).check().ok()); }

TEST_P(FitTest, RefusesQueriesOfAnotherLength) {
  const Case good(GetParam());
  const auto try_query = [&](auto member, const std::string& what) {
    Case bad(GetParam());
    const std::size_t size = (good.key.*member).size();
    bad.key.*member = (good.key.*member).subset(0, size - 1);
    expect_refused(bad.check(), base::ErrorKind::kMismatch, what, size - 1, size);
  };
  try_query(&ProvingKey<C>::h, "H query");
  try_query(&ProvingKey<C>::l, "L query");
  try_query(&ProvingKey<C>::a, "A query");
  try_query(&ProvingKey<C>::b_g1, "B query of G1");
  try_query(&ProvingKey<C>::b_g2, "B query of G2");
}

TEST_P(FitTest, RefusesAnotherNumberOfInputs) {
  Case bad(GetParam());
  bad.key.vk.ic.pop_back();
  expect_refused(bad.check(), base::ErrorKind::kMismatch, "public inputs", 2, 3);
}

TEST_P(FitTest, RefusesADomainThatIsTooSmall) {
  Case bad(GetParam());
  const std::size_t size = std::size_t{1} << bad.key.domain_log2;
  bad.key.domain_log2 -= 1;
  expect_refused(bad.check(), base::ErrorKind::kMismatch, "domain", size / 2,
                 bad.shape->qap_row_count());
}

TEST_P(FitTest, RefusesADomainThatTheFieldDoesNotHave) {
  Case bad(GetParam());
  for (const std::size_t log2 : {std::size_t{29}, std::size_t{63}, std::size_t{64},
                                 std::numeric_limits<std::size_t>::max()}) {
    bad.key.domain_log2 = log2;
    ASSERT_FALSE(bad.check().ok());
    EXPECT_EQ(bad.check().error().kind, base::ErrorKind::kMalformed);
  }
}

TEST_P(FitTest, RefusesInfinityForDelta) {
  Case first(GetParam()), second(GetParam());
  first.key.vk.delta_g1 = C::G1Affine::infinity();
  second.key.vk.delta_g2 = C::G2Affine::infinity();
  for (const Case* bad : {&first, &second}) {
    ASSERT_FALSE(bad->check().ok());
    EXPECT_EQ(bad->check().error().kind, base::ErrorKind::kMalformed);
    EXPECT_THAT(bad->check().error().message, HasSubstr("delta"));
  }
}

TEST_P(FitTest, RefusesACircuitWithoutTheConstantOne) {
  Case bad(GetParam());
  *bad.shape = {};
  EXPECT_FALSE(bad.check().ok());
}

TEST(AssignmentFit, RefusesOtherCountsAndAnotherFirstInput) {
  const auto circuit = testing::mixed<Fr>(10, 1);
  const auto shape = circuit.shape();
  auto assignment = *circuit.assignment();
  EXPECT_TRUE(check_assignment_fits(assignment, *shape).ok());
  assignment.aux.push_bit(true);
  expect_refused(check_assignment_fits(assignment, *shape), base::ErrorKind::kMismatch,
                 "private values", shape->aux_count + 1, shape->aux_count);
  assignment = *circuit.assignment();
  assignment.inputs.pop_back();
  expect_refused(check_assignment_fits(assignment, *shape), base::ErrorKind::kMismatch, "inputs", 2,
                 3);
  assignment = *circuit.assignment();
  assignment.inputs[0] = Fr::from_u64(2);
  ASSERT_FALSE(check_assignment_fits(assignment, *shape).ok());
  EXPECT_THAT(check_assignment_fits(assignment, *shape).error().message, HasSubstr("constant one"));
}

}  // namespace
}  // namespace cuzk::groth16
