// The vectors of EIP-2537: additions, scalar products, sums and pairings on BLS12-381, and inputs
// that must be refused, each for the stated reason.
//
// Their encoding of points is its own: field elements of 64 bytes, big-endian, Fp2 as c0 then c1,
// infinity all zero. It lives here, since the product does not speak it.
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "curve/pairing.h"
#include "curve/subgroup.h"
#include "field/convert.h"
#include "tests/support/data.h"
#include "tests/support/gzip.h"

namespace cuzk::curve {
namespace {

using base::Bytes;
using base::ByteSpan;
using base::Error;
using base::ErrorKind;
using base::Result;
using G1 = Bls12_381::G1;
using G2 = Bls12_381::G2;
using Fp = Bls12_381::Fp;
using Fp2 = Bls12_381::Fp2;

constexpr std::size_t kFpBytes = 64, kScalarBytes = 32;

Error failure(const char* sentence) { return Error{ErrorKind::kMalformed, sentence}; }

Result<Fp> read_field(ByteSpan& in, const Fp*) {
  for (std::size_t i = 0; i < 16; ++i) {
    if (in[i] != 0) return failure("invalid field element top bytes");
  }
  const auto value = field::from_bytes_be<Fp>(in.subspan(16, 48), "coordinate");
  in = in.subspan(kFpBytes);
  if (!value.ok()) return failure("invalid fp.Element encoding");
  return *value;
}
Result<Fp2> read_field(ByteSpan& in, const Fp2*) {
  CUZK_TRY(const Fp c0, read_field(in, static_cast<const Fp*>(nullptr)));
  CUZK_TRY(const Fp c1, read_field(in, static_cast<const Fp*>(nullptr)));
  return Fp2{c0, c1};
}

template <class G>
constexpr std::size_t kPointBytes = 2 * kFpBytes*(std::is_same_v<G, G2> ? 2 : 1);

template <class G>
Result<Affine<G>> read_point(ByteSpan& in) {
  using Field = typename G::Field;
  CUZK_TRY(const Field x, read_field(in, static_cast<const Field*>(nullptr)));
  CUZK_TRY(const Field y, read_field(in, static_cast<const Field*>(nullptr)));
  const Affine<G> p = {x, y};
  if (!p.is_on_curve()) return failure("invalid point: not on curve");
  return p;
}
template <class G>
Result<Affine<G>> read_member(ByteSpan& in) {
  CUZK_TRY(const Affine<G> p, read_point<G>(in));
  if (is_in_subgroup(p)) return p;
  return failure(std::is_same_v<G, G1> ? "g1 point is not in the correct subgroup"
                                       : "g2 point is not in the correct subgroup");
}

void write_field(const Fp& x, Bytes& out) {
  out.resize(out.size() + 16);
  const auto bytes = field::to_bytes_be(x);
  out.insert(out.end(), bytes.begin(), bytes.end());
}
void write_field(const Fp2& x, Bytes& out) {
  write_field(x.c0, out);
  write_field(x.c1, out);
}
template <class G>
Bytes write_point(const Affine<G>& p) {
  Bytes out;
  write_field(p.x, out);
  write_field(p.y, out);
  return out;
}

template <class G>
Result<Bytes> add(ByteSpan in) {
  if (in.size() != 2 * kPointBytes<G>) return failure("invalid input length");
  CUZK_TRY(const Affine<G> p, read_point<G>(in));
  CUZK_TRY(const Affine<G> q, read_point<G>(in));
  return write_point((Jacobian<G>::from_affine(p) + q).to_affine());
}

// A sum of scalar products; equal pairs, of which the longer vectors have many, are computed once.
template <class G>
Result<Bytes> multiply_sum(ByteSpan in) {
  constexpr std::size_t kPairBytes = kPointBytes<G> + kScalarBytes;
  if (in.empty() || in.size() % kPairBytes != 0) return failure("invalid input length");
  static std::map<Bytes, Jacobian<G>> known;
  auto sum = Jacobian<G>::infinity();
  while (!in.empty()) {
    const Bytes key(in.begin(), in.begin() + kPairBytes);
    CUZK_TRY(const Affine<G> p, read_member<G>(in));
    const auto k = field::load_be<4>(in.data());
    in = in.subspan(kScalarBytes);
    if (!known.contains(key)) known[key] = Jacobian<G>::from_affine(p).scaled(k);
    sum += known[key];
  }
  return write_point(sum.to_affine());
}

Result<Bytes> pairing_check(ByteSpan in) {
  constexpr std::size_t kPairBytes = kPointBytes<G1> + kPointBytes<G2>;
  if (in.empty() || in.size() % kPairBytes != 0) return failure("invalid input length");
  std::vector<PairingInput<Bls12_381>> pairs;
  while (!in.empty()) {
    CUZK_TRY(const Affine<G1> p, read_member<G1>(in));
    CUZK_TRY(const Affine<G2> q, read_member<G2>(in));
    pairs.push_back({p, q});
  }
  Bytes out(32);
  out[31] = pairing_product_is_one<Bls12_381>(pairs) ? 1 : 0;
  return out;
}

using Operation = Result<Bytes> (*)(ByteSpan);

void expect_all(const nlohmann::json& cases, Operation operation) {
  ASSERT_FALSE(cases.empty());
  for (const auto& one : cases) {
    const std::string name = one["Name"];
    const Bytes input = *base::from_hex(one["Input"].get<std::string>(), name);
    const auto result = operation(input);
    if (one.contains("ExpectedError")) {
      ASSERT_FALSE(result.ok()) << name;
      EXPECT_EQ(result.error().message, one["ExpectedError"].get<std::string>()) << name;
    } else {
      ASSERT_TRUE(result.ok()) << name << ": " << result.error().message;
      EXPECT_EQ(base::to_hex(*result), one["Expected"].get<std::string>()) << name;
    }
  }
}

#define CUZK_EIP2537_TEST(NAME, FILE, OPERATION)                       \
  TEST(Eip2537Vectors, NAME) {                                         \
    CUZK_DATA_OR_SKIP(path, "vectors/eip2537/" FILE ".json");          \
    expect_all(nlohmann::json::parse(std::ifstream(path)), OPERATION); \
  }
CUZK_EIP2537_TEST(AddInG1, "add_G1_bls", add<G1>)
CUZK_EIP2537_TEST(AddInG2, "add_G2_bls", add<G2>)
CUZK_EIP2537_TEST(MultiplyInG1, "mul_G1_bls", multiply_sum<G1>)
CUZK_EIP2537_TEST(MultiplyInG2, "mul_G2_bls", multiply_sum<G2>)
CUZK_EIP2537_TEST(PairingChecks, "pairing_check_bls", pairing_check)
CUZK_EIP2537_TEST(RefusedAdditionsInG1, "fail-add_G1_bls", add<G1>)
CUZK_EIP2537_TEST(RefusedProductsInG2, "fail-mul_G2_bls", multiply_sum<G2>)
CUZK_EIP2537_TEST(RefusedPairings, "fail-pairing_check_bls", pairing_check)
#undef CUZK_EIP2537_TEST

TEST(Eip2537Vectors, SumsInG1) {
  CUZK_DATA_OR_SKIP(path, "vectors/eip2537/msm_G1_bls.json.gz");
  expect_all(nlohmann::json::parse(testing::read_gzip(path)), multiply_sum<G1>);
}

}  // namespace
}  // namespace cuzk::curve
