// ZCash encodings: round trips, one encoding a point, and a sentence for everything else.
//
// Damage is made on purpose, a flag, a bit or a length at a time, at each level of checking, so
// that a weaker level is seen to refuse what it promises and no more.
#include "curve/encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curve/samples.h"
#include "curve/subgroup.h"

namespace cuzk::curve {
namespace {

using base::Bytes;
using base::ByteSpan;
using base::Result;
using ::testing::AllOf;
using ::testing::HasSubstr;

// One of the four encodings as a type for typed tests.
struct G1Compressed {
  using G = Bls12_381::G1;
  static constexpr std::size_t kBytes = kG1CompressedBytes;
  static constexpr bool kIsCompressed = true;
  static auto decode(ByteSpan in, PointCheck check) { return decode_g1_compressed(in, check, "P"); }
};
struct G2Compressed {
  using G = Bls12_381::G2;
  static constexpr std::size_t kBytes = kG2CompressedBytes;
  static constexpr bool kIsCompressed = true;
  static auto decode(ByteSpan in, PointCheck check) { return decode_g2_compressed(in, check, "P"); }
};
struct G1Uncompressed {
  using G = Bls12_381::G1;
  static constexpr std::size_t kBytes = kG1UncompressedBytes;
  static constexpr bool kIsCompressed = false;
  static auto decode(ByteSpan in, PointCheck check) {
    return decode_g1_uncompressed(in, check, "P");
  }
};
struct G2Uncompressed {
  using G = Bls12_381::G2;
  static constexpr std::size_t kBytes = kG2UncompressedBytes;
  static constexpr bool kIsCompressed = false;
  static auto decode(ByteSpan in, PointCheck check) {
    return decode_g2_uncompressed(in, check, "P");
  }
};

template <class E>
class Encoding : public ::testing::Test {
 protected:
  using Point = Affine<typename E::G>;
  static Bytes encode(const Point& p) {
    Bytes out(E::kBytes);
    if (E::kIsCompressed) {
      encode_compressed(p, out);
    } else {
      encode_uncompressed(p, out);
    }
    return out;
  }
  static std::string error_of(const Bytes& bytes, PointCheck check = PointCheck::kSubgroup) {
    const auto result = E::decode(bytes, check);
    if (result.ok()) return "accepted";
    EXPECT_EQ(result.error().kind, base::ErrorKind::kMalformed);
    return result.error().message;
  }
};
using Encodings = ::testing::Types<G1Compressed, G2Compressed, G1Uncompressed, G2Uncompressed>;
TYPED_TEST_SUITE(Encoding, Encodings);

TYPED_TEST(Encoding, RoundTripsAtEveryLevelOfChecking) {
  using G = typename TypeParam::G;
  for (const auto& p : sample_members<G>(6)) {
    const Bytes bytes = this->encode(p);
    for (const auto check : {PointCheck::kNone, PointCheck::kOnCurve, PointCheck::kSubgroup}) {
      EXPECT_EQ(*TypeParam::decode(bytes, check), p);
    }
  }
}

TYPED_TEST(Encoding, TellsAPointFromItsOpposite) {
  for (const auto& p : sample_members<typename TypeParam::G>(4)) {
    EXPECT_EQ(this->encode(p) == this->encode(-p), p.is_infinity());
    EXPECT_EQ(*TypeParam::decode(this->encode(-p), PointCheck::kSubgroup), -p);
  }
}

TYPED_TEST(Encoding, RefusesPointsOutsideTheSubgroupOnlyWhenAsked) {
  using G = typename TypeParam::G;
  field::SampleGenerator generator(10);
  const Affine<G> p = sample_curve_point<G>(generator);
  const Bytes bytes = this->encode(p);
  EXPECT_EQ(*TypeParam::decode(bytes, PointCheck::kOnCurve), p);
  EXPECT_THAT(this->error_of(bytes), AllOf(HasSubstr("P: "), HasSubstr("not in the subgroup")));
}

TYPED_TEST(Encoding, RefusesAnyWrongLength) {
  Bytes bytes = this->encode(TypeParam::G::generator());
  bytes.push_back(0);
  EXPECT_THAT(this->error_of(bytes), HasSubstr("found " + std::to_string(TypeParam::kBytes + 1)));
  bytes.resize(TypeParam::kBytes - 1);
  EXPECT_THAT(this->error_of(bytes), HasSubstr("found " + std::to_string(TypeParam::kBytes - 1)));
  EXPECT_THAT(this->error_of({}), HasSubstr("found 0"));
}

TYPED_TEST(Encoding, RefusesTheOtherFormsFlag) {
  for (const auto& p : sample_members<typename TypeParam::G>(1)) {
    Bytes bytes = this->encode(p);
    bytes[0] ^= 0x80;
    EXPECT_THAT(
        this->error_of(bytes),
        HasSubstr(TypeParam::kIsCompressed ? "expected a compressed" : "expected an uncompressed"));
  }
}

TYPED_TEST(Encoding, RefusesInfinityWithAnyOtherBit) {
  const Bytes infinity = this->encode(Affine<typename TypeParam::G>::infinity());
  EXPECT_EQ(infinity[0], TypeParam::kIsCompressed ? 0xc0 : 0x40);
  for (std::size_t bit = 0; bit < 8 * infinity.size(); ++bit) {
    Bytes damaged = infinity;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    for (const auto check : {PointCheck::kNone, PointCheck::kSubgroup}) {
      // Without the infinity flag, x = 0 remains: compressed it has y = 2 on G1 (order 3), no
      // y on G2; uncompressed it is (0, 0).
      const bool flag_gone = bit == 6;
      if (flag_gone && TypeParam::kIsCompressed && check == PointCheck::kNone) continue;
      EXPECT_NE(this->error_of(damaged, check), "accepted") << bit;
    }
  }
}

TYPED_TEST(Encoding, RefusesCoordinatesNotBelowTheModulus) {
  using F = Bls12_381::Fp;
  std::uint8_t modulus[F::kByteCount];
  store_be(F::Params::kModulus, modulus);
  const Bytes good = this->encode(TypeParam::G::generator());
  for (std::size_t at = 0; at < TypeParam::kBytes; at += F::kByteCount) {
    Bytes bad = good;
    const std::uint8_t flags = at == 0 ? bad[0] & 0xe0 : 0;
    std::copy_n(modulus, F::kByteCount, bad.begin() + static_cast<std::ptrdiff_t>(at));
    bad[at] |= flags;
    for (const auto check : {PointCheck::kNone, PointCheck::kSubgroup}) {
      EXPECT_THAT(this->error_of(bad, check), AllOf(HasSubstr("P: "), HasSubstr("1a0111ea397fe69a"),
                                                    HasSubstr("not below the field modulus")));
    }
    // all ones in every bit that is no flag
    std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(at), F::kByteCount, 0xff);
    if (at == 0) bad[at] = static_cast<std::uint8_t>(good[0] | 0x1f);
    EXPECT_NE(this->error_of(bad, PointCheck::kNone), "accepted") << at;
  }
}

// Every one-bit change of the encoding of a member is refused, save the sign bit of a compressed
// point, which names the opposite.
TYPED_TEST(Encoding, RefusesOneBitOfDamage) {
  const auto p = sample_members<typename TypeParam::G>(1).back();
  const Bytes good = this->encode(p);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes damaged = good;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    const auto result = TypeParam::decode(damaged, PointCheck::kSubgroup);
    if (TypeParam::kIsCompressed && bit == 5) {
      EXPECT_EQ(*result, -p);
    } else {
      EXPECT_FALSE(result.ok()) << bit;
    }
  }
}

