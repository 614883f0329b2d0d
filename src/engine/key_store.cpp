// Single-flight loads on threads of their own, and who holds what.
//
// A load's outcome is set once, by its thread or by whoever could not start it, and stays until the
// key is dropped. A load that is being stopped is waited for before the next one begins: the budget
// has room for one copy only.
#include "engine/key_store.h"

#include <exception>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/guarded.h"

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;
using base::MutexLock;
using KeyResult = base::Result<std::shared_ptr<const LoadedKey>>;

// One load and its outcome.
struct KeyLoad {
  // Empty outcome: the thread runs, or is about to. `wish_count` counts those who wait or may still
  // ask; it matters only until there is an outcome.
  mutable base::Mutex mutex;
  mutable std::condition_variable_any settled;
  std::optional<KeyResult> outcome CUZK_GUARDED_BY(mutex);
  std::uint32_t wish_count CUZK_GUARDED_BY(mutex) = 0;
  std::stop_source stop;
  std::thread thread;  // joined by the store alone

  bool is_over() const CUZK_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    return outcome.has_value();
  }
  bool is_loaded() const CUZK_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    return outcome && outcome->ok();
  }
  // Whether a wish can still join: not where the last one left and the load is being stopped.
  bool join() CUZK_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    if (outcome ? !outcome->ok() : stop.stop_requested()) return false;
    ++wish_count;
    return true;
  }
  void wait() const CUZK_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    while (!outcome) settled.wait(mutex);
  }
};

namespace {

// A key with what pays for it.
struct CountedKey {
  // Reached through an aliasing pointer to `key`, so the last user frees both, in this order.
  base::Permit permit;
  std::shared_ptr<const LoadedKey> key;  // dies first
};

// The name may be as long as a path, so putting the sentence together may be refused too.
Error no_memory(const KeySource& source) noexcept {
  try {
    return out_of_memory("the key " + source.name);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Error no_thread(const KeySource& source, const std::exception_ptr& thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return no_memory(source);
  } catch (const std::exception& reason) {
    try {
      return {ErrorKind::kResourceExhausted,
              "no thread to load the key " + source.name + ": " + reason.what()};
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  }
}

}  // namespace

KeyStore::KeyStore(base::Ledger& ledger, std::function<void()> on_settled)
    : ledger_(ledger), on_settled_(std::move(on_settled)) {
  CUZK_ASSERT(on_settled_ != nullptr);
}

KeyStore::~KeyStore() {
  {
    const MutexLock lock(mutex_);
    for (const auto& load : loads_) load->stop.request_stop();
  }
  // Without the lock, which the threads take at their end.
  join_loads(true);
}

KeyStore::Wish::~Wish() {
  if (load_ == nullptr) return;
  const MutexLock lock(load_->mutex);
  CUZK_ASSERT(load_->wish_count > 0);
  if (--load_->wish_count == 0 && !load_->outcome) load_->stop.request_stop();
}

base::Result<SharedKey> KeyStore::enroll(const KeySource& source) {
  // Asking the files is I/O and done before the lock.
  std::string identity;
  if (source.identity) {
    CUZK_TRY(identity, source.identity());
  }
  const MutexLock lock(mutex_);
  for (auto& [id, entry] : entries_) {
    if (entry.source.name == source.name && entry.identity == identity &&
        entry.source.bytes == source.bytes) {
      ++entry.user_count;
      return SharedKey{id, source.bytes};
    }
  }
  // Whole before it is in the table: memory refused on the way leaves no half of an entry.
  const KeyId id = next_id_++;
  entries_.emplace(id, Entry{source, std::move(identity), 1, nullptr});
  return SharedKey{id, source.bytes};
}

void KeyStore::leave(KeyId id) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_.at(id);
  CUZK_ASSERT(entry.user_count > 0);
  --entry.user_count;
  forget_if_unused(id);
}

void KeyStore::forget_if_unused(KeyId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.user_count > 0) return;
  // A load that runs still needs its entry; its thread comes here when it is over.
  const auto& load = found->second.load;
  if (load == nullptr || (load->is_over() && !load->is_loaded())) entries_.erase(found);
}

// Joins a load that runs or went well, waits for one that is being stopped, begins one otherwise.
KeyStore::Wish KeyStore::ask(KeyId id) {
  std::shared_ptr<KeyLoad> before;
  Wish wish;
  for (;;) {
    if (before != nullptr) before->wait();  // it was being stopped: two would not fit the budget
    join_loads(false);
    const MutexLock lock(mutex_);
    Entry& entry = entries_.at(id);
    if (entry.load != nullptr && entry.load->join()) {
      wish.load_ = entry.load;
      return wish;
    }
    if (entry.load != nullptr && !entry.load->is_over()) {
      before = entry.load;
      continue;
    }
    // Cold. The first wish is in before the thread begins, so that it does not stop at once.
    const auto load = std::make_shared<KeyLoad>();
    load->join();
    // With room for it, push_back() in begin() does not throw while the thread runs already.
    loads_.reserve(loads_.size() + 1);
    entry.load = load;
    wish.load_ = load;
    begin(id, entry.source, load);
    return wish;
  }
}

