// Arithmetic modulo p for x86-64: sums with add-with-carry, products with mulx, adcx and adox.
//
// The same results as field/montgomery.h, limb for limb. Sums need no more than x86-64; products
// need BMI2 and ADX, so call multiply_adx only where base::has_adx(). Compilers do not keep two
// carry chains alive across a row, which is what the product's speed comes from, so it is written
// out: operand scanning, where each round adds a * b_i (low halves along CF, high halves along OF),
// then adds factor * p, which clears the lowest limb; that register becomes the next round's top
// limb. Instruction counts for N limbs: 2 N^2 + N multiplications, twice as many additions with
// carry. Left out where registers may not suffice (no optimisation, no inlining, sanitizers).
// Source of the two-chain idea: Ozturk, Guilford, Gopal, "Large Integer Squaring on Intel
// Architecture Processors", Intel white paper, 2013.
#pragma once

#include <cstddef>

#include "field/montgomery.h"

// gcc names its sanitizers by macros, clang by features.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CUZK_FIELD_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CUZK_FIELD_SANITIZED 1
#endif
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__NO_INLINE__)
#if !defined(__CUDA_ARCH__) && !defined(CUZK_FIELD_SANITIZED)
#define CUZK_FIELD_X64 1
#endif
#endif

#if defined(CUZK_FIELD_X64)

