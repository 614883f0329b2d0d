// Leading and following, and the transaction around a group.
//
// Nobody is woken for nothing: a leader wakes those whom it took along, and one of those who came
// meanwhile, to lead. A single change costs what it did without groups.
#include "engine/journal_group.h"

#include <algorithm>
#include <cstdint>

#include "engine/journal_store.h"

namespace cuzk::engine::internal {

using base::MutexLock;

std::vector<PendingChange*> run_grouped(Store& store, const std::vector<PendingChange*>& changes) {
  if (changes.size() < 2) return changes;
  // Outcomes by position: a group may be rolled back and its calls made again.
  std::vector<std::uint8_t> lacked_room(changes.size(), 0);
  std::vector<std::function<void()>> calls;
  calls.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CUZK_ASSERT(changes[i]->run != nullptr);
    calls.emplace_back([&, i] { lacked_room[i] = changes[i]->run(store) ? 0 : 1; });
  }
  if (!store.together(calls)) return changes;
  // The group is durable. What lacked room left nothing of itself and may be tried with the
  // reserve.
  std::vector<PendingChange*> again;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (lacked_room[i] != 0 && changes[i]->may_use_reserve) again.push_back(changes[i]);
  }
  CUZK_ASSERT(again.size() <= changes.size());
  return again;
}

void CommitQueue::run(std::span<PendingChange> own, const Commit& commit) {
  CUZK_ASSERT(!own.empty() && commit != nullptr);
  Call call{own};
  std::vector<Call*> group;
  {
    const MutexLock hold(mutex_);
    waiting_.push_back(&call);
    while (led_ && !call.done && !call.leads) call.wake.wait(mutex_);
    if (call.done) return;
    led_ = true;
    // A leader that was named is the first in line.
    std::size_t change_count = 0, call_count = 0;
    while (call_count < waiting_.size() && change_count < kGroupMax) {
      change_count += waiting_[call_count++]->changes.size();
    }
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(call_count);
    group.assign(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    CUZK_ASSERT(!group.empty() && group.front() == &call);
  }
  std::vector<PendingChange*> changes;
  for (Call* member : group) {
    for (PendingChange& change : member->changes) changes.push_back(&change);
  }
  // Without the queue's lock: who comes now queues for the next group.
  commit(changes);
  const MutexLock hold(mutex_);
  led_ = false;
  for (Call* member : group) {
    // The notice is sent under the lock, for the member is gone as soon as it sees `done`.
    member->done = true;
    if (member != &call) member->wake.notify_one();
  }
  if (waiting_.empty()) return;
  led_ = true;
  waiting_.front()->leads = true;
  waiting_.front()->wake.notify_one();
}

}  // namespace cuzk::engine::internal
