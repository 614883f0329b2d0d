// Device memory and pinned host memory with owners, and copies between them.
//
// Owners free what they hold on destruction and cannot be copied; spans and arena parts are views
// that must not outlive them. Which device is meant is the calling thread's current one. Nothing
// here tracks what a stream still uses: synchronise before freeing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "base/check.h"
#include "base/result.h"
#include "cuda/device/host_pages.h"
#include "cuda/device/stream.h"

struct CUmemPoolHandle_st;

namespace cuzk::cuda::device {

// Give memory back to the runtime; null is fine. Device memory goes back by the way it came.
struct DeviceFreer {
  enum class Way { kAtOnce, kInStreamOrder };
  Way way = Way::kAtOnce;
  CUstream_st* stream = nullptr;  // for kInStreamOrder
  void operator()(std::byte* bytes) const noexcept;
};
struct PoolCloser {
  void operator()(CUmemPoolHandle_st* pool) const noexcept;
};
struct PinnedFreer {
  std::uint64_t size_bytes = 0;  // as they were counted
  HostPages pages;               // those that were locked; none where the driver allocated
  void operator()(std::byte* bytes) noexcept;
};

// Elements that live on a device: never dereferenced on the host. A view, which owns nothing; null
// data with a size is what an arena gives that only counts, and is passed on but never copied from.
template <class T>
struct DeviceSpan {
  T* data = nullptr;
  std::size_t size = 0;

  DeviceSpan first(std::size_t count) const {
    CUZK_ASSERT(count <= size);
    return {data, count};
  }
  DeviceSpan subset(std::size_t offset, std::size_t count) const {
    CUZK_ASSERT(offset <= size && count <= size - offset);
    return {data + offset, count};
  }
};

// A reserve of device memory from which buffers are taken in stream order. What is given back stays
// reserved for the next taker, unless the pool has a limit. Thread-safe as CUDA's pools are; it
// must outlive what was taken from it, and a default-constructed one has nothing to give.
class MemoryPool {
 public:
  // On device `index`. Never holds more than limit_bytes (0: what the card has); a request beyond
  // it is kResourceExhausted.
  static base::Result<MemoryPool> create(int index, std::uint64_t limit_bytes);
  CUmemPoolHandle_st* handle() const noexcept { return handle_.get(); }
  // Lets device `index` write to the pool's memory directly. False where the two cannot: copies
  // between them then pass through the host, which is slower and nothing else.
  base::Result<bool> let_in(int index) const;

 private:
  std::unique_ptr<CUmemPoolHandle_st, PoolCloser> handle_;
  int index_ = 0;
};

// Bytes on the current device, freed with the owner. Not cleared. One of no bytes has no memory; a
// moved-from one keeps its size but no bytes, so it is only to be assigned to or dropped.
class Buffer {
 public:
  Buffer() = default;
  // kResourceExhausted, with the size, when the device has too little.
  static base::Result<Buffer> create(std::uint64_t size_bytes);
  // From `pool`, usable by what is queued on `stream` from here on and given back in its order, so
  // that neither call waits for the device. The stream and the pool must outlive the buffer.
  static base::Result<Buffer> create(const MemoryPool& pool, const Stream& stream,
                                     std::uint64_t size_bytes);
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  std::byte* data() const noexcept { return bytes_.get(); }
  // The first `count` elements; checked to fit.
  template <class T>
  DeviceSpan<T> span(std::size_t count) const {
    CUZK_ASSERT(count <= size_bytes_ / sizeof(T));
    return {reinterpret_cast<T*>(bytes_.get()), count};
  }

 private:
  std::unique_ptr<std::byte, DeviceFreer> bytes_;
  std::uint64_t size_bytes_ = 0;
};

// Page-locked host bytes, which copies reach at full PCIe speed and without blocking the host. They
// are pinned for all devices at once, so lanes of several cards may share one.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  // kResourceExhausted, with the size, when so much cannot be locked; the device is none the worse.
  // Large ones are brought in by up to `threads` threads; 0: all by the driver's own allocation.
  static base::Result<PinnedBuffer> create(std::uint64_t size_bytes, unsigned threads = 1);
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  std::byte* data() const noexcept { return bytes_.get(); }
  template <class T>
  std::span<T> span(std::size_t count) const {
    CUZK_ASSERT(count <= size_bytes_ / sizeof(T));
    return {reinterpret_cast<T*>(bytes_.get()), count};
  }

