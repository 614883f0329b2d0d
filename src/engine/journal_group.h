// Group commit: changes of several threads that share one sync.
//
// A sync takes milliseconds and a change microseconds, so a journal that syncs each change for
// itself takes a hundred jobs a second on a disk that takes thousands. The first thread that comes
// leads: it makes its own change and all that arrived meanwhile in one transaction.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "base/mutex.h"

namespace cuzk::engine::internal {

class Store;

// A change that waits for its commit. Lives with the thread that wants it. `run` is called with the
// store's lock held, by whichever thread leads.
struct PendingChange {
  // Makes the change, or leaves nothing of it, and keeps the outcome for its caller; called again
  // when what it did was rolled back. False when it lacked room on the disk.
  std::function<bool(Store&)> run;
  bool may_use_reserve = false;  // room that is kept for accepted jobs
  // What kept the change from being made, such as refused memory: nothing of it is there, whatever
  // outcome `run` may have kept before. For its own caller; the others of a group do not notice.
  std::exception_ptr thrown;
};

// Makes all in one transaction where that goes well. Leaves in `changes` those that are to be made
// again, alone: all when nothing is kept, else those that lacked room and may have the reserve; one
// alone always stays. Throws nothing: a group in which something threw is rolled back.
void run_grouped(Store& store, std::vector<PendingChange*>& changes);

// Thread-safe.
class CommitQueue {
 public:
  // Changes of one group, besides those that came in one call.
  static constexpr std::size_t kGroupMax = 512;
  // What throws once it made a change keeps that in the change's `thrown`; what it throws itself
  // says that none of the changes was made.
  using Commit = std::function<void(std::vector<PendingChange*>&)>;

  // Returns when all of `own` went through somebody's `commit`, in order. Whatever is thrown or
  // refused on the way, the lead is passed on.
  void run(std::span<PendingChange> own, const Commit& commit) CUZK_EXCLUDES(mutex_);

 private:
  // One thread's changes, on its stack. It waits until a leader took it along (`done`) or names it
  // to lead the next group (`leads`); whoever leads has led_ set from then to its end.
  struct Call {
    std::span<PendingChange> changes;
    Call* next = nullptr;  // the one that came after it, in the line or in a leader's group
    bool done = false, leads = false;
    std::condition_variable_any wake;
  };
  // Takes the front of the line as a group: kGroupMax changes, and at least one call.
  Call* take_group() CUZK_REQUIRES(mutex_);
  // The end of the lead: wakes the group and names the next leader.
  void hand_over(Call* group, const Call& own, const std::exception_ptr& thrown)
      CUZK_EXCLUDES(mutex_);

  // The line of those who wait, linked through themselves: nothing here takes memory, so nothing
  // can fail between taking the lead and passing it on.
  base::Mutex mutex_;
  Call* first_ CUZK_GUARDED_BY(mutex_) = nullptr;
  Call* last_ CUZK_GUARDED_BY(mutex_) = nullptr;
  bool led_ CUZK_GUARDED_BY(mutex_) = false;
};

}  // namespace cuzk::engine::internal
