// Each part's overlap with what is asked for is cut into grains for the threads.
//
// Parts are few (nine for a witness), so all are looked at for each piece. A piece may begin and
// end inside parts; what is made is then made from the element at the piece's begin.
#include "cuda/prove/host_image.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/threads.h"

namespace cuzk::cuda::prove {
namespace {

// Large enough that handing a grain to a thread costs nothing beside copying it.
constexpr std::size_t kGrainBytes = std::size_t{1} << 20;
constexpr std::size_t kGrainWords = std::size_t{1} << 15;  // words take longer to make than to copy

void copy_in_parallel(std::byte* to, std::span<const std::byte> from) {
  base::parallel_for(0, from.size(), kGrainBytes, [&](std::size_t begin, std::size_t end) {
    std::memcpy(to + begin, from.data() + begin, end - begin);
  });
}

}  // namespace

void HostImage::write(std::uint64_t first, std::span<std::byte> out) const {
  constexpr std::size_t kWordBytes = sizeof(std::uint32_t);
  for (const Part& part : parts_) {
    // The overlap, in places of the image; the part's own places begin at its offset.
    const std::uint64_t begin = std::max(first, part.offset);
    const std::uint64_t end = std::min(first + out.size(), part.offset + part.size_bytes);
    if (begin >= end) continue;
    std::byte* const to = out.data() + (begin - first);
    const std::uint64_t from = begin - part.offset, count = end - begin;
    CUZK_ASSERT(from + count <= part.size_bytes && begin - first + count <= out.size());
    if (!part.make) {
      copy_in_parallel(to, part.bytes.subspan(from, count));
      continue;
    }
    CUZK_ASSERT(from % kWordBytes == 0 && count % kWordBytes == 0);
    const std::span words(reinterpret_cast<std::uint32_t*>(to), count / kWordBytes);
    base::parallel_for(0, words.size(), kGrainWords, [&](std::size_t a, std::size_t b) {
      part.make(from / kWordBytes + a, words.subspan(a, b - a));
    });
  }
}

}  // namespace cuzk::cuda::prove