namespace cuzk::field::x64 {

static_assert(offsetof(Modulus<4>, negated_inverse) == 32 &&
                  offsetof(Modulus<6>, negated_inverse) == 48,
              "CUZK_FACTOR reads -p^-1 right behind the limbs of p");
static_assert(offsetof(Modulus<4>, p) == 0 && offsetof(Modulus<6>, p) == 0,
              "rows of p are read from the address of the Modulus");

// The assembly is laid out by rows.
// clang-format off

// One pass of row[j] += source[j] * rdx for all j, low halves along CF and high halves along OF.
// Clears both flags first (xor does); H must be the register after the last of the row. The chain
// of high halves ends there without a carry out, because the running sum fits N + 1 limbs.
#define CUZK_CLEAR "xorl %k[lo], %k[lo]\n\t"
#define CUZK_MULADD(OFFSET, SOURCE, T, H)                      \
  "mulx " #OFFSET "(%[" SOURCE "]), %[lo], %[hi]\n\t"          \
  "adcx %[lo], %[" #T "]\n\t"                                  \
  "adox %[hi], %[" #H "]\n\t"
#define CUZK_LAST_CARRY(H) "movl $0, %k[lo]\n\tadcx %[lo], %[" #H "]\n\t"

#define CUZK_ROW4(SOURCE, T0, T1, T2, T3, T4)                                     \
  CUZK_CLEAR CUZK_MULADD(0, SOURCE, T0, T1) CUZK_MULADD(8, SOURCE, T1, T2)        \
      CUZK_MULADD(16, SOURCE, T2, T3) CUZK_MULADD(24, SOURCE, T3, T4) CUZK_LAST_CARRY(T4)
#define CUZK_ROW6(SOURCE, T0, T1, T2, T3, T4, T5, T6)                             \
  CUZK_CLEAR CUZK_MULADD(0, SOURCE, T0, T1) CUZK_MULADD(8, SOURCE, T1, T2)        \
      CUZK_MULADD(16, SOURCE, T2, T3) CUZK_MULADD(24, SOURCE, T3, T4)             \
          CUZK_MULADD(32, SOURCE, T4, T5) CUZK_MULADD(40, SOURCE, T5, T6) CUZK_LAST_CARRY(T6)

// rdx = b_i.
#define CUZK_LOAD_B(OFFSET) "movq " #OFFSET "(%[b]), %%rdx\n\t"
// rdx = T0 * -p^-1, the factor whose product with p clears T0.
#define CUZK_FACTOR(T0, OFFSET) "movq %[" #T0 "], %%rdx\n\timulq " #OFFSET "(%[p]), %%rdx\n\t"

// The first round starts from nothing: products are moved, not added.
#define CUZK_FIRST_ROW4                                                           \
  CUZK_LOAD_B(0)                                                                  \
  "mulx 0(%[a]), %[t0], %[t1]\n\t"                                                \
  "mulx 8(%[a]), %[lo], %[t2]\n\taddq %[lo], %[t1]\n\t"                           \
  "mulx 16(%[a]), %[lo], %[t3]\n\tadcq %[lo], %[t2]\n\t"                          \
  "mulx 24(%[a]), %[lo], %[t4]\n\tadcq %[lo], %[t3]\n\tadcq $0, %[t4]\n\t"
#define CUZK_FIRST_ROW6                                                           \
  CUZK_LOAD_B(0)                                                                  \
  "mulx 0(%[a]), %[t0], %[t1]\n\t"                                                \
  "mulx 8(%[a]), %[lo], %[t2]\n\taddq %[lo], %[t1]\n\t"                           \
  "mulx 16(%[a]), %[lo], %[t3]\n\tadcq %[lo], %[t2]\n\t"                          \
  "mulx 24(%[a]), %[lo], %[t4]\n\tadcq %[lo], %[t3]\n\t"                          \
  "mulx 32(%[a]), %[lo], %[t5]\n\tadcq %[lo], %[t4]\n\t"                          \
  "mulx 40(%[a]), %[lo], %[t6]\n\tadcq %[lo], %[t5]\n\tadcq $0, %[t6]\n\t"

#define CUZK_ROUND4(B, T0, T1, T2, T3, T4)                                        \
  CUZK_LOAD_B(B) CUZK_ROW4("a", T0, T1, T2, T3, T4)                               \
  CUZK_FACTOR(T0, 32) CUZK_ROW4("p", T0, T1, T2, T3, T4)
#define CUZK_ROUND6(B, T0, T1, T2, T3, T4, T5, T6)                                \
  CUZK_LOAD_B(B) CUZK_ROW6("a", T0, T1, T2, T3, T4, T5, T6)                       \
  CUZK_FACTOR(T0, 48) CUZK_ROW6("p", T0, T1, T2, T3, T4, T5, T6)

// out = a b / 2^256 mod p. Not inlined: the body is larger than what a call costs, and point
// formulas have a dozen. The sum t is below 2 p, so p is subtracted once and, by the borrow, either
// t or the difference is kept. `out` may be an operand: it is written after the last read.
[[gnu::noinline]] inline void multiply_adx(Limbs<4>& out, const Limbs<4>& a, const Limbs<4>& b,
                                          const Modulus<4>& m) {
  Limb t0, t1, t2, t3, t4, lo, hi;
  // The result stands in t4, t0, t1, t2, and t3 is zero.
  __asm__(
      CUZK_FIRST_ROW4 CUZK_FACTOR(t0, 32) CUZK_ROW4("p", t0, t1, t2, t3, t4)
      CUZK_ROUND4(8, t1, t2, t3, t4, t0)
      CUZK_ROUND4(16, t2, t3, t4, t0, t1)
      CUZK_ROUND4(24, t3, t4, t0, t1, t2)
      "movq %[t4], %[lo]\n\tsubq 0(%[p]), %[lo]\n\t"
      "movq %[t0], %[hi]\n\tsbbq 8(%[p]), %[hi]\n\t"
      "movq %[t1], %[t3]\n\tsbbq 16(%[p]), %[t3]\n\t"
      "movq %[t2], %%rdx\n\tsbbq 24(%[p]), %%rdx\n\t"
      "cmovncq %[lo], %[t4]\n\tcmovncq %[hi], %[t0]\n\t"
      "cmovncq %[t3], %[t1]\n\tcmovncq %%rdx, %[t2]\n\t"
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
        [lo] "=&r"(lo), [hi] "=&r"(hi)
      : [a] "r"(&a), [b] "r"(&b), [p] "r"(&m), "m"(a), "m"(b), "m"(m)
      : "rdx", "cc");
  out = {{t4, t0, t1, t2}};
}

// The same for six limbs and 2^384. It takes thirteen of the fifteen registers that there are: at
// the end those that held the operands' addresses take part of the difference.
[[gnu::noinline]] inline void multiply_adx(Limbs<6>& out, const Limbs<6>& a, const Limbs<6>& b,
                                          const Modulus<6>& m) {
  Limb t0, t1, t2, t3, t4, t5, t6, lo, hi;
  const Limbs<6>*a_limbs = &a, *b_limbs = &b;
  // The result stands in t6, t0, t1, t2, t3, t4, and t5 is zero; a and b are then free.
  __asm__(
      CUZK_FIRST_ROW6 CUZK_FACTOR(t0, 48) CUZK_ROW6("p", t0, t1, t2, t3, t4, t5, t6)
      CUZK_ROUND6(8, t1, t2, t3, t4, t5, t6, t0)
      CUZK_ROUND6(16, t2, t3, t4, t5, t6, t0, t1)
      CUZK_ROUND6(24, t3, t4, t5, t6, t0, t1, t2)
      CUZK_ROUND6(32, t4, t5, t6, t0, t1, t2, t3)
      CUZK_ROUND6(40, t5, t6, t0, t1, t2, t3, t4)
      "movq %[t6], %[lo]\n\tsubq 0(%[p]), %[lo]\n\t"
      "movq %[t0], %[hi]\n\tsbbq 8(%[p]), %[hi]\n\t"
      "movq %[t1], %[t5]\n\tsbbq 16(%[p]), %[t5]\n\t"
      "movq %[t2], %[a]\n\tsbbq 24(%[p]), %[a]\n\t"
      "movq %[t3], %[b]\n\tsbbq 32(%[p]), %[b]\n\t"
      "movq %[t4], %%rdx\n\tsbbq 40(%[p]), %%rdx\n\t"
      "cmovncq %[lo], %[t6]\n\tcmovncq %[hi], %[t0]\n\tcmovncq %[t5], %[t1]\n\t"
      "cmovncq %[a], %[t2]\n\tcmovncq %[b], %[t3]\n\tcmovncq %%rdx, %[t4]\n\t"
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
        [t5] "=&r"(t5), [t6] "=&r"(t6), [lo] "=&r"(lo), [hi] "=&r"(hi), [a] "+&r"(a_limbs),
        [b] "+&r"(b_limbs)
      : [p] "r"(&m)
      : "rdx", "cc", "memory");
  out = {{t6, t0, t1, t2, t3, t4}};
}

// Sums and differences: one carry chain for a and b, one for the modulus, and a choice without a
// branch between the two results. Inlined, since they are short. They need no more than x86-64.
CUZK_INLINE void add(Limbs<4>& out, const Limbs<4>& a, const Limbs<4>& b,
                     const Modulus<4>& m) {
  Limb t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
  Limb s0, s1, s2, s3;
  __asm__(
      "addq 0(%[b]), %[t0]\n\t" "adcq 8(%[b]), %[t1]\n\t"
      "adcq 16(%[b]), %[t2]\n\t" "adcq 24(%[b]), %[t3]\n\t"
      "movq %[t0], %[s0]\n\tsubq %[p0], %[s0]\n\t" "movq %[t1], %[s1]\n\tsbbq %[p1], %[s1]\n\t"
      "movq %[t2], %[s2]\n\tsbbq %[p2], %[s2]\n\t" "movq %[t3], %[s3]\n\tsbbq %[p3], %[s3]\n\t"
      "cmovncq %[s0], %[t0]\n\t" "cmovncq %[s1], %[t1]\n\t"
      "cmovncq %[s2], %[t2]\n\t" "cmovncq %[s3], %[t3]\n\t"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [s0] "=&r"(s0),
        [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3)
      : [b] "r"(&b), "m"(b), [p0] "m"(m.p.limb[0]), [p1] "m"(m.p.limb[1]), [p2] "m"(m.p.limb[2]),
        [p3] "m"(m.p.limb[3])
      : "cc");
  out = {{t0, t1, t2, t3}};
}

CUZK_INLINE void add(Limbs<6>& out, const Limbs<6>& a, const Limbs<6>& b,
                     const Modulus<6>& m) {
  Limb t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
  Limb s0, s1, s2, s3, s4, s5;
  __asm__(
      "addq 0(%[b]), %[t0]\n\t" "adcq 8(%[b]), %[t1]\n\t"
      "adcq 16(%[b]), %[t2]\n\t" "adcq 24(%[b]), %[t3]\n\t"
      "adcq 32(%[b]), %[t4]\n\t" "adcq 40(%[b]), %[t5]\n\t"
      "movq %[t0], %[s0]\n\tsubq %[p0], %[s0]\n\t" "movq %[t1], %[s1]\n\tsbbq %[p1], %[s1]\n\t"
      "movq %[t2], %[s2]\n\tsbbq %[p2], %[s2]\n\t" "movq %[t3], %[s3]\n\tsbbq %[p3], %[s3]\n\t"
      "movq %[t4], %[s4]\n\tsbbq %[p4], %[s4]\n\t" "movq %[t5], %[s5]\n\tsbbq %[p5], %[s5]\n\t"
      "cmovncq %[s0], %[t0]\n\t" "cmovncq %[s1], %[t1]\n\t"
      "cmovncq %[s2], %[t2]\n\t" "cmovncq %[s3], %[t3]\n\t"
      "cmovncq %[s4], %[t4]\n\t" "cmovncq %[s5], %[t5]\n\t"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
        [t5] "+&r"(t5), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3),
        [s4] "=&r"(s4), [s5] "=&r"(s5)
      : [b] "r"(&b), "m"(b), [p0] "m"(m.p.limb[0]), [p1] "m"(m.p.limb[1]), [p2] "m"(m.p.limb[2]),
        [p3] "m"(m.p.limb[3]), [p4] "m"(m.p.limb[4]), [p5] "m"(m.p.limb[5])
      : "cc");
  out = {{t0, t1, t2, t3, t4, t5}};
}

