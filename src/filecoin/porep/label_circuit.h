// The label of a node as a circuit: SHA-256 over 9,984 bits of which 9,472 are parent labels.
//
// Most rows of a PoRep are these: a label is 20 compressions, and each challenge has one a
// layer. Source: rust-fil-proofs 19.1, storage-proofs-porep/src/stacked/circuit/create_label.rs.
#pragma once

#include <cstdint>
#include <span>

#include "base/check.h"
#include "filecoin/sector_shape.h"
#include "r1cs/gadgets/numbers.h"
#include "r1cs/gadgets/sha256.h"

namespace cuzk::filecoin {

// A number as the 256 bits that SHA-256 hashes for it: 255 new bits with a decomposition row, byte
// by byte, most significant bit first.
template <class Cs>
typename Cs::BitString hashed_bits(Cs& cs, const typename Cs::Number& number) {
  return r1cs::gadgets::to_bits_le(cs, number).byte_reversed();
}

// label(layer, node) of `parents`, 6 or 14 strings of 256 bits, which are repeated cyclically
// to 37. `replica_id` has 256 bits, `node` 64, least significant first.
template <class Cs>
typename Cs::Number create_label(Cs& cs, const typename Cs::BitString& replica_id,
                                 std::span<const typename Cs::BitString> parents,
                                 std::uint32_t layer, const typename Cs::BitString& node) {
  CUZK_ASSERT(replica_id.size() == 256 && node.size() == 64 && !parents.empty());
  const auto scope = cs.scope("label", layer);
  // 64 bytes of head: replica_id, layer, node, zeros; then the parents.
  typename Cs::BitString message = replica_id;
  for (unsigned i = 32; i > 0; --i) message.append_constant((layer >> (i - 1)) & 1, 1);
  message.append(r1cs::gadgets::reversed(node));
  while (message.size() < 512) message.append_constant(0, 32);
  for (unsigned i = 0; i < kLabelParentCount; ++i) {
    const typename Cs::BitString& parent = parents[i % parents.size()];
    CUZK_ASSERT(parent.size() == 256);
    message.append(parent);
  }
  CUZK_ASSERT(message.size() == 512 + 256 * kLabelParentCount);
  return r1cs::gadgets::digest_to_number(cs, r1cs::gadgets::sha256(cs, message));
}

}  // namespace cuzk::filecoin
