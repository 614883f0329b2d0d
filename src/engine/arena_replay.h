// The part of the incident that is real on any machine: memory that threads have freed and that the
// allocator keeps, beside the same load in the ledger's own pages.
//
// Worker threads build witnesses out of many small blocks and hand them over; another thread frees
// them. A few long-lived blocks stay between the others, as results and shared tables do, and pin
// the arenas of the threads that made them. Sizes are scaled down: what were gigabytes are
// megabytes.
#pragma once

#include <cstdint>

#include "base/ledger.h"
#include "base/result.h"

namespace cuzk::engine {

enum class BufferSource : std::uint8_t { kAllocator, kLedger };

// Defaults take less than a second and some 100 MiB.
struct ArenaReplayOptions {
  BufferSource source = BufferSource::kLedger;
  std::uint32_t thread_count = 8;
  std::uint32_t round_count = 3;                         // witnesses that each thread makes
  std::uint64_t witness_bytes = std::uint64_t{8} << 20;  // of one witness
};

struct ArenaReplayResult {
  std::uint64_t resident_before_bytes = 0, resident_peak_bytes = 0, resident_after_bytes = 0;
  std::uint64_t ledger_peak_bytes = 0, ledger_after_bytes = 0;  // of BufferSource::kLedger
  std::uint64_t live_peak_bytes = 0;                            // asked for and not yet freed
};

// Runs the load on `ledger` and reads the resident size as it goes. Errors: kInvalidArgument for
// no thread, no round or less than a block; kUnsupported where /proc/self/statm cannot be read.
base::Result<ArenaReplayResult> replay_arenas(const ArenaReplayOptions& options,
                                              base::Ledger& ledger);

}  // namespace cuzk::engine
