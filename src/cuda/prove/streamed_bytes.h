// Counts what streamed queries bring to each device, for the life of the process.
//
// Uploaded is what passed the link, shared what further proofs took of the same uploads: their
// ratio says what sharing saves (docs/cuda.md, Streamed queries are shared).
#pragma once

#include <atomic>
#include <cstdint>

#include "cuda/backend.h"

namespace cuzk::cuda::prove {

// Thread-safe.
class StreamedCounter {
 public:
  // The one of the device at `index`; it lives as long as the process.
  static StreamedCounter& of(int index);

  void add_uploaded(std::uint64_t bytes) { uploaded_bytes_ += bytes; }
  void add_shared(std::uint64_t bytes) { shared_bytes_ += bytes; }
  StreamedBytes read() const { return {uploaded_bytes_, shared_bytes_}; }

 private:
  std::atomic<std::uint64_t> uploaded_bytes_ = 0, shared_bytes_ = 0;
};

}  // namespace cuzk::cuda::prove