CUZK_INLINE void sub(Limbs<4>& out, const Limbs<4>& a, const Limbs<4>& b,
                     const Modulus<4>& m) {
  Limb t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3];
  Limb s0, s1, s2, s3;
  __asm__(
      "xorl %k[s0], %k[s0]\n\t" "xorl %k[s1], %k[s1]\n\t"
      "xorl %k[s2], %k[s2]\n\t" "xorl %k[s3], %k[s3]\n\t"
      "subq 0(%[b]), %[t0]\n\t" "sbbq 8(%[b]), %[t1]\n\t"
      "sbbq 16(%[b]), %[t2]\n\t" "sbbq 24(%[b]), %[t3]\n\t"
      "cmovcq %[p0], %[s0]\n\t" "cmovcq %[p1], %[s1]\n\t"
      "cmovcq %[p2], %[s2]\n\t" "cmovcq %[p3], %[s3]\n\t"
      "addq %[s0], %[t0]\n\t" "adcq %[s1], %[t1]\n\t"
      "adcq %[s2], %[t2]\n\t" "adcq %[s3], %[t3]\n\t"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [s0] "=&r"(s0),
        [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3)
      : [b] "r"(&b), "m"(b), [p0] "m"(m.p.limb[0]), [p1] "m"(m.p.limb[1]), [p2] "m"(m.p.limb[2]),
        [p3] "m"(m.p.limb[3])
      : "cc");
  out = {{t0, t1, t2, t3}};
}

