// Conversions between nodes, field elements and integers. Bytes become elements only if they are
// below the group order: nothing from outside is ever reduced silently.
#include "filecoin/node.h"

#include <algorithm>

namespace cuzk::filecoin {

std::optional<Fr> to_fr(const Node& node) {
  const auto canonical = field::bls12_381::FrCanonical::from_bytes_le(node.data());
  if (!canonical) return std::nullopt;
  return Fr::from_canonical(*canonical);
}

base::Result<Fr> read_fr(const Node& node, std::string_view what) {
  const std::optional<Fr> value = to_fr(node);
  if (value) return *value;
  return base::Error{base::ErrorKind::kMalformed,
                     std::string(what) + " is not a canonical field element: " + to_hex(node) +
                         " (little-endian) is not below the group order of BLS12-381"};
}

Node to_node(const Fr& value) {
  Node out;
  field::store_le(value.to_canonical().value, out.data());
  return out;
}

std::uint64_t mod_u64(const Node& bytes, std::uint64_t modulus) {
  CUZK_ASSERT(modulus != 0);
  // Long division by words, the most significant first; a remainder and a word fit 128 bits.
  unsigned __int128 remainder = 0;
  for (std::size_t word = 4; word > 0; --word) {
    remainder = (remainder << 64 | base::load_u64_le(bytes.data() + 8 * (word - 1))) % modulus;
  }
  return static_cast<std::uint64_t>(remainder);
}

base::Result<Node> node_from_hex(std::string_view text, std::string_view what) {
  CUZK_TRY(const base::Bytes bytes, base::from_hex_sized(text, kNodeByteCount, what));
  return node_from_bytes(std::span<const std::uint8_t, kNodeByteCount>(bytes));
}

Node node_from_bytes(std::span<const std::uint8_t, kNodeByteCount> bytes) {
  Node out;
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

}  // namespace cuzk::filecoin
