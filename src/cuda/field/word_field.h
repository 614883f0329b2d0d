// Prime fields in 32-bit words for devices, bit for bit the elements of field/prime_field.h.
//
// `WordField<P>` has the layout and the Montgomery form of `PrimeField<P>` (R = 2^(64 N), fully
// reduced), so arrays of one are arrays of the other. Products keep two accumulators: `even` holds
// partial products that begin at an even word and `odd` those that begin at an odd one, so that
// each row of a product is two unbroken carry chains of IMAD.WIDE and no carry is ever stored. A
// field of W words: a product costs 2 W^2 IMAD.WIDE and W low products, a square W (W + 1) / 2 +
// W^2; docs/math/cuda_field.md counts them.
#pragma once

#include <cstddef>

#include "base/host_device.h"
#include "cuda/device/code.h"
#include "cuda/field/carry.h"
#include "field/prime_field.h"

namespace cuzk::cuda::field {

// What a field's parameters say in words, for indices known at compile time.
template <class P>
struct WordConstants {
  static constexpr int kWordCount = 2 * P::kLimbCount;
  using Host = cuzk::field::PrimeField<P>;

  // Word i of 64-bit limbs. Below, always for an i that is known when compiled: constants are
  // operands of instructions then, and take no registers.
  CUZK_HD static constexpr Word word(const cuzk::field::Limbs<P::kLimbCount>& limbs, int i) {
    return static_cast<Word>(limbs.limb[i / 2] >> (32 * (i % 2)));
  }
  CUZK_HD static constexpr Word modulus(int i) {
    constexpr cuzk::field::Limbs<P::kLimbCount> kModulus = P::kModulus;
    return word(kModulus, i);
  }
  CUZK_HD static constexpr Word twice_modulus(int i) {
    return modulus(i) << 1 | (i > 0 ? modulus(i - 1) >> 31 : 0);
  }
  CUZK_HD static constexpr Word one(int i) {
    constexpr cuzk::field::Limbs<P::kLimbCount> kOne = Host::kR;
    return word(kOne, i);
  }
  CUZK_HD static constexpr Word r_squared(int i) {
    constexpr cuzk::field::Limbs<P::kLimbCount> kSquare = Host::kRSquared;
    return word(kSquare, i);
  }
  CUZK_HD static constexpr Word inverse_exponent(int i) {
    constexpr cuzk::field::Limbs<P::kLimbCount> kExponent = Host::Constants::modulus_minus(2);
    return word(kExponent, i);
  }
  // -1 / p mod 2^32, the low half of the host's.
  static constexpr Word kNegatedInverse = static_cast<Word>(Host::kNegatedInverse);
  static_assert(static_cast<Word>(kNegatedInverse * static_cast<Word>(P::kModulus.limb[0])) ==
                    0xffffffff,
                "a fold clears the low word");
  // p = 1 - 2^32 mod 2^64 (BLS12-381's scalars): the fold needs no product for the two low words.
  static constexpr bool kHasEasyLowWords = P::kModulus.limb[0] == 0xffffffff00000001;
  static_assert(!kHasEasyLowWords || kNegatedInverse == 0xffffffff, "m is the negated word itself");
  static constexpr int kBitCount = static_cast<int>(Host::kBitCount);
  static_assert(kBitCount <= 32 * kWordCount - 1);  // 2 p < R: one subtraction reduces a product
  static_assert(kBitCount > 32 * (kWordCount - 2), "no limb of the modulus is empty");
  // 3 p < 2^(32 W): two products and a fold stay inside the W + 1 words of a row (see Rows).
  static constexpr bool kSumsTwoProducts = kBitCount <= 32 * kWordCount - 2;
};

// A field element on a device. Aligned for 16-byte loads; a plain value otherwise.
template <class P>
class alignas(16) WordField {
 public:
  using Params = P;
  using Constants = WordConstants<P>;
  using Host = cuzk::field::PrimeField<P>;
  static constexpr int W = Constants::kWordCount;
  static constexpr bool kIsLazy = Constants::kSumsTwoProducts;  // products take lazy operands
  static_assert(W % 4 == 0, "rows are taken in pairs, memory in 16-byte pieces");
  static_assert(sizeof(Host) == W * sizeof(Word), "arrays of one are arrays of the other");

