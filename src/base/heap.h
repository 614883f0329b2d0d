// The C library's heap, kept from holding what nobody uses.
//
// Large blocks should come from the kernel and go back to it when they are freed, so that resident
// memory follows the ledger. Glibc moves its border for that up to 32 MiB by itself, and keeps what
// many threads have freed in their arenas. Elsewhere these calls do nothing.
#pragma once

#include <cstdint>
#include <optional>

namespace cuzk::base {

// From this size on a block is mapped by itself, once map_large_blocks() was called.
inline constexpr std::uint64_t kMappedBlockBytesMin = std::uint64_t{256} << 10;

// For the whole process, from now on. Any thread, any number of times.
void map_large_blocks() noexcept;

// No more arenas than cores, from now on: by default there may be eight a core, and each keeps some
// of what its threads have freed. A thread that runs still finds one free. For the whole process.
void limit_arenas() noexcept;

// Gives the heap's free pages back. Takes milliseconds for each gigabyte that it holds.
void trim_heap() noexcept;

// Memory of this process that is in RAM now, of every kind; none where the kernel does not tell
// (/proc/self/statm). Takes nothing from the heap.
std::optional<std::uint64_t> resident_bytes() noexcept;

}  // namespace cuzk::base