void KeyStore::begin(KeyId id, const KeySource& source, const std::shared_ptr<KeyLoad>& load) {
  try {
    load->thread = std::thread([this, id, source, load] { run_load(id, source, load); });
    loads_.push_back(load);
  } catch (const std::exception&) {
    // Refused memory as well as a refused thread. Every way must leave an outcome: a load without
    // one is waited for.
    Error error = no_thread(source, std::current_exception());
    const MutexLock lock(load->mutex);
    load->outcome.emplace(std::move(error));
  }
}

void KeyStore::run_load(KeyId id, const KeySource& source, const std::shared_ptr<KeyLoad>& load) {
  groth16::Control control;
  control.cancel = load->stop.get_token();
  KeyResult result = load_counted(source, control);
  {
    const MutexLock lock(load->mutex);
    CUZK_ASSERT(!load->outcome);
    load->outcome.emplace(std::move(result));
  }
  // Those who wait for the load itself first, then those of the pipeline who wait for any.
  load->settled.notify_all();
  {
    const MutexLock lock(mutex_);
    forget_if_unused(id);
  }
  on_settled_();
}

KeyResult KeyStore::load_counted(const KeySource& source, const groth16::Control& control) try {
  CUZK_TRY(auto permit, ledger_.admit(source.bytes, base::MemoryCategory::kSrs, source.name));
  // Counted before it exists. A loader takes nothing large from the ledger itself.
  CUZK_TRY(auto key, source.load(control));
  const std::uint64_t bytes = key->byte_count();
  if (bytes > source.bytes) {
    return Error{ErrorKind::kInternal,
                 fmt::format("the key {} takes {} bytes, more than the {} that it announced",
                             source.name, bytes, source.bytes)};
  }
  // The announced size was an upper bound; what it has too much goes back.
  { const base::Permit unused = permit.split(source.bytes - bytes); }
  auto counted = std::make_shared<CountedKey>();
  counted->permit = std::move(permit);
  counted->key = std::move(key);
  const LoadedKey* const raw = counted->key.get();
  CUZK_ASSERT(counted->permit.bytes() == bytes);
  return std::shared_ptr<const LoadedKey>(std::move(counted), raw);
} catch (const std::bad_alloc&) {
  return no_memory(source);
} catch (const std::exception& exception) {
  return Error{ErrorKind::kInternal, "the key " + source.name + ": " + exception.what()};
}

std::optional<KeyResult> KeyStore::answer(const Wish& wish) const {
  CUZK_ASSERT(wish.load_ != nullptr);
  const MutexLock lock(wish.load_->mutex);
  return wish.load_->outcome;
}

bool KeyStore::loaded(KeyId id) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.load != nullptr &&
         found->second.load->is_loaded();
}

// Returns when no load of the key runs any more: its bytes are free, or somebody still uses it.
std::shared_ptr<const LoadedKey> KeyStore::drop(KeyId id) {
  std::shared_ptr<KeyLoad> load;
  {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return nullptr;
    load = std::exchange(found->second.load, nullptr);
    forget_if_unused(id);
  }
  if (load == nullptr) return nullptr;
  // Out of the table already: who asks from here on begins a load of its own.
  load->stop.request_stop();
  load->wait();
  const MutexLock lock(load->mutex);
  CUZK_ASSERT(load->outcome.has_value());
  if (!load->outcome->ok()) return nullptr;
  auto key = std::move(*load->outcome).value();
  // Wishes of before may still ask this load; they must not keep the key alive. The sentence fits
  // into the string itself: between the two lines nothing can fail.
  load->outcome.emplace(Error{ErrorKind::kUnavailable, "key was evicted"});
  return key;
}

std::vector<KeyId> KeyStore::all_of(const std::string& name) const {
  const MutexLock lock(mutex_);
  std::vector<KeyId> ids;
  for (const auto& [id, entry] : entries_) {
    if (entry.source.name == name) ids.push_back(id);
  }
  return ids;
}

std::uint64_t KeyStore::loaded_bytes(KeyId id) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.load == nullptr) return 0;
  const KeyLoad& load = *found->second.load;
  const MutexLock load_lock(load.mutex);
  return load.outcome && load.outcome->ok() ? load.outcome->value()->byte_count() : 0;
}

std::vector<KeyReport> KeyStore::report() const {
  const MutexLock lock(mutex_);
  std::vector<KeyReport> keys;
  for (const auto& [id, entry] : entries_) {
    KeyReport key{entry.source.name, KeyTier::kCold, entry.source.bytes, entry.user_count};
    if (entry.load != nullptr) {
      const KeyLoad& load = *entry.load;
      const MutexLock load_lock(load.mutex);
      if (load.outcome && load.outcome->ok()) {
        const LoadedKey& loaded = *load.outcome->value();
        key.tier = loaded.tier();
        key.bytes = loaded.byte_count();
      }
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

void KeyStore::join_loads(bool all) {
  std::vector<std::shared_ptr<KeyLoad>> over;
  {
    const MutexLock lock(mutex_);
    // Room before the walk: one that stopped half way would lose loads whose threads nobody joins.
    if (!all) over.reserve(loads_.size());
    if (all) over.swap(loads_);
    std::erase_if(loads_, [&over](const std::shared_ptr<KeyLoad>& load) {
      if (!load->is_over()) return false;
      over.push_back(load);
      return true;
    });
  }
  // Outside the lock. Threads that are over end at once; the others need the lock to end.
  for (const auto& load : over) load->thread.join();
}

}  // namespace cuzk::engine
