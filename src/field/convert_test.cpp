// Conversions: round trips, and a sentence for everything that is not canonical.
//
// The borders are the modulus, the largest integer of the width, and decimals that a lenient parser
// would take (signs, blanks, hex, exponents).
#include "field/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "field/samples.h"

namespace cuzk::field {
namespace {

using ::testing::HasSubstr;

template <class F>
class Convert : public ::testing::Test {
 protected:
  std::vector<F> elements() {
    auto out = edge_elements<F>();
    SampleGenerator generator(3);
    for (int i = 0; i < 50; ++i) out.push_back(generator.next<F>());
    return out;
  }
  // The modulus as decimal digits, from p - 1 by carrying one.
  std::string modulus_decimal() {
    std::string text = to_decimal(-F::one());
    std::size_t i = text.size();
    while (text[--i] == '9') text[i] = '0';
    ++text[i];
    return text;
  }
};
using Fields = ::testing::Types<bls12_381::Fp, bls12_381::Fr, bn254::Fp, bn254::Fr>;
TYPED_TEST_SUITE(Convert, Fields);

TYPED_TEST(Convert, RoundTripsThroughBytesAndDecimals) {
  using F = TypeParam;
  for (const F& x : this->elements()) {
    const auto le = to_bytes_le(x), be = to_bytes_be(x);
    EXPECT_TRUE(std::equal(le.begin(), le.end(), be.rbegin()));
    EXPECT_EQ(*from_bytes_le<F>(le, "x"), x);
    EXPECT_EQ(*from_bytes_be<F>(be, "x"), x);
    EXPECT_EQ(*from_decimal<F>(to_decimal(x), "x"), x);
    EXPECT_EQ(*from_decimal<F>("000" + to_decimal(x), "x"), x);
  }
}

TYPED_TEST(Convert, DecimalsAreTheIntegers) {
  using F = TypeParam;
  EXPECT_EQ(to_decimal(F::zero()), "0");
  EXPECT_EQ(to_decimal(F::from_u64(10)), "10");
  EXPECT_EQ(to_decimal(F::from_u64(~0ULL)), "18446744073709551615");
  EXPECT_EQ(to_decimal(F::from_u64(1ULL << 32).squared()), "18446744073709551616");
  const F ten_to_19 = F::from_u64(10'000'000'000'000'000'000ULL);
  EXPECT_EQ(to_decimal(ten_to_19.squared()), "1" + std::string(38, '0'));
  EXPECT_EQ(to_decimal(ten_to_19.squared() + F::one()), "1" + std::string(37, '0') + "1");
  EXPECT_EQ(to_hex_integer(F::from_u64(0xabc)), "0xabc");
  EXPECT_EQ(to_hex_integer(F::zero()), "0x0");
}

TYPED_TEST(Convert, RefusesTheModulusAndAbove) {
  using F = TypeParam;
  std::array<std::uint8_t, F::kByteCount> modulus, ones;
  ones.fill(0xff);
  store_le(F::Params::kModulus, modulus.data());
  for (const auto& bytes : {modulus, ones}) {
    const auto bad = from_bytes_le<F>(bytes, "witness value 7");
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.error().kind, base::ErrorKind::kMalformed);
    EXPECT_THAT(bad.error().message, HasSubstr("witness value 7: 0x"));
    EXPECT_THAT(bad.error().message, HasSubstr(F::Params::kName));
  }
  store_be(F::Params::kModulus, modulus.data());
  EXPECT_FALSE(from_bytes_be<F>(modulus, "x").ok());
  EXPECT_FALSE(from_decimal<F>(this->modulus_decimal(), "x").ok());
  EXPECT_FALSE(from_decimal<F>(std::string(160, '9'), "x").ok());
  EXPECT_FALSE(from_decimal<F>(std::string(161, '0'), "x").ok());
}

TYPED_TEST(Convert, RefusesWhatIsNoDecimal) {
  using F = TypeParam;
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x10", "1e3", "1.0", "12a"}) {
    const auto bad = from_decimal<F>(text, "public.json entry 3");
    ASSERT_FALSE(bad.ok()) << text;
    EXPECT_THAT(bad.error().message, HasSubstr("public.json entry 3: expected a decimal"));
  }
}

TYPED_TEST(Convert, RefusesAWrongLength) {
  using F = TypeParam;
  const std::vector<std::uint8_t> bytes(F::kByteCount + 1);
  for (const std::size_t size : {std::size_t{0}, F::kByteCount - 1, F::kByteCount + 1}) {
    const auto bad = from_bytes_le<F>({bytes.data(), size}, "x");
    ASSERT_FALSE(bad.ok());
    EXPECT_THAT(bad.error().message, HasSubstr("found " + std::to_string(size)));
    EXPECT_FALSE(from_bytes_be<F>({bytes.data(), size}, "x").ok());
  }
}

}  // namespace
}  // namespace cuzk::field
