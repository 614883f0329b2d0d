// Group commit: changes of several threads that share one sync.
//
// A sync takes milliseconds and a change microseconds, so a journal that syncs each change for
// itself takes a hundred jobs a second on a disk that takes thousands. The first thread that comes
// leads: it makes its own change and all that arrived meanwhile in one transaction.
#pragma once

#include <condition_variable>
#include <functional>
#include <span>
#include <vector>

#include "base/mutex.h"

namespace cuzk::engine::internal {

class Store;

// A change that waits for its commit. Lives with the thread that wants it. `run` is called with the
// store's lock held, by whichever thread leads; an exception out of it would leave the queue
// without a leader.
struct PendingChange {
  // Makes the change, or leaves nothing of it, and keeps the outcome for its caller; called again
  // when what it did was rolled back. False when it lacked room on the disk.
  std::function<bool(Store&)> run;
  bool may_use_reserve = false;  // room that is kept for accepted jobs
};

// Makes all in one transaction where that goes well. Returns those that are to be made again,
// alone: all when nothing is kept, else those that lacked room and may have the reserve; one alone
// is always returned.
std::vector<PendingChange*> run_grouped(Store& store, const std::vector<PendingChange*>& changes);

// Thread-safe.
class CommitQueue {
 public:
  // Changes of one group, besides those that came in one call.
  static constexpr std::size_t kGroupMax = 512;
  using Commit = std::function<void(const std::vector<PendingChange*>&)>;

  // Returns when all of `own` went through somebody's `commit`, in order.
  void run(std::span<PendingChange> own, const Commit& commit) CUZK_EXCLUDES(mutex_);

 private:
  // One thread's changes, on its stack. It waits until a leader took it along (`done`) or names it
  // to lead the next group (`leads`); whoever leads has led_ set from then to its end.
  struct Call {
    std::span<PendingChange> changes;
    bool done = false, leads = false;
    std::condition_variable_any wake;
  };
  base::Mutex mutex_;
  std::vector<Call*> waiting_ CUZK_GUARDED_BY(mutex_);
  bool led_ CUZK_GUARDED_BY(mutex_) = false;
};

}  // namespace cuzk::engine::internal
