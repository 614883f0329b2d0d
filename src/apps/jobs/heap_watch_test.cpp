// Operators new and delete that count, and that they do.
//
// They replace the library's in the whole test binary. Sizes are asked of the allocator when a
// block goes, so blocks carry no header of ours.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>

#include "apps/jobs/heap_watch_test_support.h"

namespace {

std::atomic<std::int64_t> held{0}, peak{0};

void note(std::int64_t bytes) {
  const std::int64_t now = held.fetch_add(bytes) + bytes;
  std::int64_t seen = peak.load();
  while (now > seen && !peak.compare_exchange_weak(seen, now)) {
  }
}

void* counted_or_null(std::size_t size) noexcept {
  void* const block = std::malloc(size);
  if (block != nullptr) note(static_cast<std::int64_t>(::malloc_usable_size(block)));
  return block;
}

void* counted(std::size_t size) {
  void* const block = counted_or_null(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void drop(void* block) {
  if (block == nullptr) return;
  note(-static_cast<std::int64_t>(::malloc_usable_size(block)));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(size);
}
void operator delete(void* block) noexcept { drop(block); }
void operator delete[](void* block) noexcept { drop(block); }
void operator delete(void* block, std::size_t) noexcept { drop(block); }
void operator delete[](void* block, std::size_t) noexcept { drop(block); }

namespace cuzk::apps {

HeapWatch::HeapWatch() : before_(held.load()) { peak.store(before_); }

std::uint64_t HeapWatch::peak_bytes() const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, peak.load() - before_));
}

std::uint64_t HeapWatch::held_bytes() const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, held.load() - before_));
}

namespace {

TEST(HeapWatch, SeesWhatWasHeldAtMostAndWhatIsLeft) {
  const HeapWatch watch;
  auto kept = std::make_unique<std::vector<char>>(1000);
  { const std::vector<char> passing(100'000); }
  EXPECT_GE(watch.peak_bytes(), 101'000u);
  EXPECT_LT(watch.peak_bytes(), 110'000u);
  EXPECT_GE(watch.held_bytes(), 1000u);
  EXPECT_LT(watch.held_bytes(), 2000u);
}

}  // namespace
}  // namespace cuzk::apps
