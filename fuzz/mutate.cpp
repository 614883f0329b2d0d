// The mutations: bit flips, integers at borders, cuts, splices, words of JSON, moduli, zeros.
//
// Blind flips rarely get past a length or a canonical check, so half of the cuts and insertions
// also mend an integer that looks like the length of what they changed, and field elements are set
// to their modulus or one less. No coverage is measured: that is libFuzzer's part.
#include "fuzz/mutate.h"

#include <algorithm>
#include <string_view>

#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::fuzz {
namespace {

using base::Bytes;

// Where heads and counts live; a search for lengths looks no further.
constexpr std::size_t kHeadBytes = 2048;

// Words that the JSON readers and the magic numbers of binary formats react to.
constexpr std::string_view kWords[] = {
    "[",           "]",        "{",     "}",     "\"",    ":",          ",",         "null",
    "true",        "-1",       "1e999", "\"0\"", "\"1\"", "0.5",        "\\u0000",   "[[[[[[[[",
    "{\"a\":",     "\"IC\":",  "zkey",  "wtns",  "r1cs",  "\"curve\":", "\"bn128\"", "\"bls12381\"",
    "\"groth16\"", "\"plonk\""};

// Borders of the widths, and lengths near that of the input.
std::uint64_t interesting_integer(Random& random, std::size_t size) {
  const std::uint64_t values[] = {0,
                                  1,
                                  2,
                                  0x7f,
                                  0xff,
                                  0xffff,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  std::uint64_t{1} << 32,
                                  std::uint64_t{1} << 63,
                                  ~std::uint64_t{0},
                                  ~std::uint64_t{0} - 11,
                                  size,
                                  size + 1,
                                  size / 2,
                                  random.next(),
                                  random.below(1024)};
  return values[random.below(std::size(values))];
}

// Overwrites four or eight bytes, mostly little-endian.
void store_integer(Random& random, std::uint64_t value, Bytes& bytes) {
  const std::size_t width = random.one_in(2) ? 4 : 8;
  if (bytes.size() < width) return;
  // Half of the time near the front, and mostly aligned: that is where counts are.
  std::size_t range = bytes.size() - width + 1;
  if (random.one_in(2)) range = std::min<std::size_t>(range, 256);
  std::size_t at = random.below(range);
  if (!random.one_in(4)) at &= ~std::size_t{3};
  std::uint8_t raw[8];
  if (random.one_in(4)) {
    base::store_u64_be(raw, width == 8 ? value : value << 32);
  } else {
    base::store_u64_le(raw, value);
  }
  std::copy_n(raw, width, bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

// Adds `delta` to an integer in front of `place` that looks like the length of what holds it, so
// that a grown or cut section keeps a right length and the parser goes on to what is inside.
void adjust_a_length(Random& random, std::size_t place, std::int64_t delta, Bytes& bytes) {
  const std::size_t end = std::min(place, kHeadBytes);
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at + 8 <= end; ++at) {
    const std::uint64_t length = base::load_u64_le(bytes.data() + at);
    if (length > 0 && length <= bytes.size() - at - 8 && at + 8 + length >= place) {
      found.push_back(at);
    }
  }
  if (found.empty()) return;
  std::uint8_t* const chosen = bytes.data() + found[random.below(found.size())];
  base::store_u64_le(chosen, base::load_u64_le(chosen) + static_cast<std::uint64_t>(delta));
}

// Removes some bytes, and half of the time says so in a length before them.
void cut_a_piece(Random& random, Bytes& bytes) {
  if (bytes.empty()) return;
  const std::size_t at = random.below(bytes.size());
  const std::size_t limit = random.one_in(2) ? 8 : 256;
  const std::size_t count = 1 + random.below(std::min(limit, bytes.size() - at));
  if (random.one_in(2)) adjust_a_length(random, at, -static_cast<std::int64_t>(count), bytes);
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
}

void insert(Random& random, base::ByteSpan piece, Bytes& bytes) {
  const std::size_t at = random.below(bytes.size() + 1);
  if (random.one_in(2)) {
    adjust_a_length(random, at, static_cast<std::int64_t>(piece.size()), bytes);
  }
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
}

// Copies bytes of this input or of a seed to another place.
void insert_a_piece(Random& random, std::span<const Bytes> seeds, Bytes& bytes) {
  const Bytes& other = random.one_in(2) ? bytes : seeds[random.below(seeds.size())];
  if (other.empty()) return;
  const std::size_t at = random.below(other.size());
  const std::size_t count = 1 + random.below(std::min<std::size_t>(512, other.size() - at));
  const Bytes piece(other.begin() + static_cast<std::ptrdiff_t>(at),
                    other.begin() + static_cast<std::ptrdiff_t>(at + count));
  insert(random, piece, bytes);
}

// Puts in a word of kWords.
void insert_a_word(Random& random, Bytes& bytes) {
  const std::string_view word = kWords[random.below(std::size(kWords))];
  insert(random, Bytes(word.begin(), word.end()), bytes);
}

// Overwrites a field element with its modulus, or with the modulus less one.
template <class F>
void store_modulus(Random& random, Bytes& bytes) {
  if (bytes.size() < F::kByteCount) return;
  auto value = F::Params::kModulus;
  value[0] -= random.below(2);
  std::size_t at = random.below(bytes.size() - F::kByteCount + 1);
  if (!random.one_in(4)) at &= ~std::size_t{3};
  if (random.one_in(2)) {
    field::store_le(value, bytes.data() + at);
  } else {
    field::store_be(value, bytes.data() + at);
  }
}

void store_some_modulus(Random& random, Bytes& bytes) {
  switch (random.below(4)) {
    case 0: return store_modulus<field::bls12_381::Fr>(random, bytes);
    case 1: return store_modulus<field::bls12_381::Fp>(random, bytes);
    case 2: return store_modulus<field::bn254::Fr>(random, bytes);
    default: return store_modulus<field::bn254::Fp>(random, bytes);
  }
}

// One change, of a kind drawn evenly but for single bits, which come twice as often.
void mutate_once(Random& random, std::span<const Bytes> seeds, Bytes& bytes) {
  const std::size_t at = random.below(bytes.size());
  switch (random.below(11)) {
    case 0:
    case 1:
      if (!bytes.empty()) bytes[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
      return;
    case 2:
      if (!bytes.empty()) bytes[at] = static_cast<std::uint8_t>(random.next());
      return;
    case 3:
      if (!bytes.empty())
        bytes[at] = static_cast<std::uint8_t>(bytes[at] + 1 - 2 * random.below(2));
      return;
    case 4: return store_integer(random, interesting_integer(random, bytes.size()), bytes);
    case 5: return cut_a_piece(random, bytes);
    case 6: return insert_a_piece(random, seeds, bytes);
    case 7: return insert_a_word(random, bytes);
    case 8: return store_some_modulus(random, bytes);
    case 9: bytes.resize(at); return;
    default:  // zeros: infinity, empty counts
      for (std::size_t i = at; i < std::min(bytes.size(), at + 1 + random.below(128)); ++i) {
        bytes[i] = 0;
      }
      return;
  }
}

}  // namespace

void mutate(Random& random, std::span<const Bytes> seeds, std::size_t size_bytes_max,
            Bytes& bytes) {
  for (std::size_t i = 1 + random.below(4); i > 0; --i) mutate_once(random, seeds, bytes);
  if (bytes.size() > size_bytes_max) bytes.resize(size_bytes_max);
}

}  // namespace cuzk::fuzz
