// Memory that is refused on purpose: one allocation of one thread, chosen by its number or size.
//
// Replaces operator new and delete, so exactly one source file of a test binary includes it. What
// takes memory by malloc (SQLite, the throwing of exceptions) is not touched, nor are other
// threads.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace cuzk::testing {

// While it lives, the allocation chosen throws std::bad_alloc; those before and after it are
// served. One at a time in a thread.
class RefusedMemory {
 public:
  // Allocation number `index`, counted from 0; only those of `size` bytes where that is not 0.
  explicit RefusedMemory(std::int64_t index, std::size_t size = 0) { arm(index, size); }
  RefusedMemory(const RefusedMemory&) = delete;
  RefusedMemory& operator=(const RefusedMemory&) = delete;
  ~RefusedMemory() { left_ = -1; }

  // The same for a place that cannot hold the object: it ends by itself when it has refused.
  static void arm(std::int64_t index, std::size_t size) {
    size_ = size;
    left_ = index;
  }
  // Whether there was such an allocation.
  static bool happened() { return left_ < 0; }

  static void* allocate_or_null(std::size_t size) noexcept {
    if (left_ >= 0 && (size_ == 0 || size_ == size) && left_-- == 0) return nullptr;
    return std::malloc(size == 0 ? 1 : size);
  }
  static void* allocate(std::size_t size) {
    void* const block = allocate_or_null(size);
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }

 private:
  static inline thread_local std::int64_t left_ = -1;  // negative: nothing is to be refused
  static inline thread_local std::size_t size_ = 0;
};

// Calls `attempt` again and again, each time with the next of its allocations refused, until one
// runs through with none; after each, `check`. Returns how many were refused.
template <class Attempt, class Check>
std::int64_t refuse_each(const Attempt& attempt, const Check& check) {
  for (std::int64_t index = 0;; ++index) {
    bool happened = false;
    {
      const RefusedMemory refused(index);
      try {
        attempt();
      } catch (const std::bad_alloc&) {
        // One of the two ways to hear of it; the other is an error.
      }
      happened = RefusedMemory::happened();
    }
    check();
    if (!happened) return index;
  }
}

}  // namespace cuzk::testing

void* operator new(std::size_t size) { return cuzk::testing::RefusedMemory::allocate(size); }
void* operator new[](std::size_t size) { return cuzk::testing::RefusedMemory::allocate(size); }
// Those that do not throw too: every block must come from where the deletes below give it back.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return cuzk::testing::RefusedMemory::allocate_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return cuzk::testing::RefusedMemory::allocate_or_null(size);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
