// Proving keys in memory: loaded once however many ask, charged to the ledger as long as they live.
//
// The scheduler decides what may be loaded and what goes (shared_keys.h); the store holds the
// pages. A key is known by its name and by the identity of its files, so files that change make
// another key. Loads run on threads of their own: whoever waits for one may do other things, and a
// load ends early when nobody waits any more.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/ledger.h"
#include "base/mutex.h"
#include "engine/executor.h"
#include "engine/job_type.h"
#include "engine/shared_keys.h"

namespace cuzk::engine {

// Thread-safe.
//
// An entry is there while somebody is enrolled or a load of it is running or went well:
//   cold      no load, or one that failed; ask() begins one
//   loading   a thread runs; it stops when the last wish dies
//   loaded    stays so until drop(), whether or not anybody is enrolled
// Lock order: the store's mutex, then that of one load. The callback is called with neither.
class KeyStore {
 public:
  // `on_settled` is called from loading threads, without locks, when a load is over.
  KeyStore(base::Ledger& ledger, std::function<void()> on_settled);
  KeyStore(const KeyStore&) = delete;
  KeyStore& operator=(const KeyStore&) = delete;
  // Nobody waits for a load any more.
  ~KeyStore();

  // Tells who the key is, and counts somebody who will use it until leave(). The same name,
  // identity and byte count give the same id. Error: that of KeySource::identity.
  base::Result<SharedKey> enroll(const KeySource& source) CUZK_EXCLUDES(mutex_);
  void leave(KeyId id) CUZK_EXCLUDES(mutex_);

  // One wish for a key that is enrolled. The load goes on as long as one of those who wait lives.
  class Wish {
   public:
    Wish() = default;
    Wish(Wish&&) = default;
    Wish& operator=(Wish&&) = delete;
    ~Wish();

   private:
    friend class KeyStore;
    std::shared_ptr<struct KeyLoad> load_;
  };
  // Begins to load where nobody does.
  Wish ask(KeyId id) CUZK_EXCLUDES(mutex_);
  // Nothing while it is loaded; then the key, or why there is none.
  std::optional<base::Result<std::shared_ptr<const LoadedKey>>> answer(const Wish& wish) const
      CUZK_EXCLUDES(mutex_);
  // Of this moment: it may be dropped right after, unless the scheduler has a reference to it.
  bool loaded(KeyId id) const CUZK_EXCLUDES(mutex_);

  // Takes the key out; its memory goes with what is returned, or with its last user.
  std::shared_ptr<const LoadedKey> drop(KeyId id) CUZK_EXCLUDES(mutex_);

  // The keys of one name that are there, in any state: several where its files changed.
  std::vector<KeyId> all_of(const std::string& name) const CUZK_EXCLUDES(mutex_);
  // 0 where it is not loaded.
  std::uint64_t loaded_bytes(KeyId id) const CUZK_EXCLUDES(mutex_);
  std::vector<KeyReport> report() const CUZK_EXCLUDES(mutex_);

 private:
  struct Entry {
    KeySource source;
    std::string identity;
    std::uint32_t user_count = 0;
    std::shared_ptr<struct KeyLoad> load;  // running or over; none: cold
  };
  // Starts the load's thread; where there is none to be had, that is the load's outcome.
  void begin(KeyId id, const KeySource& source, const std::shared_ptr<struct KeyLoad>& load)
      CUZK_REQUIRES(mutex_);
  // The thread's body.
  void run_load(KeyId id, const KeySource& source, const std::shared_ptr<struct KeyLoad>& load);
  // The key with the permit that pays for it: both live as long as what is returned does.
  base::Result<std::shared_ptr<const LoadedKey>> load_counted(const KeySource& source,
                                                              const groth16::Control& control);
  // Drops an entry that nobody is enrolled at and that holds no pages.
  void forget_if_unused(KeyId id) CUZK_REQUIRES(mutex_);
  // Of loads that are over, or of all.
  void join_loads(bool all) CUZK_EXCLUDES(mutex_);

  base::Ledger& ledger_;
  const std::function<void()> on_settled_;
  mutable base::Mutex mutex_;
  std::map<KeyId, Entry> entries_ CUZK_GUARDED_BY(mutex_);
  KeyId next_id_ CUZK_GUARDED_BY(mutex_) = 1;
  std::vector<std::shared_ptr<struct KeyLoad>> loads_ CUZK_GUARDED_BY(mutex_);  // with a thread
};

}  // namespace cuzk::engine
