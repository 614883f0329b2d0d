// SHA-256 as a circuit: the compression function, the full hash, and hashes of field elements.
//
// The letters are those of FIPS 180-4. The new values of a and e are sums of up to seven words;
// they are kept as lists of operands and added only when the value is needed, one addition instead
// of several. The order of allocation in a round is: e, s1, choice, a, s0, majority.
//
// A compression of variables takes some 25,000 rows and variables, so SHA-256 is most of Filecoin's
// circuits; the witness pass does 32 bits of it at a time (words_packed.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/check.h"
#include "hash/sha256.h"
#include "r1cs/gadgets/numbers.h"
#include "r1cs/gadgets/words_bitwise.h"
#include "r1cs/gadgets/words_packed.h"

namespace cuzk::r1cs::gadgets {

// The word operations that a constraint system uses: bit by bit where rows are recorded, packed
// where only values are wanted.
template <class Cs>
using Words = std::conditional_t<Cs::kRecordsRows, BitwiseWords<Cs>, PackedWords<Cs>>;

template <class W>
using WordState = std::array<typename W::Word, 8>;

// w[0..63] from the sixteen words of a block.
template <class W>
std::array<typename W::Word, 64> sha256_schedule(W& words,
                                                 const std::array<typename W::Word, 16>& block) {
  using Word = typename W::Word;
  std::array<Word, 64> w;
  std::copy(block.begin(), block.end(), w.begin());
  for (std::size_t i = 16; i < 64; ++i) {
    const Word &x = w[i - 15], &y = w[i - 2];
    Word s0 = words.exclusive_or(W::rotated_right(x, 7), W::rotated_right(x, 18));
    s0 = words.exclusive_or(s0, W::shifted_right(x, 3));
    Word s1 = words.exclusive_or(W::rotated_right(y, 17), W::rotated_right(y, 19));
    s1 = words.exclusive_or(s1, W::shifted_right(y, 10));
    w[i] = words.add({&w[i - 16], &s0, &w[i - 7], &s1});
  }
  return w;
}

// One compression of `block` into `state`; the state may be constant, allocated or mixed.
template <class W, class Cs>
WordState<W> sha256_compress(Cs& cs, const std::array<typename W::Word, 16>& block,
                             const WordState<W>& state) {
  using Word = typename W::Word;
  W words(cs);
  const std::array<Word, 64> w = sha256_schedule(words, block);
  Word a = state[0], b = state[1], c = state[2], d = state[3];
  Word e = state[4], f = state[5], g = state[6], h = state[7];
  // What a and e will be: t1 is h + s1 + choice + k + w of the round before, t2 is s0 + majority.
  Word old_h{}, old_d{}, s1{}, choice{}, s0{}, majority{}, k{};
  for (std::size_t i = 0; i < 64; ++i) {
    if (i > 0) e = words.add({&old_h, &s1, &choice, &k, &w[i - 1], &old_d});
    Word new_s1 = words.exclusive_or(W::rotated_right(e, 6), W::rotated_right(e, 11));
    new_s1 = words.exclusive_or(new_s1, W::rotated_right(e, 25));
    const Word new_choice = words.choice(e, f, g);
    if (i > 0) a = words.add({&old_h, &s1, &choice, &k, &w[i - 1], &s0, &majority});
    s0 = words.exclusive_or(W::rotated_right(a, 2), W::rotated_right(a, 13));
    s0 = words.exclusive_or(s0, W::rotated_right(a, 22));
    majority = words.majority(a, b, c);
    old_h = h, old_d = d, s1 = new_s1, choice = new_choice;
    k = W::constant(hash::kSha256RoundConstants[i]);
    h = g, g = f, f = e, d = c, c = b, b = a;
  }
  WordState<W> out;
  out[0] = words.add({&old_h, &s1, &choice, &k, &w[63], &s0, &majority, &state[0]});
  out[1] = words.add({&state[1], &b});
  out[2] = words.add({&state[2], &c});
  out[3] = words.add({&state[3], &d});
  out[4] = words.add({&old_h, &s1, &choice, &k, &w[63], &old_d, &state[4]});
  out[5] = words.add({&state[5], &f});
  out[6] = words.add({&state[6], &g});
  out[7] = words.add({&state[7], &h});
  words.finish();
  return out;
}

// H(0) of FIPS 180-4 as constants: they cost no variable until they meet one.
template <class W>
WordState<W> sha256_initial_words() {
  WordState<W> state;
  for (std::size_t i = 0; i < 8; ++i) state[i] = W::constant(hash::kSha256InitialState[i]);
  return state;
}

// Compresses the 512 bits from `first` on, each word's most significant bit first.
template <class W, class Cs>
WordState<W> sha256_compress_bits(Cs& cs, const typename Cs::BitString& bits, std::size_t first,
                                  const WordState<W>& state) {
  std::array<typename W::Word, 16> block;
  for (std::size_t i = 0; i < 16; ++i) block[i] = W::load(bits, first + 32 * i);
  return sha256_compress<W>(cs, block, state);
}

// The 256-bit digest of a message, most significant bit of each byte first on both sides. `W` is
// for tests that force the bitwise twin.
template <class Cs, class W = Words<Cs>>
typename Cs::BitString sha256(Cs& cs, const typename Cs::BitString& message) {
  const auto scope = cs.scope("sha256");
  typename Cs::BitString padded = message;
  padded.append_constant(1, 1);
  while (padded.size() % 512 != 448) padded.append_constant(0, 1);
  const std::uint64_t length = message.size();
  for (unsigned i = 64; i > 0; --i) padded.append_constant(length >> (i - 1), 1);
  CUZK_ASSERT(padded.size() % 512 == 0);
  WordState<W> state = sha256_initial_words<W>();
  for (std::size_t first = 0; first < padded.size(); first += 512) {
    state = sha256_compress_bits<W>(cs, padded, first, state);
  }
  typename Cs::BitString digest;
  for (const auto& word : state) W::store(digest, word);
  CUZK_ASSERT(digest.size() == 256);
  return digest;
}

// A digest as a field element: its bytes little-endian, cut to the field's capacity (254 bits for
// BLS12-381, which is Filecoin's "clear the two top bits").
template <class Cs>
typename Cs::Number digest_to_number(Cs& cs, const typename Cs::BitString& digest) {
  return pack_bits(cs, digest.byte_reversed());
}

// SHA-256 of numbers as 32-byte little-endian strings, as a number. With two it is a node of
// Filecoin's tree D.
template <class Cs>
typename Cs::Number sha256_numbers(Cs& cs, std::span<const typename Cs::Number> numbers) {
  typename Cs::BitString message;
  for (const auto& number : numbers) message.append(to_bits_le(cs, number).byte_reversed());
  return digest_to_number(cs, sha256(cs, message));
}

}  // namespace cuzk::r1cs::gadgets
