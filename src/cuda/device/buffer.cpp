// Allocation and copies. An allocation of no bytes owns nothing, a copy of none calls nothing.
//
// A failed allocation leaves its status in the runtime, where the next launch would report it as
// its own; it is taken away here. Freeing has no one to report to and ignores errors: on a device
// that was lost it cannot work, and whoever lost it was told.
#include "cuda/device/buffer.h"

#include <string>

#include <cuda_runtime_api.h>

#include "cuda/device/error.h"
#include "cuda/device/fault.h"

namespace cuzk::cuda::device {

// A free at once waits for the whole device, one in stream order for nothing: what was queued on
// the stream before may still use the bytes.
void DeviceFreer::operator()(std::byte* bytes) const noexcept {
  if (way == Way::kAtOnce) cudaFree(bytes);
  if (way == Way::kInStreamOrder) cudaFreeAsync(bytes, stream);
}
void PoolCloser::operator()(CUmemPoolHandle_st* pool) const noexcept { cudaMemPoolDestroy(pool); }
// Memory first, then the count: whoever is let in by the count finds the memory there.
void PinnedFreer::operator()(std::byte* bytes) noexcept {
  if (pages.data() == nullptr) {
    cudaFreeHost(bytes);
  } else {
    cudaHostUnregister(bytes);
    pages = {};
  }
  uncount_pinned(size_bytes);
}

base::Result<Buffer> Buffer::create(std::uint64_t size_bytes) {
  Buffer buffer;
  if (size_bytes == 0) return buffer;
  void* bytes = nullptr;
  const cudaError_t code = cudaMalloc(&bytes, size_bytes);
  if (code != cudaSuccess) {
    cudaGetLastError();  // out of memory is not sticky, but it would show at the next launch
    return cuda_error(code, "allocating " + std::to_string(size_bytes) + " bytes on the device");
  }
  buffer.bytes_.reset(static_cast<std::byte*>(bytes));
  buffer.size_bytes_ = size_bytes;
  return buffer;
}

base::Result<Buffer> Buffer::create(const MemoryPool& pool, const Stream& stream,
                                    std::uint64_t size_bytes) {
  Buffer buffer;
  if (size_bytes == 0) return buffer;
  CUZK_ASSERT(pool.handle() != nullptr);
  void* bytes = nullptr;
  const cudaError_t code =
      cudaMallocFromPoolAsync(&bytes, size_bytes, pool.handle(), stream.handle());
  if (code != cudaSuccess) {
    cudaGetLastError();
    return cuda_error(code, "taking " + std::to_string(size_bytes) + " bytes of the device's pool");
  }
  buffer.bytes_ = {static_cast<std::byte*>(bytes),
                   DeviceFreer{DeviceFreer::Way::kInStreamOrder, stream.handle()}};
  buffer.size_bytes_ = size_bytes;
  return buffer;
}

base::Result<MemoryPool> MemoryPool::create(int index, std::uint64_t limit_bytes) {
  cudaMemPoolProps properties = {};
  // CUDA's word for memory that does not move; it lies on the device.
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = index;
  properties.maxSize = limit_bytes;
  cudaMemPool_t handle = nullptr;
  CUZK_TRY_STATUS(to_status(cudaMemPoolCreate(&handle, &properties), "cudaMemPoolCreate"));
  MemoryPool pool;
  pool.handle_.reset(handle);
  pool.index_ = index;
  // Without a limit nothing goes back to the card at each synchronisation. With one, what is free
  // does: the limit is there because others want the card's memory too.
  std::uint64_t keep_bytes = limit_bytes == 0 ? ~std::uint64_t{0} : 0;
  CUZK_TRY_STATUS(
      to_status(cudaMemPoolSetAttribute(handle, cudaMemPoolAttrReleaseThreshold, &keep_bytes),
                "cudaMemPoolSetAttribute"));
  return pool;
}

base::Result<bool> MemoryPool::let_in(int index) const {
  CUZK_ASSERT(handle() != nullptr);
  if (index == index_) return true;
  int can = 0;
  CUZK_TRY_STATUS(
      to_status(cudaDeviceCanAccessPeer(&can, index, index_), "cudaDeviceCanAccessPeer"));
  if (can == 0) return false;
  cudaMemAccessDesc access = {};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = index;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  CUZK_TRY_STATUS(to_status(cudaMemPoolSetAccess(handle(), &access, 1), "cudaMemPoolSetAccess"));
  return true;
}

namespace {

// Below this the driver's own way takes no longer.
constexpr std::uint64_t kLeastLockedBytes = 2 * HostPages::kHugePageBytes;

// Pages that are there already, locked; none where that is not to be had, for which the driver's
// own allocation may still be: its pages are not the process's and come under other limits.
HostPages lock_pages(std::uint64_t size_bytes, unsigned threads) {
  auto pages = HostPages::create(size_bytes, threads);
  if (!pages.ok()) return {};
  if (cudaHostRegister(pages->data(), size_bytes, cudaHostRegisterPortable) == cudaSuccess) {
    return std::move(pages).value();
  }
  cudaGetLastError();
  return {};
}

}  // namespace

base::Result<PinnedBuffer> PinnedBuffer::create(std::uint64_t size_bytes, unsigned threads) {
  PinnedBuffer buffer;
  if (size_bytes == 0) return buffer;
  const std::string what = "allocating " + std::to_string(size_bytes) + " pinned bytes";
  // What the driver answers when it has none.
  if (!count_pinned(size_bytes)) return cuda_pinning_error(cudaErrorMemoryAllocation, what);
  HostPages pages;
  if (threads > 0 && size_bytes >= kLeastLockedBytes) pages = lock_pages(size_bytes, threads);
  void* bytes = pages.data();
  if (bytes == nullptr) {
    const cudaError_t code = cudaHostAlloc(&bytes, size_bytes, cudaHostAllocPortable);
    if (code != cudaSuccess) {
      uncount_pinned(size_bytes);
      cudaGetLastError();
      return cuda_pinning_error(code, what);
    }
  }
  buffer.bytes_ = {static_cast<std::byte*>(bytes), PinnedFreer{size_bytes, std::move(pages)}};
  buffer.size_bytes_ = size_bytes;
  return buffer;
}

base::Status copy_bytes_to_device(const Stream& stream, void* to, const void* from,
                                  std::size_t count) {
  if (count == 0) return base::ok_status();
  CUZK_ASSERT(to != nullptr && from != nullptr);
  return to_status(cudaMemcpyAsync(to, from, count, cudaMemcpyHostToDevice, stream.handle()),
                   "cudaMemcpyAsync to the device");
}

base::Status copy_bytes_to_host(const Stream& stream, void* to, const void* from,
                                std::size_t count) {
  if (count == 0) return base::ok_status();
  CUZK_ASSERT(to != nullptr && from != nullptr);
  return to_status(cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToHost, stream.handle()),
                   "cudaMemcpyAsync to the host");
}

