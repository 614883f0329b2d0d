// Allocation and copies. An allocation of no bytes owns nothing, a copy of none calls nothing.
//
// A failed allocation leaves its status in the runtime, where the next launch would report it as
// its own; it is taken away here. Freeing has no one to report to and ignores errors.
#include "cuda/device/buffer.h"

#include <string>

#include <cuda_runtime_api.h>

#include "cuda/device/error.h"

namespace cuzk::cuda::device {

void DeviceFreer::operator()(std::byte* bytes) const noexcept { cudaFree(bytes); }
void PinnedFreer::operator()(std::byte* bytes) const noexcept { cudaFreeHost(bytes); }

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

base::Result<PinnedBuffer> PinnedBuffer::create(std::uint64_t size_bytes) {
  PinnedBuffer buffer;
  if (size_bytes == 0) return buffer;
  void* bytes = nullptr;
  const cudaError_t code = cudaHostAlloc(&bytes, size_bytes, cudaHostAllocPortable);
  if (code != cudaSuccess) {
    cudaGetLastError();
    return cuda_error(code, "allocating " + std::to_string(size_bytes) + " pinned bytes");
  }
  buffer.bytes_.reset(static_cast<std::byte*>(bytes));
  buffer.size_bytes_ = size_bytes;
  return buffer;
}

base::Status copy_bytes_to_device(const Stream& stream, void* to, const void* from,
                                  std::size_t count) {
  if (count == 0) return base::ok_status();
  return to_status(cudaMemcpyAsync(to, from, count, cudaMemcpyHostToDevice, stream.handle()),
                   "cudaMemcpyAsync to the device");
}

base::Status copy_bytes_to_host(const Stream& stream, void* to, const void* from,
                                std::size_t count) {
  if (count == 0) return base::ok_status();
  return to_status(cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToHost, stream.handle()),
                   "cudaMemcpyAsync to the host");
}

base::Status fill_bytes(const Stream& stream, void* to, unsigned char value, std::size_t count) {
  if (count == 0) return base::ok_status();
  return to_status(cudaMemsetAsync(to, value, count, stream.handle()), "cudaMemsetAsync");
}

}  // namespace cuzk::cuda::device
