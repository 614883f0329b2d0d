// Carry chains over 32-bit words: PTX on a device, the same steps in portable C++ on a host.
//
// A chain is a run of calls that pass one carry along. On a device the carry is the hardware flag,
// so nothing that touches the flag may stand between two calls of a chain; on a host it is the
// value in `Flag`. Host tests thus check the very sequence of steps that the device runs.
//
// `wide_*` adds a product of two words to a pair of words. ptxas fuses its two instructions into
// one IMAD.WIDE.X, the instruction that bounds all prime field arithmetic on these devices.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "cuda/device/code.h"

namespace cuzk::cuda::field {

using Word = std::uint32_t;
static_assert(sizeof(Word) == 4, "the asm below works on 32-bit registers");

// The carry (or borrow) of the chain in progress; unused on a device.
struct Flag {
  Word carry = 0;
};

// Two neighbouring words of a sum, low and high.
struct Pair {
  Word low, high;
};

// a + b, carry out; starts a chain.
CUZK_HD CUZK_INLINE Word add_start([[maybe_unused]] Flag& flag, Word a, Word b) {
#if CUZK_DEVICE_CODE
  Word sum;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
#else
  const std::uint64_t sum = std::uint64_t{a} + b;
  flag.carry = static_cast<Word>(sum >> 32);
  return static_cast<Word>(sum);
#endif
}

// a + b + carry, carry out.
CUZK_HD CUZK_INLINE Word add_next([[maybe_unused]] Flag& flag, Word a, Word b) {
#if CUZK_DEVICE_CODE
  Word sum;
  asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
#else
  const std::uint64_t sum = std::uint64_t{a} + b + flag.carry;
  flag.carry = static_cast<Word>(sum >> 32);
  return static_cast<Word>(sum);
#endif
}

// a + b + carry; ends a chain.
CUZK_HD CUZK_INLINE Word add_end([[maybe_unused]] Flag& flag, Word a, Word b) {
#if CUZK_DEVICE_CODE
  Word sum;
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
#else
  return a + b + flag.carry;
#endif
}

// a - b, borrow out; starts a chain.
CUZK_HD CUZK_INLINE Word sub_start([[maybe_unused]] Flag& flag, Word a, Word b) {
#if CUZK_DEVICE_CODE
  Word difference;
  asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
  return difference;
#else
  flag.carry = a < b;
  return a - b;
#endif
}

// a - b - borrow, borrow out.
CUZK_HD CUZK_INLINE Word sub_next([[maybe_unused]] Flag& flag, Word a, Word b) {
#if CUZK_DEVICE_CODE
  Word difference;
  asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
  return difference;
#else
  const std::uint64_t difference = std::uint64_t{a} - b - flag.carry;
  flag.carry = static_cast<Word>(difference >> 32) & 1;
  return static_cast<Word>(difference);
#endif
}

// a - b - borrow; ends a chain. With a = b = 0: all ones when the chain borrowed, else zero.
CUZK_HD CUZK_INLINE Word sub_end([[maybe_unused]] Flag& flag, Word a, Word b) {
#if CUZK_DEVICE_CODE
  Word difference;
  asm volatile("subc.u32 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
  return difference;
#else
  return a - b - flag.carry;
#endif
}

// acc + a b, carry out; starts a chain. `+&`: the low half is written before a and b are read for
// the high one, so the compiler must not give them the same register.
CUZK_HD CUZK_INLINE Pair wide_start([[maybe_unused]] Flag& flag, Pair acc, Word a, Word b) {
#if CUZK_DEVICE_CODE
  asm volatile("mad.lo.cc.u32 %0, %2, %3, %0;\n\tmadc.hi.cc.u32 %1, %2, %3, %1;"
               : "+&r"(acc.low), "+&r"(acc.high)
               : "r"(a), "r"(b));
  return acc;
#else
  flag.carry = 0;
  const std::uint64_t before = std::uint64_t{acc.high} << 32 | acc.low;
  const std::uint64_t after = before + std::uint64_t{a} * b;
  flag.carry = after < before;
  return {static_cast<Word>(after), static_cast<Word>(after >> 32)};
#endif
}

// acc + a b + carry, carry out.
CUZK_HD CUZK_INLINE Pair wide_next([[maybe_unused]] Flag& flag, Pair acc, Word a, Word b) {
#if CUZK_DEVICE_CODE
  asm volatile("madc.lo.cc.u32 %0, %2, %3, %0;\n\tmadc.hi.cc.u32 %1, %2, %3, %1;"
               : "+&r"(acc.low), "+&r"(acc.high)
               : "r"(a), "r"(b));
  return acc;
#else
  using Wide = unsigned __int128;
  const Wide before = std::uint64_t{acc.high} << 32 | acc.low;
  const Wide after = before + std::uint64_t{a} * b + flag.carry;
  flag.carry = static_cast<Word>(after >> 64);
  return {static_cast<Word>(after), static_cast<Word>(after >> 32)};
#endif
}

// a b: no carry in or out. a b <= (2^32 - 1)^2, so the high word is never all ones and takes a
// carry without one of its own.
CUZK_HD CUZK_INLINE Pair wide_product(Word a, Word b) {
#if CUZK_DEVICE_CODE
  Pair out;
  asm volatile("mul.lo.u32 %0, %2, %3;\n\tmul.hi.u32 %1, %2, %3;"
               : "=&r"(out.low), "=r"(out.high)
               : "r"(a), "r"(b));
  return out;
#else
  const std::uint64_t product = std::uint64_t{a} * b;
  return {static_cast<Word>(product), static_cast<Word>(product >> 32)};
#endif
}

}  // namespace cuzk::cuda::field
