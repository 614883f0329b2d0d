// What makes proofs on a device faster and can be made again: the first memory to be given up.
//
// Free of CUDA. An item lies in a slot of whoever made it; a proof takes it along while it runs.
// Who lacks room lets all items go: their memory is free once the proofs that hold them have ended.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace cuzk::cuda::prove {

class Spares {
 public:
  using Item = std::shared_ptr<const void>;

  // A place for one item, empty at first; what it holds goes with it. Its Spares outlives it.
  class Slot {
   public:
    explicit Slot(Spares& all) : all_(all) {
      const std::lock_guard lock(all_.mutex_);
      place_ = all_.slots_.insert(all_.slots_.end(), this);
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() {
      const std::lock_guard lock(all_.mutex_);
      all_.slots_.erase(place_);
    }
    void put(Item item) {
      {
        const std::lock_guard lock(all_.mutex_);
        std::swap(item_, item);
      }  // what was there goes outside of the lock
    }
    Item get() const {
      const std::lock_guard lock(all_.mutex_);
      return item_;
    }

   private:
    friend class Spares;
    Spares& all_;
    Item item_;
    std::list<Slot*>::iterator place_;
  };

  Spares() = default;
  Spares(const Spares&) = delete;

  // Empties all slots; how many held something. Items go under the lock: whatever they need of the
  // slot's owner is there until then. So an item's end must not use its Spares.
  std::size_t drop_all() {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (Slot* slot : slots_) {
      if (slot->item_ == nullptr) continue;
      slot->item_ = nullptr;
      ++count;
    }
    return count;
  }

 private:
  friend class Slot;
  std::mutex mutex_;
  std::list<Slot*> slots_;
};

}  // namespace cuzk::cuda::prove
