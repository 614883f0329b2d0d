// Fr32 padding: data bytes spread so that each 32-byte node is a canonical field element.
//
// After every 254 data bits, least significant bit of each byte first, two zero bits are inserted:
// 127 bytes become 128. Pieces are aligned in a sector like buddies: a piece of 127 * 2^k bytes
// starts at a multiple of its size. Source: rust-fil-proofs 19.1, fr32/src and
// filecoin-proofs/src/pieces.rs.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace cuzk::filecoin {

// The padded form of any number of bytes: ceil(8 n / 254) groups of 256 bits, the last one cut
// after the byte that holds the last data bit.
base::Bytes fr32_pad(base::ByteSpan data);

// Inverse of fr32_pad for whole nodes: padded.size() must be a multiple of 32; returns floor(254 n
// / 8) bytes. Fails when one of the two padding bits of a node is set, with the node's index.
base::Result<base::Bytes> fr32_unpad(base::ByteSpan padded);

// Zero bytes to write before and after a piece, in unpadded bytes.
struct PieceAlignment {
  std::uint64_t left_byte_count = 0;
  std::uint64_t right_byte_count = 0;
  bool operator==(const PieceAlignment&) const = default;
};

// For a piece of `piece_byte_count` bytes after `written_byte_count` bytes of a sector. Both are
// below 2^56 (checked): no sector is larger.
PieceAlignment piece_alignment(std::uint64_t written_byte_count, std::uint64_t piece_byte_count);

}  // namespace cuzk::filecoin
