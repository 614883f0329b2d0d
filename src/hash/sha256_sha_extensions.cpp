// SHA-256 by the x86 SHA extensions (sha256rnds2, sha256msg1, sha256msg2: two rounds, and four
// words of the message schedule, per pair of instructions). Compiled for any x86-64, entered only
// where CPUID says that the instructions exist.
#include "base/check.h"
#include "hash/sha256.h"
#include "hash/sha256_paths.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace cuzk::hash::internal {

#if defined(__x86_64__)

bool sha_extensions_present() noexcept {
  static const bool present = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
    const bool ssse3 = (c >> 9) & 1, sse41 = (c >> 19) & 1;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    return ssse3 && sse41 && ((b >> 29) & 1) != 0;
  }();
  return present;
}

__attribute__((target("sha,sse4.1,ssse3"))) void sha256_compress_sha_extensions(
    std::uint32_t* state, const std::uint8_t* blocks, std::size_t block_count) {
  const __m128i byte_swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  // The instructions keep the eight words as (a, b, e, f) and (c, d, g, h), first letter on top.
  const __m128i* words = reinterpret_cast<const __m128i*>(state);
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, badc, 0xf0);

  for (; block_count > 0; --block_count, blocks += kSha256BlockBytes) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i) {
      const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i);
      w[i] = _mm_shuffle_epi8(raw, byte_swap);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const __m128i k =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(kSha256RoundConstants.data()) + i);
      const __m128i sum = _mm_add_epi32(w[i % 4], k);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      if (i < 12) {
        const __m128i older = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);
        const __m128i seventh = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
        w[i % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(older, seventh), w[(i + 3) % 4]);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }

  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  __m128i* out = reinterpret_cast<__m128i*>(state);
  _mm_storeu_si128(out, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(out + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool sha_extensions_present() noexcept { return false; }

void sha256_compress_sha_extensions(std::uint32_t*, const std::uint8_t*, std::size_t) {
  CUZK_ASSERT(sha_extensions_present());
}

#endif

}  // namespace cuzk::hash::internal
