// Counters by device, made when they are first asked for.
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
