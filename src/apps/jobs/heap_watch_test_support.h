// What the heap holds and held at most, for tests that compare plans with what was taken. The
// operators that count are in heap_watch_test.cpp and serve the whole test binary.
#pragma once

#include <cstdint>

namespace cuzk::apps {

// Peak of the bytes allocated by operator new since it was made, above what was held then. One at
// a time.
class HeapWatch {
 public:
  HeapWatch();
  std::uint64_t peak_bytes() const;
  std::uint64_t held_bytes() const;  // now, above what was held then

 private:
  std::int64_t before_;
};

}  // namespace cuzk::apps
