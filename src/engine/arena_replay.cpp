// Two sources of buffers under one load. All threads make their witness, all hand it over, all is
// freed, and so on: the pattern of a burst.
//
// Every byte is written, or the kernel would give no page for it. Resident memory is read when all
// witnesses of a round are there, which is its highest point, and once more when all are gone but
// what was to stay.
#include "engine/arena_replay.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/heap.h"

namespace cuzk::engine {
namespace {

// Below the size from which malloc maps pages of their own.
constexpr std::uint64_t kBlockBytes = 48 << 10;
// One small block that stays, as a result does, after so many that go.
constexpr std::size_t kKeptEvery = 16;
constexpr std::uint64_t kKeptBytes = 2048;
static_assert(kKeptBytes < kBlockBytes && kBlockBytes < base::kMappedBlockBytesMin);

using Block = std::unique_ptr<unsigned char[]>;

// From the allocator, with a page behind each byte.
Block filled_block(std::uint64_t bytes) {
  Block block(new unsigned char[bytes]);
  std::memset(block.get(), 1, bytes);
  return block;
}

// One thread's witness, from either source; `kept` outlives it.
struct Witness {
  std::vector<Block> blocks;
  base::PageRun pages;
};

base::Result<Witness> make_witness(const ArenaReplayOptions& options, base::Ledger& ledger,
                                   std::vector<Block>& kept) {
  Witness witness;
  if (options.source == BufferSource::kLedger) {
    CUZK_TRY(witness.pages,
             base::PageRun::map(options.witness_bytes, base::MemoryCategory::kWitness,
                                "arena replay", ledger));
    std::memset(witness.pages.data(), 1, options.witness_bytes);
    kept.push_back(filled_block(kKeptBytes));
    return witness;
  }
  const std::size_t block_count = options.witness_bytes / kBlockBytes;
  CUZK_ASSERT(block_count > 0);
  for (std::size_t i = 0; i < block_count; ++i) {
    witness.blocks.push_back(filled_block(kBlockBytes));
    if (i % kKeptEvery == kKeptEvery - 1) kept.push_back(filled_block(kKeptBytes));
  }
  return witness;
}

}  // namespace

base::Result<ArenaReplayResult> replay_arenas(const ArenaReplayOptions& options,
                                              base::Ledger& ledger) {
  if (options.thread_count == 0 || options.round_count == 0 ||
      options.witness_bytes < kBlockBytes) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "arena replay: expected threads, rounds and witnesses of 48 KiB or more"};
  }
  const auto before = base::resident_bytes();
  if (!before) {
    return base::Error{base::ErrorKind::kUnsupported, "/proc/self/statm cannot be read"};
  }
  ArenaReplayResult result;
  result.resident_before_bytes = *before;
  result.live_peak_bytes = options.thread_count * options.witness_bytes;
  const auto look = [&result] {
    result.resident_peak_bytes =
        std::max(result.resident_peak_bytes, base::resident_bytes().value_or(0));
  };
  // The ledger may have been used before: only this load counts.
  ledger.reset_peaks();
  std::vector<std::vector<Block>> kept(options.thread_count);
  for (std::uint32_t round = 0; round < options.round_count; ++round) {
    std::vector<std::optional<base::Result<Witness>>> witnesses(options.thread_count);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < options.thread_count; ++t) {
      threads.emplace_back([&, t] { witnesses[t] = make_witness(options, ledger, kept[t]); });
    }
    // Joined before anything is freed: the threads' arenas are without owners then.
    for (std::thread& thread : threads) thread.join();
    look();
    for (auto& witness : witnesses) {
      CUZK_ASSERT(witness.has_value());
      if (!(*witness).ok()) return std::move(*witness).error();
    }
  }
  result.ledger_peak_bytes = ledger.snapshot().total.peak_bytes;
  result.ledger_after_bytes = ledger.snapshot().total.used_bytes;
  result.resident_after_bytes = base::resident_bytes().value_or(0);
  return result;
}

}  // namespace cuzk::engine
