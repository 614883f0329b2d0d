// public.json: what is accepted is below the modulus and comes back digit for digit.
//
// A number that were reduced silently would be a second public input for the same proof, so the
// digits themselves are looked for in the input, where it has one value and no escapes.
#include <algorithm>

#include "formats/snarkjs/documents.h"
#include "fuzz/target.h"

namespace {

using namespace cuzk;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Without zeros in front.
template <class F>
std::string hex_of(const F& value) {
  std::string digits;
  for (const std::uint64_t word : value.to_canonical().value.limb) {
    for (int shift = 0; shift < 64; shift += 4) digits += "0123456789abcdef"[word >> shift & 15];
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  return {digits.rbegin(), digits.rend()};
}

template <class C>
void run(base::ByteSpan text) {
  const auto values = formats::parse_public_values<C>(text, "fuzz.json");
  if (!values.ok()) return;
  const std::string once = formats::encode_public_values<C>(*values);
  const base::Bytes bytes(once.begin(), once.end());
  const auto again = formats::parse_public_values<C>(bytes, "again.json");
  CUZK_FUZZ_REQUIRE(again.ok());
  CUZK_FUZZ_REQUIRE(*again == *values);
  // A number has one spelling in decimal, and one in hex but for zeros in front and capitals: each
  // that was accepted stands in the input as written.
  std::string input(text.begin(), text.end());
  if (values->size() != 1 || input.find('\\') != std::string::npos) return;
  std::transform(input.begin(), input.end(), input.begin(), lower);
  const std::size_t first = once.find('"'), last = once.rfind('"');
  const bool is_decimal = input.find(once.substr(first, last - first + 1)) != std::string::npos;
  CUZK_FUZZ_REQUIRE(is_decimal || input.find(hex_of((*values)[0]) + "\"") != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run<curve::Bn254>({data, size});
  run<curve::Bls12_381>({data, size});
  return 0;
}

std::vector<base::Bytes> cuzk::fuzz::seeds() {
  const std::string one = "[\"18446744073709551616\"]", hex = "[\"0x0Ab1\"]";
  return {data_file("circom/mul1000-bn128/public.json"),
          data_file("circom/mul1000-bls12381/public.json"),
          {one.begin(), one.end()},
          {hex.begin(), hex.end()}};
}
