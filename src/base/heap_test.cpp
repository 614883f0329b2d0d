// Resident memory after a load that arenas would keep.
#include "base/heap.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace cuzk::base {
namespace {

TEST(Heap, SeesPagesComeAndGo) {
  const auto before = resident_bytes();
  if (!before) GTEST_SKIP() << "needs /proc/self/statm";
  constexpr std::size_t kBytes = 32 << 20;
  void* const pages = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const std::uint64_t full = resident_bytes().value();
  ASSERT_EQ(::munmap(pages, kBytes), 0);
  EXPECT_GE(full, *before + kBytes / 2);
  EXPECT_LE(resident_bytes().value(), full - kBytes / 2);
}

TEST(Heap, GivesBackWhatManyThreadsHaveFreed) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another allocator";
#endif
  map_large_blocks();
  constexpr std::size_t kBlock = 48 << 10, kBlocks = 300, kThreads = 6;
  const std::uint64_t before = resident_bytes().value();
  std::vector<std::vector<std::unique_ptr<char[]>>> made(kThreads);
  std::vector<std::thread> threads;
  for (auto& blocks : made) {
    threads.emplace_back([&blocks] {
      for (std::size_t i = 0; i < kBlocks; ++i) {
        blocks.push_back(std::make_unique<char[]>(kBlock));
        for (std::size_t at = 0; at < kBlock; at += 4096) blocks.back()[at] = 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::uint64_t full = resident_bytes().value();
  EXPECT_GT(full, before + kThreads * kBlocks * kBlock / 2);
  // A few stay, at the end of each thread's memory, as results do.
  for (auto& blocks : made) blocks.erase(blocks.begin(), blocks.end() - 1);
  trim_heap();
  EXPECT_LT(resident_bytes().value(), before + (full - before) / 4);
}

TEST(Heap, MapsLargeBlocksByThemselves) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another allocator";
#endif
  map_large_blocks();
  const std::uint64_t before = resident_bytes().value();
  {
    // Freed blocks this large would else raise the border, and the next one come from the heap.
    for (int round = 0; round < 4; ++round) {
      std::vector<char> block(16 << 20, 1);
      EXPECT_GT(resident_bytes().value(), before + (8 << 20));
    }
  }
  EXPECT_LT(resident_bytes().value(), before + (4 << 20));
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CUZK_TEST_GLIBC_HEAP 1
// As malloc_info(3) lists them.
std::size_t arena_count() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const stream = ::open_memstream(&text, &size);
  (void)::malloc_info(0, stream);
  std::fclose(stream);
  const std::string_view all(text, size);
  std::size_t count = 0;
  for (std::size_t at = all.find("<heap nr="); at != all.npos; at = all.find("<heap nr=", at + 1)) {
    ++count;
  }
  std::free(text);
  return count;
}
#endif

TEST(Heap, HasNoMoreArenasThanCores) {
#ifndef CUZK_TEST_GLIBC_HEAP
  GTEST_SKIP() << "another allocator";
#else
  limit_arenas();
  const std::size_t before = arena_count(), cores = std::thread::hardware_concurrency();
  ASSERT_GE(before, 1u);
  std::atomic<std::size_t> made{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3 * cores + 3; ++i) {
    threads.emplace_back([&, count = 3 * cores + 3] {
      const auto block = std::make_unique<char[]>(5000);
      ++made;
      while (made < count) std::this_thread::yield();  // all alive at once
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(arena_count(), std::max(before, cores));
#endif
}

}  // namespace
}  // namespace cuzk::base
