// Everything changes under one lock and tells all who wait; loads run outside of it.
//
// Keys are few, as they take gigabytes, and a proof changes little here, so entries are a list that
// is searched and every change wakes everybody to look again: no wake-up can miss the one who could
// go on.
#include "cuda/prove/key_shelf.h"

#include <string>

#include "base/check.h"
#include "base/log.h"

namespace cuzk::cuda::prove {
namespace {

base::Error cancelled() {
  return {base::ErrorKind::kCancelled, "cancelled while waiting for a key on the device"};
}

}  // namespace

const void* KeyShelf::Use::item() const { return entry_->item.get(); }

KeyShelf::Use::~Use() {
  if (shelf_ == nullptr) return;
  {
    const std::lock_guard lock(shelf_->mutex_);
    --entry_->use_count;
    --shelf_->use_count_;
    if (entry_->is_retired && entry_->use_count == 0) {
      shelf_->entries_.remove_if([this](const Entry& entry) { return &entry == entry_; });
    }
    if (is_alone_) shelf_->is_alone_ = false;
  }
  shelf_->changed_.notify_all();
}

void KeyShelf::Use::retire() {
  const std::lock_guard lock(shelf_->mutex_);
  entry_->is_retired = true;
}

void KeyShelf::Use::begin_run() {
  if (!is_alone_) return;
  {
    const std::lock_guard lock(shelf_->mutex_);
    shelf_->is_alone_ = false;
    is_alone_ = false;
  }
  shelf_->changed_.notify_all();
}

KeyShelf::Entries::iterator KeyShelf::find(const Name& name) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->is_of(name)) return entry;
  }
  return entries_.end();
}

bool KeyShelf::may_enter(Turn turn, const Name& name) {
  const auto entry = find(name);
  if (entry != entries_.end() && entry->is_loading()) return false;
  switch (turn) {
    case Turn::kShared: return !is_alone_ && alone_waiting_ == 0;
    case Turn::kAlone: return !is_alone_ && use_count_ == 0 && loading_count_ == 0;
    case Turn::kRegardless: return true;
  }
  return true;
}

KeyShelf::Use KeyShelf::use_of(Entries::iterator entry, bool is_alone) {
  entries_.splice(entries_.begin(), entries_, entry);
  ++entry->use_count;
  ++use_count_;
  Use use;
  use.shelf_ = this;
  use.entry_ = &*entry;
  use.is_alone_ = is_alone;
  return use;
}

base::Result<KeyShelf::Use> KeyShelf::take(const Name& name, Turn turn, const std::stop_token& stop,
                                           const Load& load, const Fits& fits) {
  const bool is_alone = turn == Turn::kAlone;
  std::unique_lock lock(mutex_);
  if (is_alone) ++alone_waiting_;
  const bool has_entered = changed_.wait(lock, stop, [&] { return may_enter(turn, name); });
  if (is_alone) --alone_waiting_;
  if (!has_entered) {
    lock.unlock();
    changed_.notify_all();
    return cancelled();
  }
  entries_.remove_if([](const Entry& entry) {
    return entry.is_idle() && (entry.key.expired() || entry.shape.expired());
  });
  auto entry = find(name);
  if (is_alone && entry != entries_.end() && fits && !fits(entry->item.get())) {
    entries_.erase(entry);
    entry = entries_.end();
  }
  is_alone_ = is_alone_ || is_alone;
  if (entry != entries_.end()) return use_of(entry, is_alone);

  entry =
      entries_.insert(entries_.begin(), {name.owner, name.key, name.shape, nullptr, 0, 0, false});
  ++loading_count_;
  lock.unlock();
  // Also where load() throws: nobody may wait for it for ever.
  struct End {
    KeyShelf& shelf;
    Entries::iterator entry;
    std::unique_lock<std::mutex>& lock;
    bool is_alone;
    bool is_loaded = false;
    ~End() {
      if (!lock.owns_lock()) lock.lock();
      --shelf.loading_count_;
      if (!is_loaded) {
        shelf.entries_.erase(entry);
        if (is_alone) shelf.is_alone_ = false;
      }
      lock.unlock();
      shelf.changed_.notify_all();
    }
  } end{*this, entry, lock, is_alone};
  Loading loading(*this, *entry);
  CUZK_TRY(Item item, load(loading));
  CUZK_ASSERT(item != nullptr);
  lock.lock();
  entry->item = std::move(item);
  entry->reserved_bytes = 0;
  end.is_loaded = true;
  return use_of(entry, is_alone);
}

std::uint64_t KeyShelf::reserved_apart_from(const Entry& entry) const {
  std::uint64_t bytes = 0;
  for (const Entry& other : entries_) bytes += &other == &entry ? 0 : other.reserved_bytes;
  return bytes;
}

base::Result<bool> KeyShelf::Loading::make_room(std::uint64_t bytes,
                                                const std::function<std::uint64_t()>& room_bytes,
                                                const std::stop_token& stop) {
  std::unique_lock lock(shelf_.mutex_);
  bool is_free = false;
  // What others loaded of what they reserved counts twice: that can make this one wait, no more.
  const bool is_decided = shelf_.changed_.wait(lock, stop, [&] {
    const std::uint64_t reserved = shelf_.reserved_apart_from(entry_);
    while (true) {
      const std::uint64_t room = room_bytes();
      is_free = room >= reserved && room - reserved >= bytes;
      if (is_free || !shelf_.evict_oldest_now()) break;
    }
    return is_free || reserved == 0;
  });
  if (!is_decided) return cancelled();
  entry_.reserved_bytes = bytes;
  return is_free;
}

bool KeyShelf::evict_oldest_now() {
  for (auto entry = entries_.end(); entry != entries_.begin();) {
    --entry;
    if (!entry->is_idle()) continue;
    base::log(base::LogLevel::kInfo, "a key leaves its device to make room");
    entries_.erase(entry);
    return true;
  }
  return false;
}

bool KeyShelf::evict_oldest() {
  const std::lock_guard lock(mutex_);
  return evict_oldest_now();
}

void KeyShelf::forget(const void* owner) {
  const std::lock_guard lock(mutex_);
  entries_.remove_if([&](const Entry& entry) {
    CUZK_ASSERT(entry.owner != owner || entry.is_idle());
    return entry.owner == owner;
  });
}

std::size_t KeyShelf::item_count() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const Entry& entry : entries_) count += entry.is_loading() ? 0 : 1;
  return count;
}

}  // namespace cuzk::cuda::prove
