// Leading and following, and the transaction around a group.
#include "engine/journal_group.h"

#include <algorithm>
#include <cstdint>

#include "engine/journal_store.h"

namespace cuzk::engine::internal {

using base::MutexLock;

std::vector<PendingChange*> run_grouped(Store& store, const std::vector<PendingChange*>& changes) {
  if (changes.size() < 2) return changes;
  std::vector<std::uint8_t> lacked_room(changes.size(), 0);
  std::vector<std::function<void()>> calls;
  calls.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    calls.emplace_back([&, i] { lacked_room[i] = changes[i]->run(store) ? 0 : 1; });
  }
  if (!store.together(calls)) return changes;
  std::vector<PendingChange*> again;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (lacked_room[i] != 0 && changes[i]->may_use_reserve) again.push_back(changes[i]);
  }
  return again;
}

void CommitQueue::run(std::span<PendingChange> own, const Commit& commit) {
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
  }
  std::vector<PendingChange*> changes;
  for (Call* member : group) {
    for (PendingChange& change : member->changes) changes.push_back(&change);
  }
  commit(changes);
  const MutexLock hold(mutex_);
  led_ = false;
  for (Call* member : group) {
    member->done = true;
    if (member != &call) member->wake.notify_one();
  }
  if (waiting_.empty()) return;
  led_ = true;
  waiting_.front()->leads = true;
  waiting_.front()->wake.notify_one();
}

}  // namespace cuzk::engine::internal