  Word word[W] = {};

  CUZK_HD static constexpr WordField zero() { return WordField{}; }
  CUZK_HD static CUZK_INLINE WordField one() {
    WordField out;
    CUZK_UNROLL for (int i = 0; i < W; ++i) out.word[i] = Constants::one(i);
    return out;
  }
  CUZK_HD CUZK_INLINE bool is_zero() const {
    Word any = 0;
    CUZK_UNROLL for (int i = 0; i < W; ++i) any |= word[i];
    return any == 0;
  }
  // Without a branch, as is_zero(): reduced values are equal when their words are.
  CUZK_HD CUZK_INLINE bool operator==(const WordField& b) const {
    Word any = 0;
    CUZK_UNROLL for (int i = 0; i < W; ++i) any |= word[i] ^ b.word[i];
    return any == 0;
  }

  // The sum stays below 2 p < 2^(32 W), so the top word needs no carry out.
  CUZK_HD friend CUZK_INLINE WordField operator+(const WordField& a, const WordField& b) {
    WordField out;
    Flag flag;
    out.word[0] = add_start(flag, a.word[0], b.word[0]);
    CUZK_UNROLL for (int i = 1; i + 1 < W; ++i) {
      out.word[i] = add_next(flag, a.word[i], b.word[i]);
    }
    out.word[W - 1] = add_end(flag, a.word[W - 1], b.word[W - 1]);
    return out.reduced_once();
  }
  // Adds p back under a mask rather than by a branch: lanes of a warp differ in who borrows.
  CUZK_HD friend CUZK_INLINE WordField operator-(const WordField& a, const WordField& b) {
    WordField out;
    Flag flag;
    out.word[0] = sub_start(flag, a.word[0], b.word[0]);
    CUZK_UNROLL for (int i = 1; i < W; ++i) out.word[i] = sub_next(flag, a.word[i], b.word[i]);
    const Word mask = sub_end(flag, 0, 0);
    out.word[0] = add_start(flag, out.word[0], Constants::modulus(0) & mask);
    CUZK_UNROLL for (int i = 1; i + 1 < W; ++i) {
      out.word[i] = add_next(flag, out.word[i], Constants::modulus(i) & mask);
    }
    out.word[W - 1] = add_end(flag, out.word[W - 1], Constants::modulus(W - 1) & mask);
    return out;
  }
  CUZK_HD CUZK_INLINE WordField operator-() const { return zero() - *this; }
  CUZK_HD CUZK_INLINE WordField doubled() const { return *this + *this; }

  // a b / R.
  CUZK_HD friend CUZK_INLINE WordField operator*(const WordField& a, const WordField& b) {
    Rows rows;
    rows.first(a, b.word[0]);
    rows.fold();
    CUZK_UNROLL for (int i = 1; i < W; ++i) {
      rows.next(a, b.word[i]);
      rows.fold();
    }
    return rows.value().reduced_once();
  }
  // (a b + c d) / R with one reduction instead of two. Only where Constants::kSumsTwoProducts.
  CUZK_HD static CUZK_INLINE WordField
  sum_of_products(const WordField& a, const WordField& b, const WordField& c,
                  const WordField& d) requires(WordConstants<P>::kSumsTwoProducts) {
    Rows rows;
    rows.first(a, b.word[0]);
    rows.more(c, d.word[0]);
    rows.fold();
    CUZK_UNROLL for (int i = 1; i < W; ++i) {
      rows.next(a, b.word[i]);
      rows.more(c, d.word[i]);
      rows.fold();
    }
    return rows.value().reduced_once();
  }
  // a b - c d.
  CUZK_HD static CUZK_INLINE WordField difference_of_products(const WordField& a,
                                                              const WordField& b,
                                                              const WordField& c,
                                                              const WordField& d) {
    if constexpr (Constants::kSumsTwoProducts) {
      return sum_of_products(a, b, -c, d);
    } else {
      return a * b - c * d;
    }
  }
  CUZK_HD CUZK_INLINE WordField squared() const;
  // Product and square out of line, operands and result in registers: for code with so many of them
  // that inlined it would wait for instructions rather than for multipliers.
  CUZK_HD static CUZK_OUT_OF_LINE WordField called_product(WordField a, WordField b) {
    return a * b;
  }
  CUZK_HD static CUZK_OUT_OF_LINE WordField called_square(WordField a) { return a.squared(); }
  CUZK_HD CUZK_INLINE WordField times(const WordField& b) const { return called_product(*this, b); }
  CUZK_HD CUZK_INLINE WordField squared_there() const { return called_square(*this); }

