// Keys by name, for people: load before the first job needs it, drop when nobody does.
//
// Both go through the scheduler first, which knows what the budget has room for and who refers to a
// key; the store then does it. A preload holds a reference while it waits, so the key cannot be
// what makes room for others, and gives it back when the key is there: it stays loaded, but idle.
#include <utility>

#include "base/heap.h"
#include "engine/pipeline_core.h"

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;
using base::MutexLock;

base::Result<bool> PipelineCore::preload(const std::string& name) {
  CUZK_TRY(const KeySource source, options_.types->find_key(name));
  CUZK_TRY(const SharedKey key, store_.enroll(source));
  base::Status held = base::ok_status();
  Debris debris;
  bool was_loaded = false;
  {
    // stop() waits for guests, so the reference cannot outlive the scheduler.
    const MutexLock lock(mutex_);
    if (stopping_) held = Error{ErrorKind::kUnavailable, "the engine is stopping"};
    if (held.ok()) held = scheduler_.hold_key(key, now_ms());
    if (held.ok()) ++guest_count_;
    was_loaded = store_.loaded(key.id);
    debris = dispatch();
  }
  // Room is made before the load takes its bytes from the ledger.
  settle(std::move(debris));
  if (!held.ok()) {
    store_.leave(key.id);
    return std::move(held).error().within(name);
  }
  base::Status loaded = base::ok_status();
  {
    {
      const MutexLock lock(mutex_);
      wait_cleared();
    }
    // The wish dies at the end of this block: the load ends early where nobody else wants it.
    const KeyStore::Wish wish = store_.ask(key.id);
    const MutexLock lock(mutex_);
    for (;;) {
      const auto answer = store_.answer(wish);
      if (answer && !answer->ok()) loaded = answer->error();
      if (!answer && stopping_) loaded = Error{ErrorKind::kUnavailable, "the engine is stopping"};
      if (answer || stopping_) break;
      changed_.wait(mutex_);
    }
  }
  {
    const MutexLock lock(mutex_);
    CUZK_ASSERT(guest_count_ > 0);
    scheduler_.release_key(key, now_ms());
    --guest_count_;
    changed_.notify_all();
    debris = dispatch();
  }
  settle(std::move(debris));
  store_.leave(key.id);
  if (!loaded.ok()) return std::move(loaded).error();
  return was_loaded;
}

base::Result<std::uint64_t> PipelineCore::evict(const std::string& name) {
  const std::vector<KeyId> ids = store_.all_of(name);
  // Nothing to drop; an unknown name is the caller's mistake and told as such.
  if (ids.empty()) {
    CUZK_TRY(const KeySource known, options_.types->find_key(name));
    return std::uint64_t{0};
  }
  std::uint64_t freed_bytes = 0;
  base::Status status = base::ok_status();
  Debris debris;
  {
    const MutexLock lock(mutex_);
    for (const KeyId id : ids) {
      // One name may have keys of files of several times; each goes by itself.
      const std::uint64_t bytes = store_.loaded_bytes(id);
      auto dropped = scheduler_.drop_key(id, now_ms());
      if (!dropped.ok()) {
        status = std::move(dropped).error().within(name);
      } else if (*dropped) {
        freed_bytes += bytes;
      }
    }
    debris = dispatch();
  }
  settle(std::move(debris));
  if (freed_bytes != 0) base::trim_heap();  // who evicts wants the memory
  if (!status.ok()) return std::move(status).error();
  return freed_bytes;
}

}  // namespace cuzk::engine
