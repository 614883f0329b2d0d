// Who sealed what: prover id, replica id, the derived names that bind a sector to its owner.
//
// Source: rust-fil-proofs 19.1, storage-proofs-porep/src/stacked/vanilla/params.rs; the prover id
// is the payload of a Filecoin ID address.
#pragma once

#include <cstdint>

#include "filecoin/node.h"

namespace cuzk::filecoin {

// The miner id as unsigned LEB128, left-aligned in 32 zero bytes: 1000 is e8 07 00 ...
Node prover_id_of_miner(std::uint64_t miner_id);

// What a replica id commits to besides the data.
struct ReplicaIdentity {
  Node prover_id;
  std::uint64_t sector_number = 0;
  Node ticket;
  Node porep_id;
};

// sha256(prover_id || sector number big-endian || ticket || comm_d || porep_id), masked.
Node replica_id(const ReplicaIdentity& identity, const Node& comm_d);

}  // namespace cuzk::filecoin