  CUZK_HD WordField& operator+=(const WordField& b) { return *this = *this + b; }
  CUZK_HD WordField& operator-=(const WordField& b) { return *this = *this - b; }
  CUZK_HD WordField& operator*=(const WordField& b) { return *this = *this * b; }

  // Lazy arithmetic: values below 2 p stand for their residues, so that a product needs no final
  // subtraction. `reduced` operands are below p. normalised() brings a value below p again.
  // Where R > 4 p (Constants::kSumsTwoProducts) both operands of a product may be lazy: the result
  // is below p (4 p / R) + p < 2 p.
  CUZK_HD static CUZK_INLINE WordField lazy_product(const WordField& reduced,
                                                    const WordField& lazy) {
    // The lazy operand is the one that is read word by word: then rows stay below
    // 2 p 2^32 whatever it holds, and the result below p (2 p / R) + p < 2 p.
    Rows rows;
    rows.first(reduced, lazy.word[0]);
    rows.fold();
    CUZK_UNROLL for (int i = 1; i < W; ++i) {
      rows.next(reduced, lazy.word[i]);
      rows.fold();
    }
    return rows.value();
  }
  CUZK_HD static CUZK_OUT_OF_LINE WordField called_lazy_product(WordField reduced, WordField lazy) {
    return lazy_product(reduced, lazy);
  }
  // Both lazy.
  CUZK_HD CUZK_INLINE WordField lazy_times(const WordField& b) const
      requires(WordConstants<P>::kSumsTwoProducts) {
    return called_lazy_product(*this, b);
  }
  CUZK_HD CUZK_INLINE WordField lazy_squared() const;  // of a lazy value, where R > 4 p
  // Sum and difference of lazy values modulo 2 p, again below 2 p.
  CUZK_HD static CUZK_INLINE WordField lazy_sum(const WordField& a, const WordField& b) {
    WordField sum, less;
    Flag flag;
    sum.word[0] = add_start(flag, a.word[0], b.word[0]);
    CUZK_UNROLL for (int i = 1; i < W; ++i) sum.word[i] = add_next(flag, a.word[i], b.word[i]);
    const Word carry = add_end(flag, 0, 0);  // 4 p may pass 2^(32 W)
    less.word[0] = sub_start(flag, sum.word[0], Constants::twice_modulus(0));
    CUZK_UNROLL for (int i = 1; i < W; ++i) {
      less.word[i] = sub_next(flag, sum.word[i], Constants::twice_modulus(i));
    }
    const bool keeps = sub_end(flag, carry, 0) != 0;  // carry - borrow: 0 or -1
    CUZK_UNROLL for (int i = 0; i < W; ++i) less.word[i] = keeps ? sum.word[i] : less.word[i];
    return less;
  }
  CUZK_HD static CUZK_INLINE WordField lazy_difference(const WordField& a, const WordField& b) {
    WordField out;
    Flag flag;
    out.word[0] = sub_start(flag, a.word[0], b.word[0]);
    CUZK_UNROLL for (int i = 1; i < W; ++i) out.word[i] = sub_next(flag, a.word[i], b.word[i]);
    const Word mask = sub_end(flag, 0, 0);
    out.word[0] = add_start(flag, out.word[0], Constants::twice_modulus(0) & mask);
    CUZK_UNROLL for (int i = 1; i + 1 < W; ++i) {
      out.word[i] = add_next(flag, out.word[i], Constants::twice_modulus(i) & mask);
    }
    out.word[W - 1] = add_end(flag, out.word[W - 1], Constants::twice_modulus(W - 1) & mask);
    return out;
  }
  CUZK_HD CUZK_INLINE WordField normalised() const { return reduced_once(); }
  // a + b, a - b and -a of reduced values as lazy ones, for fewer instructions. -0 becomes p.
  CUZK_HD static CUZK_INLINE WordField loose_sum(const WordField& a, const WordField& b) {
    WordField out;
    Flag flag;
    out.word[0] = add_start(flag, a.word[0], b.word[0]);
    CUZK_UNROLL for (int i = 1; i + 1 < W; ++i) {
      out.word[i] = add_next(flag, a.word[i], b.word[i]);
    }
    out.word[W - 1] = add_end(flag, a.word[W - 1], b.word[W - 1]);
    return out;
  }
  // a + (p - b), in (0, 2 p): for b = 0 that is a + p, which is lazy still.
  CUZK_HD static CUZK_INLINE WordField loose_difference(const WordField& a, const WordField& b) {
    return loose_sum(a, b.loose_negated());
  }
  // p - a: never negative for a reduced a, so no mask is needed.
  CUZK_HD CUZK_INLINE WordField loose_negated() const {
    WordField out;
    Flag flag;
    out.word[0] = sub_start(flag, Constants::modulus(0), word[0]);
    CUZK_UNROLL for (int i = 1; i + 1 < W; ++i) {
      out.word[i] = sub_next(flag, Constants::modulus(i), word[i]);
    }
    out.word[W - 1] = sub_end(flag, Constants::modulus(W - 1), word[W - 1]);
    return out;
  }
  // False only for lazy values that are no multiple of p; true for few others: a look at one word.
  CUZK_HD CUZK_INLINE bool may_be_zero() const {
    return word[0] * (0 - Constants::kNegatedInverse) < 2;  // k for k p
  }

