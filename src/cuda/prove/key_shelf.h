// Which keys stay on a device, and who waits for whom: one shelf a device, for all curves.
//
// Free of CUDA: an item is whatever a cache loads, room is what its caller says it is. Items are
// loaded outside the lock, once for all who want the same, and leave when nobody uses them, the
// least recently used first, whosever they are. Nobody waits while holding an item, so nobody waits
// in a ring: who finds no room gives up what it has and comes again for a turn alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include "base/result.h"

namespace cuzk::cuda::prove {

class KeyShelf {
  struct Entry;

 public:
  using Item = std::shared_ptr<const void>;
  // An item is of one owner (a backend, which knows its type), one key and one shape.
  struct Name {
    const void* owner = nullptr;
    std::shared_ptr<const void> key, shape;
  };
  enum class Turn {
    kShared,      // beside others, unless one wants a turn alone
    kAlone,       // once nobody uses or loads anything; others wait until begin_run() or the end
    kRegardless,  // beside others, whoever waits: for who needs several devices
  };

  // What a proof uses, for as long as this lives. Movable.
  class Use {
   public:
    Use() = default;
    Use(Use&& other) noexcept { *this = std::move(other); }
    Use& operator=(Use&& other) noexcept {
      std::swap(shelf_, other.shelf_);
      std::swap(entry_, other.entry_);
      std::swap(is_alone_, other.is_alone_);
      return *this;
    }
    ~Use();
    const void* item() const;
    // Nobody else gets the item from now on; it goes when its users have ended.
    void retire();
    // The proof has all the memory that it needs: a turn alone is over.
    void begin_run();

   private:
    friend class KeyShelf;
    KeyShelf* shelf_ = nullptr;
    Entry* entry_ = nullptr;
    bool is_alone_ = false;
  };

  // What a load asks of the shelf.
  class Loading {
   public:
    // Lets idle items go until `bytes` are free beside what other loads will take, and waits for
    // those where that is not enough. From then on so many are kept from other loads. Whether they
    // are free. kCancelled when `stop` asks.
    base::Result<bool> make_room(std::uint64_t bytes,
                                 const std::function<std::uint64_t()>& room_bytes,
                                 const std::stop_token& stop);

   private:
    friend class KeyShelf;
    Loading(KeyShelf& shelf, Entry& entry) : shelf_(shelf), entry_(entry) {}
    KeyShelf& shelf_;
    Entry& entry_;
  };
  using Load = std::function<base::Result<Item>(Loading&)>;
  // Of a turn alone: whether an item that is there will do. Else it is loaded anew.
  using Fits = std::function<bool(const void* item)>;

  KeyShelf() = default;
  KeyShelf(const KeyShelf&) = delete;
  KeyShelf& operator=(const KeyShelf&) = delete;

  // The item of that name, loaded by `load` where it is not there; who wants one that is being
  // loaded waits for it, and loads it itself where that fails. Errors: those of `load`; kCancelled
  // when `stop` asks first.
  base::Result<Use> take(const Name& name, Turn turn, const std::stop_token& stop, const Load& load,
                         const Fits& fits = nullptr);

  // Lets the least recently used idle item go. False when there is none.
  bool evict_oldest();
  // Nobody uses items of the owner any more: they go.
  void forget(const void* owner);
  std::size_t item_count() const;

 private:
  friend class Use;
  friend class Loading;
  struct Entry {
    const void* owner = nullptr;
    std::weak_ptr<const void> key, shape;
    Item item;  // null while it is loaded
    std::uint64_t use_count = 0;
    std::uint64_t reserved_bytes = 0;  // by who loads it
    bool is_retired = false;

    bool is_loading() const { return item == nullptr; }
    bool is_idle() const { return item != nullptr && use_count == 0; }
    bool is_of(const Name& name) const {
      return !is_retired && owner == name.owner && key.lock() == name.key &&
             shape.lock() == name.shape;
    }
  };
  using Entries = std::list<Entry>;

  // All of these under the lock.
  Entries::iterator find(const Name& name);
  bool may_enter(Turn turn, const Name& name);
  bool evict_oldest_now();
  std::uint64_t reserved_apart_from(const Entry& entry) const;
  Use use_of(Entries::iterator entry, bool is_alone);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Entries entries_;  // most recently used first
  std::uint64_t use_count_ = 0, loading_count_ = 0, alone_waiting_ = 0;
  bool is_alone_ = false;  // somebody has a turn alone
};

}  // namespace cuzk::cuda::prove
