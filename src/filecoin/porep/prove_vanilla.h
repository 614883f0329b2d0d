// Vanilla proofs of a sector that is held in memory.
//
// They open nodes and check nothing: a sector that was sealed wrongly gives proofs that do not
// hold, which verify_vanilla.h tells. Sizes that do not fit in memory are left out.
#pragma once

#include "filecoin/porep/vanilla_proof.h"
#include "filecoin/vanilla/graph.h"
#include "filecoin/vanilla/seal.h"

namespace cuzk::filecoin {

// Opens one challenged node, not 0 (checked). `graph` is that of the sector's config.
PorepProof open_node(const SealedSector& sector, const Graph& graph, std::uint32_t challenge);

// All partitions for `seed` (unused by non-interactive challenges).
std::vector<PorepPartition> open_challenges(const SealedSector& sector, const Node& seed);

// The whole output of commit phase 1. The sector's config must be that of `registered_proof`
// (kMismatch otherwise).
base::Result<PorepC1> commit_phase_1(const SealedSector& sector,
                                     const RegisteredSeal& registered_proof, const Node& seed);

}  // namespace cuzk::filecoin