  // The Montgomery form of the plain integer in `word` (below the modulus), and back.
  CUZK_HD WordField to_montgomery() const {
    WordField square;
    CUZK_UNROLL for (int i = 0; i < W; ++i) square.word[i] = Constants::r_squared(i);
    return *this * square;
  }
  CUZK_HD WordField from_montgomery() const {
    WordField unit;
    unit.word[0] = 1;
    return *this * unit;
  }
  CUZK_HD static WordField from_u32(Word k) {
    WordField out;
    out.word[0] = k;
    return out.to_montgomery();
  }
  // x^e for a short exponent, variable time.
  CUZK_HD WordField pow(std::uint64_t e) const {
    WordField out = one(), base = *this;
    for (; e != 0; e >>= 1) {
      if (e & 1) out = out * base;
      base = base.squared();
    }
    return out;
  }
  // x^-1; zero for zero (word_inverse.h).
  CUZK_HD WordField inverse() const;
  // The same by Fermat: the slow twin.
  CUZK_HD WordField inverse_by_power() const {
    WordField out = one();
    for (int i = Constants::kBitCount - 1; i >= 0; --i) {
      out = out.squared();
      if (inverse_exponent_bit(i)) out = out * *this;
    }
    return out;
  }

 private:
  // By a search over words: an index that is known at run time only would put the words into
  // memory.
  CUZK_HD static bool inverse_exponent_bit(int i) {
    Word w = 0;
    CUZK_UNROLL for (int j = 0; j < W; ++j) {
      if (j == i / 32) w = Constants::inverse_exponent(j);
    }
    return (w >> (i % 32)) & 1;
  }

  // x mod p for x < 2 p.
  CUZK_HD CUZK_INLINE WordField reduced_once() const {
    WordField out;
    Flag flag;
    out.word[0] = sub_start(flag, word[0], Constants::modulus(0));
    CUZK_UNROLL for (int i = 1; i < W; ++i) {
      out.word[i] = sub_next(flag, word[i], Constants::modulus(i));
    }
    const bool borrowed = sub_end(flag, 0, 0) != 0;
    CUZK_UNROLL for (int i = 0; i < W; ++i) out.word[i] = borrowed ? word[i] : out.word[i];
    return out;
  }

  // The sum in progress: word i of `even` weighs 2^(32 i), word i of `odd` 2^(32 (i + 1)).
  //
  // Invariant between rows: even[0] = 0 after fold(), and the division by 2^32 is still to be done.
  // next() does it by trading the two names: what was odd begins at word 0, and what was even,
  // moved down by two words, begins at word 1. Bound: before a fold the sum is below
  // (n + 1) p 2^32 for n products a row, so n p < 2^(32 W) - p is what a row needs.
  struct Rows;
  // The low half of a square, folded row by row: one chain less a row than a product.
  struct Folds;
};

template <class P>
struct WordField<P>::Rows {
  Word even[W], odd[W];

