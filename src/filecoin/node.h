// A node: 32 bytes, little-endian, of a tree, a layer or a commitment.
//
// On disk and on the wire a node is raw bytes; only where mathematics begins does it become a field
// element, and then it must be canonical (below the group order). SHA-256 digests become canonical
// by losing their two top bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "field/bls12_381.h"

namespace cuzk::filecoin {

using Fr = field::bls12_381::Fr;

inline constexpr std::size_t kNodeByteCount = 32;
using Node = std::array<std::uint8_t, kNodeByteCount>;
static_assert(Fr::kByteCount == kNodeByteCount);

// The field element, or nothing when the bytes are not canonical.
std::optional<Fr> to_fr(const Node& node);

// The element behind a node that has been checked before (verify_vanilla.h, or a strict reader). A
// break of that promise ends the process: it must not become a wrong hash or witness.
inline Fr checked_fr(const Node& node) {
  const std::optional<Fr> value = to_fr(node);
  CUZK_ASSERT(value.has_value());
  return *value;
}

// The field element; the error says that `what` is not below the group order and shows it.
base::Result<Fr> read_fr(const Node& node, std::string_view what);

// The canonical bytes of the element.
Node to_node(const Fr& value);
// The integer in the first 8 bytes, little-endian, then zeros.
inline Node node_of_u64(std::uint64_t value) {
  Node out{};
  base::store_u64_le(out.data(), value);
  return out;
}

// The digest as a field element's bytes: the two top bits of byte 31 cleared.
inline Node masked(Node digest) {
  digest[31] &= 0x3f;
  return digest;
}

// The bytes as an integer, little-endian, modulo `modulus` (not zero).
std::uint64_t mod_u64(const Node& bytes, std::uint64_t modulus);

inline bool is_all_zero(const Node& node) { return node == Node{}; }
inline std::string to_hex(const Node& node) { return base::to_hex(node); }

// 64 hex digits as stored, i.e. the first two are byte 0. `what` names the field in the error.
base::Result<Node> node_from_hex(std::string_view text, std::string_view what);

// Copies exactly 32 bytes.
Node node_from_bytes(std::span<const std::uint8_t, kNodeByteCount> bytes);

}  // namespace cuzk::filecoin
