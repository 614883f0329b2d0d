// Counters by device, made when they are first asked for.
//
// Here rather than with the backends: several of them share a device, and the figures are of the
// process, which goes on when a backend ends. Asking for one takes a lock, counting takes none.
#include "cuda/prove/streamed_bytes.h"

#include <map>
#include <mutex>

namespace cuzk::cuda {
namespace prove {

StreamedCounter& StreamedCounter::of(int index) {
  static std::mutex mutex;
  static std::map<int, StreamedCounter> counters;
  const std::lock_guard lock(mutex);
  return counters[index];
}

}  // namespace prove

StreamedBytes streamed_bytes(int device_index) {
  return prove::StreamedCounter::of(device_index).read();
}

}  // namespace cuzk::cuda