  // a b alone: both accumulators are empty, so nothing is added.
  CUZK_HD CUZK_INLINE void first(const WordField& a, Word b) {
    CUZK_UNROLL for (int j = 0; j < W; j += 2) {
      store(even, j, wide_product(a.word[j], b));
      store(odd, j, wide_product(a.word[j + 1], b));
    }
  }
  // Divides by 2^32 by trading names, then adds a b. The carry of the low words goes into the chain
  // of the odd products, which runs over what was even; so it is never stored.
  CUZK_HD CUZK_INLINE void next(const WordField& a, Word b) {
    Word shifted[W];
    Flag flag;
    const Word low = add_start(flag, odd[0], even[1]);
    CUZK_UNROLL for (int j = 0; j < W; j += 2) {
      const Pair above = j + 2 < W ? Pair{even[j + 2], even[j + 3]} : Pair{0, 0};
      store(shifted, j, wide_next(flag, above, a.word[j + 1], b));
    }
    CUZK_UNROLL for (int j = 1; j < W; ++j) even[j] = odd[j];
    even[0] = low;
    CUZK_UNROLL for (int j = 0; j < W; ++j) odd[j] = shifted[j];
    add_even(a, b);
  }
  // One more product in the same row.
  CUZK_HD CUZK_INLINE void more(const WordField& a, Word b) {
    Flag flag;
    store(odd, 0, wide_start(flag, load(odd, 0), a.word[1], b));
    CUZK_UNROLL for (int j = 2; j < W; j += 2) {
      store(odd, j, wide_next(flag, load(odd, j), a.word[j + 1], b));
    }
    add_even(a, b);
  }
  // Adds the multiple of the modulus that clears even[0].
  CUZK_HD CUZK_INLINE void fold() {
    if constexpr (Constants::kHasEasyLowWords) return fold_easy();
    const Word m = even[0] * Constants::kNegatedInverse;
    Flag flag;
    store(odd, 0, wide_start(flag, load(odd, 0), Constants::modulus(1), m));
    CUZK_UNROLL for (int j = 2; j < W; j += 2) {
      store(odd, j, wide_next(flag, load(odd, j), Constants::modulus(j + 1), m));
    }
    store(even, 0, wide_start(flag, load(even, 0), Constants::modulus(0), m));
    CUZK_UNROLL for (int j = 2; j < W; j += 2) {
      store(even, j, wide_next(flag, load(even, j), Constants::modulus(j), m));
    }
    odd[W - 1] = add_end(flag, odd[W - 1], 0);
  }
  // The same for p = 1 - 2^32 mod 2^64: with t = even[0], m = -t mod 2^32 and c = 1 unless t = 0,
  // t + m (1 - 2^32 + 2^64) = 2^32 (t + c) + 2^64 (m - c). Two IMAD.WIDE of eight become additions.
  CUZK_HD CUZK_INLINE void fold_easy() {
    const Word t = even[0], above = t != 0 ? ~t : 0;
    Flag flag;
    // m as ~(t - 1): ptxas would fold a negation into the products and split each in two.
    const Word m = ~add_start(flag, t, 0xffffffff);
    odd[0] = add_next(flag, odd[0], t);
    odd[1] = add_next(flag, odd[1], above);
    CUZK_UNROLL for (int j = 2; j < W; j += 2) {
      store(odd, j, wide_next(flag, load(odd, j), Constants::modulus(j + 1), m));
    }
    store(even, 2, wide_start(flag, load(even, 2), Constants::modulus(2), m));
    CUZK_UNROLL for (int j = 4; j < W; j += 2) {
      store(even, j, wide_next(flag, load(even, j), Constants::modulus(j), m));
    }
    odd[W - 1] = add_end(flag, odd[W - 1], 0);
  }
  // The sum divided by 2^32: below 2 p when n p < R.
  CUZK_HD CUZK_INLINE WordField value() const {
    WordField out;
    Flag flag;
    out.word[0] = add_start(flag, odd[0], even[1]);
    CUZK_UNROLL for (int j = 1; j + 1 < W; ++j) out.word[j] = add_next(flag, odd[j], even[j + 1]);
    out.word[W - 1] = add_end(flag, odd[W - 1], 0);
    return out;
  }

