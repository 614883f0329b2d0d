// After it every call of the process on this device fails.
//
// A trap instruction is the surest of the faults that code can cause: the driver reports it as a
// launch failure, like the others that lose a context (src/cuda/device/fault.h).
#include "bench/cuda_prove/trap.h"

namespace cuzk::bench::cuda_prove {
namespace {

__global__ void trap_kernel() { asm volatile("trap;"); }

}  // namespace

base::Status run_trap(const ::cuzk::cuda::device::Stream& stream) {
  trap_kernel<<<1, 1, 0, stream.handle()>>>();
  return stream.synchronize();
}

}  // namespace cuzk::bench::cuda_prove
