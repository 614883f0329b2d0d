// The only user of oneTBB.
//
// Debian's libtbb is not built with the thread sanitizer, which therefore cannot see that a loop's
// pieces start after the call and end before its return. Under that sanitizer both edges are told,
// and this file, into which oneTBB's templates are compiled, is left out of it (CMakeLists.txt):
// their last look at a loop's root on the caller's stack is ordered by the library alone.
#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>

#include "base/check.h"

#if defined(CUZK_THREAD_SANITIZER)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace cuzk::base {
namespace {

using tbb::global_control;

// The order that a fork and join gives, also where a piece throws: what the caller wrote is seen by
// every piece, and what the pieces wrote by the caller. Nothing without the thread sanitizer.
class ForkJoin {
 public:
#if defined(CUZK_THREAD_SANITIZER)
  ForkJoin() { __tsan_release(&fork_); }
  ~ForkJoin() { __tsan_acquire(&join_); }
  class Piece {
   public:
    explicit Piece(ForkJoin& order) : order_(order) { __tsan_acquire(&order_.fork_); }
    ~Piece() { __tsan_release(&order_.join_); }

   private:
    ForkJoin& order_;
  };

 private:
  char fork_ = 0, join_ = 0;
#else
  struct Piece {
    explicit Piece(ForkJoin&) {}
  };
#endif
};

// The cap that set_thread_count asked for; none for the default. Written before work starts and
// read by many threads after it, hence without a lock.
std::unique_ptr<global_control>& thread_cap() {
  static std::unique_ptr<global_control> cap;
  return cap;
}

}  // namespace

std::size_t thread_count() noexcept {
  const std::size_t cap = global_control::active_value(global_control::max_allowed_parallelism);
  const auto machine = static_cast<std::size_t>(tbb::info::default_concurrency());
  return thread_cap() ? cap : machine;
}

void set_thread_count(std::size_t count) {
  thread_cap().reset();  // the tightest of several controls would win
  if (count == 0) return;
  thread_cap() = std::make_unique<global_control>(global_control::max_allowed_parallelism, count);
}

void parallel_for(std::size_t begin, std::size_t end, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body) {
  CUZK_ASSERT(grain > 0);
  if (begin >= end) return;
  ForkJoin order;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(begin, end, grain), [&](const auto& range) {
    [[maybe_unused]] const ForkJoin::Piece piece(order);
    body(range.begin(), range.end());
  });
}

bool parallel_tasks(std::size_t count, Checkpoint* checkpoint,
                    const std::function<void(std::size_t)>& body) {
  if (checkpoint == nullptr) {
    parallel_for(0, count, 1, [&body](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) body(i);
    });
    return true;
  }
  if (checkpoint->wanted() && !checkpoint->pass()) return false;
  std::vector<unsigned char> done(count);  // a byte each: neighbours are written side by side
  for (;;) {
    // One piece a round begins unasked, so that there is progress however often work is set aside.
    std::atomic<bool> some_left{false}, unasked{true};
    parallel_for(0, count, 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        if (done[i] != 0) continue;
        // Once one piece was put off, all that have not begun are: the round is to end soon.
        if (!unasked.exchange(false) && (some_left.load() || checkpoint->wanted())) {
          some_left.store(true);
          return;
        }
        body(i);
        done[i] = 1;
      }
    });
    if (!some_left.load()) {
      CUZK_DEBUG_ASSERT(std::count(done.begin(), done.end(), 0) == 0);
      return true;
    }
    if (!checkpoint->pass()) return false;
  }
}

void parallel_invoke(const std::function<void()>& first, const std::function<void()>& second) {
  ForkJoin order;
  const auto ordered = [&order](const std::function<void()>& part) {
    [[maybe_unused]] const ForkJoin::Piece piece(order);
    part();
  };
  tbb::parallel_invoke([&] { ordered(first); }, [&] { ordered(second); });
}

}  // namespace cuzk::base
