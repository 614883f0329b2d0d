// Where the border between heap and pages is drawn, and what refusal says on either side of it.
//
// Pages come from the ledger's pool when it has the size: proofs of one circuit take the same sizes
// again and again, and new pages would have the kernel map and clear them each time.
#include "base/scratch.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include <unistd.h>

namespace cuzk::base {
namespace {

constexpr std::size_t kLineBytes = 64;
static_assert((kLineBytes & (kLineBytes - 1)) == 0, "an alignment is a power of two");
static_assert(ScratchBuffer::kPagedBytesMin % kLineBytes == 0, "rounding stays below the border");

// The next multiple of `unit`; the largest number where there is none.
std::size_t rounded_to(std::size_t bytes, std::size_t unit) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  return bytes > kMost - (unit - 1) ? kMost : (bytes + unit - 1) / unit * unit;
}

}  // namespace

void ScratchBuffer::Free::operator()(std::uint8_t* bytes) const noexcept { std::free(bytes); }

std::size_t ScratchBuffer::rounded(std::size_t size_bytes) {
  if (size_bytes < kPagedBytesMin) return rounded_to(size_bytes, kLineBytes);
  return page_rounded(size_bytes);
}

std::uint64_t page_rounded(std::uint64_t size_bytes) {
  return rounded_to(size_bytes, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

ScratchBuffer::ScratchBuffer(std::size_t size_bytes, MemoryCategory category,
                             std::string_view owner) {
  if (size_bytes == 0) return;
  if (size_bytes >= kPagedBytesMin) {
    auto pages = PageRun::reuse(size_bytes, category, owner);
    if (!pages.ok()) throw OutOfMemory(std::move(pages).error());
    pages_ = std::move(pages).value();
    data_ = static_cast<std::uint8_t*>(pages_.data());
    size_bytes_ = pages_.byte_count();
    CUZK_ASSERT(data_ != nullptr && size_bytes_ >= size_bytes);
    return;
  }
  size_bytes_ = rounded(size_bytes);
  CUZK_ASSERT(size_bytes_ >= size_bytes &&
              size_bytes_ % kLineBytes == 0);  // aligned_alloc's demand
  heap_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(kLineBytes, size_bytes_)));
  if (heap_ == nullptr) {
    throw OutOfMemory({ErrorKind::kResourceExhausted,
                       std::string(owner) + " needs " + std::to_string(size_bytes_) +
                           " bytes and the operating system has none to give"});
  }
  data_ = heap_.get();
}

void ScratchBuffer::fill_zero() {
  if (size_bytes_ != 0) std::memset(data_, 0, size_bytes_);
}

}  // namespace cuzk::base
