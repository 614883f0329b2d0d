// Streams do not synchronise with the default stream; events keep time.
//
// Closing ignores errors: a destructor has no one to tell, and a lost device has been reported by
// the call that met it.
#include "cuda/device/stream.h"

#include <cuda_runtime_api.h>

#include "base/check.h"
#include "cuda/device/error.h"

namespace cuzk::cuda::device {

void StreamCloser::operator()(CUstream_st* stream) const noexcept { cudaStreamDestroy(stream); }
void EventCloser::operator()(CUevent_st* event) const noexcept { cudaEventDestroy(event); }

base::Result<Event> Event::create() {
  cudaEvent_t handle = nullptr;
  CUZK_TRY_STATUS(to_status(cudaEventCreate(&handle), "cudaEventCreate"));
  Event event;
  event.handle_.reset(handle);
  return event;
}

base::Status Event::synchronize() const {
  CUZK_ASSERT(handle() != nullptr);
  return to_status(cudaEventSynchronize(handle()), "cudaEventSynchronize");
}

base::Result<bool> Event::has_passed() const {
  const cudaError_t code = cudaEventQuery(handle());
  if (code == cudaErrorNotReady) {
    cudaGetLastError();  // else the next launch would be told of it
    return false;
  }
  CUZK_TRY_STATUS(to_status(code, "cudaEventQuery"));
  return true;
}

base::Result<float> Event::milliseconds_since(const Event& earlier) const {
  CUZK_ASSERT(handle() != nullptr && earlier.handle() != nullptr);
  float milliseconds = 0;
  CUZK_TRY_STATUS(to_status(cudaEventElapsedTime(&milliseconds, earlier.handle(), handle()),
                            "cudaEventElapsedTime"));
  return milliseconds;
}

base::Result<Stream> Stream::create() {
  cudaStream_t handle = nullptr;
  // Non-blocking: the default stream, which libraries may use, would else wait for all proofs.
  CUZK_TRY_STATUS(to_status(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking),
                            "cudaStreamCreateWithFlags"));
  Stream stream;
  stream.handle_.reset(handle);
  return stream;
}

base::Status Stream::synchronize() const {
  return to_status(cudaStreamSynchronize(handle()), "cudaStreamSynchronize");
}

base::Status Stream::record(const Event& event) const {
  CUZK_ASSERT(event.handle() != nullptr);
  return to_status(cudaEventRecord(event.handle(), handle()), "cudaEventRecord");
}

// Never waits on the host: an event that is not recorded yet holds nothing back.
base::Status Stream::wait(const Event& event) const {
  CUZK_ASSERT(event.handle() != nullptr);
  return to_status(cudaStreamWaitEvent(handle(), event.handle(), 0), "cudaStreamWaitEvent");
}

}  // namespace cuzk::cuda::device