  // The products of a's even words; the carry out of the chain weighs what odd's top word does.
  CUZK_HD CUZK_INLINE void add_even(const WordField& a, Word b) {
    Flag flag;
    store(even, 0, wide_start(flag, load(even, 0), a.word[0], b));
    CUZK_UNROLL for (int j = 2; j < W; j += 2) {
      store(even, j, wide_next(flag, load(even, j), a.word[j], b));
    }
    odd[W - 1] = add_end(flag, odd[W - 1], 0);
  }
  CUZK_HD static CUZK_INLINE Pair load(const Word* w, int j) { return {w[j], w[j + 1]}; }
  CUZK_HD static CUZK_INLINE void store(Word* w, int j, Pair pair) {
    w[j] = pair.low;
    w[j + 1] = pair.high;
  }
};

template <class P>
struct WordField<P>::Folds {
  Word even[W], odd[W];

  // First row: odd is still empty.
  CUZK_HD CUZK_INLINE void first(const Word* low_half) {
    CUZK_UNROLL for (int j = 0; j < W; ++j) even[j] = low_half[j];
    if constexpr (Constants::kHasEasyLowWords) {
      Rows rows;
      CUZK_UNROLL for (int j = 0; j < W; ++j) {
        rows.even[j] = even[j];
        rows.odd[j] = 0;
      }
      rows.fold();
      CUZK_UNROLL for (int j = 0; j < W; ++j) {
        even[j] = rows.even[j];
        odd[j] = rows.odd[j];
      }
      return;
    }
    const Word m = even[0] * Constants::kNegatedInverse;
    CUZK_UNROLL for (int j = 0; j < W; j += 2) {
      Rows::store(odd, j, wide_product(Constants::modulus(j + 1), m));
    }
    fold_even(m);
  }
  // Rows::next without a product to add, and the fold of the row in the same chain.
  CUZK_HD CUZK_INLINE void next() {
    if constexpr (Constants::kHasEasyLowWords) return next_easy();
    Word shifted[W];
    Flag flag;
    const Word low = add_start(flag, odd[0], even[1]);
    const Word m = low * Constants::kNegatedInverse;
    CUZK_UNROLL for (int j = 0; j < W; j += 2) {
      const Pair above = j + 2 < W ? Pair{even[j + 2], even[j + 3]} : Pair{0, 0};
      Rows::store(shifted, j, wide_next(flag, above, Constants::modulus(j + 1), m));
    }
    CUZK_UNROLL for (int j = 1; j < W; ++j) even[j] = odd[j];
    even[0] = low;
    CUZK_UNROLL for (int j = 0; j < W; ++j) odd[j] = shifted[j];
    fold_even(m);
  }
  // As Rows::fold_easy; what it adds to words 1 and 2 is made ready first, as the chain that brings
  // in the shifted words cannot wait for it.
  CUZK_HD CUZK_INLINE void next_easy() {
    const Word t = odd[0] + even[1];
    Word shifted[W];
    Flag flag;
    const Word m = ~add_start(flag, t, 0xffffffff);
    const Word first = add_next(flag, t, 0), second = add_end(flag, t != 0 ? ~t : 0, 0);
    add_start(flag, odd[0], even[1]);
    shifted[0] = add_next(flag, even[2], first);
    shifted[1] = add_next(flag, even[3], second);
    CUZK_UNROLL for (int j = 2; j < W; j += 2) {
      const Pair above = j + 2 < W ? Pair{even[j + 2], even[j + 3]} : Pair{0, 0};
      Rows::store(shifted, j, wide_next(flag, above, Constants::modulus(j + 1), m));
    }
    CUZK_UNROLL for (int j = 1; j < W; ++j) even[j] = odd[j];
    CUZK_UNROLL for (int j = 0; j < W; ++j) odd[j] = shifted[j];
    Rows::store(even, 2, wide_start(flag, Rows::load(even, 2), Constants::modulus(2), m));
    CUZK_UNROLL for (int j = 4; j < W; j += 2) {
      Rows::store(even, j, wide_next(flag, Rows::load(even, j), Constants::modulus(j), m));
    }
    odd[W - 1] = add_end(flag, odd[W - 1], 0);
  }
  // m times the modulus's even words, which clears even[0] as the odd ones cannot.
  CUZK_HD CUZK_INLINE void fold_even(Word m) {
    Flag flag;
    Rows::store(even, 0, wide_start(flag, Rows::load(even, 0), Constants::modulus(0), m));
    CUZK_UNROLL for (int j = 2; j < W; j += 2) {
      Rows::store(even, j, wide_next(flag, Rows::load(even, j), Constants::modulus(j), m));
    }
    odd[W - 1] = add_end(flag, odd[W - 1], 0);
  }
};

// Products of unlike words once, doubled, plus the squares: W (W + 1) / 2 WIDE for a^2 instead of
// W^2, then the fold of the low half and one addition of the high half.
template <class P>
CUZK_HD CUZK_INLINE WordField<P> WordField<P>::lazy_squared() const {
  // Word i of `even` weighs 2^(32 i), word i of `odd` 2^(32 (i + 1)), as in Rows.
  Word even[2 * W] = {}, odd[2 * W] = {};
  CUZK_UNROLL for (int i = 0; i + 1 < W; ++i) {
    Flag flag;
    int last = 0;
    CUZK_UNROLL for (int j = i + 1; j < W; j += 2) {  // i + j is odd
      const Pair acc{odd[i + j - 1], odd[i + j]};
      const Pair sum = j == i + 1 ? wide_start(flag, acc, word[j], word[i])
                                  : wide_next(flag, acc, word[j], word[i]);
      odd[i + j - 1] = sum.low;
      odd[i + j] = sum.high;
      last = i + j + 1;
    }
    odd[last] = add_end(flag, odd[last], 0);
    CUZK_UNROLL for (int j = i + 2; j < W; j += 2) {  // i + j is even
      const Pair acc{even[i + j], even[i + j + 1]};
      const Pair sum = j == i + 2 ? wide_start(flag, acc, word[j], word[i])
                                  : wide_next(flag, acc, word[j], word[i]);
      even[i + j] = sum.low;
      even[i + j + 1] = sum.high;
      last = i + j + 2;
    }
    if (i + 2 < W) even[last] = add_end(flag, even[last], 0);
  }
  // Both accumulators into one, doubled, then the squares on top: a^2 below 2^(64 W).
  Word sum[2 * W];
  Flag flag;
  sum[0] = 0;
  sum[1] = add_start(flag, odd[0], even[1]);
  CUZK_UNROLL for (int i = 2; i < 2 * W; ++i) sum[i] = add_next(flag, odd[i - 1], even[i]);
  sum[1] = add_start(flag, sum[1], sum[1]);
  CUZK_UNROLL for (int i = 2; i < 2 * W; ++i) sum[i] = add_next(flag, sum[i], sum[i]);
  Rows::store(sum, 0, wide_start(flag, {0, sum[1]}, word[0], word[0]));
  CUZK_UNROLL for (int i = 1; i < W; ++i) {
    Rows::store(sum, 2 * i, wide_next(flag, Rows::load(sum, 2 * i), word[i], word[i]));
  }
  // The low half is folded away in W rows; what is left of it and the high half are added. With
  // a < 2 p and R > 4 p the result is below 2 p.
  Folds folds;
  folds.first(sum);
  CUZK_UNROLL for (int i = 1; i < W; ++i) folds.next();
  WordField out;
  out.word[0] = add_start(flag, folds.odd[0], folds.even[1]);
  CUZK_UNROLL for (int i = 1; i + 1 < W; ++i) {
    out.word[i] = add_next(flag, folds.odd[i], folds.even[i + 1]);
  }
  out.word[W - 1] = add_end(flag, folds.odd[W - 1], 0);
  out.word[0] = add_start(flag, out.word[0], sum[W]);
  CUZK_UNROLL for (int i = 1; i + 1 < W; ++i) {
    out.word[i] = add_next(flag, out.word[i], sum[W + i]);
  }
  out.word[W - 1] = add_end(flag, out.word[W - 1], sum[2 * W - 1]);
  return out;
}

template <class P>
CUZK_HD CUZK_INLINE WordField<P> WordField<P>::squared() const {
  return lazy_squared().reduced_once();
}

}  // namespace cuzk::cuda::field

#include "cuda/field/word_inverse.h"
