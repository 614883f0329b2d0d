// Nothing of a scope's work on a device outlives the scope.
//
// Memory goes back in the order of the stream that took it, and keys in that of their own, while
// kernels and copies of a proof run on two others. So whoever leaves a scope that queued work, by
// an error, a cancel or an exception too, waits for it before anything that it uses is given back:
// what is declared before a Drain is destroyed after the wait.
#pragma once

#include <tuple>

namespace cuzk::cuda::prove {

// Streams have synchronize(); what it says was seen by who waited for a result, or is told next.
// They outlive it. It waits for all of them, whatever the first says: on a lost device each returns
// at once.
template <class... Streams>
class Drain {
 public:
  explicit Drain(const Streams&... streams) : streams_(streams...) {}
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;
  ~Drain() {
    std::apply([](const Streams&... each) { ((void)each.synchronize(), ...); }, streams_);
  }

 private:
  std::tuple<const Streams&...> streams_;
};

}  // namespace cuzk::cuda::prove