base::Status copy_bytes_on_device(const Stream& stream, void* to, const void* from,
                                  std::size_t count) {
  if (count == 0) return base::ok_status();
  CUZK_ASSERT(to != nullptr && from != nullptr);
  return to_status(cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, stream.handle()),
                   "cudaMemcpyAsync on the device");
}

base::Status copy_bytes_between_devices(const Stream& stream, void* to, int to_device,
                                        const void* from, int from_device, std::size_t count) {
  if (count == 0) return base::ok_status();
  CUZK_ASSERT(to != nullptr && from != nullptr);
  return to_status(cudaMemcpyPeerAsync(to, to_device, from, from_device, count, stream.handle()),
                   "cudaMemcpyPeerAsync");
}

base::Status copy_rows_to_device(const Stream& stream, void* to, const void* from,
                                 const RowCopy& rows) {
  if (rows.row_count == 0 || rows.row_bytes == 0) return base::ok_status();
  CUZK_ASSERT(to != nullptr && from != nullptr);
  CUZK_ASSERT(rows.row_bytes <= rows.to_pitch_bytes && rows.row_bytes <= rows.from_pitch_bytes);
  return to_status(
      cudaMemcpy2DAsync(to, rows.to_pitch_bytes, from, rows.from_pitch_bytes, rows.row_bytes,
                        rows.row_count, cudaMemcpyHostToDevice, stream.handle()),
      "cudaMemcpy2DAsync to the device");
}

base::Status copy_rows_to_host(const Stream& stream, void* to, const void* from,
                               const RowCopy& rows) {
  if (rows.row_count == 0 || rows.row_bytes == 0) return base::ok_status();
  CUZK_ASSERT(to != nullptr && from != nullptr);
  CUZK_ASSERT(rows.row_bytes <= rows.to_pitch_bytes && rows.row_bytes <= rows.from_pitch_bytes);
  return to_status(
      cudaMemcpy2DAsync(to, rows.to_pitch_bytes, from, rows.from_pitch_bytes, rows.row_bytes,
                        rows.row_count, cudaMemcpyDeviceToHost, stream.handle()),
      "cudaMemcpy2DAsync to the host");
}

base::Status fill_bytes(const Stream& stream, void* to, unsigned char value, std::size_t count) {
  if (count == 0) return base::ok_status();
  CUZK_ASSERT(to != nullptr);
  return to_status(cudaMemsetAsync(to, value, count, stream.handle()), "cudaMemsetAsync");
}

}  // namespace cuzk::cuda::device
