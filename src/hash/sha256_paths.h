// The implementations of the SHA-256 compression function, for sha256.cpp alone.
//
// Both give the same words for the same blocks. The one with the SHA extensions is compiled for
// them in its own file, so nothing built with those instructions can reach a machine without.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuzk::hash::internal {

// Both update eight words in place by `block_count` blocks of 64 bytes.
void sha256_compress_portable(std::uint32_t* state, const std::uint8_t* blocks,
                              std::size_t block_count);
// Must only be called where sha_extensions_present().
void sha256_compress_sha_extensions(std::uint32_t* state, const std::uint8_t* blocks,
                                    std::size_t block_count);
bool sha_extensions_present() noexcept;

}  // namespace cuzk::hash::internal
