// Prover and replica identifiers. Both are plain byte strings until they enter a circuit or a hash;
// the masked digest of a replica id is canonical by construction, a prover id has to be checked.
#include "filecoin/identity.h"

#include "base/check.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {

Node prover_id_of_miner(std::uint64_t miner_id) {
  Node out{};
  // Seven bits a byte, lowest first, the top bit set in all but the last.
  std::size_t i = 0;
  for (; miner_id >= 0x80; miner_id >>= 7) {
    out[i++] = static_cast<std::uint8_t>((miner_id & 0x7f) | 0x80);
  }
  CUZK_ASSERT(i < 10);  // 64 bits make at most ten groups
  out[i] = static_cast<std::uint8_t>(miner_id);
  return out;
}

// SHA-256 over the concatenation: every part has a fixed length, so no separators are needed.
Node replica_id(const ReplicaIdentity& identity, const Node& comm_d) {
  std::array<std::uint8_t, 8> sector{};
  base::store_u64_be(sector.data(), identity.sector_number);
  hash::Sha256 hasher;
  hasher.update(identity.prover_id);
  hasher.update(sector);
  hasher.update(identity.ticket);
  hasher.update(comm_d);
  hasher.update(identity.porep_id);
  return masked(hasher.finish());
}

}  // namespace cuzk::filecoin