CUZK_INLINE void sub(Limbs<6>& out, const Limbs<6>& a, const Limbs<6>& b,
                     const Modulus<6>& m) {
  Limb t0 = a[0], t1 = a[1], t2 = a[2], t3 = a[3], t4 = a[4], t5 = a[5];
  Limb s0, s1, s2, s3, s4, s5;
  __asm__(
      "xorl %k[s0], %k[s0]\n\t" "xorl %k[s1], %k[s1]\n\t"
      "xorl %k[s2], %k[s2]\n\t" "xorl %k[s3], %k[s3]\n\t"
      "xorl %k[s4], %k[s4]\n\t" "xorl %k[s5], %k[s5]\n\t"
      "subq 0(%[b]), %[t0]\n\t" "sbbq 8(%[b]), %[t1]\n\t"
      "sbbq 16(%[b]), %[t2]\n\t" "sbbq 24(%[b]), %[t3]\n\t"
      "sbbq 32(%[b]), %[t4]\n\t" "sbbq 40(%[b]), %[t5]\n\t"
      "cmovcq %[p0], %[s0]\n\t" "cmovcq %[p1], %[s1]\n\t"
      "cmovcq %[p2], %[s2]\n\t" "cmovcq %[p3], %[s3]\n\t"
      "cmovcq %[p4], %[s4]\n\t" "cmovcq %[p5], %[s5]\n\t"
      "addq %[s0], %[t0]\n\t" "adcq %[s1], %[t1]\n\t"
      "adcq %[s2], %[t2]\n\t" "adcq %[s3], %[t3]\n\t"
      "adcq %[s4], %[t4]\n\t" "adcq %[s5], %[t5]\n\t"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
        [t5] "+&r"(t5), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3),
        [s4] "=&r"(s4), [s5] "=&r"(s5)
      : [b] "r"(&b), "m"(b), [p0] "m"(m.p.limb[0]), [p1] "m"(m.p.limb[1]), [p2] "m"(m.p.limb[2]),
        [p3] "m"(m.p.limb[3]), [p4] "m"(m.p.limb[4]), [p5] "m"(m.p.limb[5])
      : "cc");
  out = {{t0, t1, t2, t3, t4, t5}};
}

// clang-format on

}  // namespace cuzk::field::x64
#endif