TEST(EncodingG1Uncompressed, RefusesTheOriginAndPointsOffTheCurve) {
  Bytes bytes(kG1UncompressedBytes);
  for (const auto check : {PointCheck::kNone, PointCheck::kOnCurve, PointCheck::kSubgroup}) {
    const auto origin = decode_g1_uncompressed(bytes, check, "P");
    ASSERT_FALSE(origin.ok());
    EXPECT_THAT(origin.error().message, HasSubstr("not on the curve"));
  }
  bytes[kG1UncompressedBytes - 1] = 1;
  EXPECT_TRUE(decode_g1_uncompressed(bytes, PointCheck::kNone, "P").ok());
  EXPECT_FALSE(decode_g1_uncompressed(bytes, PointCheck::kOnCurve, "P").ok());
}

TEST(EncodingG1Compressed, SaysWhenNoPointHasThisX) {
  field::SampleGenerator generator(11);
  Bls12_381::Fp x = Bls12_381::Fp::from_u64(1);
  while (square_root(x.squared() * x + Bls12_381::G1::b())) x += Bls12_381::Fp::one();
  Bytes bytes(kG1CompressedBytes);
  store_be(x.to_canonical().value, bytes.data());
  bytes[0] |= 0x80;
  const auto result = decode_g1_compressed(bytes, PointCheck::kNone, "proof A");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "proof A: no point of the curve has this x");
}

}  // namespace
}  // namespace cuzk::curve