 private:
  std::unique_ptr<std::byte, PinnedFreer> bytes_;
  std::uint64_t size_bytes_ = 0;
};

// Hands out aligned parts of one buffer, so that a stage plans its bytes, takes them once and then
// allocates nothing. With no buffer it only counts: the same code then is the plan.
//
// Nothing is ever given back: a copy of an arena takes again from where the original stands, which
// is how stages that follow each other share the same bytes. used_bytes() only grows; over a buffer
// it never passes the capacity, since who plans and who takes run the same code. For one thread.
class Arena {
 public:
  Arena() = default;
  explicit Arena(const Buffer& buffer)
      : base_(buffer.data()), capacity_bytes_(buffer.size_bytes()), counts_only_(false) {}
  // Over bytes aligned as kAlignmentBytes says, as all that is taken from an arena is.
  explicit Arena(DeviceSpan<std::byte> bytes)
      : base_(bytes.data), capacity_bytes_(bytes.size), counts_only_(false) {}
  // Room for `count` elements, behind all that was taken before; nothing of it is written.
  template <class T>
  DeviceSpan<T> take(std::size_t count) {
    static_assert(kAlignmentBytes % alignof(T) == 0);
    const std::uint64_t offset = used_bytes_;
    used_bytes_ += (count * sizeof(T) + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
    CUZK_ASSERT(used_bytes_ >= offset);  // a sum that wraps would plan too little
    if (counts_only_) return {nullptr, count};
    CUZK_ASSERT(used_bytes_ <= capacity_bytes_);
    return {reinterpret_cast<T*>(base_ + offset), count};
  }
  std::uint64_t used_bytes() const noexcept { return used_bytes_; }

 private:
  // As the runtime's own allocations; warps then begin at whole lines of the caches.
  static constexpr std::uint64_t kAlignmentBytes = 256;
  std::byte* base_ = nullptr;
  std::uint64_t capacity_bytes_ = 0, used_bytes_ = 0;
  bool counts_only_ = true;
};

// Copies, queued on the stream. From and to pageable memory they block the host meanwhile. Both
// ends stay alive until the stream has passed; counts are bytes, and one of none needs no memory.
base::Status copy_bytes_to_device(const Stream& stream, void* to, const void* from,
                                  std::size_t count);
base::Status copy_bytes_to_host(const Stream& stream, void* to, const void* from,
                                std::size_t count);
base::Status copy_bytes_on_device(const Stream& stream, void* to, const void* from,
                                  std::size_t count);
// From memory of one device to memory of another, or of the same.
base::Status copy_bytes_between_devices(const Stream& stream, void* to, int to_device,
                                        const void* from, int from_device, std::size_t count);
// Rows of equal length, each side with its own distance from row to row.
struct RowCopy {
  std::size_t row_count = 0, row_bytes = 0;
  std::size_t to_pitch_bytes = 0, from_pitch_bytes = 0;
};
base::Status copy_rows_to_device(const Stream& stream, void* to, const void* from,
                                 const RowCopy& rows);
base::Status copy_rows_to_host(const Stream& stream, void* to, const void* from,
                               const RowCopy& rows);
base::Status fill_bytes(const Stream& stream, void* to, unsigned char value, std::size_t count);

// Copies of equal sizes (checked). The host side must stay alive until the stream has passed them.
template <class T>
base::Status upload(const Stream& stream, DeviceSpan<T> to, std::span<const T> from) {
  static_assert(std::is_trivially_copyable_v<T>);
  CUZK_ASSERT(to.size == from.size());
  return copy_bytes_to_device(stream, to.data, from.data(), from.size_bytes());
}
template <class T>
base::Status download(const Stream& stream, std::span<T> to, DeviceSpan<T> from) {
  static_assert(std::is_trivially_copyable_v<T>);
  CUZK_ASSERT(to.size() == from.size);
  return copy_bytes_to_host(stream, to.data(), from.data, to.size_bytes());
}
// Zero bytes, which are also the field element zero and the affine point at infinity.
template <class T>
base::Status clear(const Stream& stream, DeviceSpan<T> values) {
  return fill_bytes(stream, values.data, 0, values.size * sizeof(T));
}

}  // namespace cuzk::cuda::device
