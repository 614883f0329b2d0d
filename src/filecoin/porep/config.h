// What a PoRep's rules depend on: size, graph seed and version, kind of challenges.
//
// A registered proof gives one; the sizes without registered proofs (tests of the compound trees)
// and records that carry their own porep_id state it freely.
#pragma once

#include "filecoin/registered_proof.h"

namespace cuzk::filecoin {

// All that the rules of one PoRep follow from. `shape` is never null in use.
struct PorepConfig {
  const SectorShape* shape = nullptr;
  Node porep_id{};
  ApiVersion api_version = ApiVersion::kV1_1_0;
  PorepKind kind = PorepKind::kInteractive;

  static PorepConfig of(const RegisteredSeal& proof) {
    return {proof.shape, proof.porep_id(), proof.api_version, proof.kind};
  }
  unsigned partition_count() const noexcept { return shape->porep_partition_count(kind); }
};

// Refuses what upstream refuses: synthetic or non-interactive below API version V1_2_0, and sizes
// that have no PoRep.
base::Status check_porep_config(const PorepConfig& config);

}  // namespace cuzk::filecoin
