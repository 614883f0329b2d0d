// Leading and following, and the transaction around a group.
//
// Nobody is woken for nothing: a leader wakes those whom it took along, and one of those who came
// meanwhile, to lead. A single change costs what it did without groups. Every way out of a lead
// goes through hand_over(): one that kept the lead would stop the journal for good.
#include "engine/journal_group.h"

#include <cstdint>
#include <utility>

#include "engine/journal_store.h"

namespace cuzk::engine::internal {

using base::MutexLock;

void run_grouped(Store& store, std::vector<PendingChange*>& changes) {
  if (changes.size() < 2) return;
  try {
    // Outcomes by position: a group may be rolled back and its calls made again.
    std::vector<std::uint8_t> lacked_room(changes.size(), 0);
    std::vector<std::function<void()>> calls;
    calls.reserve(changes.size());
    for (std::size_t i = 0; i < changes.size(); ++i) {
      CUZK_ASSERT(changes[i]->run != nullptr);
      calls.emplace_back([&, i] { lacked_room[i] = changes[i]->run(store) ? 0 : 1; });
    }
    if (!store.together(calls)) return;
    // The group is durable, and nothing throws from here on. What lacked room left nothing of
    // itself and may be tried with the reserve.
    std::size_t again_count = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (lacked_room[i] == 0 || !changes[i]->may_use_reserve) continue;
      changes[again_count++] = changes[i];
    }
    changes.resize(again_count);
  } catch (...) {
    // The transaction went back on the way out. Which change threw shows when each is made alone,
    // and then it is that one's outcome and no other's.
  }
}

CommitQueue::Call* CommitQueue::take_group() {
  CUZK_ASSERT(first_ != nullptr && last_ != nullptr);
  Call* const group = first_;
  Call* end = group;
  std::size_t change_count = end->changes.size();
  while (end->next != nullptr && change_count < kGroupMax) {
    end = end->next;
    change_count += end->changes.size();
  }
  first_ = end->next;
  if (first_ == nullptr) last_ = nullptr;
  end->next = nullptr;
  return group;
}

void CommitQueue::hand_over(Call* group, const Call& own, const std::exception_ptr& thrown) {
  const MutexLock hold(mutex_);
  led_ = false;
  while (group != nullptr) {
    // The notice is sent under the lock, for the member is gone as soon as it sees `done`.
    Call* const member = std::exchange(group, group->next);
    if (thrown != nullptr) {
      for (PendingChange& change : member->changes) change.thrown = thrown;
    }
    member->done = true;
    if (member != &own) member->wake.notify_one();
  }
  if (first_ == nullptr) return;
  led_ = true;
  first_->leads = true;
  first_->wake.notify_one();
}

void CommitQueue::run(std::span<PendingChange> own, const Commit& commit) {
  CUZK_ASSERT(!own.empty() && commit != nullptr);
  Call call{own};
  Call* group = nullptr;
  {
    const MutexLock hold(mutex_);
    (last_ == nullptr ? first_ : last_->next) = &call;
    last_ = &call;
    while (led_ && !call.done && !call.leads) call.wake.wait(mutex_);
    if (call.done) return;
    led_ = true;
    group = take_group();
    // A leader that was named is the first in line.
    CUZK_ASSERT(group == &call);
  }
  std::exception_ptr thrown;
  try {
    std::vector<PendingChange*> changes;
    for (Call* member = group; member != nullptr; member = member->next) {
      for (PendingChange& change : member->changes) changes.push_back(&change);
    }
    // Without the queue's lock: who comes now queues for the next group.
    commit(changes);
  } catch (...) {
    thrown = std::current_exception();
  }
  hand_over(group, call, thrown);
}

}  // namespace cuzk::engine::internal
