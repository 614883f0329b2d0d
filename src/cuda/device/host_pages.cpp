// Pieces of some huge pages each, in turn by whoever is free: pages of other nodes and threads that
// are late even out.
#include "cuda/device/host_pages.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

namespace cuzk::cuda::device {
namespace {

// Far above any machine; sums with it cannot wrap.
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 56;
// What a thread brings in at a time: some milliseconds.
constexpr std::uint64_t kPieceBytes = 16 * HostPages::kHugePageBytes;

base::Error no_memory(std::uint64_t size_bytes, int code) {
  return {base::ErrorKind::kResourceExhausted, "mapping " + std::to_string(size_bytes) +
                                                   " bytes of host memory: " + std::strerror(code)};
}

// 0 or errno. Kernels before 5.14 know no other way than to write to each page.
int bring_in(std::byte* begin, std::uint64_t size_bytes) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(begin, size_bytes, MADV_POPULATE_WRITE) == 0) return 0;
  if (errno != EINVAL) return errno;
#endif
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (std::uint64_t at = 0; at < size_bytes; at += page_bytes) {
    *static_cast<volatile std::byte*>(begin + at) = std::byte{0};
  }
  return 0;
}

// Pieces in turn, by whoever is free; 0 or the errno of one that failed.
int bring_in_all(std::byte* data, std::uint64_t size_bytes, unsigned threads) {
  std::atomic<std::uint64_t> next{0};
  std::atomic<int> failed{0};
  const auto work = [&] {
    while (failed == 0) {
      const std::uint64_t first = next.fetch_add(kPieceBytes);
      if (first >= size_bytes) return;
      const int code = bring_in(data + first, std::min(kPieceBytes, size_bytes - first));
      if (code != 0) failed = code;
    }
  };
  const std::uint64_t pieces = (size_bytes + kPieceBytes - 1) / kPieceBytes;
  const std::uint64_t helpers = std::min<std::uint64_t>(threads, pieces) - 1;
  std::vector<std::jthread> helping;
  try {
    for (std::uint64_t i = 0; i < helpers; ++i) helping.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads are to be had: those that are there do it.
  } catch (const std::bad_alloc&) {
    // The same.
  }
  work();
  helping.clear();  // joins
  return failed;
}

}  // namespace

HostPages::~HostPages() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes_);
}

base::Result<HostPages> HostPages::create(std::uint64_t size_bytes, unsigned threads) {
  CUZK_ASSERT(size_bytes > 0 && threads > 0);
  if (size_bytes > kBytesMax) return no_memory(size_bytes, ENOMEM);
  const std::uint64_t mapped_bytes = size_bytes + kHugePageBytes;  // room to align
  void* const mapping =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return no_memory(size_bytes, errno);
  HostPages pages;
  pages.mapping_ = mapping;
  pages.mapping_bytes_ = mapped_bytes;
  const auto address = reinterpret_cast<std::uintptr_t>(mapping);
  pages.data_ = static_cast<std::byte*>(mapping) + (kHugePageBytes - address % kHugePageBytes);
  // Where a kernel has no huge pages small ones do.
  ::madvise(pages.data_, size_bytes, MADV_HUGEPAGE);
  if (::madvise(mapping, mapped_bytes, MADV_DONTFORK) != 0) return no_memory(size_bytes, errno);
  const int code = bring_in_all(pages.data_, size_bytes, threads);
  if (code != 0) return no_memory(size_bytes, code);
  return pages;
}

}  // namespace cuzk::cuda::device
